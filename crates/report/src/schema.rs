//! The JSON schemas of the documents, made from their types and comments.
//!
//! The files in `schema/` hold what this gives; a test fails when they do not.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;

use crate::atomic::{ATOMIC_SCHEMA, AtomicWrites};
use crate::bench::{BENCH_SCHEMA, Bench, DryRun, PLAN_SCHEMA};
use crate::changes::{CHANGES_SCHEMA, Changes};
use crate::check_document::{Document, SCHEMA};
use crate::compare::{COMPARE_SCHEMA, Comparing};
use crate::conversion::{CONVERT_SCHEMA, ConvertedDisk};
use crate::drive::{
    DRIVES_SCHEMA, Drives, PUBLISHED_SCHEMA, Published, SERVED_SCHEMA, SIMULATION_SCHEMA, Served,
    Simulation, TORTURE_SCHEMA, Torture,
};
use crate::fsync::{FSYNC_PLAN_SCHEMA, FSYNC_SCHEMA, Fsync, FsyncPlan};
use crate::plan::{LAYOUT_SCHEMA, Layout};
use crate::probe::{PROBE_SCHEMA, Probe};
use crate::trace::{TRACE_SCHEMA, Trace};
use crate::watch::{WATCH_SCHEMA, Watch};

/// A document that has a schema.
#[derive(Clone, Copy, Debug)]
pub struct DocumentSchema {
    /// Its name and version: `straddle.fsync.plan/1`.
    pub name: &'static str,
    make: fn() -> schemars::Schema,
}

/// Every document that has one.
pub const SCHEMAS: [DocumentSchema; 18] = [
    DocumentSchema { name: SCHEMA, make: made::<Document> },
    DocumentSchema { name: CHANGES_SCHEMA, make: made::<Changes> },
    DocumentSchema { name: TRACE_SCHEMA, make: made::<Trace> },
    DocumentSchema { name: WATCH_SCHEMA, make: made::<Watch> },
    DocumentSchema { name: LAYOUT_SCHEMA, make: made::<Layout> },
    DocumentSchema { name: CONVERT_SCHEMA, make: made::<ConvertedDisk> },
    DocumentSchema { name: BENCH_SCHEMA, make: made::<Bench> },
    DocumentSchema { name: COMPARE_SCHEMA, make: made::<Comparing> },
    DocumentSchema { name: PLAN_SCHEMA, make: made::<DryRun> },
    DocumentSchema { name: FSYNC_SCHEMA, make: made::<Fsync> },
    DocumentSchema { name: FSYNC_PLAN_SCHEMA, make: made::<FsyncPlan> },
    DocumentSchema { name: ATOMIC_SCHEMA, make: made::<AtomicWrites> },
    DocumentSchema { name: PROBE_SCHEMA, make: made::<Probe> },
    DocumentSchema { name: DRIVES_SCHEMA, make: made::<Drives> },
    DocumentSchema { name: SERVED_SCHEMA, make: made::<Served> },
    DocumentSchema { name: SIMULATION_SCHEMA, make: made::<Simulation> },
    DocumentSchema { name: PUBLISHED_SCHEMA, make: made::<Published> },
    DocumentSchema { name: TORTURE_SCHEMA, make: made::<Torture> },
];

impl DocumentSchema {
    /// The schema in JSON Schema draft 2020-12, with its last line feed.
    ///
    /// # Panics
    /// Never: a schema is JSON.
    #[must_use]
    pub fn text(&self) -> String {
        let mut schema = (self.make)();
        schema.insert("title".to_owned(), self.name.into());
        // As a value, whose keys are in order.
        let schema = serde_json::Value::from(schema);
        serde_json::to_string_pretty(&schema).expect("a schema is JSON") + "\n"
    }

    /// Returns what its file in `schema/` is called: `straddle.fsync.plan.1.schema.json`.
    #[must_use]
    pub fn file(&self) -> String {
        format!("{}.schema.json", self.name.replace('/', "."))
    }
}

fn made<T: JsonSchema>() -> schemars::Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.into_generator().into_root_schema_for::<T>()
}
