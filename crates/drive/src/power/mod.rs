//! Power cuts: what a drive holds after one, and whether it may.
//!
//! Two logs are kept, only where somebody asks for them, since they grow with every command:
//!
//! | file | what it is |
//! |---|---|
//! | `host_log` | what the host sent and was told: all that the oracle looks at |
//! | `medium_log` | what the drive did: what came into it, what it put on the medium, and when |
//! | `sectors` | logical sectors, and the runs of them that are written as one |
//! | `logged` | a model with its host's log |
//! | `liar` | a model that says "done" and has done nothing |
//! | `cut` | when the power goes, and which of the possible outcomes is wanted |
//! | `outcome` | what the drive then holds |
//! | `replay` | what is on the medium at that instant, and what is under the head |
//! | `survivors` | what else may have got there: none, all, some |
//! | `aftermath` | which write's data each sector holds |
//! | `losses` | how many acknowledged writes that cost |
//! | `oracle` | what the drive had promised, and which of that is gone |
//!
//! Promises of a drive (Linux, Documentation/block/writeback_cache_control.rst; the same in ATA,
//! SCSI and NVMe): a write that is acknowledged is in the drive, and may be in its cache only. A
//! write with forced unit access is on the medium when it is acknowledged, and takes nothing else
//! with it. A flush puts on the medium what was acknowledged before the flush was sent; what is
//! acknowledged while it runs is not covered. A drive without a cache that forgets promises with
//! every acknowledgement. Writes that are in flight together have no order.
//!
//! Survival beyond the promise is open. A physical sector is written whole or not at all; where
//! parts of it are written, the rest is read before and written with it, so that a cut under the
//! head can cost up to seven neighbors which the host never wrote (Dell, "4K sector hard drive
//! FAQ", 2014). What drives did beyond that has names in [`Faults`], all off by default.
//!
//! Memory: a write costs about 200 bytes in both logs together, and 32 for each track it is written
//! to. A log that reaches its bound stops, and a cut of it is refused. A cut and a judgment take
//! memory and time in proportion to the logical sectors written until then: each about 200 bytes,
//! and at most [`SECTORS_MAX`] of them.

mod aftermath;
mod cut;
mod host_log;
mod liar;
mod logged;
mod losses;
mod medium_log;
mod oracle;
mod outcome;
mod replay;
pub(crate) mod sectors;
mod survivors;

pub use aftermath::{Aftermath, SectorContent, Unfit};
pub use cut::{Cut, CutFault, Faults, Survivors, UnderHead};
pub use host_log::{HostDiscard, HostFlush, HostLog, HostPromises, HostWrite, Moment, SECTORS_MAX};
pub use liar::{Liar, Lies};
pub use logged::Logged;
pub use losses::{Losses, losses};
pub use medium_log::{Data, MediumLog, MediumPass};
pub use oracle::{Legal, OracleJudgment, judge, legal};
pub use outcome::{cut, open_parts};
pub use sectors::Sectors;
