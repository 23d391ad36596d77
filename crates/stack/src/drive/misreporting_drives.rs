//! Drives that are known to say what is not so, one row each: how they are recognized, what they
//! say, what to believe instead, and who found out.
//!
//! A row needs a public source. What a drive says rightly is never changed: a row applies only
//! where the drive says the very thing that is wrong.

use units::prefix::Exact;

use super::KernelDrive;

/// A false report, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// The granule is this, while less is reported.
    Granule(u64),
    /// Same as [`Lie::Granule`], but a jumper can shift all addresses, so that it is only assumed.
    ShiftableGranule(u64),
    /// This optimal I/O size means nothing.
    Optimal(u64),
    /// This physical sector of an NVMe drive is how much it writes whole or not at all, not what
    /// it can write without reading.
    Atomic(u64),
}

/// A row: drives, and what they say that is not so.
#[derive(Debug, PartialEq, Eq)]
pub struct Liar {
    /// Beginnings of their models, with `?` for any one character; none stands for every drive.
    pub models: &'static [&'static str],
    /// The false report.
    pub lie: Lie,
    /// The problem, in a clause.
    pub what: &'static str,
    /// Place where that is told.
    pub url: &'static str,
}

/// Every row.
const LIARS: &[Liar] = &[
    Liar {
        models: &["Amazon EC2 NVMe Instance Storage"],
        lie: Lie::Granule(4096),
        what: "instance storage reports 512 bytes and works in 4096",
        url: "https://github.com/openzfs/zfs/pull/7676",
    },
    Liar {
        models: &["MSFT NVMe Accelerator"],
        lie: Lie::Optimal(32 << 20),
        what: "Azure's disks set NOWS to 65535, its largest value, for no limit",
        url: "https://github.com/Azure/azure-vm-utils/issues/99",
    },
    Liar {
        models: &[],
        lie: Lie::Optimal(0xffff * 512),
        what: "USB bridges report 65535 sectors for no limit",
        url: "https://github.com/util-linux/util-linux/issues/1221",
    },
    Liar {
        models: &["WDC WD??EARS"],
        lie: Lie::ShiftableGranule(4096),
        what: "early drives of 4096-byte sectors report 512, and a jumper on pins 7 and 8 shifts \
               every address by one sector, which the drive does not tell: only measuring does",
        url: "https://notepad.patheticcockroach.com/900/dealing-with-wd-advanced-format-hard-\
              drives-on-linux-windows-and-mac-os-part-1/",
    },
    Liar {
        models: &["WDC WD??EARX"],
        lie: Lie::ShiftableGranule(4096),
        what: "some of these drives of 4096-byte sectors report 512",
        url: "https://github.com/openzfs/zfs/issues/16838",
    },
    Liar {
        models: &["WDC WD20EFRX"],
        lie: Lie::Granule(4096),
        what: "of two drives of this model one reports 4096-byte sectors and one 512",
        url: "http://ewen.mcneill.gen.nz/blog/entry/\
              2018-01-02-realigning-linux-md-raid-1-partitions/",
    },
    Liar {
        models: &[],
        lie: Lie::Atomic(256 << 10),
        what: "kernels report AWUPF of 256 KiB as the physical sector",
        url: "https://github.com/openzfs/zfs/issues/13917",
    },
    Liar {
        models: &["INTEL SSDPFWNV", "SOLIDIGM SSDPFWNV"],
        lie: Lie::Granule(64 << 10),
        what: "the D5-P5316 maps units of 64 KiB",
        url: "https://github.com/ceph/ceph/pull/71954",
    },
    Liar {
        models: &["SOLIDIGM SBFPF2BV"],
        lie: Lie::Granule(16 << 10),
        what: "the D5-P5336 maps units of 16 KiB or more",
        url: "https://github.com/ceph/ceph/pull/71954",
    },
    Liar {
        models: &["Micron_6550_"],
        lie: Lie::Granule(16 << 10),
        what: "the 6550 ION maps units of 16 KiB",
        url: "https://github.com/ceph/ceph/pull/65269",
    },
];

impl Liar {
    /// Returns what the row says of a drive, as evidence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let believed = match self.lie {
            Lie::Granule(bytes) => format!("a granule of {} is believed", Exact(bytes)),
            Lie::ShiftableGranule(bytes) => {
                format!("a granule of {} is assumed, and may be shifted", Exact(bytes))
            }
            Lie::Optimal(bytes) => format!("optimal_io_size {bytes} is ignored"),
            Lie::Atomic(bytes) => format!("{} is no granule", Exact(bytes)),
        };
        format!("{}; {believed} ({})", self.what, self.url)
    }

    fn names(&self, models: &[String]) -> bool {
        self.models.is_empty()
            || self.models.iter().any(|pattern| models.iter().any(|model| begins(model, pattern)))
    }
}

/// Returns whether `model` begins as `pattern` says, with `?` for any one character.
fn begins(model: &str, pattern: &str) -> bool {
    let mut model = model.chars();
    pattern.chars().all(|wanted| model.next().is_some_and(|it| wanted == '?' || wanted == it))
}

impl KernelDrive {
    /// The rows that name this drive and whose lie it tells.
    pub fn lies(&self) -> impl Iterator<Item = &'static Liar> + use<> {
        let models = self.models();
        let physical = self.physical_bytes.value().copied();
        let preferred = self.preferred_bytes();
        let reported = physical.unwrap_or(0).max(preferred.unwrap_or(0));
        let optimal = self.optimal_io_bytes.value().copied();
        let nvme = self.is_nvme();
        LIARS.iter().filter(move |liar| {
            let told = match liar.lie {
                Lie::Granule(bytes) | Lie::ShiftableGranule(bytes) => {
                    physical.is_some() && reported < bytes
                }
                Lie::Optimal(bytes) => optimal == Some(bytes),
                Lie::Atomic(bytes) => nvme && physical == Some(bytes) && preferred != physical,
            };
            told && liar.names(&models)
        })
    }

    /// The names under which a row may know it. Bridges put an ATA disk's model into vendor and
    /// product, so both are tried together.
    fn models(&self) -> Vec<String> {
        let text = |text: &units::DiskText| String::from_utf8_lossy(text.raw()).into_owned();
        let kernel = self.model.as_ref().map(text);
        let full = self.identity.full_model.as_ref().map(text);
        let joined = self.identity.vendor.as_ref().zip(kernel.as_ref());
        let joined = joined.map(|(vendor, model)| text(vendor) + model);
        [full, kernel, joined].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source_and_a_pattern_long_enough_to_mean_one_product() {
        for liar in LIARS {
            assert!(liar.url.starts_with("http") && !liar.url.contains(' '), "{}", liar.url);
            assert!(!liar.what.is_empty() && !liar.what.ends_with('.'), "{}", liar.what);
            assert!(liar.models.iter().all(|model| model.len() >= 11), "{:?}", liar.models);
        }
    }

    #[test]
    fn a_pattern_is_how_a_model_begins() {
        assert!(begins("WDC WD10EARS-00Y5B1", "WDC WD??EARS"));
        assert!(!begins("WDC WD10EADS-00Y5B1", "WDC WD??EARS"));
        assert!(!begins("WDC WD", "WDC WD??EARS"));
    }
}
