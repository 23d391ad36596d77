//! Device-mapper tables: what each target lies on, and from where.
//!
//! Source: Linux `Documentation/admin-guide/device-mapper/`; the parsers are in
//! `drivers/md/dm-*.c`.

use std::collections::BTreeMap;

use device::KernelTree;
use device::answer;

use super::Number;

/// The most lines that are read of all tables together.
const LINES_MAX: usize = 1 << 16;
/// The most devices that one target may name.
const DEVICES_MAX: usize = 4096;

/// Every device-mapper table, by the device's name.
pub type Tables = BTreeMap<String, Vec<DmTarget>>;

/// One line of a table: a run of the device and what it lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DmTarget {
    /// Its first byte of the device.
    pub start_bytes: u64,
    /// Its length in bytes.
    pub length_bytes: u64,
    /// The type as written: `linear`, `crypt`.
    pub word: String,
    /// Its work.
    pub kind: TargetKind,
    /// Its own say about discards; `None` of a target without options about them.
    pub discards: Option<TableDiscards>,
}

/// A table's own say about discards.
///
/// Source: Linux `Documentation/admin-guide/device-mapper/{dm-crypt,thin-provisioning}.rst`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableDiscards {
    /// Of an encrypted device.
    Crypt {
        /// True if it has `allow_discards`.
        allowed: bool,
        /// The options of `cryptsetup refresh` that keep the other options of the table.
        others: Vec<&'static str>,
    },
    /// Of a thin pool.
    Pool(PoolDiscards),
}

/// Fate of a discard in a thin pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolDiscards {
    /// It frees chunks of the pool, and goes on to the device below.
    PassedDown,
    /// It frees chunks of the pool alone: `no_discard_passdown`.
    KeptInPool,
    /// It frees nothing: `ignore_discard`.
    Ignored,
}

/// Options of dm-crypt tables and how cryptsetup spells them.
const CRYPT_OPTIONS: [(&str, &str); 5] = [
    ("same_cpu_crypt", "--perf-same_cpu_crypt"),
    ("submit_from_crypt_cpus", "--perf-submit_from_crypt_cpus"),
    ("no_read_workqueue", "--perf-no_read_workqueue"),
    ("no_write_workqueue", "--perf-no_write_workqueue"),
    ("high_priority", "--perf-high_priority"),
];

/// The say of a table's line about discards.
fn discards(word: &str, words: &[&str]) -> Option<TableDiscards> {
    match word {
        "crypt" => {
            let given = words.get(5..).unwrap_or_default();
            let others = CRYPT_OPTIONS.iter().filter(|(name, _)| given.contains(name));
            Some(TableDiscards::Crypt {
                allowed: given.contains(&"allow_discards"),
                others: others.map(|&(_, option)| option).collect(),
            })
        }
        "thin-pool" => {
            let given = words.get(4..).unwrap_or_default();
            Some(TableDiscards::Pool(match given {
                given if given.contains(&"ignore_discard") => PoolDiscards::Ignored,
                given if given.contains(&"no_discard_passdown") => PoolDiscards::KeptInPool,
                _ => PoolDiscards::PassedDown,
            }))
        }
        _ => None,
    }
}

/// A place on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevicePlace {
    /// The device.
    pub on: Number,
    /// The byte of it where the target's data begins.
    pub offset_bytes: u64,
}

/// Work of a target with its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// All of it lies on one device as it is: `linear`, `delay`, `flakey`, `verity` and others that
    /// move nothing.
    Linear(DevicePlace),
    /// In chunks round the members.
    Striped {
        /// The chunk in bytes.
        chunk_bytes: u64,
        /// The members in order.
        members: Vec<DevicePlace>,
    },
    /// Encrypted in place.
    Crypt {
        /// Place where the data begins.
        place: DevicePlace,
        /// The encryption sector in bytes.
        sector_bytes: u64,
        /// True if an integrity tag is kept for each sector, interleaved below.
        integrity: bool,
    },
    /// An array of the md drivers.
    Raid {
        /// The layout as written: `raid5_ls`, `raid10_near`.
        layout: String,
        /// The chunk in bytes; 0 for RAID 1.
        chunk_bytes: u64,
        /// The members' data devices in order; `None` for one that is missing.
        members: Vec<Option<Number>>,
    },
    /// The same bytes on every member.
    Mirror(Vec<DevicePlace>),
    /// Several paths to one device.
    Multipath(Vec<Number>),
    /// A volume of a thin pool.
    Thin {
        /// The pool.
        pool: Number,
    },
    /// A thin pool.
    ThinPool {
        /// The device with the data.
        data: Number,
        /// The chunk in bytes.
        chunk_bytes: u64,
    },
    /// Data with tags in between.
    Integrity(Number),
    /// On nothing: `zero`, `error`.
    Nothing,
    /// Something else; the devices that it names.
    Other(Vec<Number>),
}

/// Every table of the machine.
///
/// # Errors
/// When the tables cannot be read, which takes root; the text says why. A line that is none is left
/// out.
pub fn tables(tree: &dyn KernelTree) -> Result<Tables, String> {
    let text = tree.read(answer::DM_TABLES).map_err(|error| error.to_string())?;
    let mut tables = Tables::new();
    for line in text.lines().take(LINES_MAX) {
        if let Some((name, target)) = target(line) {
            tables.entry(name).or_default().push(target);
        }
    }
    Ok(tables)
}

/// A line as `dmsetup table` prints it: `NAME: START LENGTH TYPE PARAMETERS`.
fn target(line: &str) -> Option<(String, DmTarget)> {
    // A name may hold a colon; what stands behind the last one that a number follows is the table.
    let (name, rest) = line.split_once(": ")?;
    let mut words = rest.split_ascii_whitespace();
    let start_bytes = sectors(words.next()?)?;
    let length_bytes = sectors(words.next()?)?;
    let word = words.next()?.to_owned();
    let words: Vec<&str> = words.take(DEVICES_MAX).collect();
    let kind = kind(&word, &words).unwrap_or_else(|| TargetKind::Other(numbers(&words)));
    let discards = discards(&word, &words);
    Some((name.to_owned(), DmTarget { start_bytes, length_bytes, word, kind, discards }))
}

fn kind(word: &str, words: &[&str]) -> Option<TargetKind> {
    Some(match word {
        "linear" | "delay" | "flakey" | "dust" => TargetKind::Linear(place(words)?),
        "verity" => {
            let on = Number::parse(words.get(1)?)?;
            TargetKind::Linear(DevicePlace { on, offset_bytes: 0 })
        }
        "snapshot-origin" => {
            TargetKind::Linear(DevicePlace { on: Number::parse(words.first()?)?, offset_bytes: 0 })
        }
        "striped" => {
            let (chunk, members) = (sectors(words.get(1)?)?, places(words.get(2..)?));
            let count: usize = words.first()?.parse().ok()?;
            (count == members.len())
                .then_some(TargetKind::Striped { chunk_bytes: chunk, members })?
        }
        "crypt" => crypt(words)?,
        "raid" => raid(words)?,
        "mirror" => {
            let arguments: usize = words.get(1)?.parse().ok()?;
            let count: usize = words.get(arguments.checked_add(2)?)?.parse().ok()?;
            let rest = words.get(arguments.checked_add(3)?..)?;
            TargetKind::Mirror(places(rest.get(..count.checked_mul(2)?)?))
        }
        "multipath" => TargetKind::Multipath(numbers(words)),
        "thin" => TargetKind::Thin { pool: Number::parse(words.first()?)? },
        "thin-pool" => TargetKind::ThinPool {
            data: Number::parse(words.get(1)?)?,
            chunk_bytes: sectors(words.get(2)?)?,
        },
        "integrity" => TargetKind::Integrity(Number::parse(words.first()?)?),
        "zero" | "error" => TargetKind::Nothing,
        _ => return None,
    })
}

/// `CIPHER KEY IV-OFFSET DEVICE OFFSET [COUNT OPTION...]`.
fn crypt(words: &[&str]) -> Option<TargetKind> {
    let place = place(words.get(3..)?)?;
    let options = words.get(5..).unwrap_or_default();
    let option = |name: &str| options.iter().find_map(|word| word.strip_prefix(name));
    let sector = option("sector_size:").map_or(Some(512), |size| size.parse().ok())?;
    let integrity = option("integrity:").is_some();
    Some(TargetKind::Crypt { place, sector_bytes: sector, integrity })
}

/// `LAYOUT COUNT PARAMETER... COUNT [METADATA DATA]...`; the first parameter is the chunk.
fn raid(words: &[&str]) -> Option<TargetKind> {
    let layout = (*words.first()?).to_owned();
    let parameters: usize = words.get(1)?.parse().ok()?;
    let chunk_bytes = sectors(words.get(2)?)?;
    let devices = words.get(parameters.checked_add(2)?..)?;
    let count: usize = devices.first()?.parse().ok()?;
    let pairs = devices.get(1..)?.chunks_exact(2).take(count);
    let members: Vec<Option<Number>> = pairs.map(|pair| Number::parse(pair[1])).collect();
    let given = words.get(2..).unwrap_or_default();
    let copies = given.iter().position(|word| *word == "raid10_copies");
    let copies = copies.and_then(|at| given.get(at + 1)).copied().unwrap_or("2");
    let layout = match given {
        _ if layout == "raid10" && copies != "2" => format!("raid10 with {copies} copies"),
        parameters if layout == "raid10" && parameters.contains(&"far") => "raid10_far".to_owned(),
        parameters if layout == "raid10" && parameters.contains(&"offset") => {
            "raid10_offset".to_owned()
        }
        _ => layout,
    };
    (members.len() == count).then_some(TargetKind::Raid { layout, chunk_bytes, members })
}

impl TargetKind {
    /// Every device that it names.
    pub(super) fn devices(&self) -> Vec<Number> {
        match self {
            TargetKind::Linear(place) | TargetKind::Crypt { place, .. } => vec![place.on],
            TargetKind::Striped { members, .. } | TargetKind::Mirror(members) => {
                members.iter().map(|place| place.on).collect()
            }
            TargetKind::Raid { members, .. } => members.iter().flatten().copied().collect(),
            TargetKind::Thin { pool } => vec![*pool],
            TargetKind::ThinPool { data, .. } => vec![*data],
            TargetKind::Integrity(device) => vec![*device],
            TargetKind::Multipath(devices) | TargetKind::Other(devices) => devices.clone(),
            TargetKind::Nothing => Vec::new(),
        }
    }
}

/// Pairs of a device and an offset.
fn places(words: &[&str]) -> Vec<DevicePlace> {
    words.chunks_exact(2).map_while(place).collect()
}

fn place(words: &[&str]) -> Option<DevicePlace> {
    let on = Number::parse(words.first()?)?;
    Some(DevicePlace { on, offset_bytes: sectors(words.get(1)?)? })
}

/// Every word that is a device's number.
fn numbers(words: &[&str]) -> Vec<Number> {
    words.iter().filter_map(|word| Number::parse(word)).collect()
}

fn sectors(word: &str) -> Option<u64> {
    word.parse::<u64>().ok()?.checked_mul(512)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(line: &str) -> TargetKind {
        target(line).unwrap().1.kind
    }

    fn number(major: u32, minor: u32) -> Number {
        Number { major, minor }
    }

    fn at(major: u32, minor: u32, offset_bytes: u64) -> DevicePlace {
        DevicePlace { on: number(major, minor), offset_bytes }
    }

    #[test]
    fn linear_and_striped_targets_say_where_their_members_begin() {
        let (name, found) = target("vg0-lv0: 0 262144 linear 9:0 2304").unwrap();
        assert_eq!((name.as_str(), found.length_bytes), ("vg0-lv0", 128 << 20));
        assert_eq!(found.kind, TargetKind::Linear(at(9, 0, 2304 * 512)));
        let members = vec![at(8, 128, 0), at(8, 144, 512)];
        let expected = TargetKind::Striped { chunk_bytes: 65536, members };
        assert_eq!(only("s: 0 131072 striped 2 128 8:128 0 8:144 1"), expected);
    }

    #[test]
    fn crypt_gives_offset_and_sector_whatever_its_key_is() {
        let line = "c: 0 229120 crypt aes-xts-plain64 :64:logon:cryptsetup:5e8d-d0 0 251:0 33024 1 \
                    sector_size:4096";
        let place = at(251, 0, 33024 * 512);
        let expected = TargetKind::Crypt { place, sector_bytes: 4096, integrity: false };
        assert_eq!(only(line), expected);
    }

    #[test]
    fn raid_members_come_in_order_and_missing_ones_stay_missing() {
        let line = "r: 0 8192 raid raid5_ls 3 128 region_size 4096 3 253:0 253:1 - - 253:4 253:5";
        let members = vec![Some(number(253, 1)), None, Some(number(253, 5))];
        let layout = "raid5_ls".to_owned();
        assert_eq!(only(line), TargetKind::Raid { layout, chunk_bytes: 65536, members });
    }

    #[test]
    fn thin_volumes_and_pools_name_their_devices() {
        let pool = TargetKind::ThinPool { data: number(253, 3), chunk_bytes: 65536 };
        assert_eq!(only("p: 0 1 thin-pool 253:2 253:3 128 0 0"), pool);
        assert_eq!(only("t: 0 1 thin 253:4 7"), TargetKind::Thin { pool: number(253, 4) });
    }

    #[test]
    fn tables_say_whether_discards_pass() {
        let said = |line: &str| target(line).unwrap().1.discards;
        let crypt = |allowed, others: &[&'static str]| {
            Some(TableDiscards::Crypt { allowed, others: others.to_vec() })
        };
        assert_eq!(said("c: 0 8 crypt aes-xts-plain64 :64:logon:x 0 8:1 0"), crypt(false, &[]));
        let line = "c: 0 8 crypt aes-xts-plain64 :64:logon:x 0 8:1 0 2 allow_discards \
                    no_read_workqueue";
        assert_eq!(said(line), crypt(true, &["--perf-no_read_workqueue"]));
        for (options, fate) in [
            ("", PoolDiscards::PassedDown),
            (" 2 skip_block_zeroing no_discard_passdown", PoolDiscards::KeptInPool),
            (" 1 ignore_discard", PoolDiscards::Ignored),
        ] {
            let line = format!("p: 0 8 thin-pool 253:2 253:3 128 0{options}");
            assert_eq!(said(&line), Some(TableDiscards::Pool(fate)), "{line}");
        }
        assert_eq!(said("l: 0 8 linear 8:1 0"), None);
    }

    #[test]
    fn nonsense_is_left_out_or_names_its_devices_only() {
        assert!(target("no colon 0 1").is_none());
        assert!(target("x: 0 18446744073709551615 linear 1:1 0").is_none());
        assert_eq!(only("x: 0 1 linear 1:1"), TargetKind::Other(vec![number(1, 1)]));
        assert_eq!(only("x: 0 1 vdo 8:1 y"), TargetKind::Other(vec![number(8, 1)]));
    }
}
