//! The stack: layers, how each lies on those below, where that puts its data, and what it costs.
//!
//! A [`Stack`] is a directed graph of [`Layer`]s. From it come [`resolve`] (which leaf bytes a
//! range lies on), [`placement`] (how far off the units that is), [`amplify`] (what one application
//! I/O becomes), [`judge`] (verdicts) and [`rule`] (findings). Everything is computed from the
//! data; the kernel's alignment_offset only serves as a cross-check.

pub mod amplify;
pub mod assemble;
pub mod btrfs_mapping;
pub mod discard_path;
pub mod drive;
pub mod external_parts;
pub mod file_extents;
pub mod graph;
pub mod history;
pub mod hostile;
pub mod id;
pub mod judge;
pub mod kernel;
pub mod layer;
pub mod layer_bytes;
mod loop_graft;
pub mod mapping;
pub mod on_option;
pub mod placement;
mod raid_layout_names;
pub mod resolve;
pub mod rule;
pub mod trace;
pub mod unit;
mod verdict;
mod work_budget;

pub use graph::Stack;
pub use id::LayerId;
pub use judge::{Judgment, Misalignment};
pub use layer::{Bare, Layer, LayerKind, LayerType};
pub use mapping::Mapping;
pub use on_option::Condition;
pub use rule::{Cost, Severity};
pub use unit::{UnitFact, UnitKind, Units};
pub use verdict::Verdict;
