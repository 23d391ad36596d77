//! The budget of a probe: bytes, operations, time. Nothing spent is given back.

/// Limits of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeBudget {
    /// The bytes of all writes.
    pub written_bytes: u64,
    /// The operations, reads and writes.
    pub operations: u64,
    /// The time of the queue's clock, in nanoseconds.
    pub nanoseconds: u64,
}

/// The reason why a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum EndReason {
    /// All was decided.
    Settled,
    /// The largest number of rounds was made.
    Rounds,
    /// There were no bytes left that may be written.
    Bytes,
    /// There were no operations left.
    Operations,
    /// There was no time left.
    Time,
    /// Whoever asked wants no more.
    Interrupted,
}

impl EndReason {
    /// Returns what had happened then, as a clause after "when".
    pub(super) fn said(self) -> &'static str {
        match self {
            EndReason::Settled => "all was decided",
            EndReason::Rounds => "1500 rounds, the most, were made",
            EndReason::Bytes => "the bytes that may be written were used up",
            EndReason::Operations => "the operations were used up",
            EndReason::Time => "the time ran out",
            EndReason::Interrupted => "the probe was interrupted",
        }
    }
}

/// A [`ProbeBudget`] and what was spent of it.
#[derive(Clone, Copy, Debug)]
pub struct Spending {
    left: ProbeBudget,
    begun_ns: u64,
    spent_bytes: u64,
    spent_operations: u64,
}

impl Spending {
    /// All of `budget`, from `now_ns` of the queue's clock on.
    #[must_use]
    pub fn new(budget: ProbeBudget, now_ns: u64) -> Spending {
        Spending { left: budget, begun_ns: now_ns, spent_bytes: 0, spent_operations: 0 }
    }

    /// A spending with this part of what is left, in percent.
    #[must_use]
    pub fn part(&self, percent: u64, now_ns: u64) -> Spending {
        let part = |left: u64| {
            let wide = u128::from(left) * u128::from(percent);
            u64::try_from(wide.div_euclid(100)).unwrap_or(u64::MAX)
        };
        let left = self.left(now_ns);
        let budget = ProbeBudget {
            written_bytes: part(left.written_bytes),
            operations: part(left.operations),
            nanoseconds: part(left.nanoseconds),
        };
        Spending::new(budget, now_ns)
    }

    /// The spending with so many bytes to write.
    #[must_use]
    pub fn with_bytes(mut self, written_bytes: u64) -> Spending {
        self.left.written_bytes = written_bytes.saturating_add(self.spent_bytes);
        self
    }

    /// Takes what `other`, a part of this one, spent.
    pub fn settle(&mut self, other: &Spending) {
        self.spend(other.spent_operations, other.spent_bytes);
    }

    pub(super) fn spend(&mut self, operations: u64, written_bytes: u64) {
        self.spent_bytes = self.spent_bytes.saturating_add(written_bytes);
        self.spent_operations = self.spent_operations.saturating_add(operations);
    }

    /// Returns what there is too little of to do so much more now; `None` where that can be done.
    pub(super) fn lacks(
        &self,
        operations: u64,
        written_bytes: u64,
        now_ns: u64,
    ) -> Option<EndReason> {
        let left = self.left(now_ns);
        match () {
            () if left.nanoseconds == 0 => Some(EndReason::Time),
            () if written_bytes > left.written_bytes => Some(EndReason::Bytes),
            () if operations > left.operations => Some(EndReason::Operations),
            () => None,
        }
    }

    /// Returns what is left at `now_ns`.
    #[must_use]
    pub fn left(&self, now_ns: u64) -> ProbeBudget {
        let took_ns = now_ns.saturating_sub(self.begun_ns);
        ProbeBudget {
            written_bytes: self.left.written_bytes.saturating_sub(self.spent_bytes),
            operations: self.left.operations.saturating_sub(self.spent_operations),
            nanoseconds: self.left.nanoseconds.saturating_sub(took_ns),
        }
    }

    /// The bytes written so far.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        self.spent_bytes
    }

    /// The operations done so far.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.spent_operations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_of_what_is_left_and_comes_off_the_whole() {
        let budget = ProbeBudget { written_bytes: 1000, operations: 100, nanoseconds: 50 };
        let mut spending = Spending::new(budget, 10);
        spending.spend(20, 200);
        let mut part = spending.part(50, 20);
        assert_eq!(
            part.left(20),
            ProbeBudget { written_bytes: 400, operations: 40, nanoseconds: 20 }
        );
        assert_eq!(part.lacks(40, 400, 20), None);
        assert_eq!(part.lacks(41, 0, 20), Some(EndReason::Operations));
        assert_eq!(part.lacks(1, 401, 20), Some(EndReason::Bytes));
        assert_eq!(part.lacks(1, 1, 40), Some(EndReason::Time));
        part.spend(5, 50);
        spending.settle(&part);
        assert_eq!((spending.written_bytes(), spending.operations()), (250, 25));
    }
}
