//! Behavior of persistent memory, from its parts' times.

use drive::{CommandKind, Memory, MemoryPlan, Model as _};

use crate::shared::{WRITE, command, drive};

/// An Intel Optane P4800X: about 10 us a command and half a million 4 KiB commands a second, of
/// lines of 4 KiB. Fitted.
const OPTANE: MemoryPlan = MemoryPlan {
    capacity_bytes: 375_083_606_016,
    logical_bytes: 512,
    line_bytes: 4096,
    banks: 7,
    read_ns: 6000,
    write_ns: 6000,
    host_ns: 1800,
    command_ns: 1000,
    link_bytes_per_second: 2_500_000_000,
};

fn run(plan: MemoryPlan, depth: u64, action: CommandKind, shift: u64) -> (u64, u64) {
    let mut memory = Memory::new(plan).expect("such a drive can be");
    let mut random = testkit::random(1);
    let seen = drive(&mut memory, depth, 20_000, |_, _| {
        command(action, random.below(1 << 20) * 4096 + shift, 4096)
    });
    let tally = memory.tally();
    assert_eq!(tally.busy_ns, tally.transfer_ns);
    assert!(tally.busy_ns <= seen.end_ns * u64::from(plan.banks));
    (seen.per_second(), seen.end_ns / seen.took_ns.len() as u64)
}

#[test]
fn a_write_is_durable_in_ten_microseconds_and_a_flush_adds_a_command() {
    let (_, write_ns) = run(OPTANE, 1, WRITE, 0);
    assert!((8_000..12_000).contains(&write_ns), "{write_ns}");
    let mut memory = Memory::new(OPTANE).unwrap();
    let seen = drive(&mut memory, 1, 2, |_, number| match number {
        0 => command(WRITE, 0, 4096),
        _ => command(CommandKind::Flush, 0, 0),
    });
    // Published: 20 to 30 us for an fsync.
    assert_eq!(seen.took_ns[1], OPTANE.host_ns + OPTANE.command_ns);
    assert!(seen.end_ns < 30_000, "{}", seen.end_ns);
}

#[test]
fn many_in_flight_are_bound_by_the_host_side_and_parts_of_lines_by_the_banks() {
    for action in [CommandKind::Read, WRITE] {
        let (aligned, _) = run(OPTANE, 128, action, 0);
        assert!((500_000..560_000).contains(&aligned), "{aligned}");
        let (misaligned, _) = run(OPTANE, 128, action, 512);
        let more = if action == WRITE { 3 } else { 2 };
        assert!(misaligned < aligned && misaligned > aligned / (more + 1), "{misaligned}");
    }
    // Lines of 256 bytes have no parts.
    let small = MemoryPlan { line_bytes: 256, read_ns: 300, write_ns: 300, ..OPTANE };
    assert_eq!(run(small, 128, WRITE, 512), run(small, 128, WRITE, 0));
}

#[test]
fn a_plan_that_cannot_be_says_which_value_and_why() {
    let wrong = [
        (MemoryPlan { banks: 0, ..OPTANE }, "banks is 0, must be from 1 to 4096"),
        (
            MemoryPlan { line_bytes: 3, ..OPTANE },
            "line is 3, must be a power of two from 64 to 65536",
        ),
        (
            MemoryPlan { write_ns: u64::MAX, ..OPTANE },
            "write is 18446744073709551615, must be at most 10 s",
        ),
    ];
    for (plan, wanted) in wrong {
        assert_eq!(Memory::new(plan).unwrap_err().to_string(), wanted);
    }
}
