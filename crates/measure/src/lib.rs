//! The paired experiment: which arm runs when, what was seen, and how sure that is.
//!
//! Nothing here knows a file, a clock or a stack: it meets the world through `device`'s traits, so
//! the same code runs on a drive and on a model of one.

pub mod cost_verdict;
pub mod durable;
pub mod engine_verdict;
pub mod experiment;
pub mod experiment_plan;
pub mod full_write_buffer;
pub mod histogram;
pub mod live;
pub mod pace_changes;
pub mod passive;
pub mod probe;
pub mod slots;
pub mod statistics;
pub mod subject;
pub mod tail_quantile;
#[cfg(test)]
mod tests;
pub mod throughput_ceiling;
mod verdict_limits;
mod warmup;

pub use cost_verdict::{ArmVerdict, Conclusion, CostVerdict, LastLook, PairStep, Stop};
pub use experiment::Experiment;
pub use experiment_plan::{ArmPlan, ExperimentPlan, PlanError, Role};
pub use histogram::Histogram;
pub use pace_changes::Regime;
pub use slots::{MappedRun, NoRoom, SlotOrder, Slots, SlotsPlan};
pub use statistics::Interval;
pub use subject::{Fault, Observations, Subject, Work};
pub use tail_quantile::Tail;
pub use verdict_limits::VerdictLimits;
