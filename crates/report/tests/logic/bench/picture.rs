//! The picture of the distributions.

use measure::Role;
use report::Look;
use report::bench::{Arm, Experiment, picture};

use crate::made::bench::{arm, penalty};
use crate::made::sample::{plain, same};

const LOOK: Look = Look { width: Some(80), ascii: false, bytes: false, explain: false };

#[track_caller]
fn check(arms: Vec<Arm>, look: Look, expected: &str) {
    let found = plain(&picture(&Experiment { arms, ..penalty() }, &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

fn spread(name: &str, buckets: &[(u64, u64)], median_ns: u64, p99_ns: u64) -> Arm {
    let histogram = buckets.to_vec();
    Arm { histogram, ..arm(name, Role::Shifted, 0, median_ns, p99_ns) }
}

fn turns() -> Vec<Arm> {
    let one: Vec<(u64, u64)> = (0..20).map(|n| (8_000_000 + n * 40_000, 1 + n)).collect();
    let three: Vec<(u64, u64)> = (0..20).map(|n| (24_000_000 + n * 450_000, 21 - n)).collect();
    vec![
        spread("aligned", &one, 8_350_000, 8_700_000),
        spread("shifted 512 B", &three, 25_000_000, 32_000_000),
    ]
}

#[test]
fn arms_stand_on_one_axis_with_their_medians_and_p99() {
    check(
        turns(),
        LOOK,
        r#"
  aligned        ▁▃▆█▇
                   ▲ △
  shifted 512 B                                                   ▄▂▂▄▂▂▃▂▁▂▂▁▁▁
                                                                   ▲          △
                 ──────────┬─────────────────────────────┬──────────────────────
                         10 ms                         20 ms
                 ▲ median  △ p99
"#,
    );
}

#[test]
fn ascii_pictures_hold_ascii_only() {
    check(
        turns(),
        Look { ascii: true, width: Some(40), ..LOOK },
        r#"
  aligned        :@
                  ^
  shifted 512 B                   .--::.
                                   ^   '
                 ---+----------+--------
                  10 ms      20 ms
                 ^ median  ' p99
"#,
    );
}

#[test]
fn one_bucket_is_one_column() {
    check(
        vec![spread("only", &[(8_350_000, 5)], 8_350_000, 8_350_000)],
        LOOK,
        r#"
  only  █
        ▲
        ┬───────────────────────────────────────────────────────────────────────
        8.35 ms
        ▲ median  △ p99
"#,
    );
}

#[test]
fn the_greatest_range_fits() {
    let buckets = [(0, 1), (1_000, u64::MAX), (1_000_000, 1), (u64::MAX, u64::MAX)];
    check(
        vec![spread("\x1b[31mall", &buckets, 1_000, u64::MAX)],
        LOOK,
        r#"
  \u{1b}[31mall  ▁         █        ▁                                          █
                           ▲                                                   △
                 ┬─────────┬────────┬──────┬────────┬─────────┬────────────┬────
                 1 ns    1 µs     1 ms  100 ms    100 s   100000 s  1000000000 s
                 ▲ median  △ p99
"#,
    );
}

#[test]
fn where_nothing_was_seen_nothing_is_drawn() {
    check(Vec::new(), LOOK, "\n");
    check(vec![spread("empty", &[], 0, 0), spread("zero", &[(5, 0)], 5, 5)], LOOK, "\n");
}
