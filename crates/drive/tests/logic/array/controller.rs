//! A controller answers from its cache, loses nothing, and is no faster in the end than what is
//! below it.

use drive::array::{Array, ArrayPlan};
use drive::{
    CommandKind, Controller, ControllerPlan, DriveCommand, DriveCompletion, HardDisk, Model,
};
use units::random::Random;

use super::recorder::Recorder;
use super::spindles::{STRIPED, array};
use crate::shared::{RAID5, WRITE, command, drive, run_out};

const PLAN: ControllerPlan = ControllerPlan {
    cache_bytes: 1 << 20,
    command_ns: 20_000,
    link_bytes_per_second: 1_000_000_000,
    run_bytes: 256 << 10,
    depth: 32,
    idle_ns: 100_000_000,
};

/// A command with a name.
fn named(id: u64, action: CommandKind, offset_bytes: u64, length_bytes: u64) -> DriveCommand {
    DriveCommand { id, ..command(action, offset_bytes, length_bytes) }
}

/// Does `commands` with `depth` in flight; when the last ended, and the model.
fn closed<M: Model>(mut model: M, commands: &[DriveCommand], depth: u64) -> (u64, M) {
    let count = commands.len() as u64;
    let next = |_, number| commands[usize::try_from(number).expect("few")];
    let seen = drive(&mut model, depth, count, next);
    (seen.end_ns, model)
}

fn raid5() -> Array<HardDisk> {
    array(ArrayPlan { members: 5, ..RAID5 }, 1 << 20)
}

#[test]
fn a_write_and_a_flush_end_when_the_cache_has_them() {
    let mut model =
        Controller::new(PLAN, Recorder::new(1 << 30, 1)).expect("such a controller can be");
    let mut done = Vec::new();
    model.submit(named(1, CommandKind::Write { fua: true }, 4096, 4096), 0, &mut done);
    model.advance(1_000_000, &mut done);
    model.submit(named(2, CommandKind::Flush, 0, 0), 1_000_000, &mut done);
    model.submit(named(3, CommandKind::Read, 4096, 4096), 1_000_000, &mut done);
    model.advance(2_000_000, &mut done);
    let at = |id, at_ns| DriveCompletion { id, at_ns, outcome: Ok(()) };
    assert_eq!(done, [at(1, 24_096), at(2, 1_020_000), at(3, 1_044_096)]);
    assert!(model.model().told.is_empty(), "nothing went below");
    assert_eq!((model.kept_bytes(), model.tally().cache_hits), (4096, 1));
    // The host is silent, and the cache is emptied.
    run_out(&mut model, 0, &mut done);
    let told = model.model().told[0];
    assert_eq!((told.action, told.from_ns), (CommandKind::Write { fua: true }, 101_000_000));
    assert_eq!((model.kept_bytes(), model.model().told.len()), (0, 1));
}

#[test]
fn what_is_written_comes_below_once_in_whole_and_nothing_else_does() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let cache_bytes = 65_536 << random.below(3);
        let plan = ControllerPlan { cache_bytes, run_bytes: 32_768, idle_ns: 50_000, ..PLAN };
        let below = Recorder::new(1 << 20, seed);
        let mut model = Controller::new(plan, below).expect("such a controller can be");
        let (mut done, mut now_ns, mut wanted) = (Vec::new(), 0, vec![false; 2048]);
        let count = 60;
        for id in 0..count {
            let first = random.below(2000);
            let most = *random.choose(&[40, 40, 40, 40, 40, 40, 600]);
            let sectors = 1 + random.below(most);
            let sectors = sectors.min(2048 - first);
            let action = *random.choose(&[WRITE, WRITE, CommandKind::Read, CommandKind::Flush]);
            let bytes = if action == CommandKind::Flush { 0 } else { sectors * 512 };
            let range = usize::try_from(first).expect("few");
            if action == WRITE {
                wanted[range..range + usize::try_from(sectors).expect("few")].fill(true);
            }
            model.submit(named(id, action, first * 512, bytes), now_ns, &mut done);
            let kept = model.kept_bytes();
            assert!(kept <= cache_bytes, "seed {seed}: {kept} kept");
            now_ns += random.below(3) * random.below(50_000);
        }
        run_out(&mut model, 0, &mut done);
        assert_eq!(model.kept_bytes(), 0, "seed {seed}");
        assert!(done.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns), "seed {seed}");
        let mut ids: Vec<u64> = done.iter().map(|done| done.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..count).collect::<Vec<u64>>(), "seed {seed}");
        let mut found = vec![false; 2048];
        let told = &model.model().told;
        let writes: Vec<_> = told.iter().filter(|told| told.action != CommandKind::Read).collect();
        for (index, write) in writes.iter().enumerate() {
            assert_eq!(write.action, CommandKind::Write { fua: true }, "seed {seed}");
            let sector = |bytes: u64| usize::try_from(bytes / 512).expect("few");
            found[sector(write.start)..sector(write.end)].fill(true);
            for later in &writes[index + 1..] {
                let meets = write.start < later.end && later.start < write.end;
                // Those that go by the cache are in flight for the host as well.
                let is_small = write.end - write.start <= 32_768;
                assert!(!meets || !is_small || later.from_ns >= write.to_ns, "seed {seed}");
            }
        }
        assert_eq!(found, wanted, "seed {seed}");
    }
}

#[test]
fn small_sequential_writes_reach_raid5_as_full_stripes_that_read_nothing() {
    let writes: Vec<DriveCommand> =
        (0..4096).map(|number| command(WRITE, number * 4096, 4096)).collect();
    let (bare_ns, bare) = closed(raid5(), &writes, 1);
    assert!(bare.tally().member_reads >= 2 * 4096, "{:?}", bare.tally());
    let cached = Controller::new(PLAN, raid5()).expect("such a controller can be");
    let (cached_ns, mut cached) = closed(cached, &writes, 1);
    run_out(&mut cached, 0, &mut Vec::new());
    let tally = cached.tally();
    assert_eq!((tally.parity_rmws, tally.parity_updates), (0, 16 << 20 >> 18));
    assert_eq!((tally.commands, tally.written_bytes), (4096, 16 << 20));
    assert!(bare_ns > 20 * cached_ns, "{bare_ns} and {cached_ns} ns");
}

#[test]
fn a_full_cache_is_as_fast_as_what_is_below_it() {
    let disk = || HardDisk::new(STRIPED).expect("such a disk can be");
    let mut random = Random::new(9);
    let writes: Vec<DriveCommand> =
        (0..4000).map(|_| command(WRITE, random.below(1 << 20) * 4096, 4096)).collect();
    let (bare_ns, _) = closed(disk(), &writes, 32);
    let cached = Controller::new(PLAN, disk()).expect("such a controller can be");
    let (cached_ns, mut cached) = closed(cached, &writes, 32);
    // What the cache took at once is 256 of 4000; the others wait for the disk, which gets them in
    // the order of addresses.
    assert!(cached_ns < bare_ns && cached_ns * 4 > bare_ns, "{bare_ns} and {cached_ns} ns");
    let early = cached.tally();
    assert!(early.member_writes * 4096 + PLAN.cache_bytes >= 4000 * 4096, "{early:?}");
    run_out(&mut cached, 0, &mut Vec::new());
    let rate = |from: usize| {
        // The time of the first few alone.
        let model = Controller::new(PLAN, disk()).expect("such a controller can be");
        closed(model, &writes[..from], 32).0
    };
    assert!(rate(250) < 250 * 30_000, "a burst that fits is acknowledged at the link's speed");
}

#[test]
fn controllers_that_cannot_be_are_refused() {
    let check = |plan: ControllerPlan, wanted: &str| {
        let fault = Controller::new(plan, Recorder::new(1 << 20, 0)).expect_err("it cannot be");
        assert_eq!(fault.to_string(), wanted);
    };
    let cache = "must be from 64 KiB to 1 TiB";
    check(ControllerPlan { cache_bytes: 0, ..PLAN }, &format!("cache is 0, {cache}"));
    check(ControllerPlan { depth: 0, ..PLAN }, "depth is 0, must be from 1 to 1024");
    check(
        ControllerPlan { run_bytes: 2 << 20, ..PLAN },
        "run is 2097152, must be from 4096 to cache",
    );
    let small = ControllerPlan { cache_bytes: 256 << 10, ..PLAN };
    let fault = Controller::new(small, raid5()).expect_err("it does not hold two stripes");
    assert_eq!(fault.to_string(), "cache is 262144, must be two full stripes at least");
}
