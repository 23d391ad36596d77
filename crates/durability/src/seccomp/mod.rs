//! A seccomp filter: the program that the kernel runs before each system call of a process.
//!
//! [`outcome`] runs it on a call of which some arguments are known only as a range. A jump that the
//! range does not decide ends the run without an answer. Programs jump forward only, so every run
//! ends. What the kernel refuses to install, this refuses to run. Source: seccomp(2); Linux
//! `include/uapi/linux/{seccomp,bpf_common,filter}.h`, `kernel/seccomp.c` (`seccomp_check_filter`,
//! `seccomp_run_filters`).

use thiserror::Error;

/// The most instructions of a program: `BPF_MAXINSNS`.
pub(crate) const INSTRUCTIONS_MAX: usize = 4096;
/// The length of one: `struct sock_filter`.
const INSTRUCTION_BYTES: usize = 8;
/// The cells of a program's own memory: `BPF_MEMWORDS`.
const CELLS: usize = 16;
/// The length of what a program sees of a call: `struct seccomp_data`.
const CALL_BYTES: u32 = 64;

/// The values that a 32-bit word may have, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordRange {
    least: u32,
    most: u32,
}

impl WordRange {
    const ANY: WordRange = WordRange { least: 0, most: u32::MAX };

    const fn only(value: u32) -> WordRange {
        WordRange { least: value, most: value }
    }

    /// The value, where there is one.
    fn value(self) -> Option<u32> {
        (self.least == self.most).then_some(self.least)
    }
}

/// A call's argument, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Argument {
    low: WordRange,
    high: WordRange,
}

impl Argument {
    pub(crate) const ANY: Argument = Argument { low: WordRange::ANY, high: WordRange::ANY };

    /// A file descriptor that may be open: 0 to `INT_MAX`. Compilers clear the upper half of a
    /// register with one.
    pub(crate) const DESCRIPTOR: Argument =
        Argument { low: WordRange { least: 0, most: 0x7fff_ffff }, high: WordRange::only(0) };

    /// A value that fits into 32 bits.
    #[must_use]
    pub(crate) const fn value(value: u32) -> Argument {
        Argument { low: WordRange::only(value), high: WordRange::only(0) }
    }
}

/// A system call as a filter sees it. The address from which it comes may be any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SystemCall {
    /// Its number.
    pub number: u32,
    /// The architecture's, `AUDIT_ARCH_…` of `include/uapi/linux/audit.h`.
    pub architecture: u32,
    /// Its arguments.
    pub arguments: [Argument; 6],
}

impl SystemCall {
    /// The 32-bit word at `at_bytes` of `struct seccomp_data`, little-endian.
    fn word(&self, at_bytes: u32) -> WordRange {
        let argument = at_bytes.checked_sub(16).and_then(|at| usize::try_from(at >> 3).ok());
        match (at_bytes, argument.and_then(|place| self.arguments.get(place))) {
            (0, _) => WordRange::only(self.number),
            (4, _) => WordRange::only(self.architecture),
            (_, Some(argument)) if at_bytes.is_multiple_of(8) => argument.low,
            (_, Some(argument)) => argument.high,
            _ => WordRange::ANY,
        }
    }
}

/// Effect of a filter on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterAction {
    /// The process or thread is killed.
    Kill,
    /// The process gets a signal.
    Trap,
    /// Nothing is done, and the call gives this error; 0 means that it seems to have gone well.
    Error(u16),
    /// Another process decides.
    Notify,
    /// A tracer decides; without one the call fails.
    Trace,
    /// It is done.
    Allow,
}

impl FilterAction {
    /// Returns the action that `stored` means; a word that no kernel knows kills.
    fn of(stored: u32) -> FilterAction {
        let data = u16::try_from(stored & 0xffff).unwrap_or(0);
        match stored & 0xffff_0000 {
            0x0003_0000 => FilterAction::Trap,
            // The kernel takes no more than MAX_ERRNO.
            0x0005_0000 => FilterAction::Error(data.min(4095)),
            0x7fc0_0000 => FilterAction::Notify,
            0x7ff0_0000 => FilterAction::Trace,
            // SECCOMP_RET_LOG notes the call and lets it through.
            0x7ffc_0000 | 0x7fff_0000 => FilterAction::Allow,
            _ => FilterAction::Kill,
        }
    }
}

/// Why bytes are no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum NoProgram {
    /// They are not whole instructions, or none, or too many.
    #[error("{bytes} bytes are no program: it has 1 to 4096 instructions of 8 bytes")]
    Length {
        /// The bytes that there are.
        bytes: usize,
    },
    /// An instruction that the kernel would not have taken.
    #[error("instruction {at} is none that a seccomp filter may have")]
    Instruction {
        /// Its place from 0.
        at: usize,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    instructions: Vec<Instruction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    code: u16,
    then: u8,
    otherwise: u8,
    constant: u32,
}

/// The registers and the memory of a run.
struct FilterMachine {
    accumulator: WordRange,
    index: WordRange,
    cells: [WordRange; CELLS],
}

/// Successor of an instruction.
enum NextInstruction {
    Skip(u32),
    Return(WordRange),
    /// Depends on an argument.
    Unknown,
}

impl Program {
    /// The program that `bytes` hold, as `PTRACE_SECCOMP_GET_FILTER` gives it on a little-endian
    /// machine.
    ///
    /// # Errors
    /// [`NoProgram`] when they hold none that the kernel would install.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Program, NoProgram> {
        let count = bytes.len().div_euclid(INSTRUCTION_BYTES);
        if !bytes.len().is_multiple_of(INSTRUCTION_BYTES)
            || !(1..=INSTRUCTIONS_MAX).contains(&count)
        {
            return Err(NoProgram::Length { bytes: bytes.len() });
        }
        let rows = bytes.chunks_exact(INSTRUCTION_BYTES);
        let instructions: Vec<Instruction> = rows
            .map(|row| Instruction {
                code: u16::from_le_bytes([row[0], row[1]]),
                then: row[2],
                otherwise: row[3],
                constant: u32::from_le_bytes([row[4], row[5], row[6], row[7]]),
            })
            .collect();
        let bad = instructions.iter().enumerate().find(|(at, one)| !one.suits(count - at - 1));
        match bad {
            Some((at, _)) => Err(NoProgram::Instruction { at }),
            None => Ok(Program { instructions }),
        }
    }

    /// The word that the program returns for `call`; `None` where that depends on an argument.
    fn returned(&self, call: &SystemCall) -> Option<u32> {
        let none = WordRange::only(0);
        let mut machine = FilterMachine { accumulator: none, index: none, cells: [none; CELLS] };
        let mut at = 0_usize;
        // Every step goes forward, and parse has seen that no jump leads out.
        while let Some(instruction) = self.instructions.get(at) {
            match machine.step(*instruction, call) {
                NextInstruction::Return(word) => return word.value(),
                NextInstruction::Unknown => return None,
                NextInstruction::Skip(count) => {
                    let count = usize::try_from(count).unwrap_or(usize::MAX);
                    at = at.saturating_add(1).saturating_add(count);
                }
            }
        }
        Some(0)
    }
}

/// Returns the fate of `call` under all of a process's filters, the oldest first: the strictest
/// action wins, and among equals the newest filter's. Without filters it is allowed. `None` where a
/// filter's answer depends on what is not known of the arguments.
#[must_use]
pub(crate) fn outcome(filters: &[Program], call: &SystemCall) -> Option<FilterAction> {
    let mut strictest = 0x7fff_0000_u32;
    for filter in filters.iter().rev() {
        let word = filter.returned(call)?;
        if rank(word) < rank(strictest) {
            strictest = word;
        }
    }
    Some(FilterAction::of(strictest))
}

/// Actions in the order of strictness: their numbers, taken as signed.
fn rank(word: u32) -> i64 {
    let action = i64::from(word & 0xffff_0000);
    if action >= 1 << 31 { action - (1 << 32) } else { action }
}

// Classes, and parts of codes: bpf_common.h.
const LOAD: u16 = 0x00;
const LOAD_INDEX: u16 = 0x01;
const STORE: u16 = 0x02;
const STORE_INDEX: u16 = 0x03;
const ARITHMETIC: u16 = 0x04;
const JUMP: u16 = 0x05;
const RETURN: u16 = 0x06;
const MISCELLANEOUS: u16 = 0x07;
const IMMEDIATE: u16 = 0x00;
const ABSOLUTE: u16 = 0x20;
const MEMORY: u16 = 0x60;
const LENGTH: u16 = 0x80;
/// The operand is the index register, not the constant.
const BY_INDEX: u16 = 0x08;

impl Instruction {
    fn class(self) -> u16 {
        self.code & 0x07
    }

    /// True if the kernel would take it with `left` instructions after it.
    fn suits(self, left: usize) -> bool {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        let cell = usize::try_from(self.constant).is_ok_and(|cell| cell < CELLS);
        let mode = self.code & 0xf8;
        let known = match self.class() {
            LOAD => match mode {
                ABSOLUTE => self.constant < CALL_BYTES && self.constant.is_multiple_of(4),
                MEMORY => cell,
                IMMEDIATE | LENGTH => true,
                _ => false,
            },
            LOAD_INDEX => matches!(mode, IMMEDIATE | LENGTH) || mode == MEMORY && cell,
            STORE | STORE_INDEX => mode == 0 && cell,
            ARITHMETIC => {
                let (by_index, operation) = (mode & BY_INDEX != 0, mode & 0xf0);
                let divides = operation == 0x30 && !by_index;
                let shifts = matches!(operation, 0x60 | 0x70) && !by_index;
                let there = operation <= 0x80 || operation == 0xa0;
                there && !(divides && self.constant == 0) && !(shifts && self.constant > 31)
            }
            JUMP => match mode & 0xf0 {
                0x00 => mode == 0 && self.constant < left,
                0x10..=0x40 => u32::from(self.then) < left && u32::from(self.otherwise) < left,
                _ => false,
            },
            // BPF_RET takes the constant or the accumulator.
            RETURN => matches!(mode, 0x00 | 0x10),
            _ => matches!(mode, 0x00 | 0x80),
        };
        // Every program must end with a return.
        known && (left > 0 || self.class() == RETURN)
    }
}

impl FilterMachine {
    fn step(&mut self, instruction: Instruction, call: &SystemCall) -> NextInstruction {
        let Instruction { code, then, otherwise, constant } = instruction;
        let operand = if code & BY_INDEX != 0 { self.index } else { WordRange::only(constant) };
        let cell = usize::try_from(constant).unwrap_or(0).min(CELLS - 1);
        match instruction.class() {
            LOAD => self.accumulator = self.loaded(code, constant, cell, call),
            LOAD_INDEX => self.index = self.loaded(code, constant, cell, call),
            STORE => self.cells[cell] = self.accumulator,
            STORE_INDEX => self.cells[cell] = self.index,
            ARITHMETIC => match computed(code & 0xf0, self.accumulator, operand) {
                Some(word) => self.accumulator = word,
                None if operand.value().is_none() => return NextInstruction::Unknown,
                None => return NextInstruction::Return(WordRange::only(0)),
            },
            JUMP => {
                return match holds(code & 0xf0, self.accumulator, operand) {
                    _ if code & 0xf0 == 0 => NextInstruction::Skip(constant),
                    Some(true) => NextInstruction::Skip(then.into()),
                    Some(false) => NextInstruction::Skip(otherwise.into()),
                    None => NextInstruction::Unknown,
                };
            }
            RETURN if code & 0x10 != 0 => return NextInstruction::Return(self.accumulator),
            RETURN => return NextInstruction::Return(WordRange::only(constant)),
            MISCELLANEOUS if code & 0x80 != 0 => self.accumulator = self.index,
            _ => self.index = self.accumulator,
        }
        NextInstruction::Skip(0)
    }

    fn loaded(&self, code: u16, constant: u32, cell: usize, call: &SystemCall) -> WordRange {
        match code & 0xe0 {
            ABSOLUTE => call.word(constant),
            MEMORY => self.cells[cell],
            LENGTH => WordRange::only(CALL_BYTES),
            _ => WordRange::only(constant),
        }
    }
}

/// Returns whether a jump's condition holds; `None` where that depends on what is not known.
fn holds(condition: u16, one: WordRange, other: WordRange) -> Option<bool> {
    let apart = one.most < other.least || other.most < one.least;
    match condition {
        0x10 if apart => Some(false),
        0x20 if one.least > other.most => Some(true),
        0x20 if one.most <= other.least => Some(false),
        0x30 if one.least >= other.most => Some(true),
        0x30 if one.most < other.least => Some(false),
        0x20 | 0x30 => None,
        0x10 => Some(one.value()? == other.value()?),
        _ => Some(one.value()? & other.value()? != 0),
    }
}

/// Computes an arithmetic instruction; `None` for a division by nothing, which ends the program
/// with 0, and by what may be nothing.
fn computed(operation: u16, one: WordRange, other: WordRange) -> Option<WordRange> {
    const DIVIDE: u16 = 0x30;
    const AND: u16 = 0x50;
    if operation == DIVIDE && other.least == 0 {
        return None;
    }
    Some(match (one.value(), other.value()) {
        (Some(one), Some(other)) => WordRange::only(exactly(operation, one, other)),
        // No bit is set that neither has.
        _ if operation == AND => WordRange { least: 0, most: one.most.min(other.most) },
        _ => WordRange::ANY,
    })
}

fn exactly(operation: u16, one: u32, other: u32) -> u32 {
    match operation {
        0x00 => one.wrapping_add(other),
        0x10 => one.wrapping_sub(other),
        0x20 => one.wrapping_mul(other),
        0x30 => one.checked_div(other).unwrap_or(0),
        0x40 => one | other,
        0x50 => one & other,
        0x60 => one.checked_shl(other).unwrap_or(0),
        0x70 => one.checked_shr(other).unwrap_or(0),
        0xa0 => one ^ other,
        _ => one.wrapping_neg(),
    }
}

#[cfg(test)]
mod tests;
