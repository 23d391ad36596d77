//! The one table of the options that are honored. The reader, the documentation and the tests read
//! it.

use std::num::NonZeroU32;

use units::text::escape;

use super::engine;
use super::model::{Durability, JOBS_MAX, JobDirection, JobLength, JobOrder};
use super::number::KbBase;
use super::reader::OptionReader;
use crate::InputError;

/// The largest operation, in bytes.
pub const OPERATION_BYTES_MAX: u64 = 1 << 30;
/// The largest `iodepth`.
pub const DEPTH_MAX: u32 = 4096;

/// Kind of value that an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `4096`, `4k`.
    Size,
    /// A size, or `20%`.
    Extent,
    /// A whole number.
    Count,
    /// `10`, `10s`, `5m`, `500ms`.
    Time,
    /// `0` or `1`.
    Switch,
    /// Nothing, or a number.
    Flag,
    /// One of a few words.
    Word,
    /// Any text.
    Text,
}

impl ValueKind {
    /// Its name in the documentation.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Size => "size",
            ValueKind::Extent => "size or percentage",
            ValueKind::Count => "number",
            ValueKind::Time => "time",
            ValueKind::Switch => "0 or 1",
            ValueKind::Flag => "flag",
            ValueKind::Word => "word",
            ValueKind::Text => "text",
        }
    }

    /// Returns whether the option may stand without a value.
    pub(super) fn may_be_bare(self) -> bool {
        self == ValueKind::Flag
    }
}

/// An option that is honored.
pub struct OptionRow {
    /// fio's name.
    pub name: &'static str,
    /// fio's other name.
    pub alias: Option<&'static str>,
    /// Kind of value.
    pub kind: ValueKind,
    /// Effect here.
    pub meaning: &'static str,
    pub(super) store: fn(&mut OptionReader<'_>) -> Result<(), InputError>,
}

impl OptionRow {
    /// Its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.alias)
    }

    /// Returns whether `name` is one of its names. Letters count as they are, as in fio.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }
}

/// `row!(name, alias, kind, meaning, store)`, where `reader => setting = value` may be the `store`.
macro_rules! row {
    (
        $name:literal, $alias:expr, $kind:ident, $meaning:literal,
        $it:ident => $($setting:ident).+ = $value:expr
    ) => {
        row!($name, $alias, $kind, $meaning, |$it| {
            $it.settings.$($setting).+ = $value;
            Ok(())
        })
    };
    ($name:literal, $alias:expr, $kind:ident, $meaning:literal, $store:expr) => {
        OptionRow {
            name: $name,
            alias: $alias,
            kind: ValueKind::$kind,
            meaning: $meaning,
            store: $store,
        }
    };
}

/// Options that only a simulation honors; where jobs really run, each is remarked on.
pub const PACES: [&str; 3] = ["rate_iops", "rate", "thinktime"];
const PACED_ELSEWHERE: &str = "jobs take turns, and each runs as fast as it can";

/// Every option that is honored, in the order of the documentation.
pub const OPTIONS: &[OptionRow] = &[
    row!("name", None, Text, "the job's name", it => name = Some(it.kept())),
    row!("description", None, Text, "a comment", |_| Ok(())),
    row!(
        "filename", None, Text, "shown, never opened",
        it => job.filename = Some(it.kept())
    ),
    row!(
        "directory", None, Text, "shown, never opened",
        it => job.directory = Some(it.kept())
    ),
    row!(
        "rw",
        Some("readwrite"),
        Word,
        "read, write, randread, randwrite, rw, readwrite, randrw; discards are refused",
        direction
    ),
    row!(
        "rwmixread", None, Count, "percentage of reads in a mixed job; default 50",
        it => read_percent = percent(it)?
    ),
    row!(
        "rwmixwrite", None, Count, "percentage of writes in a mixed job",
        it => read_percent = 100 - percent(it)?
    ),
    row!(
        "bs", Some("blocksize"), Size,
        "bytes of one operation, at most 1 GiB; two values, `4k,8k`, for reads and writes; default \
            4096",
        it => operation_bytes = it.two_sizes(1, OPERATION_BYTES_MAX)?
    ),
    row!(
        "ba", Some("blockalign"), Size,
        "alignment of random offsets; default: bs",
        it => align_bytes = Some(it.two_sizes(1, OPERATION_BYTES_MAX)?)
    ),
    row!(
        "offset", Some("fileoffset"), Extent,
        "start of the region; a percentage is rounded up to an operation",
        it => job.offset = it.extent()?
    ),
    row!(
        "size", None, Extent, "length of the region; at least bs",
        it => job.size = Some(not_empty(it)?)
    ),
    row!("ioengine", None, Word, "see the engines below; default psync", |it| {
        it.refuse_environment()?;
        let (found, lost) = engine::engine(it.text)?;
        if let Some(lost) = lost {
            it.not_honored(lost);
        }
        it.settings.job.engine = found;
        Ok(())
    }),
    row!("direct", None, Switch, "O_DIRECT", it => job.direct = it.boolean()?),
    row!(
        "buffered", None, Switch, "the opposite of direct; if both are given, the last one counts",
        it => job.direct = !it.boolean()?
    ),
    row!("sync", None, Word, "none or 0: no flag; dsync: O_DSYNC; sync or 1: O_SYNC", |it| {
        const WORDS: [(&str, Durability); 5] = [
            ("none", Durability::None),
            ("0", Durability::None),
            ("dsync", Durability::Dsync),
            ("sync", Durability::Sync),
            ("1", Durability::Sync),
        ];
        it.settings.job.durability = it.word(&WORDS, "none, 0, dsync, sync or 1")?;
        Ok(())
    }),
    row!(
        "fsync", None, Count, "number of writes before each fsync; 0: never",
        it => job.fsync_every = NonZeroU32::new(it.count(0, u32::MAX)?)
    ),
    row!(
        "fdatasync", None, Count, "number of writes before each fdatasync; 0: never",
        it => job.fdatasync_every = NonZeroU32::new(it.count(0, u32::MAX)?)
    ),
    row!("end_fsync", None, Switch, "accepted: measured times always include writeback", |it| it
        .boolean()
        .map(drop)),
    row!(
        "iodepth", None, Count, "operations in flight; 1 with a synchronous engine",
        it => job.depth = it.count(1, DEPTH_MAX)?
    ),
    row!(
        "numjobs",
        None,
        Count,
        "number of clones that run at once, at most 4096 in all; 0 is refused",
        |it| {
            let most = u32::try_from(JOBS_MAX).expect("it is 4096");
            it.settings.job.numjobs = it.count(1, most)?;
            Ok(())
        }
    ),
    row!(
        "rate_iops",
        None,
        Count,
        "drive simulate: operations a second of each clone, or of its reads and its writes; bench: \
         not honored",
        |it| {
            it.settings.rate_iops = Some(it.two_sizes(1, u64::MAX)?);
            it.not_honored(PACED_ELSEWHERE);
            Ok(())
        }
    ),
    row!(
        "rate",
        None,
        Size,
        "drive simulate: bytes a second of each clone, or of its reads and its writes; bench: not \
         honored",
        |it| {
            it.settings.rate_bytes = Some(it.two_sizes(1, u64::MAX)?);
            it.not_honored(PACED_ELSEWHERE);
            Ok(())
        }
    ),
    row!(
        "thinktime",
        None,
        Time,
        "drive simulate: time after each operation, in microseconds without a unit; bench: not \
         honored",
        |it| {
            it.settings.job.think_ns = it.microseconds_ns()?;
            it.not_honored(PACED_ELSEWHERE);
            Ok(())
        }
    ),
    row!("thread", None, Flag, "accepted: clones are never processes", |it| it.flag().map(drop)),
    row!(
        "runtime",
        Some("timeout"),
        Time,
        "time limit of each arm; 0: none. The limits of bench apply too",
        |it| {
            let runtime_ns = it.duration_ns()?;
            it.settings.job.runtime_ns = (runtime_ns > 0).then_some(runtime_ns);
            Ok(())
        }
    ),
    row!(
        "time_based", None, Flag, "accepted: the region is repeated until the verdict is certain",
        it => job.time_based = it.flag()?
    ),
    row!(
        "loops",
        None,
        Count,
        "accepted: the measurement decides the number of passes; 0 is refused",
        |it| { it.count(1, u32::MAX).map(drop) }
    ),
    row!("overwrite", None, Switch, "always on: the run first fills the file", |it| {
        it.boolean().map(drop)
    }),
    row!("new_group", None, Flag, "accepted: jobs run one after the other", |it| it
        .flag()
        .map(drop)),
    row!(
        "stonewall", Some("wait_for_previous"), Flag, "accepted: jobs run one after the other",
        it => job.stonewall = it.flag()?
    ),
    row!("group_reporting", None, Flag, "accepted: clones are always reported as one", |it| it
        .flag()
        .map(drop)),
    row!("norandommap", None, Flag, "accepted: random offsets do not repeat within a pair", |it| {
        it.flag().map(drop)
    }),
    row!("randrepeat", None, Switch, "accepted: --seed decides the offsets", |it| it
        .boolean()
        .map(drop)),
    row!(
        "randseed", None, Count, "the seed of random offsets; fio's own sequence is not reproduced",
        it => job.seed = Some(it.number()?)
    ),
    row!(
        "kb_base",
        None,
        Word,
        "1024 (default): k is 1024, KiB is 1000; 1000: the reverse",
        |it| {
            const WORDS: [(&str, KbBase); 2] =
                [("1024", KbBase::Swapped), ("1000", KbBase::Standard)];
            it.settings.kb_base = it.word(&WORDS, "1024 or 1000")?;
            Ok(())
        }
    ),
];

/// `rw`: the action and the order, before a `:`.
fn direction(it: &mut OptionReader<'_>) -> Result<(), InputError> {
    const MIXED: JobDirection = JobDirection::Mixed { read_percent: 50 };
    const WORDS: [(&str, Option<(JobDirection, JobOrder)>); 11] = [
        ("read", Some((JobDirection::Read, JobOrder::Sequential))),
        ("write", Some((JobDirection::Write, JobOrder::Sequential))),
        ("randread", Some((JobDirection::Read, JobOrder::Random))),
        ("randwrite", Some((JobDirection::Write, JobOrder::Random))),
        ("rw", Some((MIXED, JobOrder::Sequential))),
        ("readwrite", Some((MIXED, JobOrder::Sequential))),
        ("randrw", Some((MIXED, JobOrder::Random))),
        ("trim", None),
        ("randtrim", None),
        ("trimwrite", None),
        ("randtrimwrite", None),
    ];
    let text = it.text;
    let (word, step) = text.split_once(':').map_or((text, None), |(word, step)| (word, Some(step)));
    let expects = "read, write, randread, randwrite, rw, readwrite or randrw";
    it.refuse_environment()?;
    let found = WORDS.iter().find(|(name, _)| *name == word).map(|(_, found)| *found);
    let found = found.ok_or_else(|| it.unreadable(expects))?;
    let (action, order) = found.ok_or_else(|| {
        let hint = "discards are never sent; choose another with --set rw=write";
        InputError::new(format!("`rw={}` discards", escape(text.as_bytes())), hint)
    })?;
    if step.is_some() {
        it.not_honored("what follows the colon: each operation follows the one before");
    }
    (it.settings.job.action, it.settings.job.order) = (action, order);
    Ok(())
}

fn percent(it: &mut OptionReader<'_>) -> Result<u8, InputError> {
    Ok(u8::try_from(it.count(0, 100)?).expect("it is at most 100"))
}

/// A size above 0: of none, fio says that the size is missing.
fn not_empty(it: &mut OptionReader<'_>) -> Result<JobLength, InputError> {
    match it.extent()? {
        JobLength::Bytes(0) | JobLength::Percent(0) => Err(it.out_of_range(1, u64::MAX)),
        size => Ok(size),
    }
}
