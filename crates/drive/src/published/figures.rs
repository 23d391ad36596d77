//! The published numbers.

use super::compared::{Article, LineOrigin, ModelLine, PublishedNumber, TURNS};
use super::run_figures::{Figure, Figures};
use super::scenario::Scenario;

/// Origin of a model's number.
#[derive(Clone, Copy, Debug)]
pub(super) enum From {
    /// A figure of a run.
    Run(Scenario, Figure),
    /// Rate of the second run divided by that of the first.
    Ratio(Scenario, Scenario),
    /// Additional time of the first run over the second, in percent.
    Longer(Scenario, Scenario),
    /// User bytes as a share of what a sector takes on the platter, in percent.
    Efficiency { user: u32, gap: u32, code: u32 },
}

/// A published number, and the model's.
pub(super) type FigureLine = ModelLine<From>;

impl FigureLine {
    const fn of(self, article: Article) -> FigureLine {
        ModelLine { published: PublishedNumber { article, ..self.published }, ..self }
    }

    /// The line of a range that ends with `published_max`.
    const fn up_to(self, published_max: f64) -> FigureLine {
        ModelLine { published: PublishedNumber { published_max, ..self.published }, ..self }
    }

    /// The line in another unit, from another figure.
    const fn from(self, unit: &'static str, from: From) -> FigureLine {
        ModelLine { published: PublishedNumber { unit, ..self.published }, from }
    }
}

/// Medians may be off by so many percent.
const MEDIAN: f64 = 5.0;
/// Means and rates may.
const MEAN: f64 = 10.0;
/// Whole turns may not, nor may arithmetic beyond its rounding.
const EXACT: f64 = 0.05;

const fn line(
    what: &'static str,
    unit: &'static str,
    published: f64,
    from: From,
    standing: LineOrigin,
    bound_percent: f64,
) -> FigureLine {
    let (article, range) = (Article::AdvancedFormat, (published, published));
    ModelLine {
        published: PublishedNumber::published(article, what, unit, range, standing, bound_percent),
        from,
    }
}

use Figure::{Mean, Period, Quantile, Rate, Turns};
use LineOrigin::{Calibrated, Derived, Fitted, Predicted};

const fn of_ssd(
    what: &'static str,
    published: f64,
    reads: bool,
    is_misaligned: bool,
    standing: LineOrigin,
) -> FigureLine {
    let from = From::Run(Scenario::Jobs { reads, is_misaligned }, Rate);
    line(what, "IOPS", published, from, standing, MEAN).of(Article::SsdAlignment)
}

/// Returns how many whole turns so many of a thousand writes take at most.
const fn turns(
    what: &'static str,
    published: f64,
    case: Scenario,
    mille: usize,
    standing: LineOrigin,
) -> FigureLine {
    line(what, TURNS, published, From::Run(case, Turns(mille)), standing, EXACT)
}

const fn synced(
    what: &'static str,
    (published, published_max): (f64, f64),
    case: Scenario,
    standing: LineOrigin,
) -> FigureLine {
    let from = From::Run(case, Period);
    line(what, "ms", published, from, standing, MEAN).of(Article::Fsync).up_to(published_max)
}

const fn striped(
    what: &'static str,
    published: f64,
    readers: u16,
    is_misaligned: bool,
    standing: LineOrigin,
) -> FigureLine {
    let from = From::Run(Scenario::Striped { readers, is_misaligned }, Rate);
    line(what, "requests/s", published, from, standing, MEAN).of(Article::BlocksAlignment)
}

/// "RAID 5 and 6: 5 to 30 %".
const fn parity(what: &'static str, level: u8, kib: u64) -> FigureLine {
    let from = From::Longer(
        Scenario::Parity { level, kib, is_misaligned: true },
        Scenario::Parity { level, kib, is_misaligned: false },
    );
    line(what, "% longer", 5.0, from, Predicted, MEAN).of(Article::FourKib).up_to(30.0)
}

const BY_RMW: &str =
    "rmw = per-sector takes 3 turns and fits this rate; other values of rmw take 2 or 4";

/// Why one operation in 100 or 1000 takes longer on the real disk.
macro_rules! rare {
    ($share:literal, $turns:literal, $retries:literal) => {
        concat!(
            "one write in ",
            $share,
            " takes ",
            $turns,
            " turns more; the cause is not published (retries = ",
            $retries,
            " and retry_turns = ",
            $turns,
            " reproduce it)"
        )
    };
}

/// All published numbers, in the order of the articles.
pub(super) const LINES: &[FigureLine] = &[
    line(
        "512 B sector, efficiency",
        "%",
        88.7,
        From::Efficiency { user: 512, gap: 15, code: 50 },
        Derived,
        EXACT,
    )
    .noted("with a gap of 15 bytes and 50 bytes of error-correcting code"),
    line(
        "4 KiB sector, efficiency",
        "%",
        97.3,
        From::Efficiency { user: 4096, gap: 15, code: 100 },
        Derived,
        EXACT,
    )
    .noted("with a gap of 15 bytes and 100 bytes of error-correcting code"),
    line("raw, aligned", "IOPS", 118.5, From::Run(Scenario::Raw(false), Rate), Predicted, MEAN),
    line("raw, aligned, mean", "ms", 8.421, From::Run(Scenario::Raw(false), Mean), Predicted, MEAN),
    line(
        "raw, aligned, p50 in ms",
        "ms",
        8.356,
        From::Run(Scenario::Raw(false), Quantile(500)),
        Predicted,
        MEDIAN,
    ),
    turns("raw, aligned, p50", 1.0, Scenario::Raw(false), 500, Predicted),
    turns("raw, aligned, p95", 1.0, Scenario::Raw(false), 950, Predicted),
    turns("raw, aligned, p99", 1.0, Scenario::Raw(false), 990, Predicted),
    turns("raw, aligned, p99.9", 5.0, Scenario::Raw(false), 999, Predicted)
        .outside(rare!(700, 4, 1500)),
    line("raw, misaligned", "IOPS", 38.66, From::Run(Scenario::Raw(true), Rate), Calibrated, MEAN)
        .noted(BY_RMW),
    line(
        "raw, misaligned, mean",
        "ms",
        25.85,
        From::Run(Scenario::Raw(true), Mean),
        Calibrated,
        MEAN,
    )
    .noted(BY_RMW),
    turns("raw, misaligned, p50", 3.0, Scenario::Raw(true), 500, Calibrated).noted(BY_RMW),
    turns("raw, misaligned, p95", 3.0, Scenario::Raw(true), 950, Calibrated).noted(BY_RMW),
    turns("raw, misaligned, p99", 9.0, Scenario::Raw(true), 990, Predicted)
        .outside(rare!(80, 6, 12000)),
    turns("raw, misaligned, p99.9", 12.0, Scenario::Raw(true), 999, Predicted)
        .outside(rare!(700, 9, 1500)),
    line("ext4, aligned", "IOPS", 29.56, From::Run(Scenario::Ext4(false), Rate), Predicted, MEAN),
    line(
        "ext4, aligned, mean",
        "ms",
        33.81,
        From::Run(Scenario::Ext4(false), Mean),
        Predicted,
        MEAN,
    ),
    turns("ext4, aligned, p5", 3.0, Scenario::Ext4(false), 50, Predicted),
    turns("ext4, aligned, p50", 4.0, Scenario::Ext4(false), 500, Predicted),
    turns("ext4, aligned, p90", 5.0, Scenario::Ext4(false), 900, Predicted),
    turns("ext4, aligned, p95", 6.0, Scenario::Ext4(false), 950, Predicted),
    turns("ext4, aligned, p99", 7.0, Scenario::Ext4(false), 990, Predicted)
        .outside(rare!(170, 4, 2000)),
    turns("ext4, aligned, p99.9", 14.0, Scenario::Ext4(false), 999, Predicted)
        .outside(rare!(400, 10, 600)),
    line("ext4, misaligned", "IOPS", 11.21, From::Run(Scenario::Ext4(true), Rate), Predicted, MEAN),
    line(
        "ext4, misaligned, mean",
        "ms",
        89.16,
        From::Run(Scenario::Ext4(true), Mean),
        Predicted,
        MEAN,
    ),
    turns("ext4, misaligned, p5", 9.0, Scenario::Ext4(true), 50, Predicted),
    turns("ext4, misaligned, p50", 10.0, Scenario::Ext4(true), 500, Predicted),
    turns("ext4, misaligned, p90", 14.0, Scenario::Ext4(true), 900, Predicted),
    turns("ext4, misaligned, p95", 14.0, Scenario::Ext4(true), 950, Predicted),
    turns("ext4, misaligned, p99", 17.0, Scenario::Ext4(true), 990, Predicted)
        .outside(rare!(55, 7, 6000)),
    turns("ext4, misaligned, p99.9", 54.0, Scenario::Ext4(true), 999, Predicted)
        .outside(rare!(400, 44, 600)),
    line(
        "no sync, aligned/misaligned",
        "times",
        1.0,
        From::Ratio(Scenario::Unsynced(true), Scenario::Unsynced(false)),
        Predicted,
        MEDIAN,
    ),
    of_ssd("read, sector 2048", 29_947.0, true, false, Calibrated)
        .noted("the median of five runs; this rate set the time of the host"),
    of_ssd("read, sector 34", 21_395.0, true, true, Predicted).noted("the mean of five runs"),
    of_ssd("write, sector 2048", 28_581.0, false, false, Predicted)
        .noted("the median of five runs"),
    of_ssd("write, sector 34", 1495.0, false, true, Fitted)
        .noted("the mean of five runs; this rate set the time of a slot"),
    synced("cloud NVMe 2019, fsync", (4.4, 4.4), Scenario::Synced(0), Calibrated)
        .noted("the number of pages that a flush programs was set by this time"),
    synced("cloud NVMe 2019, 1 client", (227.0, 230.0), Scenario::Synced(0), Calibrated)
        .from("ops/s", From::Run(Scenario::Synced(0), Rate))
        .noted("1 client commits once per sync: at most 230 a second"),
    synced("DC S3700, fsync", (0.15, 0.2), Scenario::Synced(1), Predicted),
    synced("DC S3700, 1 client", (5000.0, 6700.0), Scenario::Synced(1), Predicted)
        .from("ops/s", From::Run(Scenario::Synced(1), Rate))
        .noted("the article says 5000"),
    synced("DC P3700, fsync", (0.0, 0.1), Scenario::Synced(2), Predicted)
        .noted("the article says \"below 0.1 ms\""),
    synced("Optane, fsync", (0.02, 0.03), Scenario::Synced(3), Predicted),
    synced("SSD 710 over 950 Pro", (11.0, 11.0), Scenario::Synced(4), Predicted)
        .from("times", From::Ratio(Scenario::Synced(4), Scenario::Synced(1)))
        .noted("the SSD 710 is modeled as the similar DC S3700"),
    striped("n = 1, aligned", 133.0, 1, false, Calibrated).noted("this rate set the mean seek"),
    striped("n = 1, 7680 bytes off", 112.0, 1, true, Predicted),
    striped("n = 64, aligned", 594.0, 64, false, Fitted),
    striped("n = 64, 7680 bytes off", 314.0, 64, true, Fitted),
    parity("RAID 5, 4 KiB over 64 KiB", 5, 4),
    parity("RAID 5, 16 KiB over 64 KiB", 5, 16),
    parity("RAID 6, 4 KiB over 64 KiB", 6, 4),
    parity("RAID 6, 16 KiB over 64 KiB", 6, 16),
];

impl FigureLine {
    /// The article that published it.
    pub(super) fn article(&self) -> Article {
        self.published.article
    }

    /// The line beside what the model says; `of` gives the figures of a case.
    pub(super) fn compared(&self, of: &mut impl FnMut(Scenario) -> Figures) -> PublishedNumber {
        let (model, profile) = match self.from {
            From::Run(case, figure) => (of(case).figure(figure), case.profile()),
            From::Ratio(first, second) => (of(second).rate() / of(first).rate(), second.profile()),
            From::Longer(first, second) => {
                let percent = (of(second).rate() / of(first).rate() - 1.0) * 100.0;
                (percent, second.profile())
            }
            From::Efficiency { user, gap, code } => {
                let whole = f64::from(user) + f64::from(gap) + f64::from(code);
                (f64::from(user) * 100.0 / whole, "")
            }
        };
        PublishedNumber { model, profile, ..self.published }
    }
}
