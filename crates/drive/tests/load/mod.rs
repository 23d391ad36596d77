//! A host that keeps so many commands in flight, and what it saw.

use drive::{Action, Command, Done, Model};

/// What a host saw.
pub(crate) struct Seen {
    /// When the last command ended, or was known to end.
    pub(crate) end_ns: u64,
    /// How long each took, in the order in which they ended.
    pub(crate) took_ns: Vec<u64>,
}

impl Seen {
    /// Commands in a second of simulated time.
    pub(crate) fn per_second(&self) -> u64 {
        self.took_ns.len() as u64 * 1_000_000_000 / self.end_ns
    }
}

pub(crate) const WRITE: Action = Action::Write { fua: false };

/// A command without a name.
pub(crate) fn command(action: Action, offset_bytes: u64, length_bytes: u64) -> Command {
    Command { id: 0, action, offset_bytes, length_bytes }
}

/// Gives `model` `count` commands, of which `next` names each for its slot and number; each slot of
/// `depth` has one in flight.
///
/// # Panics
/// When a command fails, ends before it began or twice, or when time runs backward.
pub(crate) fn drive(
    model: &mut impl Model,
    depth: u64,
    count: u64,
    mut next: impl FnMut(u64, u64) -> Command,
) -> Seen {
    let index = |slot: u64| usize::try_from(slot).expect("slots are few");
    let mut begun_ns = vec![None; index(depth)];
    let (mut number, mut now_ns) = (0, 0);
    let mut seen = Seen { end_ns: 0, took_ns: Vec::new() };
    let mut done: Vec<Done> = Vec::new();
    let mut free: Vec<u64> = (0..depth).rev().collect();
    while (seen.took_ns.len() as u64) < count {
        while number < count
            && let Some(slot) = free.pop()
        {
            begun_ns[index(slot)] = Some(now_ns);
            model.submit(Command { id: slot, ..next(slot, number) }, now_ns, &mut done);
            number += 1;
        }
        if done.is_empty() {
            now_ns = model.next_ns().expect("a command is in flight");
            model.advance(now_ns, &mut done);
        }
        for done in done.drain(..) {
            assert_eq!(done.outcome, Ok(()));
            assert!(done.at_ns >= seen.end_ns, "backward: {done:?} after {}", seen.end_ns);
            let begun_ns = begun_ns[index(done.id)].take();
            seen.took_ns.push(done.at_ns - begun_ns.expect("it ends once"));
            seen.end_ns = done.at_ns;
            free.push(done.id);
        }
    }
    seen
}
