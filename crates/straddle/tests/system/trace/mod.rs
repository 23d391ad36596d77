//! `straddle trace` on real file systems over loop devices, against `filefrag`, `xfs_bmap` and
//! against the bytes themselves.

mod agree;
mod marks;
mod refusals;
mod run;
mod volume;
