//! From what was measured of an engine's pattern to the verdict in the document.

use durability::Grade;
use measure::Tail;
use measure::engine_verdict::{FEW_SHARE, Fitness, judgment};
use measure::throughput_ceiling::{Bound, Ceiling, ceilings};
use report::fsync::{EngineLimit, FsyncVerdict, Honesty};
use workload::Profile;
use workload::engine::Limit;

use super::ceiling_assumptions::Circumstances;

/// Returns whether durable writes that took `series_ns`, in their order, are fast enough for the
/// engine.
pub(crate) fn verdict(
    profile: &Profile,
    series_ns: &[u64],
    circumstances: &Circumstances,
) -> FsyncVerdict {
    let share = profile.quantile.share();
    let (tail, few) = (Tail::of(series_ns, share), Tail::of(series_ns, FEW_SHARE));
    let limit = |grade: Fitness, limit: &Limit| EngineLimit {
        grade,
        quantile_percent: profile.quantile.percent(),
        limit_ns: limit.above_ns,
        source: limit.from(),
        is_ours: limit.is_ours(),
        sentence: limit.sentence.clone(),
    };
    let asked = FsyncVerdict {
        engine: profile.name.clone(),
        title: profile.title.clone(),
        pattern: profile.pattern.sentence(),
        operation: super::row::operation(&profile.pattern),
        limits: vec![limit(Fitness::Warn, &profile.warn), limit(Fitness::Fail, &profile.fail)],
        notes: profile.notes.clone(),
        ..FsyncVerdict::default()
    };
    let Some(tail) = tail else {
        return FsyncVerdict {
            verdict: Fitness::NotEnough,
            sentence: "No durable write was measured.".to_owned(),
            next: "measure again, for longer".to_owned(),
            ..asked
        };
    };
    let judged = judgment(profile, &tail, few.as_ref());
    let bounds = ceilings(series_ns, share, &circumstances.around, circumstances.seed);
    FsyncVerdict {
        verdict: judged.fitness,
        has_rare_stalls: judged.has_rare_stalls,
        sentence: judged.sentence,
        next: judged.next,
        samples_to_settle: judged.samples_to_settle,
        quantile: Some(tail),
        few,
        ceilings: bounds.into_iter().map(shown).collect(),
        ..asked
    }
}

/// The verdict, held to whether a completed sync is real.
///
/// | grade | verdict |
/// |---|---|
/// | consistent | as it is |
/// | unproven, opaque, suspect | PASS becomes WARN; all others as they are |
/// | not durable | FAIL |
pub(crate) fn held_to(verdict: FsyncVerdict, honesty: &Honesty) -> FsyncVerdict {
    match (honesty.grade, verdict.verdict) {
        (Grade::NotDurable, _) => undone(verdict, honesty),
        (Grade::Unproven | Grade::Opaque | Grade::Suspect, Fitness::Pass) => {
            unproven(verdict, honesty)
        }
        _ => verdict,
    }
}

/// That what is fast enough counts only where a completed sync is real.
fn unproven(verdict: FsyncVerdict, honesty: &Honesty) -> FsyncVerdict {
    let (fast, open) = (&verdict.sentence, &honesty.sentence);
    FsyncVerdict {
        verdict: Fitness::Warn,
        sentence: format!("{fast} But syncs may not be real: {open}"),
        next: change(honesty).unwrap_or_else(|| "find out whether a sync is durable".to_owned()),
        ..verdict
    }
}

/// Returns what would change the grade: that of the weightiest reason stands first.
fn change(honesty: &Honesty) -> Option<String> {
    honesty.would_change.first().cloned()
}

/// The verdict on what is fast enough or not, where a completed sync is none.
fn undone(verdict: FsyncVerdict, honesty: &Honesty) -> FsyncVerdict {
    let engine = &verdict.engine;
    let next = change(honesty);
    FsyncVerdict {
        verdict: Fitness::Fail,
        not_durable: Some(honesty.sentence.clone()),
        sentence: format!(
            "{engine} would lose commits that it acknowledged, however fast they were."
        ),
        next: next.unwrap_or_else(|| "put the files where a sync is durable".to_owned()),
        samples_to_settle: None,
        ceilings: Vec::new(),
        ..verdict
    }
}

fn shown(ceiling: Ceiling) -> report::fsync::Ceiling {
    let (rate, latency_ns) = match ceiling.bound {
        Bound::PerSecond(rate) => (Some(rate).filter(|rate| rate.is_finite()), None),
        Bound::Nanoseconds(ns) => (None, Some(ns)),
    };
    report::fsync::Ceiling {
        name: ceiling.name,
        operations_per_second: rate,
        latency_ns,
        assumption: ceiling.assumption,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Look;
    use report::fsync::{Fsync, fsync_table};
    use workload::Engines;

    /// The verdict on etcd of so many writes, every hundredth of which takes `slow_ns`.
    fn etcd(number: u64, ns: u64, slow_ns: u64) -> FsyncVerdict {
        let mut random = testkit::random(71);
        let mut draw = || if random.below(50) == 0 { slow_ns } else { ns + random.below(1000) };
        let series: Vec<u64> = (0..number).map(|_| draw()).collect();
        let engines = Engines::built_in();
        let profile = engines.find("etcd").unwrap();
        verdict(profile, &series, &Circumstances::of(profile, &[], None, 1))
    }

    #[test]
    fn each_verdict_says_its_figure_its_limit_and_one_next_step() {
        let check = |seen: FsyncVerdict, verdict: Fitness, sentence: &str| {
            assert_eq!(seen.verdict, verdict);
            assert!(seen.sentence.contains(sentence), "{}", seen.sentence);
            assert!(!seen.next.is_empty() && seen.limits.len() == 2);
        };
        check(etcd(3000, 300_000, 400_000), Fitness::Pass, "Fast enough for etcd");
        check(
            etcd(3000, 12_000_000, 14_000_000),
            Fitness::Warn,
            "leader changes are likely under load",
        );
        check(etcd(3000, 150_000_000, 200_000_000), Fitness::Fail, "expect late heartbeats");
        check(etcd(3000, 300_000, 200_000_000), Fitness::Warn, "Rare stalls");
        check(etcd(300, 300_000, 400_000), Fitness::NotEnough, "Too few writes to bound");
        check(etcd(0, 1, 1), Fitness::NotEnough, "No durable write was measured");
    }

    #[test]
    fn commits_of_groups_are_reckoned_where_an_engine_has_them_or_round_trips_were_typed() {
        let engines = Engines::built_in();
        let ceilings = |name: &str, trips_ns: &[u64]| {
            let profile = engines.find(name).unwrap();
            let circumstances = Circumstances::of(profile, trips_ns, Some(7), 1);
            verdict(profile, &[100_000; 1000], &circumstances).ceilings
        };
        assert_eq!(ceilings("postgresql", &[]).len(), 2);
        assert_eq!(ceilings("etcd", &[]).len(), 6);
        let typed = ceilings("postgresql", &[300_000, 20_000_000]);
        assert_eq!(typed.len(), 4);
        assert_eq!(typed[0].operations_per_second, Some(2500.0));
        assert_eq!(typed[1].operations_per_second, Some(70_000.0));
        assert!(typed[2].latency_ns.is_some_and(|ns| (399_000..=402_000).contains(&ns)));
    }

    #[test]
    fn no_speed_is_fast_enough_where_a_sync_is_not_durable() {
        let honesty = Honesty {
            grade: Grade::NotDurable,
            sentence: "a completed sync is not durable: tmpfs is memory".to_owned(),
            would_change: vec!["keep the files on a drive".to_owned()],
            ..Honesty::default()
        };
        let seen = held_to(etcd(3000, 5_000, 6_000), &honesty);
        assert_eq!(
            (seen.verdict, seen.next.as_str()),
            (Fitness::Fail, "keep the files on a drive")
        );
        let fsync = Fsync { verdict: Some(seen), ..Fsync::default() };
        let text = fsync_table(&fsync, &Look { width: Some(100), ..Look::default() });
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.starts_with("FAIL  a completed sync is not durable: tmpfs"), "{text}");
        assert!(text.contains("would lose commits"), "{text}");
        assert!(!text.contains("Fast enough") && !text.contains("ceiling"), "{text}");
    }

    #[test]
    fn what_is_fast_enough_passes_only_where_syncs_are_seen_to_be_real() {
        let check = |grade: Grade, ns: u64, expected: Fitness| {
            let honesty = Honesty {
                grade,
                sentence: "opaque layer (fuse): no flush seen below it, unproven.".to_owned(),
                would_change: vec!["look below it".to_owned(), "cut the power".to_owned()],
                ..Honesty::default()
            };
            let seen = held_to(etcd(3000, ns, ns + 1000), &honesty);
            assert_eq!(seen.verdict, expected, "{grade:?}");
            seen
        };
        for grade in [Grade::Unproven, Grade::Opaque, Grade::Suspect] {
            let seen = check(grade, 300_000, Fitness::Warn);
            assert_eq!(seen.next, "look below it", "{grade:?}");
            let open = "Fast enough for etcd. But syncs may not be real: opaque layer";
            assert!(seen.sentence.starts_with(open), "{}", seen.sentence);
            // What is too slow is so whether a sync is real or not.
            assert!(check(grade, 12_000_000, Fitness::Warn).sentence.contains("leader changes"));
            check(grade, 150_000_000, Fitness::Fail);
        }
        assert!(check(Grade::Consistent, 300_000, Fitness::Pass).next.starts_with("nothing now;"));
        check(Grade::NotDurable, 300_000, Fitness::Fail);
    }

    #[test]
    fn the_first_screen_is_the_verdict_as_a_person_reads_it() {
        let seen = etcd(3000, 12_000_000, 14_200_000);
        let fsync = Fsync { verdict: Some(seen), ..Fsync::default() };
        let look = Look { width: Some(100), ..Look::default() };
        let text = fsync_table(&fsync, &look);
        let text = anstream::adapter::strip_str(&text).to_string();
        let expected = "\
WARN  p99 of write + fdatasync is 14.2 ms (14.2 ms to 14.2 ms); etcd wants under 10 ms
      [https://etcd.io/docs/v3.5/faq/]
      Slower than etcd wants: leader changes are likely under load; a quiet cluster will work.
next  put etcd's data directory on a drive with power-loss protection (PLP) that nothing else writes
      to
";
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("ceiling  one client that waits for each commit"), "{text}");
    }
}
