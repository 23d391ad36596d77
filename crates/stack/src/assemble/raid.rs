//! md arrays from their members' superblocks.
//!
//! Source: `drivers/md/raid0.c` (zones), `raid10.c` (copies), `raid5.c` (layouts).

use format::member::md::MdMember;
use format::{Problem, ProblemKind};
use units::stripe::Stripe;
use units::{ByteRange, Known, SectorSize, Source};

use super::{Ahead, Assembler, LookedAt};
use crate::id::LayerId;
use crate::layer::{Layer, LayerKind};
use crate::mapping::{Below, Copies, Mapping, Segment};
use crate::unit::UnitKind;

/// A member that was found.
pub(super) struct RaidMember {
    member: MdMember,
    id: LayerId,
    sector: SectorSize,
    depth: usize,
    /// Place where it is known from.
    source: Source,
}

impl RaidMember {
    /// A member that the kernel names; what lies on it is looked for in the array alone.
    pub(super) fn new(member: MdMember, id: LayerId, sector: SectorSize) -> RaidMember {
        RaidMember { member, id, sector, depth: 0, source: Source::Sysfs }
    }
}

/// More members than any md array has (`MD_SB_DISKS` is 27 for 0.90; 1.x has at most 1920).
const MEMBERS_MAX: u32 = 1920;

/// Memory that the place of a member takes, found or not, in bytes.
const PLACE_BYTES: u64 = 24;

impl Assembler<'_> {
    pub(super) fn md_member(&mut self, job: &LookedAt, member: MdMember, problems: Vec<Problem>) {
        let is_same = |&below: &LayerId| match &self.stack.layer(below).kind {
            LayerKind::MdArray(other) => other.array_id == member.array_id,
            _ => false,
        };
        if self.stack.under(job.id).iter().any(is_same) {
            let detail = format!("{} lies within itself", array_name(&member));
            let problem = Problem::new(ProblemKind::Chain, 0, detail);
            return self.stack.layer_mut(job.id).problems.push(problem);
        }
        let below = Below { layer: job.id, offset_bytes: member.data_offset_bytes };
        let length = Known::yes(member.data_bytes, Source::OnDisk);
        let name = format!("member of {}", array_name(&member));
        let kind = LayerKind::MdMember(Box::new(member.clone()));
        let mut layer = Layer::new(kind, name, length, Mapping::Linear(below));
        layer.problems = problems;
        let Some(id) = self.add(job.id, layer) else { return };
        let (sector, depth) = (job.sector, job.depth + 1);
        let found = RaidMember { member, id, sector, depth, source: Source::OnDisk };
        if !self.arrays.contains_key(&found.member.array_id) {
            self.work.keep(u64::from(found.member.raid_disks.min(MEMBERS_MAX)) * PLACE_BYTES);
        }
        self.arrays.entry(found.member.array_id.clone()).or_default().push(found);
    }

    /// Builds every array whose members were found; false when there is none.
    pub(super) fn build_arrays(&mut self) -> bool {
        let arrays = std::mem::take(&mut self.arrays);
        let built = !arrays.is_empty();
        let mut views = Vec::new();
        for (array_id, found) in arrays {
            views.extend(self.build_array(&array_id, found));
        }
        self.look_into_views(views);
        built
    }

    /// Builds an array that the kernel tells of; its bytes are the kernel's to give.
    pub(super) fn build_known_array(
        &mut self,
        array_id: &str,
        found: Vec<RaidMember>,
    ) -> Option<LayerId> {
        self.build_array(array_id, found).map(|(id, ..)| id)
    }

    fn build_array(&mut self, array_id: &str, mut found: Vec<RaidMember>) -> Option<Ahead> {
        // The newest member speaks for the array.
        found.sort_by_key(|found| std::cmp::Reverse(found.member.events));
        let newest = found.first()?;
        let (speaker, source) = (newest.member.clone(), newest.source);
        let depth = found.iter().map(|found| found.depth).max().unwrap_or(0);
        let sector = found.iter().map(|found| found.sector).max().unwrap_or(SectorSize::B512);
        let mut problems = Vec::new();
        let members = self.places(&speaker, &found, &mut problems);
        let missing = members.iter().filter(|member| member.is_none()).count();
        let on: Vec<LayerId> = found.iter().map(|found| found.id).collect();
        let shape = RaidFacts { speaker: &speaker, members: &members, found: &found, on };
        let (mapping, length) = shape.mapping();
        let (all, gone) = (members.len(), usize::try_from(speaker.gone).unwrap_or(0).min(missing));
        let not_given = missing - gone;
        if gone > 0 {
            let detail = format!("the array is degraded: {gone} of {all} members are gone");
            problems.push(Problem::new(ProblemKind::Unreadable, 0, detail));
        }
        if not_given > 0 {
            self.incomplete.push(format!("md {array_id}"));
            let detail = format!("{not_given} of {all} members were not given");
            problems.push(Problem::new(ProblemKind::Unreadable, 0, detail));
        }
        let name = array_name(&speaker);
        let chunk = (speaker.chunk_bytes > 0).then_some(speaker.chunk_bytes);
        let full = mapping.stripes().first().map(|laid| laid.stripe.full_bytes());
        let kind = LayerKind::MdArray(Box::new(speaker));
        let mut layer = Layer::new(kind, name, length, mapping);
        layer.problems = problems;
        layer.source = source;
        if let (Some(chunk), Some(full)) = (chunk, full) {
            let note = if source == Source::Sysfs { "md/chunk_size" } else { "md superblock" };
            layer.units.put_used(UnitKind::Chunk, chunk, source, note);
            let note = "chunk x data members";
            layer.units.put_used(UnitKind::FullStripe, full, Source::Derived, note);
        }
        let on = found.first()?.id;
        let id = self.add(on, layer)?;
        Some((id, sector, depth + 1))
    }

    /// Members by place, the newest where two claim one.
    fn places(
        &mut self,
        speaker: &MdMember,
        found: &[RaidMember],
        problems: &mut Vec<Problem>,
    ) -> Vec<Option<Below>> {
        let mut members =
            vec![None; usize::try_from(speaker.raid_disks.min(MEMBERS_MAX)).unwrap_or(0)];
        for found in found {
            let place = found.member.role.and_then(|role| usize::try_from(role).ok());
            let Some(place) = place.and_then(|place| members.get_mut(place)) else { continue };
            if place.is_some() {
                let detail = "two members claim the same place; the newer one is taken";
                problems.push(Problem::new(ProblemKind::Copies, 0, detail));
                continue;
            }
            // One behind is as good to md: its superblocks are written one after another
            // (`super_1_validate` of Linux drivers/md/md.c).
            if speaker.events.saturating_sub(found.member.events) > 1 {
                let detail = format!(
                    "a member is at event {} and the newest at {}",
                    found.member.events, speaker.events
                );
                problems.push(Problem::new(ProblemKind::Copies, 0, detail));
            }
            *place = Some(Below { layer: found.id, offset_bytes: 0 });
        }
        members
    }
}

/// Facts that are needed to lay an array out.
struct RaidFacts<'a> {
    speaker: &'a MdMember,
    members: &'a [Option<Below>],
    found: &'a [RaidMember],
    on: Vec<LayerId>,
}

impl RaidFacts<'_> {
    fn mapping(&self) -> (Mapping, Known<u64>) {
        if self.speaker.reshaping {
            return self.unknown("a reshape is under way, so two layouts are in force");
        }
        let count = u64::from(self.speaker.raid_disks);
        match self.speaker.level {
            0 => self.raid0(count),
            1 => self.mirror(),
            4 | 5 if count > 1 => self.parity(count - 1, 1),
            6 if count > 2 => self.parity(count - 2, 2),
            10 => self.raid10(count),
            -1 => self.linear(),
            level => self.unknown(&format!("level {level} is not known here")),
        }
    }

    fn unknown(&self, reason: &str) -> (Mapping, Known<u64>) {
        let mapping = Mapping::Unknown { on: self.on.clone(), reason: reason.to_owned() };
        (mapping, Known::no(reason))
    }

    fn known(mapping: Mapping, length: u64) -> (Mapping, Known<u64>) {
        (mapping, Known::yes(length, Source::Derived))
    }

    /// The smallest member's data: what every level but RAID 0 and linear uses of each.
    fn member_bytes(&self) -> u64 {
        self.found.iter().map(|found| found.member.data_bytes).min().unwrap_or(0)
    }

    fn stripe(&self, data: u64) -> Option<Stripe> {
        Stripe::new(self.speaker.chunk_bytes, data)
    }

    /// The whole chunks of a member's data.
    fn whole_chunks(&self, bytes: u64) -> u64 {
        bytes - bytes.checked_rem(self.speaker.chunk_bytes).unwrap_or(0)
    }

    fn mirror(&self) -> (Mapping, Known<u64>) {
        let members = self.members.to_vec();
        RaidFacts::known(Mapping::Mirrored { members }, self.member_bytes())
    }

    fn raid0(&self, count: u64) -> (Mapping, Known<u64>) {
        let Some(stripe) = self.stripe(count) else {
            return self.unknown("it has no chunk, or no members");
        };
        let members = self.members.to_vec();
        let striped = Mapping::Striped { stripe, copies: Copies::Neighbors(1), members };
        let smallest = self.whole_chunks(self.member_bytes());
        let largest = self.found.iter().map(|found| found.member.data_bytes).max().unwrap_or(0);
        let zone = smallest.saturating_mul(count);
        if self.whole_chunks(largest) == smallest {
            return RaidFacts::known(striped, zone);
        }
        // Members of different lengths: behind the shortest one's end, fewer members take part.
        let rest: u64 = (self.found.iter())
            .map(|found| self.whole_chunks(found.member.data_bytes).saturating_sub(smallest))
            .fold(0, u64::saturating_add);
        let first = ByteRange::new(0, zone);
        let behind = ByteRange::new(zone, rest);
        let (Some(first), Some(behind)) = (first, behind) else {
            return self.unknown("it would be longer than 64 bits count");
        };
        let reason = "members differ in length, and the later zones are not followed".to_owned();
        let unknown = Mapping::Unknown { on: self.on.clone(), reason };
        let segments = vec![
            Segment { range: first, mapping: striped },
            Segment { range: behind, mapping: unknown },
        ];
        RaidFacts::known(Mapping::Segments(segments), behind.end_bytes())
    }

    fn parity(&self, data: u64, parity: u64) -> (Mapping, Known<u64>) {
        let Some(stripe) = self.stripe(data) else {
            return self.unknown("it has no chunk");
        };
        let rotation = self.speaker.rotation().value().copied();
        let members = self.members.to_vec();
        let length = self.whole_chunks(self.member_bytes()).saturating_mul(data);
        RaidFacts::known(Mapping::Parity { stripe, parity, rotation, members }, length)
    }

    fn raid10(&self, count: u64) -> (Mapping, Known<u64>) {
        let near = u64::from(self.speaker.layout & 0xff);
        let far = u64::from((self.speaker.layout >> 8) & 0xff);
        let members = self.members.to_vec();
        let copies = near.saturating_mul(far);
        if copies == 0 || copies > count {
            return self.unknown("its layout word makes no sense");
        }
        let bytes = self.whole_chunks(self.member_bytes());
        let (data, kept) = match (near, far) {
            (near, 1) if count.is_multiple_of(near) => (count / near, Copies::Neighbors(near)),
            // Bit 16 tells offset from far (`setup_geo` in drivers/md/raid10.c).
            (1, far) if self.speaker.layout & 0x1_0000 != 0 => (count, Copies::Offset(far)),
            (1, _) => (count, Copies::Far),
            _ => return self.unknown("its copies run over the end of a stripe"),
        };
        let Some(stripe) = self.stripe(data) else { return self.unknown("it has no chunk") };
        let length = bytes.saturating_mul(count).checked_div(copies).unwrap_or(0);
        RaidFacts::known(Mapping::Striped { stripe, copies: kept, members }, length)
    }

    fn linear(&self) -> (Mapping, Known<u64>) {
        let mut at: u64 = 0;
        let mut segments = Vec::new();
        for member in self.members {
            let Some(below) = *member else {
                return self
                    .unknown("a member was not given, so later ones begin nobody knows where");
            };
            let found = self.found.iter().find(|found| found.id == below.layer);
            let length = found.map_or(0, |found| found.member.data_bytes);
            let Some(range) = ByteRange::new(at, length) else { break };
            segments.push(Segment { range, mapping: Mapping::Linear(below) });
            at = range.end_bytes();
        }
        RaidFacts::known(Mapping::Segments(segments), at)
    }
}

/// The name that mdadm gives, or the first digits of the UUID.
fn array_name(member: &MdMember) -> String {
    let named = member.name.as_ref().filter(|name| !name.is_empty());
    match named {
        Some(name) => format!("md {name}"),
        None => format!("md {}", member.array_id.get(..8).unwrap_or(&member.array_id)),
    }
}
