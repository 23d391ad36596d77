//! The table, as a person reads it.

use measure::Role;
use report::bench::{Bench, table};
use report::{Envelope, Look, Refusal};

use crate::made::bench::{arm, comparison, disk, drive_counts, no_penalty, penalty, void};
use crate::made::sample::{plain, same};

const LOOK: Look = Look { width: None, ascii: false, bytes: false, explain: false };

#[track_caller]
fn check(bench: &Bench, look: Look, expected: &str) {
    let found = plain(&table(bench, &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

#[test]
fn one_experiment_says_what_was_written_what_it_took_and_how_sure_that_is() {
    check(
        &disk(),
        LOOK,
        r#"
scratch: 64 MiB in /data, on sda at 1.49 TiB; 66 MiB written in all; nothing else is touched
4 KiB write + fdatasync, depth 1                                 141 pairs, 1.42 s, 1.65 MiB written
                 aligned   shifted 512 B
  median         8.35 ms   25.0 ms
  p99            8.41 ms   33.4 ms
  turns          1         3
  mean IOPS      120       40.0
  pair by pair   ratio 3.00, 95 % interval 2.97 to 3.03
  control        ratio 1.00, 0.99 to 1.01  no bias
Penalty: shifted writes take 3.00 times as long. Predicted from the stack: 2 reads and 2 writes of
  4 KiB instead of 1 write.
"#,
    );
}

#[test]
fn every_arm_has_a_row_where_there_are_more_than_two() {
    check(
        &Bench { experiments: vec![no_penalty()], ..disk() },
        LOOK,
        r#"
scratch: 64 MiB in /data, on sda at 1.49 TiB; 66 MiB written in all; nothing else is touched
64 KiB read, depth 32                                              60 pairs, 1.42 s, nothing written
                  median   p99      mean IOPS   ratio, 95 % interval
  aligned         310 µs   900 µs   3226
  shifted 512 B   311 µs   910 µs   3215        1.00   0.98 to 1.02
  shifted 2 KiB   309 µs   905 µs   3236        1.00   0.97 to 1.03
  control         310 µs   899 µs   3226        1.00   0.98 to 1.02    no bias
No penalty: shifted reads take as long, within 5 %.
the drive's speed changed during the run: medians of 256 operations from 310 µs to 4.10 ms;
  pairing limits the effect
"#,
    );
}

#[test]
fn a_narrow_terminal_gets_sentences() {
    check(
        &disk(),
        Look { width: Some(40), ..LOOK },
        r#"
scratch: 64 MiB in /data, on sda at
  1.49 TiB; 66 MiB written in all;
  nothing else is touched
4 KiB write + fdatasync, depth 1
  141 pairs, 1.42 s, 1.65 MiB written
  aligned  median 8.35 ms  p99 8.41 ms
           turns 1  mean IOPS 120
  shifted 512 B  median 25.0 ms
                 p99 33.4 ms  turns 3
                 mean IOPS 40.0
                 ratio 3.00
                 95 % interval: 2.97 to
                 3.03
  control  median 8.35 ms  p99 8.42 ms
           turns 1  mean IOPS 120
           ratio 1.00
           95 % interval: 0.99 to 1.01
           no bias
Penalty: shifted writes take
  3.00 times as long. Predicted from the
  stack: 2 reads and 2 writes of 4 KiB
  instead of 1 write.
"#,
    );
}

#[test]
fn ascii_tables_hold_ascii_only() {
    check(
        &Bench { experiments: vec![no_penalty()], ..disk() },
        Look { ascii: true, ..LOOK },
        r#"
scratch: 64 MiB in /data, on sda at 1.49 TiB; 66 MiB written in all; nothing else is touched
64 KiB read, depth 32                                              60 pairs, 1.42 s, nothing written
                  median   p99      mean IOPS   ratio, 95 % interval
  aligned         310 us   900 us   3226
  shifted 512 B   311 us   910 us   3215        1.00   0.98 to 1.02
  shifted 2 KiB   309 us   905 us   3236        1.00   0.97 to 1.03
  control         310 us   899 us   3226        1.00   0.98 to 1.02    no bias
No penalty: shifted reads take as long, within 5 %.
the drive's speed changed during the run: medians of 256 operations from 310 us to 4.10 ms;
  pairing limits the effect
"#,
    );
}

#[test]
fn many_experiments_have_a_line_for_each_arm() {
    let experiments = vec![penalty(), no_penalty(), void()];
    check(
        &Bench { experiments, ..disk() },
        LOOK,
        r#"
scratch: 64 MiB in /data, on sda at 1.49 TiB; 66 MiB written in all; nothing else is touched
  3 experiments                      arm             ratio   95 % interval   verdict
  4 KiB write + fdatasync, depth 1   shifted 512 B   3.00    2.97 to 3.03    penalty
  64 KiB read, depth 32              shifted 512 B   1.00    0.98 to 1.02    no penalty
                                     shifted 2 KiB   1.00    0.97 to 1.03
  4 KiB write, depth 8               shifted 512 B   3.00    2.97 to 3.03    void
  controls  2 sound  differs: 4 KiB write, depth 8
64 KiB read, depth 32: the drive's speed changed during the run: medians of 256 operations from
  310 µs to 4.10 ms; pairing limits the effect
4 KiB write, depth 8: Void: the control takes 1.12 times as long as the baseline.
"#,
    );
}

#[test]
fn every_row_of_a_full_run_says_what_differs() {
    let mut experiments = Vec::new();
    for what in ["random read", "write + fdatasync", "random write, no sync"] {
        for depth in [1, 8, 32] {
            for arm in ["shifted 512 B", "shifted 2 KiB"] {
                let mut one = penalty();
                one.title = format!("4 KiB {what}, depth {depth}, {arm}");
                let shifted = one.arms.iter_mut().find(|arm| arm.role == Role::Shifted);
                shifted.expect("it has one").name = arm.to_owned();
                let compared = one.comparisons.iter_mut().find(|one| one.arm == "shifted 512 B");
                compared.expect("it has one").arm = arm.to_owned();
                experiments.push(one);
            }
        }
    }
    for width in [100, 120, 200] {
        let look = Look { width: Some(width), ..LOOK };
        let text = table(&Bench { experiments: experiments.clone(), ..disk() }, &look);
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("2.97 to 3.03")).collect();
        let different: std::collections::HashSet<&str> = rows.iter().copied().collect();
        assert_eq!((rows.len(), different.len()), (18, 18), "{text}");
        assert!(rows.iter().all(|row| !row.contains('…')), "{text}");
    }
}

#[test]
fn many_experiments_fit_a_narrow_terminal() {
    let experiments = vec![penalty(), no_penalty(), void()];
    check(
        &Bench { experiments, ..disk() },
        Look { width: Some(60), ..LOOK },
        r#"
scratch: 64 MiB in /data, on sda at 1.49 TiB; 66 MiB
  written in all; nothing else is touched
  3 experiments   ratio   95 % interval   verdict
  4 KiB write + fdatasync, depth 1
  shifted 512 B   3.00    2.97 to 3.03    penalty
  64 KiB read, depth 32
  shifted 512 B   1.00    0.98 to 1.02    no penalty
  shifted 2 KiB   1.00    0.97 to 1.03
  4 KiB write, depth 8
  shifted 512 B   3.00    2.97 to 3.03    void
  controls  2 sound  differs: 4 KiB write, depth 8
64 KiB read, depth 32: the drive's speed changed during
  the run: medians of 256 operations from 310 µs to 4.10 ms;
  pairing limits the effect
4 KiB write, depth 8: Void: the control takes 1.12 times
  as long as the baseline.
"#,
    );
}

#[test]
fn who_asks_sees_the_circumstances_and_what_the_drive_counted() {
    let mut experiment = penalty();
    experiment.arms[0].drive = Some(drive_counts());
    experiment.arms[1].drive = Some(drive_counts());
    let notes = vec!["the size of 10 GiB was scaled down to 64 MiB".to_owned()];
    let envelope = Envelope { notes, ..disk().envelope };
    let bench = Bench { envelope, experiments: vec![experiment], ..disk() };
    check(
        &bench,
        Look { explain: true, ..LOOK },
        r#"
/data  on ext4  on sda1  on sda
  drive  sda  WDC WD60EFRX  rotates  logical sector 512 B  granule 4 KiB (sysfs)
  run  straddle 0.1.0  kernel 6.12.0  host web-3  started 2026-03-01T12:00:00Z  took 2.10 s  seed 7
  command  straddle bench /data
scratch: 64 MiB in /data, on sda at 1.49 TiB, written in 400 ms; 66 MiB written in all; nothing
  else is touched
4 KiB write + fdatasync, depth 1                                 141 pairs, 1.42 s, 1.65 MiB written
                 aligned   shifted 512 B
  median         8.35 ms   25.0 ms
  p99            8.41 ms   33.4 ms
  turns          1         3
  mean IOPS      120       40.0
  pair by pair   ratio 3.00, 95 % interval 2.97 to 3.03
  control        ratio 1.00, 0.99 to 1.01  no bias
  mean ratio, outliers clipped  shifted 512 B  3.01  2.90 to 3.12
  method  each observation is one operation  3 pairs left out as warm-up
  the drive counted   reads   sectors   writes   sectors   merges   flushes   exact
  aligned             0       0         282      2256      2        141       98.5 %
  shifted 512 B       0       0         282      2256      2        141       98.5 %
Penalty: shifted writes take 3.00 times as long. Predicted from the stack: 2 reads and 2 writes of
  4 KiB instead of 1 write.
note: the size of 10 GiB was scaled down to 64 MiB
"#,
    );
}

#[test]
fn a_refusal_says_why_and_what_to_do() {
    let refusal = Some(Refusal {
        message: "cannot measure on /tmp: tmpfs is memory".to_owned(),
        hint: Some("name a directory on a disk".to_owned()),
        kind: report::RefusalKind::Misuse,
    });
    let envelope = Envelope { refusal, ..disk().envelope };
    let bench = Bench { envelope, experiments: Vec::new(), scratch: None, ..disk() };
    check(
        &bench,
        LOOK,
        r#"
error: cannot measure on /tmp: tmpfs is memory
hint: name a directory on a disk
"#,
    );
}

#[test]
fn hostile_words_stay_on_their_line() {
    let mut experiment = penalty();
    let evil = "a\x1b[31m\n\u{202e}b";
    experiment.title = evil.to_owned();
    experiment.arms = vec![
        arm(evil, Role::Baseline, 0, 0, u64::MAX),
        arm("shifted", Role::Shifted, u64::MAX, u64::MAX, u64::MAX),
    ];
    experiment.comparisons =
        vec![comparison("shifted", f64::NAN, f64::NEG_INFINITY, f64::INFINITY)];
    experiment.reason = evil.to_owned();
    let mut bench = Bench { experiments: vec![experiment], ..disk() };
    bench.scratch.as_mut().expect("a scratch file").place = evil.to_owned();
    bench.envelope.notes = vec![evil.to_owned()];
    check(
        &bench,
        LOOK,
        r#"
scratch: 64 MiB in a\u{1b}[31m\u{a}\u{202e}b, on sda at 1.49 TiB; 66 MiB written in all; nothing
  else is touched
a\u{1b}[31m\u{a}\u{202e}b                                        141 pairs, 1.42 s, 1.65 MiB written
                 a\u{1b}[31m\u{a}\u{202e}b   shifted
  median         0 ns                        18446744074 s
  p99            18446744074 s               18446744074 s
  mean IOPS      -                           5.42e-11
  pair by pair   ratio -, 95 % interval not known yet
Penalty: a\u{1b}[31m\u{a}\u{202e}b. Predicted from the stack: 2 reads and 2 writes of 4 KiB
  instead of 1 write.
note: a\u{1b}[31m\u{a}\u{202e}b
"#,
    );
}

#[test]
fn intervals_made_wider_for_a_table_say_how_sure_they_are_together() {
    let wide = |experiment| report::bench::Experiment { alpha: 0.05 / 3.0, ..experiment };
    let bench = Bench { experiments: vec![wide(penalty()), wide(no_penalty())], ..disk() };
    let page = plain(&table(&bench, &LOOK));
    let said = "intervals  98.33 % each: all 3 together are right with a probability of 95 %";
    assert!(page.contains(said), "{page}");
}
