//! Writes that may have got to the medium besides: in the cache and in flight, not yet superseded.

use std::ops::Range;

use units::random::Random;

use super::medium_log::Arrived;
use super::replay::Medium;
use super::sectors::common;
use super::{Cut, HostLog, MediumLog, SectorContent, Survivors};

/// The part of a write that is in one physical sector: it is written whole or not at all.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// Its place among all that arrived, from 1.
    order: usize,
    /// The write.
    number: usize,
    /// Its sectors.
    lbas: Range<u64>,
    /// True if it survives in any case.
    is_kept: bool,
    /// True if it survives only with all others of its write.
    is_untorn: bool,
}

impl Atom {
    /// Returns what it makes of the medium where it survives.
    pub(super) fn patch(&self, at: &Medium) -> Vec<(u64, SectorContent)> {
        // Writes are in the order in which they came, so the newest survivor is written last.
        let is_open = |lba: &u64| at.cell(*lba).is_some_and(|cell| cell.settled < self.order);
        self.lbas
            .clone()
            .filter(is_open)
            .map(|lba| (lba, SectorContent::Write(self.number)))
            .collect()
    }
}

/// All that is open, by order and place.
pub(super) fn atoms(host: &HostLog, medium: &MediumLog, cut: &Cut, at: &Medium) -> Vec<Atom> {
    let (sectors, physical) = (medium.sectors(), medium.sectors().physical());
    let mut atoms = Vec::new();
    for (place, (at_ns, arrived)) in medium.arrivals().iter().enumerate() {
        let (number, is_cached) = match *arrived {
            Arrived::Cached(number) => (number, true),
            Arrived::Through(number) => (number, false),
            Arrived::Dropped(_) => continue,
        };
        if *at_ns > cut.at_ns {
            continue;
        }
        let range = host.writes()[number].range;
        let lbas = sectors.lbas(range);
        let is_untorn = range.length_bytes() <= cut.untorn_bytes;
        let is_here =
            |lba| at.cell(lba).is_some_and(|cell| cell.held == SectorContent::Write(number));
        let has_begun = is_untorn && lbas.clone().any(is_here);
        for unit in physical.touched(&lbas) {
            let lbas = common(&physical.lbas(unit), &lbas);
            let is_kept = has_begun || is_cached && cut.is_non_volatile;
            let atom = Atom { order: place + 1, number, lbas, is_kept, is_untorn };
            if !at.is_decided(unit) && !atom.patch(at).is_empty() {
                atoms.push(atom);
            }
        }
    }
    atoms
}

/// Marks the `atoms` that survive by `policy`.
pub(super) fn chosen(atoms: &[Atom], policy: Survivors) -> Vec<bool> {
    let newest = atoms.last().map(|atom| atom.order);
    let mut chance = Random::new(match policy {
        Survivors::Random(seed) | Survivors::Prefix(seed) => seed,
        _ => 0,
    });
    let first = match policy {
        Survivors::Prefix(_) => chance.below(atoms.len() as u64 + 1),
        _ => 0,
    };
    // The write whose parts were asked last, and whether it survives.
    let mut whole = (0, false);
    let survives = |(place, atom): (usize, &Atom)| {
        let is_chosen = match policy {
            Survivors::None => false,
            Survivors::All => true,
            Survivors::Chosen(parts) => place < 64 && parts >> place & 1 == 1,
            Survivors::Random(_) | Survivors::Prefix(_)
                if atom.is_untorn && whole.0 == atom.order =>
            {
                whole.1
            }
            Survivors::Random(_) => chance.below(2) == 1,
            Survivors::Prefix(_) => (place as u64) < first,
            Survivors::Worst => newest == Some(atom.order),
        };
        whole = (atom.order, is_chosen);
        is_chosen || atom.is_kept
    };
    atoms.iter().enumerate().map(survives).collect()
}
