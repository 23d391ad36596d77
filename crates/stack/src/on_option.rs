//! `--on`: the disk on which a target is to be judged, as the user tells.

use std::fmt;

use units::stripe::Stripe;
use units::{SectorSize, Unit, prefix};

/// A disk as the user tells it: sectors, granule with origin, stripe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// The logical sector.
    pub sector: Option<SectorSize>,
    /// The granule, with its origin.
    pub granule: Option<Unit>,
    /// The chunk and the number of data members.
    pub stripe: Option<Stripe>,
    /// Members that hold parity in each stripe; `None` when not told.
    pub parity: Option<u64>,
}

/// The words that `--on` takes for it.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let granule = self.granule.map(Unit::length_bytes);
        let sector = self.sector.map(SectorSize::bytes);
        let rows = || NAMED.iter().filter(|row| Some(row.1) == sector);
        let exact = rows().find(|row| Some(row.2) == granule);
        let mut words: Vec<String> = exact
            .or_else(|| rows().next())
            .map(|row| row.0.replace('k', "K"))
            .into_iter()
            .collect();
        if let (Some(bytes), None) = (granule, exact) {
            words.push(format!("granule={}", short(bytes)));
        }
        if let Some(origin) = self.granule.map(Unit::origin_bytes).filter(|&origin| origin > 0) {
            words.push(format!("origin={origin}"));
        }
        if let Some(stripe) = self.stripe {
            let parity = self.parity.map_or_else(String::new, |parity| format!("+{parity}"));
            let (chunk, data) = (short(stripe.chunk_bytes()), stripe.data_members());
            words.push(format!("stripe={chunk}x{data}{parity}"));
        }
        f.write_str(&words.join(","))
    }
}

/// A size as tools take it: `64K`, or bytes where it is no whole number of KiB.
fn short(bytes: u64) -> String {
    match bytes {
        mebibytes if mebibytes.is_multiple_of(1 << 20) => format!("{}M", mebibytes >> 20),
        kibibytes if kibibytes.is_multiple_of(1024) => format!("{}K", kibibytes >> 10),
        _ => bytes.to_string(),
    }
}

/// A `--on` that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The word at fault.
    pub word: String,
    /// Its problems.
    pub reason: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}`: {}; give one or more of these, separated by commas: 512n, 512e or 4Kn, \
             qlc-16k, qlc-64k or iu=16K (an SSD's indirection unit), granule=16K, origin=3584, \
             stripe=64Kx3 (chunk x data disks) or stripe=64Kx3+1 (with one disk's worth of parity)",
            self.word, self.reason
        )
    }
}

impl std::error::Error for ConditionError {}

/// The names that users know: logical sector and granule in bytes.
const NAMED: [(&str, u64, u64); 3] = [("512n", 512, 512), ("512e", 512, 4096), ("4kn", 4096, 4096)];

/// Kinds of flash drives with a coarse indirection unit, which are sold with sectors of 512 and of
/// 4096 bytes: the unit in bytes.
///
/// Sources: <https://github.com/ceph/ceph/pull/71954> (Solidigm D5-P5336: 16 KiB, D5-P5316: 64
/// KiB), <https://github.com/ceph/ceph/pull/65269> (Micron 6550 ION: 16 KiB).
const COARSE: [(&str, u64); 2] = [("qlc-16k", 16 << 10), ("qlc-64k", 64 << 10)];

/// The properties that take a value.
const KEYS: [&str; 4] = ["granule", "iu", "origin", "stripe"];

/// The most changed letters of a word that is taken for another.
const CHANGED_MAX: usize = 2;

/// The name or property that `word` is nearly, as users write it.
fn meant(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    let names = NAMED.iter().map(|row| row.0).chain(COARSE.iter().map(|row| row.0));
    let names = names.map(str::to_owned).chain(KEYS.map(|key| format!("{key}=")));
    let near = names.map(|name| (changes(&word, &name), name));
    let (changed, name) = near.min_by_key(|(changed, _)| *changed)?;
    // Of a word of two letters two changed ones leave nothing.
    let is_near = changed <= CHANGED_MAX.min(word.len().div_ceil(2));
    is_near.then(|| if name == "4kn" { "4Kn".to_owned() } else { name })
}

/// Letters to insert, take out or replace until `one` is `other`.
fn changes(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.chars().count()).collect();
    for (number, letter) in one.chars().enumerate() {
        let mut left_above = row[0];
        row[0] = number + 1;
        for (at, theirs) in other.chars().enumerate() {
            let replaced = left_above + usize::from(letter != theirs);
            left_above = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(left_above + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let mut told = Condition::default();
        // A granule that is given counts before the usual one of a type of disk.
        let (mut given, mut usual) = (None, None);
        let mut origin = None;
        for word in text.split(',').map(str::trim) {
            let fail =
                |reason: &str| ConditionError { word: word.to_owned(), reason: reason.into() };
            let size = |text: &str| prefix::parse(text).map_err(|error| fail(&error.to_string()));
            let unlike = |reason: &str| match meant(word.split_inclusive('=').next().unwrap_or(""))
            {
                Some(meant) => fail(&format!("{reason}, did you mean {meant}?")),
                None => fail(reason),
            };
            let lower = word.to_ascii_lowercase();
            if let Some((_, bytes)) = COARSE.iter().find(|(name, _)| *name == lower) {
                given = once(given, *bytes).map_err(fail)?;
                continue;
            }
            match word.split_once('=') {
                Some(("granule" | "iu", value)) => {
                    given = once(given, size(value)?).map_err(fail)?;
                }
                Some(("origin", value)) => origin = Some(size(value)?),
                Some(("stripe", value)) => {
                    (told.stripe, told.parity) = stripe(value).map_err(|reason| fail(&reason))?;
                }
                None => {
                    let row = NAMED.iter().find(|(name, ..)| *name == lower);
                    let reason = "no such type of disk";
                    let unknown = || match (meant(word), size(word)) {
                        (None, Ok(_)) => fail(&format!("{reason}, did you mean granule={word}?")),
                        _ => unlike(reason),
                    };
                    let (_, sector, unit) = row.ok_or_else(unknown)?;
                    if told.sector.is_some() {
                        return Err(fail("a second kind of disk: name one"));
                    }
                    told.sector = SectorSize::new(*sector);
                    usual = Some(*unit);
                }
                Some(_) => return Err(unlike("not a property of a disk")),
            }
        }
        let granule = given.or(usual);
        told.granule = checked_granule(&told, granule, origin)
            .map_err(|reason| ConditionError { word: text.to_owned(), reason })?;
        Ok(told)
    }
}

/// `bytes` as the granule, unless `given` is another.
fn once(given: Option<u64>, bytes: u64) -> Result<Option<u64>, &'static str> {
    match given.is_none_or(|given| given == bytes) {
        true => Ok(Some(bytes)),
        false => Err("a second granule: give one"),
    }
}

fn checked_granule(
    told: &Condition,
    granule: Option<u64>,
    origin: Option<u64>,
) -> Result<Option<Unit>, String> {
    let Some(bytes) = granule else {
        return match origin {
            Some(_) => Err("an origin needs a granule: add 512e, or granule=4K".to_owned()),
            None => Ok(None),
        };
    };
    let sector = told.sector.map_or(512, SectorSize::bytes);
    if !bytes.is_multiple_of(sector) || bytes == 0 {
        return Err(format!("a granule is a multiple of the logical sector, {sector} bytes"));
    }
    let origin = origin.unwrap_or(0);
    if !origin.is_multiple_of(sector) || origin >= bytes {
        return Err(format!(
            "an origin is a multiple of the logical sector, {sector} bytes, and below the granule"
        ));
    }
    Ok(Unit::with_origin(bytes, origin))
}

/// `64Kx3` or `64Kx3+1`: chunk, data members, parity members.
fn stripe(text: &str) -> Result<(Option<Stripe>, Option<u64>), String> {
    let wrong = || "a stripe is a chunk, `x` and the number of data disks: 64Kx3".to_owned();
    let (chunk, members) = text.split_once(['x', 'X']).ok_or_else(wrong)?;
    let chunk = prefix::parse(chunk).map_err(|error| error.to_string())?;
    let (data, parity) = match members.split_once('+') {
        Some((data, parity)) => (data, Some(parity.parse::<u64>().map_err(|_| wrong())?)),
        None => (members, None),
    };
    let data = data.parse::<u64>().map_err(|_| wrong())?;
    if parity.is_some_and(|parity| parity > 2) {
        return Err("parity takes 0, 1 or 2 disks".to_owned());
    }
    if !chunk.is_multiple_of(512) || data > 4096 {
        return Err("a chunk is a multiple of 512 bytes, over at most 4096 data disks".to_owned());
    }
    Ok((Some(Stripe::new(chunk, data).ok_or_else(wrong)?), parity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_granules_origins_and_stripes_are_understood() {
        let told: Condition = "512e,origin=3584,stripe=64Kx3+1".parse().unwrap();
        assert_eq!(told.granule, Unit::with_origin(4096, 3584));
        assert_eq!(told.stripe, Stripe::new(65536, 3));
        assert_eq!(told.parity, Some(1));
        assert_eq!("4Kn".parse::<Condition>().unwrap().sector, Some(SectorSize::B4096));
        let coarse: Condition = "granule=16K,512e".parse().unwrap();
        assert_eq!(coarse.granule, Unit::new(16384));
    }

    #[test]
    fn an_indirection_unit_is_a_granule_by_its_own_name() {
        for (text, same) in [
            ("iu=16K", "granule=16K"),
            ("qlc-16k", "granule=16K"),
            ("4Kn,QLC-16K", "4Kn,granule=16K"),
            ("qlc-64k,512e", "512n,granule=64K"),
            ("512e,iu=16K", "512n,granule=16K"),
            ("qlc-16k,iu=16K", "granule=16K"),
        ] {
            let told: Condition = text.parse().unwrap();
            assert_eq!(told, same.parse().unwrap(), "{text}");
            assert_eq!(told.to_string(), same);
        }
        let error = "qlc-16k,granule=8K".parse::<Condition>().unwrap_err();
        assert_eq!(error.reason, "a second granule: give one");
    }

    #[test]
    fn what_is_nearly_a_name_says_which() {
        for (text, meant) in [
            ("4k", "4Kn"),
            ("512", "512n"),
            ("16K", "granule=16K"),
            ("qlc16k", "qlc-16k"),
            ("granul=16K", "granule="),
            ("ui=16K", "iu="),
            ("stipe=64Kx3", "stripe="),
        ] {
            let error = text.parse::<Condition>().unwrap_err();
            let reason = error.reason.as_str();
            assert!(reason.ends_with(&format!(", did you mean {meant}?")), "{text}: {reason}");
        }
        for text in ["", "x", "color=red", "advanced"] {
            let error = text.parse::<Condition>().unwrap_err();
            assert!(!error.reason.contains("did you mean"), "{text}: {}", error.reason);
        }
    }

    #[test]
    fn a_disk_is_printed_in_words_that_say_the_same_disk() {
        for text in [
            "512n",
            "512e",
            "4Kn",
            "granule=4M",
            "512e,origin=3584,stripe=64Kx3+1",
            "512n,granule=16K",
            "4Kn,granule=16K,stripe=512Kx5",
            "granule=1536,origin=512",
            "stripe=64Kx2+0",
        ] {
            let told: Condition = text.parse().unwrap();
            assert_eq!(told.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_disk_is_refused_with_the_word() {
        for text in [
            "",
            "513n",
            "granule=0",
            "granule=1000",
            "origin=512",
            "512e,origin=4096",
            "512e,origin=5",
            "stripe=64K",
            "stripe=0x3",
            "stripe=64Kx0",
            "stripe=64Kx3+3",
            "granule=x",
            "color=red",
            "stripe=64Kx99999999999",
        ] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }
}
