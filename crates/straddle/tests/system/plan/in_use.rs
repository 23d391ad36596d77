//! Disks that are in use: their scripts refuse them, and nothing is written.

use std::path::Path;
use std::process::Command;

use testkit::running_program::{Going, Ran};
use testkit::{Loop, Scratch, need_loops, need_tools, scratch};

use super::{confirmed, image, scratch_in_memory, straddle};

const ODD: &str = "label: dos\nstart=63, size=40000\n";

/// The script of the plan for `disk`.
fn script(scratch: &Scratch, disk: &Path) -> std::path::PathBuf {
    let made = straddle(&["plan", "--script", scratch::text(disk)]);
    assert_eq!(made.status, Some(0), "{made:?}");
    scratch.file("plan.sh", made.out.as_bytes())
}

/// Types `script` for `disk`, and expects that it refuses for `reason`.
fn refuses(scratch: &Scratch, script: &Path, disk: &Path, reason: &str) {
    let before = std::fs::read(disk).expect("it is read");
    let ran = Ran::of(Command::new("sh").args([script, disk, &scratch.path().join("work")]));
    assert_eq!(ran.status, Some(3), "{reason}: {ran:?}");
    assert!(ran.errors.contains(reason), "{reason}: {ran:?}");
    assert!(before == std::fs::read(disk).expect("it is read"), "{reason}");
}

/// Uses of the image by a Python program, and words of the refusal.
const USES: [(&str, &str); 3] = [
    ("file = open(path, 'r+b')", "open for writing"),
    (
        "c = ctypes.CDLL(None); c.mmap.argtypes = [ctypes.c_void_p] + 5 * [ctypes.c_long]; \
         file = open(path, 'r+b'); c.mmap(None, 4096, 3, 1, file.fileno(), 0); file.close()",
        " mapped",
    ),
    ("file = open(path, 'rb'); fcntl.lockf(file, fcntl.LOCK_SH)", " locked"),
];

#[test]
fn an_image_that_is_open_mapped_or_locked_is_refused_whatever_its_name() {
    need_tools!("sfdisk", "python3");
    for name in ["disk.raw", "my vm's *.raw"] {
        let scratch = scratch_in_memory();
        let disk = scratch.path().join(name);
        std::fs::rename(image(&scratch, ODD), &disk).expect("it is renamed");
        let (script, work) = (script(&scratch, &disk), scratch.path().join("work"));
        for (uses, reason) in USES {
            let going = Going::python_with(&disk, uses);
            refuses(&scratch, &script, &disk, reason);
            drop(going);
        }
        let ran = Ran::of(confirmed(&mut Command::new("sh"), &script, &disk).arg(&work));
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
}

#[test]
fn a_disk_of_which_a_loop_device_shows_a_partition_is_refused() {
    need_loops!();
    need_tools!("sfdisk", "partx");
    let scratch = scratch_in_memory();
    let device = Loop::attach(&image(&scratch, ODD), 512);
    let inner = Loop::attach(&device.partition(1), 512);
    let script = script(&scratch, device.path());
    refuses(&scratch, &script, device.path(), "is attached to loop device");
    drop(inner);
}

#[test]
fn a_script_wants_its_disk_named_and_prints_how_to_use_it() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let disk = image(&scratch, ODD);
    let (script, before) = (script(&scratch, &disk), std::fs::read(&disk).expect("it is read"));
    let ran = Ran::of(Command::new("sh").arg(&script));
    assert!(ran.status == Some(3) && ran.errors.contains("no disk was named"), "{ran:?}");
    assert!(ran.errors.contains(&format!("{} DIR", scratch::text(&disk))), "{ran:?}");
    let ran = Ran::of(Command::new("sh").args([script.as_path(), "--help".as_ref()]));
    assert!(
        ran.status == Some(0) && ran.out.starts_with("Usage: sh SCRIPT DISK [DIR] "),
        "{ran:?}"
    );
    let other = scratch.path().join("disk.raw\n");
    scratch::copy(&disk, &other);
    let ran = Ran::of(Command::new("sh").args([&script, &other]));
    assert!(ran.status == Some(3) && ran.errors.contains("line feed"), "{ran:?}");
    assert!(before == std::fs::read(&disk).expect("it is read"));
}

#[test]
fn a_script_moves_nothing_until_its_disk_is_confirmed_and_rehearses_without_a_trace() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let disk = image(&scratch, ODD);
    let (script, before) = (script(&scratch, &disk), std::fs::read(&disk).expect("it is read"));
    let work = scratch.path().join("work");
    let run = |more: &[&str]| {
        let mut shell = Command::new("sh");
        Ran::of(shell.arg(&script).arg(&disk).arg(&work).args(more))
    };
    let name = "disk.raw";
    for more in [&[][..], &["--confirm", "other.raw"], &["--confirm="], &["--confirm"]] {
        let ran = run(more);
        assert!(ran.status == Some(3) && ran.errors.contains("--confirm"), "{more:?}: {ran:?}");
        assert!(!work.exists(), "{more:?}");
    }
    let ran = run(&["--force"]);
    assert!(ran.status == Some(3) && ran.errors.contains("no such option"), "{ran:?}");
    for option in ["--dry-run", "-n"] {
        let ran = run(&[option]);
        assert!(ran.status == Some(0) && ran.out.contains("would do step 1 of"), "{ran:?}");
        assert!(ran.out.contains(&format!("--confirm {name}\n")), "{ran:?}");
        assert!(!work.exists(), "{option}");
    }
    assert!(before == std::fs::read(&disk).expect("it is read"));
    let ran = run(&["--confirm", name]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn a_disk_that_is_mounted_where_nobody_here_sees_it_is_refused() {
    need_loops!();
    need_tools!("sfdisk", "partx", "mkfs.ext4", "unshare", "perl");
    let scratch = scratch_in_memory();
    let device = Loop::attach(&image(&scratch, ODD), 512);
    let partition = device.partition(1);
    testkit::tool::run("mkfs.ext4", &["-q", "-F", scratch::text(&partition)]);
    let script = script(&scratch, device.path());
    let (point, ready) = (scratch.path().join("point"), scratch.path().join("ready"));
    std::fs::create_dir(&point).expect("a directory is made");
    let mount = "mount \"$0\" \"$1\" && : >\"$2\" && exec sleep 600";
    let mut command = testkit::tool::command("unshare");
    command.args(["-m", "sh", "-c", mount]).args([&partition, &point, &ready]);
    let mut going = Going::with(&mut command);
    going.until("it is mounted", || ready.exists());
    refuses(&scratch, &script, device.path(), " is in use");
    drop(going);
}
