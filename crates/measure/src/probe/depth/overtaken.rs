//! Counts of reads by how many others they overtook, and the depth that follows. Pure.

use super::super::answer::{Estimate, Unidentified};
use super::super::operations::EndedRead;
use units::number::{real, wide};

/// The largest depth that is found: at the smaller of the two depths, a quarter must wait.
pub const DEPTH_MAX: u64 = 48;
/// The largest number is overtaken as often as the mean of all, or so many times more rarely.
const UNEVEN: f64 = 3.0;
/// Of a hundred reads, the least that must end alone.
const ALONE_PERCENT: u64 = 50;

/// Reads that were kept at a depth, by how many others they overtook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Overtaken {
    depth: u16,
    reads: Vec<u64>,
    /// Those that were told to have ended with others: their order is not sure.
    together: u64,
}

impl Overtaken {
    /// No reads yet, that will be kept at this depth.
    pub(super) fn new(depth: u16) -> Overtaken {
        Overtaken { depth, reads: vec![0; depth.into()], together: 0 }
    }

    /// The depth at which they are kept.
    pub(super) fn depth(&self) -> u16 {
        self.depth
    }

    /// Takes a read that has ended.
    pub(super) fn add(&mut self, read: EndedRead) {
        match read.together {
            1 => self.reads[read.overtaken] += 1,
            _ => self.together += 1,
        }
    }

    /// Returns how many ended alone.
    fn alone(&self) -> u64 {
        self.reads.iter().sum()
    }

    /// The most that were overtaken, and how often.
    fn edge(&self) -> Option<(u64, u64)> {
        let place = self.reads.iter().rposition(|reads| *reads > 0)?;
        Some((wide(place), self.reads[place]))
    }

    /// Returns whether the most are overtaken about as often as any other number.
    fn is_even(&self) -> bool {
        self.edge().is_some_and(|(most, reads)| {
            real(reads) * real(most + 1) * UNEVEN >= real(self.alone())
        })
    }
}

/// Returns what reads at both depths say, where the edge must be sure up to `alpha`; `None` where
/// more of them may say more.
pub(super) fn answer(seen: &[Overtaken; 2], alpha: f64) -> Option<Estimate<u64>> {
    if let Some((why, reason)) = refusal(seen) {
        return Some(Estimate::not(why, reason));
    }
    let wanted = UNEVEN * (2.0 / alpha).ln();
    let (most, _) = seen[0].edge()?;
    let is_sure = seen.iter().all(|one| one.edge().is_some_and(|(_, reads)| real(reads) >= wanted));
    is_sure.then(|| Estimate::Found { value: most + 1, alpha, said_by: said_by(seen, most) })
}

/// Why there is no edge, or none that both depths show; `None` where there may be one.
fn refusal(seen: &[Overtaken; 2]) -> Option<(Unidentified, String)> {
    let no_signal = |reason: String| Some((Unidentified::NoSignal, reason));
    let are_alone =
        |one: &Overtaken| one.alone() * 100 >= (one.alone() + one.together) * ALONE_PERCENT;
    if !seen.iter().all(are_alone) {
        return no_signal(
            "the drive completes most reads in groups, which hides their order".to_owned(),
        );
    }
    let [few, many] = seen.each_ref().map(Overtaken::edge);
    let ((few, _), (many, _)) = few.zip(many)?;
    match () {
        () if few == 0 || many == 0 => no_signal(
            "reads end in the order in which they were submitted: how many the drive has at once \
             does not show"
                .to_owned(),
        ),
        () if few >= DEPTH_MAX => no_signal(format!(
            "of {} in flight reads overtake up to {few}: the drive has more than {DEPTH_MAX} at \
             once, there are several, or what waits does so in the kernel, which keeps no order \
             and sends as many as device/queue_depth says",
            seen[0].depth
        )),
        () if !seen.iter().all(Overtaken::is_even) => no_signal(format!(
            "reads overtake {few} others at most, and many the more rarely: things are done side \
             by side, as by the dies of flash, and how many does not show"
        )),
        () if few != many => Some((
            Unidentified::Contradiction,
            format!(
                "with {} in flight reads overtake up to {few} others, and with {} up to {many}: \
                 there is more than one queue",
                seen[0].depth, seen[1].depth
            ),
        )),
        () => None,
    }
}

/// That too few overtook the most, however many were made.
pub(super) fn unsure<T>(seen: &[Overtaken; 2]) -> Estimate<T> {
    let reads: u64 = seen.iter().map(|one| one.alone() + one.together).sum();
    let reason =
        format!("of {reads} reads too few overtook the most to be sure that none overtakes more");
    Estimate::not(Unidentified::Noise, reason)
}

fn said_by(seen: &[Overtaken; 2], most: u64) -> String {
    let of = |one: &Overtaken| {
        let reads = one.edge().map_or(0, |(_, reads)| reads);
        format!("of {} reads with {} in flight {reads}", one.alone(), one.depth)
    };
    format!(
        "{}, and {}, ended before {most} that were submitted earlier, about as many as before any \
         smaller number of them, and none before more",
        of(&seen[0]),
        of(&seen[1])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALPHA: f64 = 1e-4;

    /// Reads at both depths, so many of which overtook each number of others.
    fn seen(few: &[u64], many: &[u64]) -> [Overtaken; 2] {
        [(64, few), (128, many)].map(|(depth, reads)| {
            let mut one = Overtaken::new(depth);
            one.reads[..reads.len()].copy_from_slice(reads);
            one
        })
    }

    fn why(seen: &[Overtaken; 2]) -> Option<Unidentified> {
        answer(seen, ALPHA).and_then(|answer| answer.why())
    }

    #[test]
    fn an_even_edge_that_both_depths_show_is_the_depth() {
        let found = answer(&seen(&[40; 32], &[35; 32]), ALPHA).unwrap();
        assert_eq!(found.value(), Some(&32));
        let Estimate::Found { said_by, .. } = found else { panic!("it was found") };
        assert!(
            said_by.starts_with("of 1280 reads with 64 in flight 40, and of 1120"),
            "{said_by}"
        );
    }

    #[test]
    fn an_edge_of_few_reads_waits_for_more() {
        assert_eq!(answer(&seen(&[20; 32], &[40; 32]), ALPHA), None);
        assert_eq!(unsure::<u64>(&seen(&[20; 32], &[40; 32])).why(), Some(Unidentified::Noise));
    }

    #[test]
    fn what_has_no_edge_or_two_is_nothing() {
        assert_eq!(why(&seen(&[1024], &[1024])), Some(Unidentified::NoSignal), "in order");
        assert_eq!(why(&seen(&[40; 49], &[40; 49])), Some(Unidentified::NoSignal), "too deep");
        let tail = [4000, 2000, 1000, 500, 100];
        assert_eq!(why(&seen(&tail, &tail)), Some(Unidentified::NoSignal), "a tail");
        assert_eq!(why(&seen(&[40; 32], &[40; 48])), Some(Unidentified::Contradiction));
        // A throttle that lets through one in each interval, of which few overtake the one before.
        assert_eq!(why(&seen(&[1000, 60], &[1000, 60])), Some(Unidentified::NoSignal));
    }

    #[test]
    fn reads_that_end_together_have_no_order() {
        let mut both = seen(&[40; 32], &[40; 32]);
        for _ in 0..1281 {
            both[0].add(EndedRead { latency_ns: 1, overtaken: 0, together: 2 });
        }
        assert_eq!(why(&both), Some(Unidentified::NoSignal));
    }
}
