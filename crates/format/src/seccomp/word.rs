//! What is known of one word that a filter reads of a call.

/// The most values that a word is told not to be; beyond that no more are kept.
const UNLIKE_MAX: usize = 256;

/// A comparison of a jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Equal,
    Greater,
    AtLeast,
    AnyBit,
}

impl Test {
    /// That of a jump's code; `None` where it jumps always.
    pub(super) fn of(code: u16) -> Option<Test> {
        match code & 0xf0 {
            0x00 => None,
            0x10 => Some(Test::Equal),
            0x20 => Some(Test::Greater),
            0x30 => Some(Test::AtLeast),
            _ => Some(Test::AnyBit),
        }
    }

    pub(super) fn holds(self, one: u32, other: u32) -> bool {
        match self {
            Test::Equal => one == other,
            Test::Greater => one > other,
            Test::AtLeast => one >= other,
            Test::AnyBit => one & other != 0,
        }
    }
}

/// How much may still be done. What is told where it has run out may be too much, never too little.
#[derive(Debug)]
pub(super) struct Work(pub(super) u32);

impl Work {
    /// Takes `steps`; whether there were as many.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        let enough = self.0 >= steps;
        self.0 = self.0.saturating_sub(steps);
        enough
    }
}

/// A value that a word has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    Value(u32),
    /// No value fits.
    None,
    /// It would take too long to tell.
    TooHard,
}

/// All values that a word may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// The bits that are known, and what they are.
    known: u32,
    bits: u32,
    low: u32,
    high: u32,
    /// A mask, and what the bits under it are not.
    unlike: Vec<(u32, u32)>,
}

impl Word {
    /// Those whose bits under `known` are as in `bits`.
    pub(super) fn new(known: u32, bits: u32) -> Word {
        Word { known, bits: bits & known, low: 0, high: u32::MAX, unlike: Vec::new() }
    }

    /// Its value where there is but one.
    pub(super) fn only(&self) -> Option<u32> {
        (self.known == u32::MAX).then_some(self.bits)
    }

    /// Those of them for which `test` of the bits under `mask` against `operand` turns out as
    /// `holds` says; `None` where there surely are none. There may be too many where that cannot be
    /// written down.
    pub(super) fn narrowed(
        &self,
        mask: u32,
        (test, operand): (Test, u32),
        holds: bool,
        work: &mut Work,
    ) -> Option<Word> {
        let mut word = self.clone();
        let fits = match (test, holds) {
            (Test::Equal, true) => operand & !mask == 0 && word.set(mask, operand),
            (Test::Equal, false) => operand & !mask != 0 || word.forbid(mask, operand),
            (Test::AnyBit, true) => word.forbid(mask & operand, 0),
            (Test::AnyBit, false) => word.set(mask & operand, 0),
            (Test::Greater, true) => operand < mask && word.at_least(mask, operand + 1),
            (Test::Greater, false) => word.at_most(mask, operand),
            (Test::AtLeast, true) => operand <= mask && word.at_least(mask, operand),
            (Test::AtLeast, false) => operand > 0 && word.at_most(mask, operand - 1),
        };
        (fits && word.pick(work) != Pick::None).then_some(word)
    }

    fn set(&mut self, mask: u32, bits: u32) -> bool {
        let agrees = (self.bits ^ bits) & self.known & mask == 0;
        self.known |= mask;
        self.bits |= bits & mask;
        agrees
    }

    fn forbid(&mut self, mask: u32, bits: u32) -> bool {
        if self.unlike.len() < UNLIKE_MAX {
            self.unlike.push((mask, bits));
        }
        mask != 0 || bits != 0
    }

    /// Limits are kept of whole words only.
    fn at_least(&mut self, mask: u32, low: u32) -> bool {
        if mask == u32::MAX {
            self.low = self.low.max(low);
        }
        true
    }

    fn at_most(&mut self, mask: u32, high: u32) -> bool {
        if mask == u32::MAX {
            self.high = self.high.min(high);
        }
        true
    }

    /// One of its values, a small one where that is easy.
    pub(super) fn pick(&self, work: &mut Work) -> Pick {
        self.search(self.known, self.bits, work)
    }

    /// One whose bits under `known` are as in `bits`. The least one that fits all but what it is
    /// not differs from one that fits that too in a bit of the mask: each such bit is tried.
    fn search(&self, known: u32, bits: u32, work: &mut Work) -> Pick {
        if !work.take(1 + self.unlike.len()) {
            return Pick::TooHard;
        }
        let Some(least) = least(known, bits, self.low).filter(|&least| least <= self.high) else {
            return Pick::None;
        };
        let mut unlike = self.unlike.iter();
        let Some((mask, _)) = unlike.find(|(mask, bits)| least & mask == *bits) else {
            return Pick::Value(least);
        };
        let free = (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| mask & !known & bit != 0);
        for bit in free {
            let other = (bits & !bit) | (!least & bit);
            match self.search(known | bit, other, work) {
                Pick::None => {}
                found => return found,
            }
        }
        Pick::None
    }
}

/// The least value from `low` on whose bits under `known` are as in `bits`.
fn least(known: u32, bits: u32, low: u32) -> Option<u32> {
    if low & known == bits {
        return Some(low);
    }
    // It is as `low` down to a bit where it is more, and then as small as can be.
    (0..u32::BITS).find_map(|place| {
        let bit = 1_u32 << place;
        let below = bit - 1;
        let above = !(below | bit);
        let fits = low & bit == 0 && (low ^ bits) & known & above == 0;
        let free = known & bit == 0 || bits & bit != 0;
        (fits && free).then_some((low & above) | bit | (bits & below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> Work {
        Work(1 << 20)
    }

    #[test]
    fn the_least_value_is_the_least() {
        for (known, bits) in [(0, 0), (0b101, 0b100), (0b1100, 0b0100), (0xff, 0x30)] {
            for low in 0..300_u32 {
                let truth = (low..1024).find(|value| value & known == bits);
                let found = least(known, bits, low).filter(|&found| found < 1024);
                assert_eq!(found, truth, "{bits:b} under {known:b} from {low}");
            }
        }
        assert_eq!(least(u32::MAX, 7, 8), None);
        assert_eq!(least(1 << 31, 0, 1 << 31), None);
    }

    #[test]
    fn words_of_six_bits_keep_just_the_values_that_pass_their_tests() {
        let mut random = 12_345_u32;
        let mut next = |limit: u32| {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (random >> 16).rem_euclid(limit)
        };
        let tests = [Test::Equal, Test::Greater, Test::AtLeast, Test::AnyBit];
        for round in 0..3000 {
            let mut values: Vec<u32> = (0..64).collect();
            let mut word = Some(Word::new(!63, 0));
            for _ in 0..next(8) {
                let test = tests[usize::try_from(next(4)).unwrap()];
                let (operand, holds) = (next(70), next(2) == 0);
                // Limits are kept of whole words.
                let limit = matches!(test, Test::Greater | Test::AtLeast);
                let mask = if limit { u32::MAX } else { next(64) };
                values.retain(|value| test.holds(value & mask, operand) == holds);
                let told = (test, operand);
                word = word.and_then(|word| word.narrowed(mask, told, holds, &mut work()));
            }
            let found = word.map_or(Pick::None, |word| word.pick(&mut work()));
            match found {
                Pick::Value(value) => assert!(values.contains(&value), "{round}: {values:?}"),
                _ => assert!(values.is_empty() && found == Pick::None, "{round}: {values:?}"),
            }
        }
    }

    #[test]
    fn what_takes_too_long_is_not_called_impossible() {
        let word = Word::new(0, 0);
        let narrowed = word.narrowed(u32::MAX, (Test::Equal, 0), false, &mut Work(0));
        assert_eq!(narrowed.map(|word| word.pick(&mut Work(0))), Some(Pick::TooHard));
    }
}
