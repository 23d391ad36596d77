//! Next steps for a person.

use measure::Interval;
use measure::probe::{Reading, SLOWER_ABOVE, Unidentified};

use super::{Probe, ProbeComparison};

/// Bounds of what more is advised, at least and at most, in times of what was used.
const TIMES: std::ops::Range<u8> = 2..16;
/// A budget counts as used up from this percentage on.
const USED_UP_PERCENT: u64 = 90;
/// Units that advised bytes and seconds are multiples of.
const STEP_BYTES: u64 = 256 << 20;
const STEP_SECONDS: u64 = 10;
/// The most seconds that can be typed.
const SECONDS_MAX: u64 = 86_400;

/// Returns what may help where something could not be told; `None` where nothing more is known to,
/// and of a dry run.
#[must_use]
pub fn next(probe: &Probe) -> Option<String> {
    if probe.dry_run || probe.envelope.refusal.is_some() {
        return None;
    }
    let path = &probe.target.path;
    if !probe.target.writes {
        return deeper(probe);
    }
    let (alignment, chunk) = (&probe.answers.alignment, &probe.answers.chunk);
    let is = |why: Unidentified| {
        let all = [alignment.why, probe.answers.size.why, chunk.why];
        all.contains(&Some(why))
    };
    match alignment.why {
        _ if is(Unidentified::Noise) => Some(match more(probe) {
            Some(words) => {
                format!("repeat on a quiet drive, for longer: straddle probe {path}{words}")
            }
            None => format!(
                "repeat on a quiet drive (more time or bytes would not help): straddle probe {path}"
            ),
        }),
        _ if is(Unidentified::Contradiction) => Some(
            "see each comparison with --explain, and use the value of the drive's maker".to_owned(),
        ),
        Some(Unidentified::NoSignal) => Some(format!(
            "straddle bench {path} measures what misalignment costs small writes here; probe a \
             virtual disk on its host; meanwhile 4 KiB (ashift=12) and starts at multiples of 1 \
             MiB \
             suit nearly every drive"
        )),
        _ => deeper(probe),
    }
}

/// More time, where the depth alone was not settled in what there was.
fn deeper(probe: &Probe) -> Option<String> {
    let spent = &probe.spent;
    let is_open = probe.answers.depth.why == Some(Unidentified::Noise);
    let seconds = spent.seconds_max.saturating_mul(TIMES.start.into()).min(SECONDS_MAX);
    (is_open && seconds > spent.seconds_max).then(|| {
        let path = &probe.target.path;
        format!("for the depth, with more time: straddle probe {path} --seconds {seconds}")
    })
}

/// The bounds to type so that what is open may be settled, by how far each interval is from that;
/// `None` where neither bound was what ended it.
fn more(probe: &Probe) -> Option<String> {
    let spent = &probe.spent;
    let seconds = probe.elapsed_ns.div_ceil(1_000_000_000);
    let is_used_up =
        |used: u64, most: u64| used.saturating_mul(100) >= most.saturating_mul(USED_UP_PERCENT);
    if !is_used_up(spent.written_bytes, spent.bytes_max) && !is_used_up(seconds, spent.seconds_max)
    {
        return None;
    }
    let open = probe.comparisons.iter().filter(|one| one.reading == Reading::Open);
    let wanted = open.filter_map(wanting).fold(0.0, f64::max);
    let times = TIMES.clone().find(|times| f64::from(*times) >= wanted).unwrap_or(TIMES.end);
    let bytes = spent.written_bytes.saturating_mul(times.into());
    let bytes = bytes.checked_next_multiple_of(STEP_BYTES).unwrap_or(bytes);
    let seconds = seconds.saturating_mul(times.into());
    let seconds = seconds.min(SECONDS_MAX).next_multiple_of(STEP_SECONDS);
    let mut words = String::new();
    if bytes > spent.bytes_max {
        words += &format!(" --bytes-max {}M", bytes >> 20);
    }
    if seconds > spent.seconds_max {
        words += &format!(" --seconds {seconds}");
    }
    (!words.is_empty()).then_some(words)
}

/// Returns how many times as many blocks it takes until the interval of `one` leaves the bound
/// where it counts as slower: it narrows with the root of their number. `None` where it has no
/// ends, and of two arms that are the same.
fn wanting(one: &ProbeComparison) -> Option<f64> {
    let Interval { ratio, low, high } = one.interval;
    if !ratio.is_finite() || !high.is_finite() || low <= 0.0 || one.arm == one.against {
        return None;
    }
    let half = (high / low).ln() / 2.0;
    let away = (ratio / SLOWER_ABOVE).ln().abs();
    (away > 0.0).then(|| (half / away).powi(2))
}

#[cfg(test)]
mod tests {
    use measure::probe::PanelKind;

    use super::super::{Answers, FoundAlignment, ProbeTarget, Spent};
    use super::*;

    fn probe(alignment: Option<Unidentified>, chunk: Unidentified, writes: bool) -> Probe {
        let mut answers = Answers::not_tried("a test");
        answers.alignment.why = alignment;
        if alignment.is_none() {
            answers.alignment.value = Some(FoundAlignment { bytes: 4096, origin_bytes: 0 });
        }
        answers.chunk.why = Some(chunk);
        let target = ProbeTarget { path: "/data".to_owned(), writes, ..ProbeTarget::default() };
        Probe {
            envelope: Default::default(),
            seed: 1,
            elapsed_ns: 20_000_000_000,
            dry_run: false,
            target,
            spent: Spent {
                bytes_max: 768 << 20,
                written_bytes: 760 << 20,
                seconds_max: 60,
                ..Spent::default()
            },
            answers,
            reported: Default::default(),
            comparisons: Vec::new(),
            tools: Vec::new(),
            kept: Default::default(),
        }
    }

    #[test]
    fn what_may_help_follows_from_why_it_cannot_be_told() {
        let said = |alignment, chunk| next(&probe(alignment, chunk, true)).unwrap_or_default();
        assert!(
            said(Some(Unidentified::Noise), Unidentified::NoSignal).contains("--bytes-max 1536M")
        );
        assert!(said(None, Unidentified::Noise).contains("straddle probe /data --bytes-max"));
        assert!(
            said(Some(Unidentified::Contradiction), Unidentified::NoSignal).contains("--explain")
        );
        assert!(
            said(Some(Unidentified::NoSignal), Unidentified::NoSignal)
                .contains("straddle bench /data")
        );
        assert_eq!(said(None, Unidentified::NoSignal), "");
        assert_eq!(
            next(&probe(Some(Unidentified::NotTried), Unidentified::Noise, false)),
            None,
            "a note says it"
        );
    }

    #[test]
    fn a_depth_that_was_not_settled_wants_more_time() {
        for (alignment, writes) in [(None, true), (Some(Unidentified::NotTried), false)] {
            let mut probe = probe(alignment, Unidentified::NoSignal, writes);
            probe.answers.depth.why = Some(Unidentified::Noise);
            let wanted = "for the depth, with more time: straddle probe /data --seconds 120";
            assert_eq!(next(&probe).as_deref(), Some(wanted));
            probe.spent.seconds_max = SECONDS_MAX;
            assert_eq!(next(&probe), None, "more cannot be typed");
        }
    }

    #[test]
    fn how_much_more_follows_from_what_was_used_and_how_open_it_is() {
        let mut probe = probe(Some(Unidentified::Noise), Unidentified::NoSignal, true);
        probe.comparisons = vec![ProbeComparison {
            panel: PanelKind::Alignment,
            arm: "shifted".to_owned(),
            against: "aligned".to_owned(),
            interval: Interval { ratio: 1.3, low: 1.3 / 1.17, high: 1.3 * 1.17 },
            blocks: 100,
            reading: Reading::Open,
        }];
        // (ln 1.17 / ln (1.3 / 1.2))² is 3.85: four times 760 MiB, and four times 20 s.
        assert_eq!(more(&probe).as_deref(), Some(" --bytes-max 3072M --seconds 80"));
        probe.spent.written_bytes = 300 << 20;
        assert_eq!(more(&probe), None, "neither was used up");
        probe.elapsed_ns = 59_500_000_000;
        assert_eq!(more(&probe).as_deref(), Some(" --bytes-max 1280M --seconds 240"));
        let said = next(&probe).unwrap();
        assert!(said.ends_with("straddle probe /data --bytes-max 1280M --seconds 240"), "{said}");
    }
}
