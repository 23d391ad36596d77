//! Facts in a profile that a probe may find of its drive.

use anyhow::Context as _;
use drive::profile::{DriveKind, DriveProfile};
use measure::probe::depth::DEPTH_MAX;
use measure::probe::{Alignment, Depth};

/// Questions of a probe, in the order of the table.
pub(super) const ASKED: [&str; 7] =
    ["alignment", "size", "turn", "policy", "chunk", "members", "depth"];

/// Facts that may be found; of those that are `None` nothing may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// Place where writes must start.
    pub(super) alignment: Option<Alignment>,
    /// Of what their lengths must be multiples.
    pub(super) size_bytes: Option<u64>,
    /// The chunk and the members that reads go round.
    pub(super) stripe: Option<(u64, u64)>,
    /// Number of reads in flight at once.
    pub(super) depth: Option<Depth>,
    /// The shortest and the longest turn of what turns there, in nanoseconds.
    pub(super) turn_ns: Option<(u64, u64)>,
    /// Number of turns a misaligned write takes.
    pub(super) turns: Option<u8>,
    /// True if a write that is not aligned costs anything at all.
    pub(super) has_penalty: bool,
}

/// The words of `rmw` in a hard disk's profile, in their order, in turns.
const POLICY_TURNS: [u8; 4] = [1, 2, 3, 4];
const MINUTE_NS: u64 = 60_000_000_000;
/// The places of the words of `level` in an array's profile.
const RAID0: u64 = 0;
const RAID1: u64 = 1;
const RAID10: u64 = 2;
const RAID5: u64 = 4;
/// The place of the word of `scheduler` in a hard disk's profile by which it chooses what is next.
const NEAREST: u64 = 1;

impl Truth {
    /// Returns what `profile` says of its drive.
    ///
    /// # Errors
    /// When it lacks a value, or is made of a drive that is not built in.
    pub(super) fn of(profile: &DriveProfile) -> anyhow::Result<Truth> {
        match profile.kind {
            DriveKind::HardDisk => hard_disk(profile),
            DriveKind::Flash => flash(profile),
            // Their units are below a sector.
            DriveKind::Memory | DriveKind::Cloud => Ok(Truth::default()),
            DriveKind::Array => array(profile),
            DriveKind::Controller => controller(profile),
        }
    }

    /// Returns whether each of [`ASKED`] may be found.
    pub(super) fn may(&self) -> [bool; ASKED.len()] {
        [
            self.alignment.is_some(),
            self.size_bytes.is_some(),
            self.turn_ns.is_some(),
            self.turns.is_some(),
            self.stripe.is_some(),
            self.stripe.is_some(),
            self.depth.is_some(),
        ]
    }

    /// A granule of `bytes` from `origin_bytes` on; none where it is a sector.
    fn granule(self, sector_bytes: u64, bytes: u64, origin_bytes: u64) -> Truth {
        if bytes <= sector_bytes {
            return self;
        }
        let alignment = Some(Alignment { bytes, origin_bytes });
        Truth { alignment, size_bytes: Some(bytes), has_penalty: true, ..self }
    }
}

fn amount(profile: &DriveProfile, key: &str) -> anyhow::Result<u64> {
    profile.amount(key).with_context(|| format!("{} has no {key}", profile.name))
}

fn hard_disk(profile: &DriveProfile) -> anyhow::Result<Truth> {
    let of = |key| amount(profile, key);
    let turn_ns = MINUTE_NS / of("rpm")?;
    let (logical, physical) = (of("logical_sector")?, of("physical_sector")?);
    let policy = usize::try_from(of("rmw")?)?;
    let reads = of("depth")?;
    // One that keeps to the order does not show how many it has, nor does one as deep as the queue.
    let shows = of("scheduler")? == NEAREST && (2..=DEPTH_MAX).contains(&reads);
    let plain = Truth {
        turn_ns: Some((turn_ns, turn_ns)),
        depth: shows.then_some(Depth { reads, is_of_member: false }),
        ..Truth::default()
    };
    let turns = POLICY_TURNS[policy];
    Ok(match turns > 1 {
        true if physical > logical => {
            let found = plain.granule(logical, physical, of("origin")?);
            Truth { turns: Some(turns), ..found }
        }
        _ => plain,
    })
}

fn flash(profile: &DriveProfile) -> anyhow::Result<Truth> {
    let of = |key| amount(profile, key);
    Ok(Truth::default().granule(of("logical_sector")?, of("unit")?, of("origin")?))
}

fn member(profile: &DriveProfile) -> anyhow::Result<&DriveProfile> {
    profile.member.as_deref().context("an array has a member")
}

/// Its members' granule, at which the chunks start; and the way round them.
fn array(profile: &DriveProfile) -> anyhow::Result<Truth> {
    let of = |key| amount(profile, key);
    let inner = member(profile)?;
    let own = Truth::of(inner)?;
    let (level, members, chunk) = (of("level")?, of("members")?, of("chunk")?);
    let round = match level {
        RAID1 => None,
        RAID10 => Some(members / of("copies")?),
        _ => Some(members),
    };
    // Each member turns a little faster than the one before.
    let fastest =
        inner.amount("rpm").map(|rpm| Ok::<_, anyhow::Error>(rpm + of("drift")? * members));
    let least_ns = fastest.transpose()?.map(|rpm| MINUTE_NS / rpm);
    let is_parity = ![RAID0, RAID1, RAID10].contains(&level);
    let stripe = round.filter(|round| *round > 1).map(|round| (chunk, round));
    // With one parity or none each chunk of so many lies on one member, whose queue is seen.
    let is_one = stripe.is_some() && [RAID0, RAID5].contains(&level);
    Ok(Truth {
        stripe,
        depth: own.depth.filter(|_| is_one).map(|own| Depth { is_of_member: true, ..own }),
        turn_ns: own.turn_ns.zip(least_ns).map(|((_, most), least)| (least, most)),
        // A write reads parity before it writes: that is more turns, and not those of a sector.
        turns: own.turns.filter(|_| !is_parity),
        has_penalty: own.has_penalty || is_parity,
        ..own
    })
}

/// Returns what lies below its cache is seen by reads alone.
fn controller(profile: &DriveProfile) -> anyhow::Result<Truth> {
    let below = Truth::of(member(profile)?)?;
    Ok(Truth { stripe: below.stripe, depth: below.depth, ..Truth::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench;

    fn of(name: &str) -> Truth {
        Truth::of(bench::models::profile(name).unwrap()).expect("it says all")
    }

    #[test]
    fn what_may_be_found_follows_from_the_profile() {
        let disk = of("hdd-7200-512e");
        assert_eq!(disk.alignment, Some(Alignment { bytes: 4096, origin_bytes: 0 }));
        assert_eq!((disk.turn_ns, disk.turns), (Some((8_333_333, 8_333_333)), Some(3)));
        assert_eq!(disk.depth, Some(Depth { reads: 32, is_of_member: false }));
        assert_eq!(of("raid5-5x64k").depth, Some(Depth { reads: 32, is_of_member: true }));
        assert_eq!(of("raid6-6x64k").depth, None, "its chunks do not go round");
        assert_eq!(of("hdd-7200-512n").alignment, None);
        assert_eq!(of("optane-p4800x"), Truth::default());
        // Its sectors are its units.
        assert_eq!(of("cloud-nvme-2019"), Truth::default());
        assert_eq!(of("raid5-5x64k").stripe, Some((65_536, 5)));
        assert_eq!((of("raid5-bbu").alignment, of("raid5-bbu").has_penalty), (None, false));
    }
}
