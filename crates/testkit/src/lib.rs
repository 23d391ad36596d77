//! Shared parts of tests: the field's real tools, scratch images that vanish, loop devices that
//! detach, and skips that are counted aloud. Used by tests and benchmarks only.

pub mod conservation;
pub mod disks;
pub mod fuse;
pub mod latency_series;
pub mod long_names;
pub mod loops;
pub mod lvm;
pub mod memory;
pub mod mount;
pub mod running_program;
pub mod schema;
pub mod scratch;
pub mod suppress;
mod swap;
pub mod tolerance;
pub mod tool;
pub mod void_by_chance;
mod xml;
mod zram;

pub use loops::Loop;
pub use lvm::Lvm;
pub use mount::Mount;
pub use scratch::{FileDisk, Scratch};
pub use swap::Swap;
pub use xml::Xml;
pub use zram::Zram;

use units::random::Random;

/// A test's randomness: seeded from `STRADDLE_SEED` where that is set, else with `default_seed`;
/// the seed is printed, so that a failure names it.
///
/// # Panics
/// When `STRADDLE_SEED` is set and is no number.
#[must_use]
#[expect(clippy::print_stdout, reason = "the seed belongs in the test's output")]
pub fn random(default_seed: u64) -> Random {
    let seed = std::env::var("STRADDLE_SEED")
        .map_or(default_seed, |text| text.parse().expect("STRADDLE_SEED is a number"));
    println!("seed {seed} (set STRADDLE_SEED to change it)");
    Random::new(seed)
}

/// Counts the running test as skipped: prints why, and appends a line to the file that
/// `STRADDLE_SKIPS` names, which `cargo xtask test` sums up.
#[expect(clippy::print_stdout, reason = "a skip is said aloud")]
pub fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("unnamed test").to_owned();
    println!("SKIPPED {test}: {reason}");
    let Ok(path) = std::env::var("STRADDLE_SKIPS") else { return };
    let line = format!("{test}\t{reason}\n");
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    if let Ok(mut file) = file {
        // One write call, so that lines of parallel tests do not mix.
        let _ = std::io::Write::write_all(&mut file, line.as_bytes());
    }
}

/// Reason of a skip outside the full tier.
pub const FULL_TIER: &str = "full tier: cargo xtask test";

/// True if all tests run, also those that need root or take long. `cargo xtask test` asks for that
/// by setting `STRADDLE_TESTS` to `full`; a plain `cargo test` runs the fast tier.
#[must_use]
pub fn is_full_tier() -> bool {
    std::env::var_os("STRADDLE_TESTS").is_some_and(|tier| tier == "full")
}

/// Ends the test, counted as skipped, outside the full tier: for tests that take long.
#[macro_export]
macro_rules! need_full_tier {
    () => {
        if !$crate::is_full_tier() {
            $crate::skip($crate::FULL_TIER);
            return;
        }
    };
}

/// Ends the test, counted as skipped, unless every named tool is there and quick enough for this
/// tier.
#[macro_export]
macro_rules! need_tools {
    ($($tool:expr),+ $(,)?) => {
        $(if let Some(reason) = $crate::tool::lack($tool) {
            $crate::skip(&reason);
            return;
        })+
    };
}

/// Ends the test, counted as skipped, unless it runs in the full tier, as root, with loop devices.
#[macro_export]
macro_rules! need_loops {
    () => {
        $crate::need_full_tier!();
        if !$crate::loops::available() {
            $crate::skip("needs root and loop devices");
            return;
        }
    };
}
