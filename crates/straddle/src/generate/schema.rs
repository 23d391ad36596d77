//! The committed schemas, as they are in this version.

use crate::arguments::SchemaOf;

/// The schema of what a command prints.
pub(super) const fn text(of: SchemaOf) -> &'static str {
    match of {
        SchemaOf::Check => include_str!("../../../report/schema/straddle.check.1.schema.json"),
        SchemaOf::Trace => include_str!("../../../report/schema/straddle.trace.1.schema.json"),
        SchemaOf::Plan => include_str!("../../../report/schema/straddle.plan.1.schema.json"),
        SchemaOf::Convert => include_str!("../../../report/schema/straddle.convert.1.schema.json"),
        SchemaOf::Bench => include_str!("../../../report/schema/straddle.bench.1.schema.json"),
        SchemaOf::BenchPlan => {
            include_str!("../../../report/schema/straddle.bench.plan.1.schema.json")
        }
        SchemaOf::Probe => include_str!("../../../report/schema/straddle.probe.1.schema.json"),
        SchemaOf::Compare => include_str!("../../../report/schema/straddle.compare.2.schema.json"),
        SchemaOf::Fsync => include_str!("../../../report/schema/straddle.fsync.2.schema.json"),
        SchemaOf::FsyncPlan => {
            include_str!("../../../report/schema/straddle.fsync.plan.1.schema.json")
        }
        SchemaOf::Watch => include_str!("../../../report/schema/straddle.watch.1.schema.json"),
        SchemaOf::Atomic => include_str!("../../../report/schema/straddle.atomic.1.schema.json"),
        SchemaOf::Drives => include_str!("../../../report/schema/straddle.drives.1.schema.json"),
        SchemaOf::Simulation => {
            include_str!("../../../report/schema/straddle.simulation.1.schema.json")
        }
        SchemaOf::Published => {
            include_str!("../../../report/schema/straddle.published.1.schema.json")
        }
        SchemaOf::Torture => {
            include_str!("../../../report/schema/straddle.torture.1.schema.json")
        }
        SchemaOf::Changes => {
            include_str!("../../../report/schema/straddle.check.changes.1.schema.json")
        }
    }
}
