//! Measurements as plugins of Nagios: state, words, numbers and their limits.

use crate::made::bench::{disk, no_penalty, penalty, void};
use crate::made::fsync::{plain, tail};
use crate::made::plugins::{busy, device, watch};
use crate::made::sample::same;
use durability::Grade;
use measure::CostVerdict;
use measure::engine_verdict::Fitness;
use report::bench::{Bench, bench_plugin};
use report::fsync::{EngineLimit, Fsync, FsyncVerdict, Honesty, fsync_plugin};
use report::watch::{OffLimits, watch_plugin};
use report::{Envelope, MonitorState, Refusal, RefusalKind};
use stack::Severity;

fn verdict(verdict: Fitness) -> FsyncVerdict {
    let limit = |grade, limit_ns| EngineLimit {
        grade,
        quantile_percent: 99.0,
        limit_ns,
        is_ours: true,
        ..EngineLimit::default()
    };
    FsyncVerdict {
        engine: "etcd".to_owned(),
        verdict,
        operation: "write + fdatasync".to_owned(),
        quantile: Some(tail(99.0, [4_100_000, 3_000_000, 6_000_000])),
        limits: vec![limit(Fitness::Warn, 10_000_000), limit(Fitness::Fail, 100_000_000)],
        ..FsyncVerdict::default()
    }
}

fn judged(fitness: Fitness) -> Fsync {
    Fsync { verdict: Some(verdict(fitness)), ..plain() }
}

#[test]
fn a_verdict_for_an_engine_is_one_line_with_the_limits_of_the_engine() {
    let answer = fsync_plugin(&judged(Fitness::Pass), Some(Severity::Warning));
    same(
        &answer.text(),
        "STRADDLE OK - etcd in /data: PASS: p99 of write + fdatasync is 4.10 ms (3.00 ms to 6.00 \
         ms); etcd wants under 10 ms [set by the engine profile] | p99=0.0041s;0.01;0.1;0 \
         pg.one.open_datasync_p99=0.0004s;;;0 pg.one.fdatasync_p99=0.0004s;;;0 \
         written=104857600B;;;0 time=0.000s;;;0\n",
    );
}

#[test]
fn verdicts_grades_and_refusals_have_their_states() {
    use MonitorState::{Critical, Ok, Unknown, Warning};
    let state = |document: &Fsync, least| fsync_plugin(document, least).answer.state();
    let warning = Some(Severity::Warning);
    for (fitness, expected) in [
        (Fitness::Pass, Ok),
        (Fitness::Warn, Warning),
        (Fitness::Fail, Critical),
        (Fitness::NotEnough, Unknown),
    ] {
        assert_eq!(state(&judged(fitness), warning), expected, "{fitness:?}");
    }
    assert_eq!(state(&judged(Fitness::Fail), None), Ok, "--fail-on never");
    assert_eq!(state(&Fsync::default(), warning), Unknown, "nothing was measured");
    for (grade, expected) in [
        (Grade::Consistent, Ok),
        (Grade::Opaque, Ok),
        (Grade::Suspect, Warning),
        (Grade::NotDurable, Critical),
    ] {
        let honesty = Some(Honesty { grade, ..Honesty::default() });
        let look = Fsync { honesty, rows: Vec::new(), ..plain() };
        assert_eq!(state(&look, warning), expected, "{grade:?}");
    }
    for (kind, expected) in [
        (RefusalKind::Misuse, Unknown),
        (RefusalKind::Safety, Unknown),
        (RefusalKind::NoVerdict, Unknown),
        (RefusalKind::Fault, Critical),
    ] {
        let refusal = Some(Refusal { kind, ..Refusal::new("cannot measure", None) });
        let document = Fsync { envelope: Envelope { refusal, ..plain().envelope }, ..plain() };
        assert_eq!(state(&document, warning), expected, "{kind:?}");
    }
}

#[test]
fn a_missing_verdict_may_be_allowed_and_a_refusal_may_not() {
    let allowed = |document: &Fsync| {
        fsync_plugin(document, Some(Severity::Warning)).allowing_unknown(true).answer.state()
    };
    assert_eq!(allowed(&judged(Fitness::NotEnough)), MonitorState::Ok);
    let refusal = Some(Refusal::new("no such directory", None));
    let refused = Fsync { envelope: Envelope { refusal, ..plain().envelope }, ..plain() };
    assert_eq!(allowed(&refused), MonitorState::Unknown);
}

#[test]
fn a_penalty_is_a_warning_with_the_limit_of_a_ratio() {
    let answer = bench_plugin(&Bench { experiments: vec![no_penalty(), penalty()], ..disk() });
    assert_eq!(answer.answer.state(), MonitorState::Warning);
    let text = answer.text();
    let shown = "4 KiB write + fdatasync, depth 1: Penalty: shifted writes take 3.00 times";
    assert!(text.contains(shown), "{text}");
    assert!(text.contains(" 2_shifted_512_B_ratio=3.0000;1.1;;0 "), "{text}");
    assert!(text.contains(" 2_aligned_median=0.00835s;;;0 "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let state = |experiments| bench_plugin(&Bench { experiments, ..disk() }).answer.state();
    let small = report::bench::Experiment { verdict: CostVerdict::Small, ..penalty() };
    assert_eq!(state(vec![small]), MonitorState::Ok);
    assert_eq!(state(vec![no_penalty(), void()]), MonitorState::Unknown);
    assert_eq!(state(vec![void(), penalty()]), MonitorState::Warning);
    assert_eq!(state(Vec::new()), MonitorState::Unknown);
}

#[test]
fn a_watch_is_held_against_the_limits_of_the_user_alone() {
    let busy = busy();
    let limits = |warn_percent, critical_percent| OffLimits { warn_percent, critical_percent };
    for (limits, expected) in [
        (limits(None, None), MonitorState::Ok),
        (limits(Some(30), None), MonitorState::Ok),
        (limits(Some(29), None), MonitorState::Warning),
        (limits(Some(1), Some(29)), MonitorState::Critical),
    ] {
        assert_eq!(watch_plugin(&busy, limits).answer.state(), expected, "{limits:?}");
    }
    same(
        &watch_plugin(&busy, limits(Some(5), Some(20))).text(),
        "STRADDLE CRITICAL - sdb: 30 of 100 writes off the granule (30.0 %); sda: 2 of 100 writes \
         off the granule (2.0 %) | sda_off=2.00%;5;20;0;100 sda_off_writes=2;;;0 \
         sda_off_reads=0;;;0 sdb_off=30.00%;5;20;0;100 sdb_off_writes=30;;;0 \
         sdb_off_reads=0;;;0\n",
    );
    let blind = watch_plugin(&watch(vec![device("sda", None)]), limits(Some(5), None));
    same(&blind.text(), "STRADDLE UNKNOWN - sda: not counted: tracefs needs root\n");
    let idle = watch_plugin(&watch(vec![device("sda", Some((0, 0)))]), limits(Some(0), Some(0)));
    assert_eq!(idle.answer.state(), MonitorState::Ok, "nothing was written");
}
