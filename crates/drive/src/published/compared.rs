//! A published number beside the model's.

use serde::{Deserialize, Serialize};

use crate::profile;
use crate::sheet::DataSheet;

/// The unit of numbers of whole turns of a platter, which must be equal.
pub const TURNS: &str = "turns";

/// Article that published a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Article {
    /// "Advanced format disks": a 512e disk, aligned and 2 KiB off.
    AdvancedFormat,
    /// An SSD from sector 34 and from sector 2048.
    SsdAlignment,
    /// Why fsync decides a database's speed: syncs of named drives.
    Fsync,
    /// A RAID 0 whose requests cross chunks.
    BlocksAlignment,
    /// Disks with sectors of 4 KiB under Linux.
    FourKib,
    /// No article: a drive that was measured, or its data sheet.
    Drive(&'static str),
}

impl Article {
    /// All of them.
    pub const ALL: [Article; 5] = [
        Article::AdvancedFormat,
        Article::SsdAlignment,
        Article::Fsync,
        Article::BlocksAlignment,
        Article::FourKib,
    ];

    /// Its title, with what it is about.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Article::AdvancedFormat => "advanced format disks (7200 rpm 512e disk, fio)",
            Article::SsdAlignment => "SSD alignment, tried again (Micron m4, XFS, fio)",
            Article::Fsync => "disk misconceptions: fsync (named drives, pg_test_fsync)",
            Article::BlocksAlignment => "file system blocks alignment (RAID 0, raidtest)",
            Article::FourKib => "Linux on disks with 4 KiB sectors",
            Article::Drive(name) => name,
        }
    }

    /// Its author, year and address; of a drive the source of its data sheet.
    fn source(self) -> Option<&'static str> {
        Some(match self {
            Article::AdvancedFormat => "2019; author and address unknown",
            Article::SsdAlignment => "the weblog 5400rpm; year and address unknown",
            Article::Fsync => "nilei, 2019: https://zhuanlan.zhihu.com/p/55658164",
            Article::BlocksAlignment => {
                "Alexander Motin, 2009: \
                 https://lists.freebsd.org/pipermail/freebsd-arch/2009-December/"
            }
            Article::FourKib => {
                "Roderick W. Smith, 2010: \
                 http://www.ibm.com/developerworks/cn/linux/l-4kb-sector-disks/index.html"
            }
            Article::Drive(name) => {
                let mut sheets = profile::checked_sheets();
                return sheets.find(|sheet| sheet.name() == name).map(DataSheet::source);
            }
        })
    }
}

/// Author, year and address of the article, or the source of the data sheet, that is titled
/// `title`, as far as they are known.
#[must_use]
pub fn source_of(title: &str) -> Option<&'static str> {
    let drives = profile::checked_sheets().map(|sheet| Article::Drive(sheet.name()));
    let mut all = Article::ALL.into_iter().chain(drives);
    all.find(|article| article.title() == title).and_then(Article::source)
}

/// Origin of what a model says of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LineOrigin {
    /// The model's own number: no value of the drive was set by this line or its like.
    Predicted,
    /// One value of the drive was set so that this line comes out.
    Calibrated,
    /// Several values were set so that lines such as this come out; it does not count.
    Fitted,
    /// Arithmetic alone.
    Derived,
}

units::words!(LineOrigin);

/// A published number beside the model's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PublishedNumber {
    /// Article that published it.
    pub article: Article,
    /// Measured quantity and drive.
    pub what: &'static str,
    /// The unit of both numbers.
    pub unit: &'static str,
    /// Published number; of a range the lower end.
    pub published: f64,
    /// The upper end of a range; else as `published`.
    pub published_max: f64,
    /// The model's number.
    pub model: f64,
    /// The profile of the drive; empty where none is needed.
    pub profile: &'static str,
    /// Origin of the model's number.
    pub standing: LineOrigin,
    /// By how many percent it may be off.
    pub bound_percent: f64,
    /// Remark for the reader, such as by what the line was calibrated.
    pub note: &'static str,
    /// Why it is not within its bound; empty where it is.
    pub outside: &'static str,
}

impl PublishedNumber {
    /// A published number of which no model has said anything yet.
    pub(super) const fn published(
        article: Article,
        what: &'static str,
        unit: &'static str,
        (published, published_max): (f64, f64),
        standing: LineOrigin,
        bound_percent: f64,
    ) -> PublishedNumber {
        PublishedNumber {
            article,
            what,
            unit,
            published,
            published_max,
            model: f64::NAN,
            profile: "",
            standing,
            bound_percent,
            note: "",
            outside: "",
        }
    }

    /// By how many percent the model is above what was published; of a range 0 within it, else
    /// from its nearer end.
    #[must_use]
    pub fn error_percent(&self) -> f64 {
        self.error_percent_of(self.model)
    }

    /// The same of another number for this line, such as one that was measured.
    #[must_use]
    pub fn error_percent_of(&self, number: f64) -> f64 {
        let near = number.clamp(self.published, self.published_max);
        if near > 0.0 { (number / near - 1.0) * 100.0 } else { 0.0 }
    }

    /// Returns whether it is within its bound.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.error_percent().abs() <= self.bound_percent
    }
}

/// A published number, and where the model's comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelLine<From> {
    pub(super) published: PublishedNumber,
    pub(super) from: From,
}

impl<From: Copy> ModelLine<From> {
    pub(super) const fn noted(self, note: &'static str) -> ModelLine<From> {
        ModelLine { published: PublishedNumber { note, ..self.published }, ..self }
    }

    /// The line that the model does not reach, and why.
    pub(super) const fn outside(self, outside: &'static str) -> ModelLine<From> {
        ModelLine { published: PublishedNumber { outside, ..self.published }, ..self }
    }
}
