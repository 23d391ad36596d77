//! Problems of one text, with its positions turned into the device's addresses, and not without
//! end.

use crate::{Problem, ProblemKind};

/// So many problems of one text are told; more say nothing new.
const TOLD: usize = 64;

/// Place where in the text something stands, in bytes from its first.
pub(super) type Position = usize;

/// Collects problems of one text.
pub(super) struct Notes<'a> {
    address: &'a dyn Fn(Position) -> u64,
    problems: Vec<Problem>,
}

impl<'a> Notes<'a> {
    /// Nothing so far; `address` says where on the device a position of the text is.
    pub(super) fn new(address: &'a dyn Fn(Position) -> u64) -> Notes<'a> {
        Notes { address, problems: Vec::new() }
    }

    /// Notes a problem at a position.
    pub(super) fn note(&mut self, kind: ProblemKind, at: Position, detail: impl Into<String>) {
        let at_bytes = (self.address)(at);
        match self.problems.len() {
            0..TOLD => self.problems.push(Problem::new(kind, at_bytes, detail)),
            TOLD => {
                let detail = "more is wrong with this text than is told here";
                self.problems.push(Problem::new(ProblemKind::Field, at_bytes, detail));
            }
            _ => {}
        }
    }

    /// Returns what was noted.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}
