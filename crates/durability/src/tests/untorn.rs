//! The largest untorn write on a running machine.

#[expect(dead_code, reason = "the stack's tests need more of it")]
#[path = "../../../stack/tests/all/live/world.rs"]
mod world;

use crate::untorn;
use units::Known;

use world::Sample;

const MIB: u64 = 1 << 20;

#[test]
fn an_untorn_write_is_as_large_as_the_worst_layer_and_the_start_allow() {
    let atomic = [("queue/atomic_write_unit_max_bytes", "16384")];
    let sample = |start: u64| {
        Sample::new().disk("nvme0n1", "259:0", 64 * MIB, &atomic).partition(
            "nvme0n1",
            "nvme0n1p1",
            "259:1",
            start,
            20_000,
        )
    };
    let largest = |start: u64| {
        let seen = sample(start).look("nvme0n1");
        untorn::largest(&seen.assembled.stack, seen.device("nvme0n1p1").0)
    };
    assert_eq!(largest(2048).value(), Some(&16384));
    assert_eq!(largest(2056).value(), Some(&4096));
    assert_eq!(largest(63).value(), Some(&512));
    let table = "l: 0 1000 linear 259:1 0";
    let mapped = sample(2048)
        .mapped("dm-0", "253:0", ("l", ""), 512_000, &["nvme0n1p1"])
        .files(&[("/straddle/dm-tables", table)]);
    // device-mapper did not say so: no.
    let seen = mapped.look("dm-0");
    let found = untorn::largest(&seen.assembled.stack, seen.device("dm-0").0);
    assert!(matches!(found, Known::No(_)), "{found:?}");
}
