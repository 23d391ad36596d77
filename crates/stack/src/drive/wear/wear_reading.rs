//! A drive's pages about wear at one moment.

use device::answer::{self, Question};
use device::{KernelTree, TreeError};
use format::Parsed;
use format::identify::{Counter, NoAnswer, ata_statistics, nvme_health, ocp_health};
use units::number::real;
use units::{Known, Source};

use super::{AMPLIFICATION_LEAST, CoarseBytes, MediaWear, WearBounds};
use crate::drive::Said;

/// A drive's own word about its wear. Each value is unknown, with the reason, where the page was
/// not read or cannot be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WearReading {
    /// Bytes that hosts wrote since manufacture.
    pub host: Known<CoarseBytes>,
    /// Write commands of hosts since manufacture.
    pub host_writes: Known<u64>,
    /// Life used in percent, by the maker's estimate; it may be above 100.
    pub used_percent: Known<u8>,
    /// Counts of the media.
    pub media: Known<MediaWear>,
}

impl WearReading {
    /// Returns what `tree` has of the pages of the disk `name`, which answered `said`; `None` for
    /// all but NVMe drives and solid state drives of ATA.
    #[must_use]
    pub fn read(tree: &dyn KernelTree, name: &str, said: &Said) -> Option<WearReading> {
        if said.controller.value().is_some() {
            let health = page(tree, name, Question::NvmeHealth, nvme_health::health);
            let media = page(tree, name, Question::NvmeOcpHealth, ocp_health::extended_health);
            return Some(WearReading::of_nvme(health.as_ref(), media.as_ref()));
        }
        let ata = said.ata.value().filter(|_| said.rotates() == Some(false))?;
        let statistics = page(tree, name, Question::AtaStatistics, ata_statistics::statistics);
        Some(WearReading::of_ata(statistics.as_ref(), ata.logical_bytes))
    }

    /// The reading of an NVMe drive, from its log pages 02h and C0h or the reasons why there are
    /// none.
    #[must_use]
    pub fn of_nvme(
        health: Result<&nvme_health::Health, &String>,
        media: Result<&ocp_health::ExtendedHealth, &String>,
    ) -> WearReading {
        let host = health.map_err(String::clone).and_then(host_of_nvme);
        let used = health.map_err(String::clone).and_then(|health| used(health.used_percent));
        let writes = health.map_err(String::clone).and_then(|health| match health.host_writes {
            Counter::Count(0) => Err("the counter is 0: the drive does not keep it".to_owned()),
            counter => counter.count().map_err(str::to_owned),
        });
        let mut media = media.map(MediaWear::of);
        if let (Ok(host), Ok(media)) = (&host, &mut media) {
            doubt(media, *host);
        }
        WearReading {
            host: Known::of(host, Source::Identify),
            host_writes: Known::of(writes, Source::Identify),
            used_percent: Known::of(used, Source::Identify),
            media: Known::of(media, Source::Identify),
        }
    }

    /// The reading of an ATA drive with logical sectors of `logical_bytes`, from its statistics or
    /// the reason why there are none.
    #[must_use]
    pub fn of_ata(
        statistics: Result<&ata_statistics::Statistics, &String>,
        logical_bytes: Option<u64>,
    ) -> WearReading {
        let missing = || "the drive does not keep this statistic".to_owned();
        let host = statistics.map_err(String::clone).and_then(|said| {
            let sectors = said.sectors_written.ok_or_else(missing)?;
            let sector = logical_bytes.ok_or("the logical sector is not known")?;
            let all_ones = sectors == 0xffff_ffff_ffff;
            let host = CoarseBytes::new(sectors, sector).filter(|_| !all_ones);
            host.ok_or_else(|| format!("{sectors} sectors cannot be right"))
        });
        let used = statistics.map_err(String::clone);
        let used = used.and_then(|said| used_of(said.used_percent.ok_or_else(missing)));
        WearReading {
            host: Known::of(host, Source::Identify),
            host_writes: Known::no("ATA counts commands in no page that is read here"),
            used_percent: Known::of(used, Source::Identify),
            media: Known::no("ATA has no standard count of media bytes"),
        }
    }

    /// Bytes written to the media for each byte that hosts wrote, over the drive's life, within the
    /// bounds that the counters' units allow.
    #[must_use]
    pub fn write_amplification(&self) -> Known<WearBounds> {
        let host = match &self.host {
            Known::Yes(host) => host.value,
            Known::No(reason) => return Known::no(format!("host bytes: {reason}")),
        };
        let media = match &self.media {
            Known::Yes(media) => &media.value.bytes,
            Known::No(reason) => return Known::no(reason.clone()),
        };
        let media = match media {
            Known::Yes(media) => real(media.value),
            Known::No(reason) => return Known::no(format!("media bytes: {reason}")),
        };
        let (high, unit) = (host.bytes(), host.unit_bytes());
        let bounds = WearBounds::new(media / real(high), media / real(high - unit));
        let few = || format!("only {high} bytes were written, counted in units of {unit}");
        Known::of(bounds.ok_or_else(few), Source::Derived)
    }
}

/// Returns the facts of a page that `tree` has of the disk `name`, or why there are none.
fn page<T>(
    tree: &dyn KernelTree,
    name: &str,
    question: Question,
    read: impl Fn(&[u8]) -> Result<Parsed<T>, NoAnswer>,
) -> Result<T, String> {
    let path = answer::of_drive(name, question);
    let text = tree.read(&path).map_err(|error| match error {
        // A live drive of this kind is asked, so the path is missing from captures alone.
        TreeError::Missing { .. } => format!("the capture has no answer {}", question.word()),
        TreeError::Unreadable { reason, .. } => reason,
    })?;
    let bytes = answer::to_bytes(&text).ok_or("the answer holds no hexadecimal bytes")?;
    read(&bytes).map(|parsed| parsed.value).map_err(|error| error.to_string())
}

fn host_of_nvme(health: &nvme_health::Health) -> Result<CoarseBytes, String> {
    let units = health.data_units_written.count()?;
    if units == 0 {
        return Err("the counter is 0: the drive does not keep it".to_owned());
    }
    let host = CoarseBytes::new(units, nvme_health::DATA_UNIT_BYTES);
    host.ok_or_else(|| format!("{units} units of 512,000 bytes are more than any drive takes"))
}

fn used(percent: u8) -> Result<u8, String> {
    if percent == u8::MAX { Err("255 % or more".to_owned()) } else { Ok(percent) }
}

fn used_of(percent: Result<u8, String>) -> Result<u8, String> {
    percent.and_then(used)
}

/// Takes media bytes back that hosts exceed by more than a factor of 2.
fn doubt(media: &mut MediaWear, host: CoarseBytes) {
    let least = real(host.bytes() - host.unit_bytes()) * AMPLIFICATION_LEAST;
    if media.bytes.value().is_some_and(|&bytes| real(bytes) < least) {
        media.bytes = Known::no("below half of the host bytes: another unit, or compression");
    }
}
