//! Members of something larger, and things that hold another: md, LVM, LUKS, bcache, dm-integrity.

pub mod bcache;
pub mod integrity;
pub mod luks;
pub mod lvm;
pub mod md;
