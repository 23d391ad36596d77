//! Choice among the possible outcomes of a power cut, as typed.

use drive::power::{self, Cut, Faults, Lies, UnderHead};
use units::random::Random;

use crate::arguments::{HalfWritten, Lie, Survivors};

/// Cuts at one moment where all subsets are asked for.
pub(super) const SUBSETS: u64 = 64;

/// The promises that a drive breaks.
pub(super) fn lies(lies: &[Lie]) -> Lies {
    Lies { flush: lies.contains(&Lie::Flush), fua: lies.contains(&Lie::Fua) }
}

/// A cut at 0 of such a drive, of which nothing but what is on the medium survives.
pub(super) fn cut(lies: &[Lie], half_written: HalfWritten, lost_member: Option<u16>) -> Cut {
    let protection_fails = lies.contains(&Lie::Protection);
    let under_head = match half_written {
        HalfWritten::Old => UnderHead::Old,
        HalfWritten::New => UnderHead::Completes,
        HalfWritten::Unreadable => UnderHead::Unreadable,
    };
    Cut { under_head, faults: Faults { protection_fails, lost_member }, ..Cut::at(0) }
}

/// The survivors of cut number `index`, with chances from `random`.
pub(super) fn survivors(asked: Survivors, index: u64, random: &mut Random) -> power::Survivors {
    match asked {
        Survivors::None => power::Survivors::None,
        Survivors::All => power::Survivors::All,
        Survivors::Random => power::Survivors::Random(random.next_u64()),
        Survivors::Newest => power::Survivors::Worst,
        Survivors::Prefix => power::Survivors::Prefix(random.next_u64()),
        Survivors::Enumerate => power::Survivors::Chosen(index % SUBSETS),
        Survivors::Mix => {
            let all = [
                Survivors::None,
                Survivors::All,
                Survivors::Newest,
                Survivors::Prefix,
                Survivors::Random,
                Survivors::Random,
            ];
            let one = *random.choose(&all);
            survivors(one, index, random)
        }
    }
}

/// The survivors in words.
pub(super) fn words(survivors: power::Survivors) -> String {
    match survivors {
        power::Survivors::None => "none".to_owned(),
        power::Survivors::All => "all".to_owned(),
        power::Survivors::Worst => "newest".to_owned(),
        power::Survivors::Random(_) => "random".to_owned(),
        power::Survivors::Prefix(_) => "prefix".to_owned(),
        power::Survivors::Chosen(parts) => format!("subset {parts}"),
    }
}
