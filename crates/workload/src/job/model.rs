//! A job: what is to be done to a disk, and how.

use std::num::NonZeroU32;

use units::prefix::Size;

use super::engine::Engine;

/// The most jobs in a file, clones by `numjobs` counted; fio's own bound.
pub const JOBS_MAX: u64 = 4096;

/// Direction of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobDirection {
    /// It only reads.
    Read,
    /// It only writes.
    Write,
    /// It does both, each operation by chance.
    Mixed {
        /// Percentage of reads; 0 to 100.
        read_percent: u8,
    },
}

/// In which order a job goes over its region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobOrder {
    /// From the start, and from the start again when it comes to the end.
    Sequential,
    /// At offsets drawn from the region.
    Random,
}

/// Open flag that makes each write durable (`sync=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// None.
    None,
    /// `O_DSYNC`: the data.
    Dsync,
    /// `O_SYNC`: the data and all of the file's metadata.
    Sync,
}

/// A length or a place: in bytes, or as a part of the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobLength {
    /// In bytes.
    Bytes(u64),
    /// In percent of the file or device; 0 to 100.
    Percent(u8),
}

impl JobLength {
    /// In bytes of something that is `whole_bytes` long; rounded down.
    #[must_use]
    pub fn of(self, whole_bytes: u64) -> u64 {
        match self {
            JobLength::Bytes(bytes) => bytes,
            JobLength::Percent(percent) => {
                let part = u128::from(whole_bytes) * u128::from(percent.min(100)) / 100;
                u64::try_from(part).expect("a part of a whole that fits in 64 bits fits")
            }
        }
    }
}

/// One job. Clones by `numjobs` are not counted out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its section's name, or what `name` says; hostile text, to be escaped before it is printed.
    pub name: String,
    /// On which line its section begins; from 1.
    pub line: usize,
    /// Its direction.
    pub action: JobDirection,
    /// In which order.
    pub order: JobOrder,
    /// Bytes of one operation; 1 to 1 GiB.
    pub operation_bytes: u64,
    /// Of what random offsets are multiples, in bytes; at least 1.
    pub align_bytes: u64,
    /// Beginning of its region.
    pub offset: JobLength,
    /// Length of its region; `None`: all of the file or device. At least one operation.
    pub size: Option<JobLength>,
    /// For how long it runs, in nanoseconds; `None`: until the region is done. At least 1.
    pub runtime_ns: Option<u64>,
    /// True if it begins again when the region is done before the time is up. Only with a
    /// `runtime_ns`.
    pub time_based: bool,
    /// Way in which operations are handed over.
    pub engine: Engine,
    /// True if the page cache is bypassed (`O_DIRECT`).
    pub direct: bool,
    /// Open flag that makes each write durable.
    pub durability: Durability,
    /// After how many writes `fsync` is called.
    pub fsync_every: Option<NonZeroU32>,
    /// After how many writes `fdatasync` is called.
    pub fdatasync_every: Option<NonZeroU32>,
    /// Number of operations of one clone in flight at once; 1 where the engine is
    /// [`Engine::Sync`].
    pub depth: u32,
    /// Number of clones of it run at once; 1 to [`JOBS_MAX`].
    pub numjobs: u32,
    /// Operations of one clone a second (`rate`, `rate_iops`), at least 1; `None`: as many as it
    /// can.
    pub per_second: Option<u64>,
    /// Time after each operation (`thinktime`), in nanoseconds.
    pub think_ns: u64,
    /// True if it waits for all jobs before it (`stonewall`).
    pub stonewall: bool,
    /// The seed that was told; fio's own sequence is not reproduced.
    pub seed: Option<u64>,
    /// The file or device as it was written. It is never opened.
    pub filename: Option<String>,
    /// The directory as it was written. It is never opened.
    pub directory: Option<String>,
}

impl Job {
    /// Returns how many operations are under way at once, over all clones.
    #[must_use]
    pub fn total_depth(&self) -> u64 {
        u64::from(self.depth) * u64::from(self.numjobs)
    }

    /// Returns where its region begins on something that is `whole_bytes` long, in bytes; a
    /// percentage is rounded up to a multiple of an operation (fio `filesetup.c`:
    /// `get_start_offset`). May lie past the end.
    #[must_use]
    pub fn offset_bytes(&self, whole_bytes: u64) -> u64 {
        let offset_bytes = self.offset.of(whole_bytes);
        match self.offset {
            JobLength::Bytes(_) => offset_bytes,
            JobLength::Percent(_) => {
                offset_bytes.checked_next_multiple_of(self.operation_bytes).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns whether it writes at all.
    #[must_use]
    pub fn writes(&self) -> bool {
        !matches!(self.action, JobDirection::Read | JobDirection::Mixed { read_percent: 100 })
    }

    /// Returns whether each write is made durable before the job goes on with the next: by an open
    /// flag, or by `fsync` or `fdatasync` after each write.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        let each = |every: Option<NonZeroU32>| every.is_some_and(|every| every.get() == 1);
        let flag = self.durability != Durability::None;
        self.writes() && (flag || each(self.fsync_every) || each(self.fdatasync_every))
    }

    /// Returns what it does, for people: `4 KiB write + fsync, depth 1`.
    #[must_use]
    pub fn title(&self) -> String {
        let direct = if self.direct { "direct " } else { "" };
        let random = if self.order == JobOrder::Random { "random " } else { "" };
        let action = match self.action {
            JobDirection::Read => "read".to_owned(),
            JobDirection::Write => "write".to_owned(),
            JobDirection::Mixed { read_percent } => {
                format!("read and write ({read_percent} % reads)")
            }
        };
        let durable = if self.writes() { self.durable_words() } else { String::new() };
        let depth = match (self.numjobs, self.depth) {
            (1, depth) => format!("depth {depth}"),
            (jobs, depth) => format!("depth {} ({jobs} jobs x {depth})", self.total_depth()),
        };
        format!("{} {direct}{random}{action}{durable}, {depth}", Size(self.operation_bytes))
    }

    fn durable_words(&self) -> String {
        let flag = match self.durability {
            Durability::None => "",
            Durability::Dsync => " + O_DSYNC",
            Durability::Sync => " + O_SYNC",
        };
        let call = |name: &str, every: Option<NonZeroU32>| match every.map(NonZeroU32::get) {
            None => String::new(),
            Some(1) => format!(" + {name}"),
            Some(every) => format!(" + {name} every {every}"),
        };
        let calls = [call("fsync", self.fsync_every), call("fdatasync", self.fdatasync_every)];
        format!("{flag}{}", calls.concat())
    }
}
