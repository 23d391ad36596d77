//! Documents made by hand, for the tests of logic and for those with tools.

pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod drive;
pub(crate) mod fsync;
pub(crate) mod pages;
pub(crate) mod peers;
pub(crate) mod plugins;
pub(crate) mod probe;
pub(crate) mod sample;
pub(crate) mod torture;
pub(crate) mod trace;
pub(crate) mod whole;
