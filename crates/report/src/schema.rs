//! The JSON schema of [`Document`], made from its types and their comments.
//!
//! The file `schema/straddle.check.1.schema.json` holds what this gives; a test fails when it does
//! not.

use schemars::generate::SchemaSettings;

use crate::document::{Document, SCHEMA};

/// The schema of what `--json` writes, in JSON Schema draft 2020-12.
#[must_use]
pub fn schema() -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Document>();
    schema.insert("title".to_owned(), SCHEMA.into());
    schema.into()
}
