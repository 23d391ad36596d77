//! Writes a JSON schema to stdout: that of a check's document; with the word `changes` that of what
//! changed since a baseline, with `trace` that of a trace.
//!
//! `cargo run -p report --features schema --example schema >
//! crates/report/schema/straddle.check.1.schema.json`; with `-- changes` into
//! `straddle.check.changes.1.schema.json` beside it, with `-- trace` into
//! `straddle.trace.1.schema.json`, and so on with the other words.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    let schema = match std::env::args().nth(1).as_deref() {
        Some("changes") => report::changes_schema(),
        Some("trace") => report::trace_schema(),
        Some("bench") => report::bench_schema(),
        Some("bench.compare") => report::bench_compare_schema(),
        Some("bench.plan") => report::bench_plan_schema(),
        Some("fsync") => report::fsync_schema(),
        Some("fsync.plan") => report::fsync_plan_schema(),
        Some("probe") => report::probe_schema(),
        _ => report::schema(),
    };
    let text = serde_json::to_string_pretty(&schema)?;
    writeln!(std::io::stdout().lock(), "{text}")
}
