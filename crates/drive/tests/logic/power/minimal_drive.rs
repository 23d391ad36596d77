//! A drive that does no more than it promised: commands come in in any order, a flush puts on the
//! medium what was acknowledged before it was sent and nothing besides. A real drive does more, and
//! would hide a rule that asks for too much.

use std::collections::{BTreeMap, BTreeSet};

use drive::power::{
    Cut, Data, HostLog, HostPromises, MediumLog, MediumPass, Sectors, Survivors, UnderHead, cut,
    judge,
};
use units::ByteRange;
use units::random::Random;

const SECTORS: Sectors = Sectors { logical_bytes: 512, physical_bytes: 2048, origin_bytes: 512 };
const LBAS: u64 = 24;

/// Way in which the drive fails its promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breach {
    None,
    /// A flush forgets one of the sectors that it covers.
    FlushForgetsOne,
    /// A flush forgets what was acknowledged last before it.
    FlushForgetsNewest,
    /// A flush puts nothing on the medium.
    FlushDoesNothing,
    /// A forced write stays in the cache.
    FuaIsCached,
    /// A forced write leaves older data of its bytes in the cache, which is put over it.
    FuaIsOverwritten,
}

/// A write in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    number: usize,
    id: u64,
    is_through: bool,
    has_arrived: bool,
}

struct Letter {
    breach: Breach,
    random: Random,
    host: HostLog,
    medium: MediumLog,
    now_ns: u64,
    flying: Vec<Flying>,
    /// Sectors in the cache, with the newest write.
    dirty: BTreeMap<u64, usize>,
    /// Sectors of which acknowledged data is not on the medium.
    owed: BTreeSet<u64>,
    /// The flush under way, with what it still has to put there.
    flush: Option<(usize, BTreeSet<u64>)>,
}

impl Letter {
    fn new(breach: Breach, seed: u64) -> Letter {
        let told = HostPromises { sectors: SECTORS, has_volatile_cache: true };
        Letter {
            breach,
            random: Random::new(seed),
            host: HostLog::new(told, 1000),
            medium: MediumLog::new(SECTORS, LBAS * 512, 10_000),
            now_ns: 0,
            flying: Vec::new(),
            dirty: BTreeMap::new(),
            owed: BTreeSet::new(),
            flush: None,
        }
    }

    /// Does one thing, whatever chance says.
    fn step(&mut self) {
        self.now_ns += self.random.below(3);
        match self.random.below(10) {
            0..=1 => self.send(),
            2..=3 => self.arrive(),
            4..=6 => self.end(),
            7 => self.destage(),
            8 => self.send_flush(),
            _ => self.end_flush(),
        }
    }

    fn lbas(&self, number: usize) -> std::ops::Range<u64> {
        SECTORS.lbas(self.host.writes()[number].range)
    }

    fn send(&mut self) {
        let first = self.random.below(LBAS - 6);
        let sectors = 1 + self.random.below(6);
        let range = ByteRange::new(first * 512, sectors * 512).expect("small");
        let is_fua = self.random.below(3) == 0;
        let number = self.host.write_sent(range, is_fua, self.now_ns).expect("there is room");
        let id = u64::try_from(number).expect("small") + 1000;
        self.medium.sent(id);
        let is_through = is_fua && self.breach != Breach::FuaIsCached;
        self.flying.push(Flying { number, id, is_through, has_arrived: false });
    }

    /// Some write of those in flight.
    fn any(&mut self, has_arrived: bool) -> Option<usize> {
        let places: Vec<usize> = (0..self.flying.len())
            .filter(|place| self.flying[*place].has_arrived == has_arrived)
            .collect();
        (!places.is_empty()).then(|| *self.random.choose(&places))
    }

    fn arrive(&mut self) {
        let Some(place) = self.any(false) else { return };
        self.flying[place].has_arrived = true;
        let Flying { number, id, is_through, .. } = self.flying[place];
        self.medium.arrived(id, !is_through, self.now_ns);
        for lba in self.lbas(number) {
            match is_through {
                true if self.breach == Breach::FuaIsOverwritten => {}
                true => {
                    self.dirty.remove(&lba);
                }
                false => {
                    self.dirty.insert(lba, number);
                }
            }
        }
    }

    /// Acknowledges a write that has arrived; one that is forced to the medium is put there first.
    fn end(&mut self) {
        let Some(place) = self.any(true) else { return };
        let Flying { number, id, is_through, .. } = self.flying.swap_remove(place);
        let lbas = self.lbas(number);
        if is_through {
            self.put(Data::Command(id), lbas.clone());
        }
        for lba in lbas {
            if self.is_pending(lba) {
                self.owed.insert(lba);
            } else if is_through {
                self.settle(lba);
            }
        }
        self.medium.ended(id);
        self.host.write_done(number, self.now_ns);
    }

    /// Returns whether data of `lba` is in the drive and not on the medium.
    fn is_pending(&self, lba: u64) -> bool {
        let is_waiting = |flying: &Flying| flying.is_through && flying.has_arrived;
        let mut waiting = self.flying.iter().filter(|flying| is_waiting(flying));
        self.dirty.contains_key(&lba)
            || waiting.any(|flying| self.lbas(flying.number).contains(&lba))
    }

    /// Notes that `lba` is on the medium.
    fn settle(&mut self, lba: u64) {
        self.owed.remove(&lba);
        if let Some((_, owed)) = &mut self.flush {
            owed.remove(&lba);
        }
    }

    fn destage(&mut self) {
        let dirty: Vec<u64> = self.dirty.keys().copied().collect();
        if !dirty.is_empty() {
            let lba = *self.random.choose(&dirty);
            self.destage_one(lba);
        }
    }

    fn destage_one(&mut self, lba: u64) {
        if self.dirty.remove(&lba).is_some() {
            self.put(Data::Cached, lba..lba + 1);
            self.settle(lba);
        }
    }

    /// Puts `lbas` on the medium, one physical sector behind the other.
    fn put(&mut self, data: Data, lbas: std::ops::Range<u64>) {
        let range = ByteRange::new(lbas.start * 512, (lbas.end - lbas.start) * 512);
        // The first physical sector is three logical ones behind the origin.
        let (first, last) = (lbas.start.div_ceil(4), (lbas.end + 2) / 4);
        let sectors = last - first + 1;
        let (from_ns, to_ns) = (self.now_ns + 5, self.now_ns + 5 + 4 * sectors);
        let span = MediumPass { first, sectors, from_ns, to_ns };
        self.medium.put(data, range.expect("small"), (self.now_ns, to_ns), &[span], false);
        self.now_ns = to_ns;
    }

    fn send_flush(&mut self) {
        if self.flush.is_some() {
            return;
        }
        let number = self.host.flush_sent(self.now_ns).expect("there is room");
        let mut owed = self.owed.clone();
        match self.breach {
            Breach::FlushDoesNothing => owed.clear(),
            Breach::FlushForgetsOne => {
                let lbas: Vec<u64> = owed.iter().copied().collect();
                if !lbas.is_empty() {
                    owed.remove(self.random.choose(&lbas));
                }
            }
            Breach::FlushForgetsNewest => {
                let done = |lba: &u64| self.dirty.get(lba).copied();
                let newest = owed.iter().filter_map(done).max();
                owed.retain(|lba| done(lba) != newest);
            }
            _ => {}
        }
        self.flush = Some((number, owed));
    }

    /// Completes the flush where everything is there that it covers; else puts one more there.
    fn end_flush(&mut self) {
        let Some((number, owed)) = &self.flush else { return };
        let number = *number;
        let Some(lba) = owed.iter().copied().find(|lba| self.dirty.contains_key(lba)) else {
            // What is owed and not in the cache is in a forced write that is under way.
            if owed.is_empty() {
                self.host.flush_done(number, self.now_ns);
                self.flush = None;
            }
            return;
        };
        self.destage_one(lba);
    }
}

/// Returns how many promised sectors are missing, over drives with this breach and cuts of each.
fn missing((drives, cuts): (u64, u64), breach: Breach, random: &mut Random) -> u64 {
    let (mut missing, mut flushes) = (0, 0);
    for _ in 0..drives {
        let seed = random.next_u64();
        let mut letter = Letter::new(breach, seed);
        for _ in 0..300 {
            letter.step();
        }
        let done = letter.host.flushes().iter().filter(|flush| flush.done.is_some());
        flushes += done.count();
        for _ in 0..cuts {
            let survivors = [
                Survivors::None,
                Survivors::All,
                Survivors::Chosen(7),
                Survivors::Random(random.next_u64()),
                Survivors::Worst,
            ];
            let heads = [UnderHead::Completes, UnderHead::Old, UnderHead::Unreadable];
            let cut_ = Cut {
                survivors: *random.choose(&survivors),
                under_head: *random.choose(&heads),
                ..Cut::at(random.below(letter.now_ns + 1))
            };
            let after = cut(&letter.host, &letter.medium, &cut_).expect("it can be cut");
            let judged = judge(&letter.host, &after).expect("there is room");
            let is_right = breach != Breach::None || judged.is_kept();
            assert!(is_right, "drive {seed}, {cut_:?}\n{judged:?}\n{:?}", letter.host);
            missing += judged.missing;
        }
    }
    assert!(u64::try_from(flushes).expect("few") > drives, "hardly any flush completed");
    missing
}

#[test]
fn a_drive_that_does_no_more_than_it_promised_breaks_no_promise() {
    let mut random = testkit::random(8);
    assert_eq!(missing((500, 20), Breach::None, &mut random), 0);
}

#[test]
fn every_breach_of_a_promise_is_found() {
    let mut random = testkit::random(9);
    let breaches = [
        Breach::FlushForgetsOne,
        Breach::FlushForgetsNewest,
        Breach::FlushDoesNothing,
        Breach::FuaIsCached,
        Breach::FuaIsOverwritten,
    ];
    for breach in breaches {
        let found = missing((100, 20), breach, &mut random);
        println!("{breach:?}: {found} sectors missing");
        assert!(found > 0, "{breach:?}");
    }
}
