//! Files of `fleet/`, each used as its users use it.

mod ansible;
mod kubernetes;
mod metrics;

use std::path::PathBuf;

/// A file of `fleet/`.
fn file(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fleet").join(path)
}
