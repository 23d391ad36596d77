//! All that filters may answer to a call of which not everything is known: each path through them
//! is followed.
//!
//! A path forks where a jump depends on what is not known. Every answer comes with a call that gets
//! it, tried in the filters themselves; so none is told that cannot be. Work is bounded, and
//! arithmetic on what is not known is not followed: then the answer says that there may be more.

use super::word::{Pick, Test, Word, Work};
use super::{
    ABSOLUTE, ARITHMETIC, Action, BY_INDEX, CALL_BYTES, CELLS, Call, Instruction, JUMP, LENGTH,
    LOAD, LOAD_INDEX, MEMORY, MISCELLANEOUS, Program, RETURN, STORE, STORE_INDEX, computed,
    outcome, rank,
};

/// The most steps for a call. The kernel lets no process have filters of more than 32768
/// instructions (`MAX_INSNS_PER_PATH`).
const STEPS_MAX: u32 = 1 << 18;
/// The steps that a fork counts for.
const FORK_STEPS: usize = 64;
/// The most paths that wait.
const PATHS_MAX: usize = 1024;
/// The words of a call.
const WORDS: usize = 16;

/// What is known of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    known: u64,
    bits: u64,
}

impl Argument {
    /// It may be anything.
    pub const ANY: Argument = Argument { known: 0, bits: 0 };

    /// A file descriptor that may be open: 0 to `INT_MAX`. Compilers clear the upper half of a
    /// register with one.
    pub const DESCRIPTOR: Argument = Argument { known: !0x7fff_ffff, bits: 0 };

    /// An `int` of flags: those of `set` are set, those of `free` may be, and no others.
    #[must_use]
    pub const fn flags(set: u32, free: u32) -> Argument {
        // Widening, in a constant function.
        let (set, free) = (set as u64, free as u64);
        Argument { known: !free | set, bits: set }
    }

    /// The parts of it that are known, and what they are: its lower half, or its upper.
    fn half(self, upper: bool) -> Word {
        let part = |number: u64| {
            let number = if upper { number >> 32 } else { number & 0xffff_ffff };
            u32::try_from(number).unwrap_or(0)
        };
        Word::new(part(self.known), part(self.bits))
    }

    /// Whether it may be `value`.
    #[must_use]
    pub fn may_be(self, value: u64) -> bool {
        value & self.known == self.bits
    }
}

/// A call of which only the number is certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its number.
    pub number: u32,
    /// The architecture's, as [`Call::architecture`].
    pub architecture: u32,
    /// What is known of its arguments.
    pub arguments: [Argument; 6],
}

/// What filters may answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// Each action that was found, with a call that it meets.
    pub found: Vec<(Action, Call)>,
    /// Whether there are no others.
    pub is_complete: bool,
}

/// What a register or a cell holds.
#[derive(Clone, Copy, Debug)]
enum Value {
    Known(u32),
    /// The bits under the mask of a word of the call.
    Word(usize, u32),
    Lost,
}

/// One way through the filters, as far as it has come.
#[derive(Clone)]
struct Path {
    words: [Word; WORDS],
    /// The filters that are still ahead, the oldest first; the last is at work.
    ahead: usize,
    at: usize,
    accumulator: Value,
    index: Value,
    cells: [Value; CELLS],
    strictest: u32,
}

/// What may become of `asked` under all of a process's filters, the oldest first.
#[must_use]
pub fn outcomes(filters: &[Program], asked: &Asked) -> Outcomes {
    let mut walk = Walk {
        filters,
        work: Work(STEPS_MAX),
        paths: vec![Path::new(filters.len(), asked)],
        outcomes: Outcomes { found: Vec::new(), is_complete: true },
    };
    // Whatever comes of the rest, one answer is known.
    walk.tried(&Path::new(filters.len(), asked));
    while let Some(path) = walk.paths.pop() {
        walk.follow(path);
    }
    walk.outcomes
}

struct Walk<'a> {
    filters: &'a [Program],
    work: Work,
    paths: Vec<Path>,
    outcomes: Outcomes,
}

impl Walk<'_> {
    /// Follows a path to its end; where it forks, the other way waits.
    fn follow(&mut self, mut path: Path) {
        loop {
            let Some(filter) = path.ahead.checked_sub(1).and_then(|at| self.filters.get(at)) else {
                return self.ends(&path);
            };
            if !self.work.take(1) {
                self.outcomes.is_complete = false;
                return;
            }
            let Some(&instruction) = filter.instructions.get(path.at) else {
                path.answered(0);
                continue;
            };
            path.at += 1;
            match instruction.class() {
                RETURN => match path.returned(instruction) {
                    Some(word) => path.answered(word),
                    None => {
                        // What it answers is part of what is not known.
                        self.outcomes.is_complete = false;
                        return self.tried(&path);
                    }
                },
                JUMP => match self.jumped(path, instruction) {
                    Some(next) => path = next,
                    None => return,
                },
                _ => match path.step(instruction) {
                    Done::Goes => {}
                    Done::Ends => path.answered(0),
                    Done::MayEnd => self.outcomes.is_complete = false,
                },
            }
        }
    }

    /// Goes on behind a jump; `None` where no call comes by.
    fn jumped(&mut self, mut path: Path, jump: Instruction) -> Option<Path> {
        let Some(test) = Test::of(jump.code) else {
            path.skip(jump.constant);
            return Some(path);
        };
        let [then, otherwise] = [(jump.then, true), (jump.otherwise, false)];
        if then.0 == otherwise.0 {
            path.skip(then.0.into());
            return Some(path);
        }
        let operand = path.operand(jump);
        if let (Value::Known(one), Value::Known(other)) = (path.accumulator, operand) {
            path.skip(if test.holds(one, other) { then.0 } else { otherwise.0 }.into());
            return Some(path);
        }
        if !self.work.take(FORK_STEPS) {
            self.outcomes.is_complete = false;
            return None;
        }
        let ways = [then, otherwise].map(|(skipped, holds)| {
            let mut way = path.clone();
            way.skip(skipped.into());
            match (path.accumulator, operand) {
                (Value::Word(place, mask), Value::Known(operand)) => {
                    let word = &path.words[place];
                    way.words[place] =
                        word.narrowed(mask, (test, operand), holds, &mut self.work)?;
                    Some(way)
                }
                _ => Some(way),
            }
        });
        let [then, otherwise] = ways;
        let Some(then) = then else { return otherwise };
        match otherwise {
            Some(otherwise) if self.paths.len() < PATHS_MAX => self.paths.push(otherwise),
            Some(_) => self.outcomes.is_complete = false,
            None => {}
        }
        Some(then)
    }

    /// What a path comes to, where that is new.
    fn ends(&mut self, path: &Path) {
        let action = Action::of(path.strictest);
        if !self.has(action) {
            self.tried(path);
            // Not to have it now is a path that no call may take: others may hide behind it.
            self.outcomes.is_complete &= self.has(action);
        }
    }

    fn has(&self, action: Action) -> bool {
        self.outcomes.found.iter().any(|(found, _)| *found == action)
    }

    /// Tries a call that takes this path, and keeps its answer where it is new.
    fn tried(&mut self, path: &Path) {
        let mut words = [0; WORDS];
        for (value, word) in words.iter_mut().zip(&path.words) {
            let Pick::Value(picked) = word.pick(&mut self.work) else {
                self.outcomes.is_complete = false;
                return;
            };
            *value = picked;
        }
        let call = Call::of(words);
        let action = outcome(self.filters, &call);
        if !self.has(action) {
            self.outcomes.found.push((action, call));
        }
    }
}

/// What became of a path with a step.
enum Done {
    Goes,
    /// The program ends with 0.
    Ends,
    /// It may end with 0.
    MayEnd,
}

impl Path {
    fn new(filters: usize, asked: &Asked) -> Path {
        let words = std::array::from_fn(|place| match place {
            0 => Word::new(u32::MAX, asked.number),
            1 => Word::new(u32::MAX, asked.architecture),
            2 | 3 => Word::new(0, 0),
            _ => asked.arguments[(place - 4).div_euclid(2)].half(place.rem_euclid(2) == 1),
        });
        let zero = Value::Known(0);
        Path {
            words,
            ahead: filters,
            at: 0,
            accumulator: zero,
            index: zero,
            cells: [zero; CELLS],
            strictest: 0x7fff_0000,
        }
    }

    fn skip(&mut self, count: u32) {
        self.at = self.at.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
    }

    /// The filter at work answers `word`: the next one's turn, with registers of its own.
    fn answered(&mut self, word: u32) {
        if rank(word) < rank(self.strictest) {
            self.strictest = word;
        }
        let zero = Value::Known(0);
        (self.ahead, self.at) = (self.ahead.saturating_sub(1), 0);
        (self.accumulator, self.index, self.cells) = (zero, zero, [zero; CELLS]);
    }

    fn returned(&self, instruction: Instruction) -> Option<u32> {
        match instruction.code & 0x10 != 0 {
            true => match self.accumulator {
                Value::Known(word) => Some(word),
                _ => None,
            },
            false => Some(instruction.constant),
        }
    }

    fn operand(&self, instruction: Instruction) -> Value {
        match instruction.code & BY_INDEX != 0 {
            true => self.index,
            false => Value::Known(instruction.constant),
        }
    }

    /// A step that is no jump and no return.
    fn step(&mut self, instruction: Instruction) -> Done {
        let cell = usize::try_from(instruction.constant).unwrap_or(0).min(CELLS - 1);
        match instruction.class() {
            LOAD => self.accumulator = self.loaded(instruction, cell),
            LOAD_INDEX => self.index = self.loaded(instruction, cell),
            STORE => self.cells[cell] = self.accumulator,
            STORE_INDEX => self.cells[cell] = self.index,
            ARITHMETIC => return self.computes(instruction),
            MISCELLANEOUS if instruction.code & 0x80 != 0 => self.accumulator = self.index,
            _ => self.index = self.accumulator,
        }
        Done::Goes
    }

    fn loaded(&self, instruction: Instruction, cell: usize) -> Value {
        match instruction.code & 0xe0 {
            ABSOLUTE => {
                let place = usize::try_from(instruction.constant.div_euclid(4)).unwrap_or(WORDS);
                let word = self.words.get(place);
                let only = word.and_then(Word::only).map(Value::Known);
                only.unwrap_or(if word.is_some() {
                    Value::Word(place, u32::MAX)
                } else {
                    Value::Lost
                })
            }
            MEMORY => self.cells[cell],
            LENGTH => Value::Known(CALL_BYTES),
            _ => Value::Known(instruction.constant),
        }
    }

    fn computes(&mut self, instruction: Instruction) -> Done {
        const DIVIDE: u16 = 0x30;
        const AND: u16 = 0x50;
        let operation = instruction.code & 0xf0;
        let operand = self.operand(instruction);
        self.accumulator = match (self.accumulator, operand) {
            (Value::Known(one), Value::Known(other)) => match computed(operation, one, other) {
                Some(word) => Value::Known(word),
                None => return Done::Ends,
            },
            (Value::Word(_, mask), Value::Known(other))
                if operation == AND && mask & other == 0 =>
            {
                Value::Known(0)
            }
            (Value::Word(place, mask), Value::Known(other)) if operation == AND => {
                Value::Word(place, mask & other)
            }
            (_, Value::Known(0)) if operation == DIVIDE => return Done::Ends,
            (_, Value::Known(_)) => Value::Lost,
            _ if operation == DIVIDE => {
                self.accumulator = Value::Lost;
                return Done::MayEnd;
            }
            _ => Value::Lost,
        };
        Done::Goes
    }
}

#[cfg(test)]
mod tests;
