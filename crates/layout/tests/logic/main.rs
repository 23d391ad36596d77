//! The writes of partition tables under power cuts, as `straddle apply` does them.

mod checks;
mod crash;
mod forged;
#[path = "../made/mod.rs"]
mod made;
