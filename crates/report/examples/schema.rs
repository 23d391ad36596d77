//! Writes the JSON schema of a check's document to stdout.
//!
//! `cargo run -p report --features schema --example schema >
//! crates/report/schema/straddle.check.1.schema.json`

use std::io::Write;

fn main() -> std::io::Result<()> {
    let schema = serde_json::to_string_pretty(&report::schema())?;
    writeln!(std::io::stdout(), "{schema}")
}
