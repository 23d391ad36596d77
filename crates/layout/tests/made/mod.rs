//! Changes of tables made by hand, and a drive whose power is cut.

pub(crate) mod crash_model;
pub(crate) mod known;
pub(crate) mod tables;
