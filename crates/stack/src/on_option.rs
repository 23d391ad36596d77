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
             granule=16K, origin=3584, stripe=64Kx3 (chunk x data disks) or stripe=64Kx3+1 (with \
             one disk's worth of parity)",
            self.word, self.reason
        )
    }
}

impl std::error::Error for ConditionError {}

/// The names that users know: logical sector and granule in bytes.
const NAMED: [(&str, u64, u64); 3] = [("512n", 512, 512), ("512e", 512, 4096), ("4kn", 4096, 4096)];

impl std::str::FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let mut told = Condition::default();
        let mut granule = None;
        let mut origin = None;
        for word in text.split(',').map(str::trim) {
            let fail =
                |reason: &str| ConditionError { word: word.to_owned(), reason: reason.into() };
            let size = |text: &str| prefix::parse(text).map_err(|error| fail(&error.to_string()));
            match word.split_once('=') {
                Some(("granule", value)) => granule = Some(size(value)?),
                Some(("origin", value)) => origin = Some(size(value)?),
                Some(("stripe", value)) => {
                    (told.stripe, told.parity) = stripe(value).map_err(|reason| fail(&reason))?;
                }
                None => {
                    let lower = word.to_ascii_lowercase();
                    let row = NAMED.iter().find(|(name, ..)| *name == lower);
                    let (_, sector, unit) = row.ok_or_else(|| fail("no such type of disk"))?;
                    if told.sector.is_some() {
                        return Err(fail("a second kind of disk: name one"));
                    }
                    told.sector = SectorSize::new(*sector);
                    granule = granule.or(Some(*unit));
                }
                Some(_) => return Err(fail("not a property of a disk")),
            }
        }
        told.granule = checked_granule(&told, granule, origin)
            .map_err(|reason| ConditionError { word: text.to_owned(), reason })?;
        Ok(told)
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
