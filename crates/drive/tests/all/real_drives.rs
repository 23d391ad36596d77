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

/// Random reads of 4 KiB a second on a disk, with so many in flight.
fn reads_per_second(name: &str, depth: u64, count: u64) -> u64 {
    let capacity = profile::called(name).and_then(|disk| disk.amount("capacity")).expect(name);
    let mut random = testkit::random(depth);
    let read = (CommandKind::Read, 4096);
    on(name, read, (depth, count), |_| random.below(capacity / 4096)).per_second()
}

#[test]
fn an_ultrastar_reads_as_published_from_its_sheet_alone() {
    is_near(1_000_000 / reads_per_second("ultrastar-7k8", 1, 4000), 12_200, 5);
    is_near(reads_per_second("ultrastar-7k8", 32, 8000), 200, 15);
    for (first, wanted) in [(0, 255), (7_800_000_000_000, 205)] {
        let read = (CommandKind::Read, 1 << 20);
        let seen = on("ultrastar-7k8", read, (4, 4000), |number| first / (1 << 20) + number);
        is_near(steady(&seen, 100) * (1 << 20) / 1_000_000, wanted, 2);
    }
}

#[test]
fn an_st2000dm006_reads_as_was_measured_at_every_depth() {
    let measured = [(1, 576), (2, 645), (4, 712), (8, 786), (16, 863), (32, 936)];
    for (depth, wanted) in measured {
        let found = reads_per_second("st2000dm006", depth, 60_000);
        println!("depth {depth}: {found} for {wanted} tenths");
        is_near(found * 10, wanted, 10);
    }
}

#[test]
fn an_st2000dm006_writes_flushes_and_retries_as_was_measured() {
    const UNITS: u64 = 2_000_398_934_016 / 4096;
    let mut random = testkit::random(1);
    let writes = on("st2000dm006", (WRITE, 4096), (4, 8000), |_| random.below(UNITS));
    println!("cached writes: {}", steady(&writes, 1000));
    is_near(steady(&writes, 1000), 124, 15);
    for (pieces, wanted_ns) in [(8, 127_000_000), (64, 630_000_000)] {
        let mut model = profile::called("st2000dm006").expect("built in").model().expect("it is");
        let seen =
            drive(&mut model, 1, 50 * (pieces + 1), |_, number| match number % (pieces + 1) {
                step if step == pieces => command(CommandKind::Flush, 0, 0),
                _ => command(WRITE, random.below(UNITS) * 4096, 4096),
            });
        println!("flush of {pieces}: {} ms", seen.end_ns / 50_000_000);
        is_near(seen.end_ns / 50, wanted_ns, 15);
    }
    let mut reads =
        on("st2000dm006", (CommandKind::Read, 4096), (1, 50_000), |_| random.below(UNITS));
    reads.took_ns.sort_unstable();
    let percentile = |mille: usize| reads.took_ns[reads.took_ns.len() * mille / 1000];
    println!("p99 {} p99.9 {}", percentile(990), percentile(999));
    is_near(percentile(990), 29_000_000, 15);
    is_near(percentile(999), 103_000_000, 15);
}
