//! Bounds of what each way of measuring may write, take and compare.

/// The most pairs of one comparison.
pub(crate) const PAIRS_MAX: u64 = 20_000;

/// Bounds of what a way of measuring may use unless the user says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodBudget {
    /// The scratch file's length.
    pub(crate) scratch_bytes: u64,
    /// The most bytes that are written, the scratch file included.
    pub(crate) written_bytes: u64,
    /// Longest time that one comparison may take, in nanoseconds.
    pub(crate) comparison_ns: u64,
}

const MIB: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;

impl MethodBudget {
    /// One headline: with the scratch file below five seconds on drives that write 64 MiB in one.
    pub(crate) const HEADLINE: MethodBudget = MethodBudget {
        scratch_bytes: 64 * MIB,
        written_bytes: 256 * MIB,
        comparison_ns: 3_500_000_000,
    };
    /// All of `--full`.
    pub(crate) const FULL: MethodBudget = MethodBudget {
        scratch_bytes: 64 * MIB,
        written_bytes: 1024 * MIB,
        comparison_ns: 4 * SECOND_NS,
    };
    /// Jobs and requests, each of them.
    pub(crate) const JOB: MethodBudget = MethodBudget {
        scratch_bytes: 128 * MIB,
        written_bytes: 1024 * MIB,
        comparison_ns: 10 * SECOND_NS,
    };
    /// A command; how much it writes is not known beforehand.
    pub(crate) const COMMAND: MethodBudget = MethodBudget {
        scratch_bytes: 128 * MIB,
        written_bytes: 4096 * MIB,
        comparison_ns: 120 * SECOND_NS,
    };
}
