//! Small drives of every kind, each as a model that can be cut.

use drive::array::{Level, ParityWrite};
use drive::power::{Liar, Lies, Logged};
use drive::{
    Array, ArrayPlan, Cloud, CloudPlan, Controller, ControllerPlan, Flash, FlashPlan, HardDisk,
    Ideal, Member, Memory, MemoryPlan, Model, Spread, Victim, VolumeLimits,
};
use units::random::Random;
use units::stripe::Rotation;

use super::logged::PLAN;

/// Kind of drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Flash,
    Protected,
    Memory,
    Cloud,
    Raid0,
    Raid1,
    Raid10,
    Raid5,
    Raid6,
    Battery,
}

pub(crate) const KINDS: [Kind; 10] = [
    Kind::Flash,
    Kind::Protected,
    Kind::Memory,
    Kind::Cloud,
    Kind::Raid0,
    Kind::Raid1,
    Kind::Raid10,
    Kind::Raid5,
    Kind::Raid6,
    Kind::Battery,
];

/// Flash of 16 MiB, slow enough that a cut often finds a page under way.
fn flash(is_volatile: bool, random: &mut Random) -> FlashPlan {
    FlashPlan {
        capacity_bytes: 16 << 20,
        logical_bytes: 512,
        unit_bytes: *random.choose(&[4096, 16_384]),
        origin_bytes: *random.choose(&[0, 3584]),
        page_bytes: *random.choose(&[4096, 8192, 16_384]),
        planes: 1,
        pages_per_block: 64,
        dies: *random.choose(&[1, 4]),
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
        flushes_alone: false,
        link_bytes_per_second: 550_000_000,
        buffer_bytes: if is_volatile {
            *random.choose(&[0, 32 << 10, 128 << 10])
        } else {
            64 << 10
        },
        is_volatile,
        tells_cache: false,
        flush_programs: 2,
        rmw_slots: 2,
        rmw_queue: if is_volatile { 0 } else { 4 },
        joined_parts: 0,
        rmw_waits: false,
        slc_bytes: *random.choose(&[0, 64 << 10]),
        slc_program_ns: 200_000,
        slc_idle_ns: 1_000_000,
        spare_bytes: 4 << 20,
        kept_back_bytes: 0,
        victim: Victim::Greedy,
        used_bytes: *random.choose(&[0, 16 << 20]),
        erased_bytes: 0,
    }
}

fn joining(plan: FlashPlan, random: &mut Random) -> FlashPlan {
    let joined_parts = if plan.buffer_bytes == 0 { 0 } else { *random.choose(&[0, 2, 8]) };
    FlashPlan { joined_parts, ..plan }
}

/// An array of small disks with a chunk of 4 KiB, so that few writes touch all members.
fn array(level: Level, members: u64, lies: Lies, random: &mut Random) -> Box<dyn Model> {
    let plan = ArrayPlan {
        level,
        members,
        chunk_bytes: 4096,
        turns: true,
        row_bytes: *random.choose(&[512, 4096]),
        parity_write: *random.choose(&[ParityWrite::Fewer, ParityWrite::ReadModify]),
        stripes: 16,
        hold_ns: *random.choose(&[0, 1_000_000]),
        lost: 0,
        rebuild_bytes_per_second: 0,
    };
    let mut member = || {
        let disk =
            drive::hard_disk::HardDiskPlan { cache_bytes: *random.choose(&[0, 128 << 10]), ..PLAN };
        let model = HardDisk::new(disk).expect("such a disk can be");
        Member { model: Liar::new(model, lies), offset_bytes: 1 << 20 }
    };
    let members = (0..members).map(|_| member()).collect();
    Box::new(Array::new(plan, members).expect("such an array can be"))
}

/// A drive of `kind`, as chance says; arrays have members that lie so.
pub(crate) fn model(kind: Kind, lies: Lies, random: &mut Random) -> Box<dyn Model> {
    let rotation = Rotation::LeftSymmetric;
    match kind {
        Kind::Flash | Kind::Protected => {
            let plan = flash(kind == Kind::Flash, random);
            Box::new(Flash::new(joining(plan, random)).expect("such a drive can be"))
        }
        Kind::Memory => {
            let plan = MemoryPlan {
                capacity_bytes: 16 << 20,
                logical_bytes: 512,
                line_bytes: *random.choose(&[256, 4096]),
                banks: 2,
                read_ns: 20_000,
                write_ns: 50_000,
                host_ns: 2_000,
                command_ns: 8_000,
                link_bytes_per_second: 2_500_000_000,
            };
            Box::new(Memory::new(plan).expect("such a drive can be"))
        }
        Kind::Cloud => {
            let plan = CloudPlan {
                request_ns: 200_000,
                response_ns: 200_000,
                jitter_ns: 500_000,
                spread: Spread::Uniform,
                seed: random.next_u64(),
                limits: VolumeLimits::gp2(100),
            };
            let store = Ideal::new(16 << 20, 512).expect("such a store can be");
            Box::new(Cloud::new(plan, store).expect("such a volume can be"))
        }
        Kind::Raid0 => array(Level::Raid0, 3, lies, random),
        Kind::Raid1 => array(Level::Raid1, 2, lies, random),
        Kind::Raid10 => array(Level::Raid10 { copies: 2 }, 4, lies, random),
        Kind::Raid5 => array(Level::Raid5(rotation), 4, lies, random),
        Kind::Raid6 => array(Level::Raid6(rotation), 5, lies, random),
        Kind::Battery => {
            let below = array(Level::Raid5(rotation), 4, lies, random);
            let plan = ControllerPlan {
                cache_bytes: 64 << 10,
                command_ns: 20_000,
                link_bytes_per_second: 1_000_000_000,
                run_bytes: 8192,
                depth: 4,
                idle_ns: *random.choose(&[0, 2_000_000]),
            };
            Box::new(Controller::new(plan, below).expect("such a controller can be"))
        }
    }
}

/// The same with both logs, telling what it tells.
pub(crate) fn logged(model: Box<dyn Model>) -> Logged<Box<dyn Model>> {
    let told = model.told();
    Logged::with_entries(model, told, 1000, 100_000).expect("every kind keeps a log")
}
