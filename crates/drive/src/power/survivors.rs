//! Writes that may have got to the medium besides: in the cache and in flight, not yet superseded.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use units::random::Random;

use super::medium_log::Arrived;
use super::replay::Medium;
use super::sectors::{Units, common};
use super::{Aftermath, Cut, CutFault, HostLog, MediumLog, SectorContent, Survivors};

/// The most units of which [`Outcomes`] leaves open what they hold.
pub const UNITS_MAX: usize = 256;
/// The most writes that compete for such a unit.
pub const UNIT_WRITES_MAX: usize = 8;

/// The part of a write that is in one unit: it is written whole or not at all.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// Its place among all that arrived, from 1.
    order: usize,
    /// The write.
    number: usize,
    /// The unit.
    unit: u64,
    /// Its sectors.
    lbas: Range<u64>,
    /// True if it survives in any case.
    is_kept: bool,
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
pub(super) fn atoms(
    host: &HostLog,
    medium: &MediumLog,
    cut: &Cut,
    at: &Medium,
    tear: Units,
) -> Vec<Atom> {
    let (sectors, physical) = (medium.sectors(), medium.sectors().physical());
    let mut atoms = Vec::new();
    for (place, (at_ns, arrived)) in medium.arrivals().iter().enumerate() {
        let (number, is_cached) = match *arrived {
            Arrived::Cached(number) => (number, true),
            Arrived::Through(number) => (number, false),
            Arrived::Dropped(_) => continue,
        };
        if *at_ns > cut.drive_ns() {
            continue;
        }
        let lbas = sectors.lbas(host.writes()[number].range);
        for unit in tear.touched(&lbas) {
            let lbas = common(&tear.lbas(unit), &lbas);
            let is_kept = is_cached && cut.is_non_volatile;
            let atom = Atom { order: place + 1, number, unit, lbas, is_kept };
            if !at.is_decided(physical.of(atom.lbas.start)) && !atom.patch(at).is_empty() {
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
        Survivors::Random(seed) => seed,
        _ => 0,
    });
    let (mut writes, mut order) = (0, 0);
    let survives = |atom: &Atom| {
        writes += usize::from(atom.order != order);
        order = atom.order;
        let is_chosen = match policy {
            Survivors::None => false,
            Survivors::All => true,
            Survivors::Prefix(count) => writes <= count,
            Survivors::Random(_) => chance.below(2) == 1,
            Survivors::Worst => newest == Some(atom.order),
        };
        is_chosen || atom.is_kept
    };
    atoms.iter().map(survives).collect()
}

/// Possible contents of a unit: of each the sectors that are not as the medium has them.
type Patches = Vec<Vec<(u64, SectorContent)>>;

/// All that a drive can hold after a cut, each once.
#[derive(Clone, Debug)]
pub struct Outcomes {
    at_ns: u64,
    base: BTreeMap<u64, SectorContent>,
    units: Vec<Patches>,
    /// The next possibility of each unit; `None` when all were visited.
    next: Option<Vec<usize>>,
    only: Option<Aftermath>,
}

impl Outcomes {
    /// One outcome.
    pub(super) fn one(aftermath: Aftermath) -> Outcomes {
        Outcomes {
            at_ns: aftermath.at_ns,
            base: BTreeMap::new(),
            units: Vec::new(),
            next: Some(Vec::new()),
            only: Some(aftermath),
        }
    }

    /// All that `atoms` can make of the medium.
    pub(super) fn new(at_ns: u64, at: &Medium, atoms: &[Atom]) -> Result<Outcomes, CutFault> {
        let mut by_unit: BTreeMap<u64, Vec<&Atom>> = BTreeMap::new();
        for atom in atoms {
            by_unit.entry(atom.unit).or_default().push(atom);
        }
        let writes = by_unit.values().map(Vec::len).max().unwrap_or(0);
        if by_unit.len() > UNITS_MAX || writes > UNIT_WRITES_MAX {
            return Err(CutFault::TooMany { units: by_unit.len(), writes });
        }
        let units: Vec<Patches> = by_unit.values().map(|atoms| patches(at, atoms)).collect();
        let next = Some(vec![0; units.len()]);
        Ok(Outcomes { at_ns, base: at.held().collect(), units, next, only: None })
    }

    /// Returns how many outcomes there are in all; `None` when they are more than `u64::MAX`.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.units
            .iter()
            .try_fold(1_u64, |total, patches| total.checked_mul(u64::try_from(patches.len()).ok()?))
    }
}

/// The different things that the atoms of one unit can make of it.
fn patches(at: &Medium, atoms: &[&Atom]) -> Patches {
    let mut seen: BTreeSet<Vec<(u64, SectorContent)>> = BTreeSet::new();
    for mask in 0_u32..1 << atoms.len() {
        let is_in = |place: usize| mask & (1 << place) != 0;
        if atoms.iter().enumerate().any(|(place, atom)| atom.is_kept && !is_in(place)) {
            continue;
        }
        let mut patch = BTreeMap::new();
        for (place, atom) in atoms.iter().enumerate() {
            if is_in(place) {
                patch.extend(atom.patch(at));
            }
        }
        seen.insert(patch.into_iter().collect());
    }
    seen.into_iter().collect()
}

impl Iterator for Outcomes {
    type Item = Aftermath;

    fn next(&mut self) -> Option<Aftermath> {
        let mut places = self.next.take()?;
        if let Some(only) = self.only.take() {
            return Some(only);
        }
        let mut sectors = self.base.clone();
        for (patches, place) in self.units.iter().zip(&places) {
            sectors.extend(patches[*place].iter().copied());
        }
        // The next number, whose digits count the possibilities of each unit.
        for (place, patches) in places.iter_mut().zip(&self.units) {
            *place += 1;
            if *place < patches.len() {
                self.next = Some(places);
                break;
            }
            *place = 0;
        }
        Some(Aftermath::new(self.at_ns, sectors))
    }
}
