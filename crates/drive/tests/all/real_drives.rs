//! Drives that others measured, or whose makers publish rates: one set of values for each.

use drive::{CommandKind, profile};

use crate::shared::{Seen, WRITE, command, drive, is_near};

/// `count` commands of so many bytes on the built-in drive called `name`.
fn on(
    name: &str,
    (action, bytes): (CommandKind, u64),
    (depth, count): (u64, u64),
    mut place: impl FnMut(u64) -> u64,
) -> Seen {
    let mut model = profile::called(name).expect("a built-in drive").model().expect(name);
    drive(&mut model, depth, count, |_, number| command(action, place(number) * bytes, bytes))
}

/// Commands a second once `settled` of them have ended.
fn steady(seen: &Seen, settled: usize) -> u64 {
    let left = u64::try_from(seen.ends_ns.len() - settled).expect("few") - 1;
    left * 1_000_000_000 / (seen.end_ns - seen.ends_ns[settled])
}

/// Of a data sheet: name, capacity, reads and writes of 4 KiB (mean at depth 1 in ns, a second at
/// depth), and writes and reads in order in MB/s.
type Sheet = (&'static str, u64, [u64; 2], [u64; 2], [u64; 2]);

const SHEETS: [Sheet; 2] = [
    ("micron-7300-pro", 3_840_755_982_336, [90_000, 25_000], [520_000, 75_000], [3000, 1550]),
    ("samsung-pm883", 960_197_124_096, [120_000, 40_000], [98_000, 25_000], [550, 520]),
];

#[test]
fn flash_drives_do_what_their_sheets_say_full_and_in_their_steady_state() {
    for (name, capacity, alone_ns, random, ordered) in SHEETS {
        let mut random_places = testkit::random(1);
        let units = capacity / 4096;
        let mut anywhere = |_| random_places.below(units);
        for (action, alone_ns) in [CommandKind::Read, WRITE].into_iter().zip(alone_ns) {
            let seen = on(name, (action, 4096), (1, 2000), &mut anywhere);
            is_near(seen.end_ns / 2000, alone_ns, 15);
        }
        let reads = on(name, (CommandKind::Read, 4096), (256, 60_000), &mut anywhere);
        is_near(steady(&reads, 10_000), random[0], 15);
        let writes = on(name, (WRITE, 4096), (32, 150_000), &mut anywhere);
        println!("{name}: {} random writes a second", steady(&writes, 50_000));
        is_near(steady(&writes, 50_000), random[1], 15);
        for (action, wanted) in [CommandKind::Read, WRITE].into_iter().zip(ordered) {
            let seen = on(name, (action, 131_072), (32, 20_000), |number| number);
            let found = steady(&seen, 5000) * 131_072 / 1_000_000;
            println!("{name}: {found} MB/s for {wanted}");
            is_near(found, wanted, 15);
        }
    }
}
