//! `cargo xtask soak plan`: disks with data, made from seeds; the script of each one's plan is
//! typed on a copy, and nothing but what was meant has changed.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use testkit::disks::{Seen, Trial};

use super::options::Options;

/// Number of disks there are without a word about it.
const DISKS: u64 = 1000;

/// Tries as many disks as asked for, on two threads; whether all held.
///
/// # Errors
/// When straddle cannot be built, or there is no place for disks.
pub(super) fn run(options: &Options) -> anyhow::Result<bool> {
    let place = options.place()?;
    let (first, count) = (options.seed(), options.disks.unwrap_or(DISKS));
    println!("{count} disks, seeds {first} to {}", first + count - 1);
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory } else { &place.directory };
    let next = AtomicU64::new(0);
    let sum = Mutex::new((Seen::default(), 0_u64, 0_u64, Vec::<String>::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        return;
                    }
                    let tried = Trial::new(&place.program, directory, first + index).run();
                    let mut sum = sum.lock().expect("no thread panics while it counts");
                    match tried {
                        Ok(seen) => add(&mut sum, seen),
                        Err(fault) => {
                            println!("{fault}");
                            sum.3.push(fault);
                        }
                    }
                }
            });
        }
    });
    let (seen, changed, refused, faults) = sum.into_inner().expect("no thread panics");
    println!(
        "{count} disks: {changed} changed, {} partitions moved, {} kills survived, {} wrong disks \
         refused, {refused} without a plan, {} lines about what stays; {} failed",
        seen.moved,
        seen.kills,
        seen.refusals,
        seen.unmended,
        faults.len()
    );
    Ok(faults.is_empty())
}

fn add(sum: &mut (Seen, u64, u64, Vec<String>), seen: Seen) {
    sum.0.moved += seen.moved;
    sum.0.kills += seen.kills;
    sum.0.refusals += seen.refusals;
    sum.0.unmended += seen.unmended;
    sum.1 += u64::from(seen.changed);
    sum.2 += u64::from(seen.refused);
}
