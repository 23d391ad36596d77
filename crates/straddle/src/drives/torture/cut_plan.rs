//! The power cuts of a recording: when, and what survives. The seed and a number decide each.

use drive::CommandKind;
use drive::power::{Aftermath, Cut, CutFault, OracleJudgment, judge};
use serve::Recording;
use units::random::Random;

use super::super::cut_policy;
use crate::arguments::{CutPolicy, Lie, Survivors};
use crate::drives::recorded_drive::LoggedDrive;

/// The cuts of a recording.
pub(super) struct CutPlan<'a> {
    policy: &'a CutPolicy,
    /// When writes, flushes and discards were sent and lines were read, in order, and the end.
    times_ns: Vec<u64>,
    cut: Cut,
}

impl<'a> CutPlan<'a> {
    /// The cuts of `recording`, of a drive that lies so.
    pub(super) fn new(policy: &'a CutPolicy, recording: &Recording, lies: &[Lie]) -> CutPlan<'a> {
        let changing = recording.commands().iter();
        let changing = changing.filter(|one| one.command.action != CommandKind::Read);
        let lines = recording.lines().iter().map(|line| line.at_ns);
        let mut times_ns: Vec<u64> = changing.map(|one| one.at_ns).chain(lines).collect();
        times_ns.sort_unstable();
        times_ns.push(recording.end_ns());
        let cut = cut_policy::cut(lies, policy.half_written, policy.lost_member);
        CutPlan { policy, times_ns, cut }
    }

    /// Cut number `index`; without one, at the end of the recording.
    pub(super) fn cut(&self, index: Option<u32>) -> Cut {
        let number = u64::from(index.unwrap_or(0));
        let random = |number: u64| {
            Random::new(self.policy.seed.rotate_left(32) ^ number.wrapping_mul(0x9e37_79b9))
        };
        // All subsets are those of one moment.
        let moment = match self.policy.survivors {
            Survivors::Enumerate => number / cut_policy::SUBSETS,
            _ => number,
        };
        let mut random = random(moment);
        let at_ns = match index {
            Some(_) => self.moment(&mut random),
            None => self.times_ns.last().copied().unwrap_or(0),
        };
        let survivors = cut_policy::survivors(self.policy.survivors, number, &mut random);
        Cut { at_ns, survivors, ..self.cut }
    }

    /// A time between two of them in order, each pair as likely as any other: a drive that idles
    /// for an hour and one that is busy are cut as often while something is under way.
    fn moment(&self, random: &mut Random) -> u64 {
        let last = self.times_ns.len() - 1;
        let place = usize::try_from(random.below(last as u64)).unwrap_or(0);
        let [from, to] = [place, (place + 1).min(last)].map(|place| self.times_ns[place]);
        from + random.below((to - from).saturating_add(1))
    }
}

/// Returns what the drive holds after `cut`, and the oracle's judgment of it.
///
/// # Errors
/// When the drive cannot be cut so.
pub(super) fn after(
    model: &LoggedDrive,
    cut: &Cut,
) -> Result<(Aftermath, OracleJudgment), CutFault> {
    let after = model.cut(cut)?;
    let judged = judge(model.log(), &after)?;
    Ok((after, judged))
}
