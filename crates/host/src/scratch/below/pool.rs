//! Room in pools of device-mapper, by the lines of `dmsetup status`.
//!
//! Source: Linux `Documentation/admin-guide/device-mapper/` (`thin-provisioning.rst`,
//! `snapshot.rst`, `vdo.rst`).

use super::store::Room;

const SECTOR_BYTES: u64 = 512;
/// Length of a physical block of VDO, in bytes.
const VDO_BLOCK_BYTES: u64 = 4096;

/// A target of a device, with its state.
pub(super) struct TargetState<'a> {
    length_bytes: u64,
    kind: &'a str,
    words: Vec<&'a str>,
}

/// Returns the targets of the device `name`.
pub(super) fn targets<'a>(lines: &'a str, name: &'a str) -> impl Iterator<Item = TargetState<'a>> {
    let own = lines.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(": "));
    own.filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let sectors: u64 = words.nth(1)?.parse().ok()?;
        let length_bytes = sectors.checked_mul(SECTOR_BYTES)?;
        Some(TargetState { length_bytes, kind: words.next()?, words: words.collect() })
    })
}

impl TargetState<'_> {
    /// Returns whether it writes the same bytes to several devices.
    pub(super) fn copies(&self) -> bool {
        matches!(self.kind, "raid" | "mirror")
    }

    /// The kind of a pool, and its room; `None` where it is none.
    pub(super) fn pool(&self) -> Option<(&'static str, Result<Room, String>)> {
        let (kind, room) = match self.kind {
            // `TRANSACTION USED/TOTAL USED/TOTAL ...`: blocks of metadata, then of data.
            "thin-pool" => ("thin pool", self.shares(2)),
            // `ALLOCATED/TOTAL METADATA`, in sectors.
            "snapshot" => ("snapshot", self.sectors()),
            // `DEVICE MODE RECOVERY INDEX COMPRESSION USED TOTAL`, in blocks.
            "vdo" => ("VDO volume", self.vdo()),
            _ => return None,
        };
        let unknown = || format!("its status is `{}`", self.words.join(" "));
        Some((kind, room.ok_or_else(unknown)))
    }

    /// The fraction `USED/TOTAL` in this place, of all bytes.
    fn shares(&self, place: usize) -> Option<Room> {
        let (used, total) = fraction(self.words.get(place)?)?;
        let block_bytes = self.length_bytes.div_ceil(total);
        room(used, total, block_bytes)
    }

    fn sectors(&self) -> Option<Room> {
        let (used, total) = fraction(self.words.first()?)?;
        room(used, total, SECTOR_BYTES)
    }

    fn vdo(&self) -> Option<Room> {
        let number = |place: usize| self.words.get(place)?.parse().ok();
        room(number(5)?, number(6)?, VDO_BLOCK_BYTES)
    }
}

/// `USED/TOTAL`.
fn fraction(word: &str) -> Option<(u64, u64)> {
    let (used, total) = word.split_once('/')?;
    Some((used.parse().ok()?, total.parse().ok().filter(|total| *total > 0)?))
}

fn room(used: u64, total: u64, block_bytes: u64) -> Option<Room> {
    Some(Room {
        total_bytes: total.checked_mul(block_bytes)?,
        free_bytes: total.checked_sub(used)?.checked_mul(block_bytes)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> Option<(&'static str, Option<Room>)> {
        let text = format!("other: 0 8 linear \nvg-x: 0 {line}\n");
        let target = targets(&text, "vg-x").next().expect("it has a target");
        target.pool().map(|(kind, room)| (kind, room.ok()))
    }

    #[test]
    fn pools_say_how_much_of_them_is_free() {
        let room = |total_bytes, free_bytes| Some(Room { total_bytes, free_bytes });
        let thin = "2097152 thin-pool 1 406/4161 16000/16384 - rw discard_passdown";
        assert_eq!(found(thin), Some(("thin pool", room(1 << 30, 24 << 20))));
        let snapshot = "2097152 snapshot 1024/204800 16";
        assert_eq!(found(snapshot), Some(("snapshot", room(100 << 20, (100 << 20) - (512 << 10)))));
        let vdo = "2097152 vdo /dev/dm-3 normal - online online 1000 262144";
        assert_eq!(found(vdo), Some(("VDO volume", room(1 << 30, (1 << 30) - 4_096_000))));
    }

    #[test]
    fn what_a_broken_pool_has_free_is_unknown() {
        for line in ["8 thin-pool Fail", "8 thin-pool 1 1/2 3/0", "8 snapshot Invalid", "8 vdo"] {
            assert!(matches!(found(line), Some((_, None))), "{line}");
        }
        assert_eq!(found("8 thin 4096 4095"), None);
        assert_eq!(found("8 linear 7:0 0"), None);
    }
}
