//! The paired experiment: which arm runs when, what was seen, and how sure that is.
//!
//! Nothing here knows a file, a clock or a stack: it meets the world through `device`'s traits, so
//! the same code runs on a drive and on a model of one.

pub mod ceiling;
pub mod durable;
pub mod experiment;
pub mod fitness;
pub mod histogram;
pub mod knee;
pub mod plan;
pub mod probe;
pub mod regime;
pub mod slots;
pub mod statistics;
pub mod subject;
pub mod tail;
#[cfg(test)]
mod tests;
pub mod verdict;
mod warmup;

pub use experiment::Experiment;
pub use histogram::Histogram;
pub use plan::{ArmPlan, ExperimentPlan, PlanError, Role, VerdictLimits};
pub use regime::Regime;
pub use slots::{MappedRun, NoRoom, SlotOrder, Slots, SlotsPlan};
pub use statistics::Interval;
pub use subject::{Fault, Observations, Subject, Work};
pub use tail::Tail;
pub use verdict::{ArmVerdict, Conclusion, CostVerdict, LastLook, PairStep, Stop};
