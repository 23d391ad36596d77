//! Every fix that a rule can print is typed on a copy, with the field's own tools.
//!
//! A case builds a disk, asks `straddle check` what is wrong with it, types the printed fix on a
//! copy, and looks again: nothing of that rule is left, nothing new is found, and everything that
//! was on the disk is there as it was. A rule without a case fails [`every_rule_has_a_case`].
#![expect(clippy::disallowed_methods, reason = "these tests run programs")]

mod case;
mod content;
mod damaged;
mod images;
mod live;
mod moved;
mod not_typed;
mod remade;
mod stripes;
mod work_directory;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use stack::rule::RULES;

use case::{Case, Outcome};
use content::Content;
use work_directory::Bench;

/// Disks are built side by side, on as many threads as CI has cores.
const THREADS: usize = 2;

/// Fewest fixes that are typed where all tools are there.
const TYPED_MIN: usize = 60;

fn cases() -> Vec<Case> {
    [moved::CASES, stripes::CASES, remade::CASES, damaged::CASES, images::CASES].concat()
}

#[test]
fn every_rule_has_a_case() {
    let typed = cases().into_iter().map(|case| case.rule);
    let told = not_typed::TOLD.iter().map(|(code, _)| *code);
    let covered: BTreeSet<&str> = typed.chain(live::RULES).chain(told).collect();
    let rules: BTreeSet<&str> = RULES.iter().map(|rule| rule.code).collect();
    let lacking: Vec<_> = rules.difference(&covered).collect();
    assert!(lacking.is_empty(), "no fix of these rules is typed, and none is told: {lacking:?}");
    assert!(covered.is_subset(&rules), "cases of rules that are gone");
}

#[test]
fn every_fix_that_is_typed_mends_and_harms_nothing() {
    testkit::need_loops!();
    // To look at some: `STRADDLE_FIX=exFAT cargo test …`.
    let some = std::env::var("STRADDLE_FIX").unwrap_or_default();
    let named = |case: &Case| format!("{} {}", case.rule, case.name).contains(&some);
    let cases: Vec<Case> = cases().into_iter().filter(named).collect();
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let outcome = case.run();
                    outcomes.lock().expect("no thread panicked").push((case, outcome));
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no thread panicked");
    let mut failures = Vec::new();
    let (mut typed, mut skipped) = (0, 0);
    for (case, outcome) in &outcomes {
        match outcome {
            Outcome::Typed => typed += 1,
            Outcome::Skipped(tool) => {
                skipped += 1;
                testkit::skip(&format!("{} {}: needs {tool}", case.rule, case.name));
            }
            Outcome::Failed(why) => failures.push(format!("{} {}: {why}", case.rule, case.name)),
        }
    }
    println!("{typed} fixes typed, {skipped} skipped, {} failed", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(typed >= TYPED_MIN || skipped > 0 || !some.is_empty(), "only {typed} fixes were typed");
}

/// A disk with a partition of type 07 at sector 63, which holds bytes.
fn windows_disk() -> Bench {
    let bench = Bench::new();
    bench.table("disk.raw", 32 << 20, "label: dos\nstart=63,size=40000,type=7,bootable\n");
    bench.bytes("disk.raw", 63 * 512, 40_000 * 512);
    bench
}

#[test]
fn a_fix_that_loses_a_type_is_caught() {
    testkit::need_tools!("sfdisk", "parted");
    testkit::need_loops!();
    let bench = windows_disk();
    let before = Content::of(&bench, "disk.raw");
    // As was printed once, with the data carried along.
    bench.shell("dd if=disk.raw of=data bs=512 skip=63 count=40000 status=none");
    bench.shell("parted -s -a none disk.raw rm 1 mkpart primary 2048s 42047s");
    bench.shell("dd if=data of=disk.raw bs=512 seek=2048 conv=notrunc status=none");
    let lost = before.lost(&Content::of(&bench, "disk.raw"));
    assert!(lost.iter().any(|line| line.contains("type")), "{lost:?}");
    assert!(lost.iter().any(|line| line.contains("boot")), "{lost:?}");
    assert!(!lost.iter().any(|line| line.contains("bytes")), "{lost:?}");
}

#[test]
fn a_fix_that_loses_data_is_caught() {
    testkit::need_tools!("sfdisk");
    testkit::need_loops!();
    let bench = windows_disk();
    let before = Content::of(&bench, "disk.raw");
    bench.shell("sfdisk -d disk.raw | sed 's/start= *63/start=2048/' | sfdisk -q disk.raw");
    let lost = before.lost(&Content::of(&bench, "disk.raw"));
    assert!(lost.iter().any(|line| line.contains("bytes")), "{lost:?}");
}

#[test]
fn a_fix_without_effect_is_caught() {
    testkit::need_tools!("sfdisk");
    testkit::need_loops!();
    let case = Case::typed("ST102", "canary", "", "", "disk.raw", |bench| {
        bench.table("disk.raw", 32 << 20, "label: dos\nstart=63,size=40000\n");
    });
    let outcome = case.run_with(|_, _| Ok(()));
    assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("ST102")), "{outcome:?}");
}
