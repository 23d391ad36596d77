//! Tables and FATs that straddle wrote, as the tools of others read them.

#[expect(dead_code, reason = "the tests of logic use the rest")]
#[path = "../made/mod.rs"]
mod made;
mod qcow2;
mod rebuilt_fat;
mod sfdisk;
