//! Writes every JSON schema into a directory, each into its own file.
//!
//! `cargo run -p report --features schema --example schema -- crates/report/schema`

use std::path::Path;

fn main() -> std::io::Result<()> {
    let Some(directory) = std::env::args_os().nth(1) else {
        let usage = "name the directory: crates/report/schema";
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, usage));
    };
    for schema in report::SCHEMAS {
        std::fs::write(Path::new(&directory).join(schema.file()), schema.text())?;
    }
    Ok(())
}
