//! The JSON schemas of the documents, made from their types and comments.
//!
//! The files in `schema/` hold what this gives; a test fails when they do not.

use schemars::generate::SchemaSettings;

use crate::bench::{BENCH_SCHEMA, Bench, COMPARE_SCHEMA, Comparing, DryRun, PLAN_SCHEMA};
use crate::changes::{CHANGES_SCHEMA, Changes};
use crate::document::{Document, SCHEMA};
use crate::fsync::{FSYNC_PLAN_SCHEMA, FSYNC_SCHEMA, Fsync, FsyncPlan};
use crate::probe::{PROBE_SCHEMA, Probe};
use crate::trace::{TRACE_SCHEMA, Trace};

/// The schema of what `--json` writes, in JSON Schema draft 2020-12.
#[must_use]
pub fn schema() -> serde_json::Value {
    made::<Document>(SCHEMA)
}

/// The schema of what `--watch --json` writes, in JSON Schema draft 2020-12.
#[must_use]
pub fn changes_schema() -> serde_json::Value {
    made::<Changes>(CHANGES_SCHEMA)
}

/// The schema of what `straddle trace --json` writes, in JSON Schema draft 2020-12; committed as
/// `schema/straddle.trace.1.schema.json`.
#[must_use]
pub fn trace_schema() -> serde_json::Value {
    made::<Trace>(TRACE_SCHEMA)
}

/// The schema of what `straddle bench --json` writes, in JSON Schema draft 2020-12; committed as
/// `schema/straddle.bench.1.schema.json`.
#[must_use]
pub fn bench_schema() -> serde_json::Value {
    made::<Bench>(BENCH_SCHEMA)
}

/// The schema of what `straddle compare --json` writes, in JSON Schema draft 2020-12; committed as
/// `schema/straddle.bench.compare.1.schema.json`.
#[must_use]
pub fn bench_compare_schema() -> serde_json::Value {
    made::<Comparing>(COMPARE_SCHEMA)
}

/// The schema of what `straddle bench --dry-run --json` writes, in JSON Schema draft 2020-12;
/// committed as `schema/straddle.bench.plan.1.schema.json`.
#[must_use]
pub fn bench_plan_schema() -> serde_json::Value {
    made::<DryRun>(PLAN_SCHEMA)
}

/// The schema of what `straddle fsync --json` writes, in JSON Schema draft 2020-12; committed as
/// `schema/straddle.fsync.1.schema.json`.
#[must_use]
pub fn fsync_schema() -> serde_json::Value {
    made::<Fsync>(FSYNC_SCHEMA)
}

/// The schema of what `straddle fsync --dry-run --json` writes, in JSON Schema draft 2020-12;
/// committed as `schema/straddle.fsync.plan.1.schema.json`.
#[must_use]
pub fn fsync_plan_schema() -> serde_json::Value {
    made::<FsyncPlan>(FSYNC_PLAN_SCHEMA)
}

/// The schema of what `straddle probe --json` writes, in JSON Schema draft 2020-12; committed as
/// `schema/straddle.probe.1.schema.json`.
#[must_use]
pub fn probe_schema() -> serde_json::Value {
    made::<Probe>(PROBE_SCHEMA)
}

fn made<T: schemars::JsonSchema>(title: &str) -> serde_json::Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.into()
}
