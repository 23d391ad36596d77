//! Power cuts on a drive model: a yes has no torn page, a no has one.

use std::collections::HashSet;

use drive::power::{Cut, HostPromises, Logged, Sectors, Survivors};
use drive::{CommandKind, DriveCommand, Flash, FlashPlan, Model as _};
use units::random::Random;

use super::made::{Answers, Made};
use crate::untorn::UntornAnswer;

/// Cuts of each stack.
const CUTS: u64 = 1000;
/// Mapping unit of the model, which it programs whole: its untorn write, with a boundary at each.
const UNIT_BYTES: u64 = 16384;

/// Limits up to which a write stays whole: those of the drive, and of the kernel before.
#[derive(Clone, Copy)]
struct Tearing {
    /// Mapping unit of the model, which it programs whole.
    unit_bytes: u64,
    /// Address of its first boundary.
    origin_bytes: u64,
    /// The kernel splits at multiples of this; 0 where it does not.
    chunk_bytes: u64,
    /// The kernel merges so many neighboring pages into one write.
    merged_pages: usize,
    /// Longest write that the drive keeps whole wherever it is; 0 where only units are.
    untorn_bytes: u64,
}

impl Tearing {
    /// A drive that keeps its units whole, below a kernel that sends each page as it is.
    fn at_units(unit_bytes: u64) -> Tearing {
        Tearing { unit_bytes, origin_bytes: 0, chunk_bytes: 0, merged_pages: 1, untorn_bytes: 0 }
    }

    /// The writes of `pages`, which follow each other where they are merged.
    fn writes(self, pages: &[Vec<(u64, u64)>]) -> Vec<(u64, u64)> {
        let merged = |group: &[Vec<(u64, u64)>]| {
            (group[0][0].0, group.iter().flatten().map(|(_, length)| length).sum())
        };
        match self.merged_pages {
            1 => pages.concat(),
            many => pages.chunks(many).map(merged).collect(),
        }
    }

    /// The commands of a write.
    fn commands(self, (start, length): (u64, u64)) -> Vec<(u64, u64)> {
        let (mut at, end, mut commands) = (start, start + length, Vec::new());
        while at < end {
            let chunk_end = (at + 1).checked_next_multiple_of(self.chunk_bytes).unwrap_or(end);
            let next = chunk_end.min(end);
            commands.push((at, next - at));
            at = next;
        }
        commands
    }
}

fn plan(Tearing { unit_bytes, origin_bytes, .. }: Tearing) -> FlashPlan {
    FlashPlan {
        capacity_bytes: 16 << 20,
        logical_bytes: 512,
        unit_bytes,
        origin_bytes,
        page_bytes: 4096,
        planes: 1,
        pages_per_block: 64,
        dies: 4,
        channels: 1,
        channel_bytes_per_second: 400_000_000,
        read_ns: 50_000,
        program_ns: 600_000,
        erase_ns: 3_000_000,
        host_ns: 2_000,
        unit_ns: 5_000,
        run_unit_ns: 1_000,
        command_ns: 5_000,
        flush_ns: 20_000,
        link_bytes_per_second: 550_000_000,
        buffer_bytes: 128 << 10,
        is_volatile: true,
        flush_programs: 2,
        rmw_slots: 2,
        slc_program_ns: 200_000,
        slc_idle_ns: 1_000_000,
        spare_bytes: 4 << 20,
        used_bytes: 16 << 20,
        ..FlashPlan::default()
    }
}

/// True if one of [`CUTS`] cuts leaves a torn page.
fn tears(made: &Made, tearing: Tearing, seed: u64) -> bool {
    let flash = Flash::new(plan(tearing)).expect("such a drive can be");
    let Tearing { unit_bytes, origin_bytes, untorn_bytes, .. } = tearing;
    let sectors = Sectors { logical_bytes: 512, physical_bytes: unit_bytes, origin_bytes };
    let told = HostPromises { sectors, has_volatile_cache: true };
    let mut model = Logged::new(flash, told, 10_000).expect("it keeps a log");
    let (mut done, mut now_ns, mut id) = (Vec::new(), 0, 0);
    let placements = made.placements();
    for write in tearing.writes(&placements[..12]) {
        let commands = tearing.commands(write);
        for (offset_bytes, length_bytes) in commands {
            let action = CommandKind::Write { fua: false };
            model.submit(
                DriveCommand { id, action, offset_bytes, length_bytes },
                now_ns,
                &mut done,
            );
            id += 1;
            now_ns += 20_000;
        }
    }
    while let Some(next) = model.next_ns().filter(|&next| next < 50_000_000) {
        now_ns = next;
        model.advance(next, &mut done);
    }
    let mut random = Random::new(seed);
    let is_torn = |_: u64| {
        let at_ns = random.below(now_ns + 1);
        let survivors = Survivors::Random(random.next_u64());
        let after =
            model.cut(&Cut { survivors, untorn_bytes, ..Cut::at(at_ns) }).expect("it can be cut");
        let changed: HashSet<u64> = after.changed().map(|(lba, _)| lba).collect();
        placements[..12].iter().any(|pieces| {
            let lbas = pieces.iter().flat_map(|(at, length)| at / 512..(at + length) / 512);
            let new: Vec<bool> = lbas.map(|lba| changed.contains(&lba)).collect();
            new.contains(&true) && new.contains(&false)
        })
    };
    (0..CUTS).any(is_torn)
}

#[test]
fn each_no_has_a_torn_page_and_no_yes_has_one_in_a_thousand_cuts() {
    let mut random = testkit::random(25);
    let (mut yes, mut no) = (0, 0);
    for origin in [0, 4096] {
        for start in [0, 4096, 8192, 12288] {
            for (volume, unit) in [(0, 16384), (4096, 16384), (12288, 16384), (0, 4096)] {
                let sectors = |bytes: u64| u16::try_from(bytes / 512).expect("it is small");
                let unit_sectors = sectors(UNIT_BYTES);
                let drive = Answers::plain().promising(unit_sectors, unit_sectors, sectors(origin));
                let made = Made { start, volume, unit, page: 16384, drive };
                let verdict = made.verdict();
                let tearing = Tearing { origin_bytes: origin, ..Tearing::at_units(UNIT_BYTES) };
                let tears = tears(&made, tearing, random.next_u64());
                let case = format!("{origin} {start} {volume} {unit}: {}", verdict.because);
                match verdict.answer {
                    UntornAnswer::Yes => assert!(!tears, "{case}"),
                    UntornAnswer::No => assert!(tears, "{case}"),
                    UntornAnswer::Unknown => panic!("{case}"),
                }
                match verdict.answer {
                    UntornAnswer::Yes => yes += 1,
                    _ => no += 1,
                }
            }
        }
    }
    assert!(yes >= 4 && no >= 16, "{yes} yes, {no} no");
}

#[test]
fn each_no_by_a_drives_fields_and_by_chunks_has_a_torn_page() {
    let mut random = testkit::random(26);
    let plain = Answers::plain;
    for (name, unit_bytes, chunk_bytes, drive) in [
        ("NAWUPF of 8 KiB", 8192, 0, plain().promising(16, 16, 0)),
        ("boundaries of 4 KiB", 4096, 0, plain().promising(32, 8, 0)),
        ("Amazon's 8 KiB", 8192, 0, plain().amazon(16, 8, 0)),
        ("Amazon's boundaries of 4 KiB", 4096, 0, plain().amazon(32, 8, 8)),
        (
            "chunks of 12 KiB",
            16384,
            12288,
            plain().promising(64, 0, 0).queue("chunk_sectors", "24"),
        ),
    ] {
        let made = Made { start: 0, volume: 0, unit: 16384, page: 16384, drive };
        let verdict = made.verdict();
        assert_eq!(verdict.answer, UntornAnswer::No, "{name}: {}", verdict.because);
        let tearing = Tearing { chunk_bytes, ..Tearing::at_units(unit_bytes) };
        assert!(tears(&made, tearing, random.next_u64()), "{name}");
    }
}

#[test]
fn merged_pages_tear_on_a_drive_that_keeps_each_of_them_whole() {
    let mut random = testkit::random(27);
    for (no_merges, merged_pages, answer) in
        [("2", 1, UntornAnswer::Yes), ("0", 2, UntornAnswer::No)]
    {
        let drive = Answers::plain().promising(32, 0, 0).queue("nomerges", no_merges);
        let made = Made { start: 4096, volume: 0, unit: 16384, page: 16384, drive };
        let verdict = made.verdict();
        assert_eq!(verdict.answer, answer, "{no_merges}: {}", verdict.because);
        let tearing = Tearing { merged_pages, untorn_bytes: 16384, ..Tearing::at_units(4096) };
        let tears = tears(&made, tearing, random.next_u64());
        assert_eq!(tears, answer == UntornAnswer::No, "{no_merges}");
        // Without that promise a page that is written alone tears too.
        let plain = Tearing { untorn_bytes: 0, ..tearing };
        assert!(self::tears(&made, plain, random.next_u64()), "{no_merges}");
    }
}
