//! Places of sectors: the track, and the distance from the turn's beginning.

use std::num::NonZeroU64;

use super::HardDiskPlan;

/// A run of tracks with as many sectors each.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first_sector: u64,
    first_track: u64,
    track_sectors: u64,
}

/// Place of a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SectorPlace {
    /// The track, from the outermost.
    pub(super) track: u64,
    /// The sector of the track, from 0.
    pub(super) index: u64,
    /// Number of sectors the track has.
    pub(super) track_sectors: u64,
}

/// Work of the head in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadWork {
    Reads,
    Writes,
}

/// Place of a sector as the arm needs it; small, since many are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    /// The track.
    pub(super) track: DiskTrack,
    /// When in a turn the sector starts to pass, in nanoseconds: below a second, as a turn is.
    pub(super) passes_ns: u32,
    /// Work of the head there.
    pub(super) work: HeadWork,
}

/// A track: the cylinder, from the outermost, below 2^48, and behind it in 16 bits the number of
/// the track in its cylinder, from 1. Two are compared for each piece that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DiskTrack(NonZeroU64);

impl DiskTrack {
    /// The track of the first head at the outermost cylinder.
    pub(super) const FIRST: DiskTrack = DiskTrack(NonZeroU64::MIN);

    fn new(cylinder: u64, head: u64) -> DiskTrack {
        DiskTrack(NonZeroU64::MIN.saturating_add(cylinder << 16 | head))
    }

    /// The cylinder, from the outermost.
    pub(super) fn cylinder(self) -> u64 {
        self.0.get() >> 16
    }
}

/// All sectors of a disk.
#[derive(Clone, Debug)]
pub(super) struct Platter {
    zones: Vec<Zone>,
    tracks: u64,
    heads: u64,
    turn_ns: u64,
    skew_ns: u64,
}

impl Platter {
    /// The tracks of `plan`, which was checked: zones of as many tracks each, whose sectors become
    /// fewer in equal steps.
    pub(super) fn new(plan: &HardDiskPlan) -> Platter {
        let sectors = plan.capacity_bytes.div_ceil(plan.physical_bytes) + 1;
        let (outer, inner) = (
            plan.outer_track_bytes / plan.physical_bytes,
            plan.inner_track_bytes / plan.physical_bytes,
        );
        let count = u64::from(plan.zones);
        let steps = (count - 1).max(1);
        let of_zone =
            |zone: u64| (outer * (steps - zone.min(steps)) + inner * zone.min(steps)) / steps;
        let round: u64 = (0..count).map(of_zone).sum();
        let zone_tracks = sectors.div_ceil(round);
        let mut zones = Vec::new();
        let (mut first_sector, mut first_track) = (0, 0);
        for zone in 0..count {
            let track_sectors = of_zone(zone);
            zones.push(Zone { first_sector, first_track, track_sectors });
            first_sector += zone_tracks * track_sectors;
            first_track += zone_tracks;
        }
        let turn_ns = 60_000_000_000 / u64::from(plan.rpm);
        let heads = plan.heads.into();
        Platter { zones, tracks: first_track, heads, turn_ns, skew_ns: plan.skew_ns }
    }

    /// Returns how long a turn takes.
    pub(super) fn turn_ns(&self) -> u64 {
        self.turn_ns
    }

    /// Returns how long until `spot` passes, where the platter has turned by `turned_ns`.
    #[inline]
    pub(super) fn wait_ns(&self, spot: Spot, turned_ns: u64) -> u64 {
        let passes_ns = u64::from(spot.passes_ns);
        let is_behind = passes_ns < turned_ns;
        passes_ns + if is_behind { self.turn_ns } else { 0 } - turned_ns
    }

    /// Returns how many whole cylinders there are.
    pub(super) fn cylinders(&self) -> u64 {
        self.tracks / self.heads
    }

    /// Returns where a sector is.
    pub(super) fn place(&self, sector: u64) -> SectorPlace {
        let next = self.zones.partition_point(|zone| zone.first_sector <= sector);
        let zone = &self.zones[next - 1];
        let within = sector - zone.first_sector;
        SectorPlace {
            track: zone.first_track + within / zone.track_sectors,
            index: within % zone.track_sectors,
            track_sectors: zone.track_sectors,
        }
    }

    /// Returns what the arm must know of a place, and of its work there.
    pub(super) fn spot(&self, place: SectorPlace, work: HeadWork) -> Spot {
        let passes_ns = self.within_ns(place, place.index) + place.track * self.skew_ns;
        let passes_ns =
            u32::try_from(passes_ns % self.turn_ns).expect("a turn is a second at most");
        let track = DiskTrack::new(place.track / self.heads, place.track % self.heads);
        Spot { track, passes_ns, work }
    }

    /// For how long so many sectors from `place` pass; they are all on its track.
    pub(super) fn span_ns(&self, place: SectorPlace, sectors: u64) -> u64 {
        self.within_ns(place, place.index + sectors) - self.within_ns(place, place.index)
    }

    fn within_ns(&self, place: SectorPlace, index: u64) -> u64 {
        index * self.turn_ns / place.track_sectors
    }
}
