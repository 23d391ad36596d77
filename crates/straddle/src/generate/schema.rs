//! The committed schemas, as they are in this version.

use clap::builder::PossibleValuesParser;

/// What is described (a command's `--json`, or with `--watch` its changes), and the schema.
const SCHEMAS: &[(&str, &str)] = &[
    ("check", include_str!("../../../report/schema/straddle.check.1.schema.json")),
    ("trace", include_str!("../../../report/schema/straddle.trace.1.schema.json")),
    ("bench", include_str!("../../../report/schema/straddle.bench.1.schema.json")),
    ("bench-plan", include_str!("../../../report/schema/straddle.bench.plan.1.schema.json")),
    ("probe", include_str!("../../../report/schema/straddle.probe.1.schema.json")),
    ("compare", include_str!("../../../report/schema/straddle.bench.compare.1.schema.json")),
    ("fsync", include_str!("../../../report/schema/straddle.fsync.1.schema.json")),
    ("fsync-plan", include_str!("../../../report/schema/straddle.fsync.plan.1.schema.json")),
    ("drives", include_str!("../../../report/schema/straddle.drives.1.schema.json")),
    ("simulation", include_str!("../../../report/schema/straddle.simulation.1.schema.json")),
    ("published", include_str!("../../../report/schema/straddle.published.1.schema.json")),
    ("changes", include_str!("../../../report/schema/straddle.check.changes.1.schema.json")),
];

/// What has a schema.
pub(super) fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(SCHEMAS.iter().map(|(name, _)| *name))
}

/// The schema of one of [`names`]; empty for any other word, which the parser refuses.
pub(super) fn text(name: &str) -> &'static str {
    SCHEMAS.iter().find(|(own, _)| *own == name).map_or("", |(_, text)| text)
}
