//! A drive whose flushes take 0.3 s: however slow syncs are, a run keeps to its seconds. Time is
//! counted in the flushes that came, of which the drive does one after the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use testkit::fuse::{Fuse, FuseBehavior, FuseRequest};
use testkit::{Loop, Scratch, need_loops, need_tools, scratch::text, tool};

use super::run::fsync;

/// Time that a flush takes, in milliseconds.
const FLUSH_MS: u64 = 300;

/// An ext4 on such a drive. The parts go in this order.
struct Slow {
    mount: Unmounted,
    is_slow: Arc<AtomicBool>,
    flushes: Arc<AtomicU64>,
    _device: Loop,
    _fuse: Fuse,
    _scratch: Scratch,
}

struct Unmounted(std::path::PathBuf);

impl Drop for Unmounted {
    fn drop(&mut self) {
        let _ = tool::output("umount", &[text(&self.0)]);
    }
}

impl Slow {
    /// `None` where this machine has no FUSE.
    fn new() -> Option<Slow> {
        let scratch = Scratch::new();
        let back = scratch.image("back", 256 << 20);
        let (is_slow, flushes) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (slow, counted) = (Arc::clone(&is_slow), Arc::clone(&flushes));
        let watch = move |asked: FuseRequest<'_>| {
            if matches!(asked, FuseRequest::Sync) && slow.load(Ordering::SeqCst) {
                counted.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(FLUSH_MS));
            }
        };
        let file = std::fs::File::options().read(true).write(true).open(&back).expect("it is");
        let watched = FuseBehavior { watch: Box::new(watch), discards: false };
        let fuse = Fuse::watched(file, &scratch.path().join("fuse"), watched)?;
        let device = Loop::attach(&fuse.file(), 512);
        let node = text(device.path());
        let whole = "lazy_itable_init=0,lazy_journal_init=0";
        tool::run("mkfs.ext4", &["-q", "-F", "-J", "size=4", "-E", whole, node]);
        let point = scratch.path().join("mounted");
        std::fs::create_dir(&point).expect("a mount point can be made");
        tool::run("mount", &[node, text(&point)]);
        let mount = Unmounted(point);
        Some(Slow { mount, is_slow, flushes, _device: device, _fuse: fuse, _scratch: scratch })
    }

    /// The flushes that came while straddle ran with these arguments, and what it said.
    fn ran(&self, arguments: &[&str]) -> (u64, testkit::running_program::Ran) {
        self.flushes.store(0, Ordering::SeqCst);
        self.is_slow.store(true, Ordering::SeqCst);
        let ran = fsync(&[&[text(&self.mount.0)], arguments].concat());
        self.is_slow.store(false, Ordering::SeqCst);
        (self.flushes.load(Ordering::SeqCst), ran)
    }
}

#[test]
fn the_seconds_hold_on_a_drive_that_takes_a_third_of_one_for_a_flush() {
    need_loops!();
    need_tools!("mkfs.ext4", "mount", "umount");
    let Some(slow) = Slow::new() else {
        testkit::skip("needs root and FUSE");
        return;
    };
    for arguments in [&[][..], &["--for", "etcd", "--bytes-max", "32M"], &["--rows", "none"]] {
        let (flushes, ran) = slow.ran(&[&["--seconds", "5"], arguments].concat());
        // A sync of ext4 that grows a file flushes twice, and one may be under way at the end; so
        // does a commit of the kernel's own, each 5 s.
        let most = 5000 / FLUSH_MS + 8;
        assert!(flushes > 2 && flushes <= most, "{arguments:?}: {flushes} of {most}: {ran:?}");
        let hint = ran.errors.split("--seconds ").nth(1).and_then(|text| {
            let digits = text.split(|one: char| !one.is_ascii_digit()).next()?;
            digits.parse::<u64>().ok()
        });
        assert!(hint.is_none_or(|seconds| seconds >= 20), "{ran:?}");
    }
}
