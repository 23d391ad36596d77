//! The committed schemas describe what is written.

use report::bench::{bench_json, dry_run_json};
use report::compare::compare_json;
use serde_json::Value;
use testkit::schema;

use super::dry_run::plan;
use super::ugly::unknown;
use crate::made::bench::{disk, whole};
use crate::made::compare::benches;

const BENCH: &str = include_str!("../../../schema/straddle.bench.1.schema.json");
const COMPARE: &str = include_str!("../../../schema/straddle.compare.2.schema.json");
const PLAN: &str = include_str!("../../../schema/straddle.bench.plan.1.schema.json");

/// All of them.
pub(crate) const ALL: [&str; 3] = [BENCH, COMPARE, PLAN];

fn faults(schema: &str, document: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let document: Value = serde_json::from_str(document).expect("valid JSON");
    schema::faults(&schema, &document)
}

#[test]
fn measurements_are_valid_and_wholly_described() {
    for bench in [disk(), whole(), unknown()] {
        assert_eq!(faults(BENCH, &bench_json(&bench)), Vec::<String>::new());
        for other in [disk(), whole(), unknown()] {
            let text = compare_json(&benches(&bench, &other));
            assert_eq!(faults(COMPARE, &text), Vec::<String>::new());
        }
    }
    assert_eq!(faults(PLAN, &dry_run_json(&plan())), Vec::<String>::new());
}

#[test]
fn a_bucket_that_is_no_pair_breaks_the_schema() {
    let bucket = "\"histogram\": [[8350000,139]";
    let text = bench_json(&disk());
    assert!(text.contains(bucket), "{text}");
    for broken in ["\"histogram\": [[8350000]", "\"histogram\": [[8350000,-1]"] {
        assert_eq!(faults(BENCH, &text.replacen(bucket, broken, 1)).len(), 1, "{broken}");
    }
}
