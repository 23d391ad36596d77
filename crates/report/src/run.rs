//! Run that wrote a document.

use serde::{Deserialize, Serialize};

/// Run that wrote a document, and the machine that it is of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Run {
    /// The command line, word by word; harmless to print.
    pub command: Vec<String>,
    /// When it started, RFC 3339 in UTC; empty where the answer is the same at any time.
    pub started: String,
    /// The release of the kernel of the machine that was looked at; `null` when not known, or where
    /// none was.
    pub kernel: Option<String>,
    /// The name of the machine that was looked at, harmless to print; `null` when not known, as of
    /// a captured one, or where none was.
    pub host: Option<String>,
    /// The maker and product name of the machine that was looked at, harmless to print: of many
    /// clouds the instance type, `Amazon EC2 m5.large`; `null` when not known, as in a container
    /// without `/sys/class/dmi`, or where none was.
    pub machine: Option<String>,
}
