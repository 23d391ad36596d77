//! The writes of partition tables under power cuts, as `straddle apply` does them.

mod checks;
mod crash;
mod crash_model;
mod qcow2;
mod rebuilt_fat;
mod tables;
