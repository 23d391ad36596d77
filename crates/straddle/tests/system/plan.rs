//! `straddle plan` as a user runs it: the script is typed, and the disk looked at afterwards.

mod ends;
mod free;
mod in_use;
mod named;
mod new;
mod refused;
mod stays;
mod used_since;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::disks::Trial;
use testkit::running_program::Ran;
use testkit::{Loop, Mount, Scratch, need_loops, need_tools, schema, scratch, tool};

const SCHEMA: &str = include_str!("../../../report/schema/straddle.plan.1.schema.json");

/// Partitions off the granule in every way: primary, logical, in a gap, without one.
const LOGICAL: &str = "label: dos\nlabel-id: 0xdeadbeef\n\
    start=63, size=10000, type=7, bootable\n\
    start=10063, size=40000, type=5\n\
    start=10126, size=9001\n\
    start=20190, size=20000, type=82\n";
const GPT: &str = "label: gpt\nfirst-lba: 34\n\
    start=34, size=10001, name=\"a b\", attrs=\"RequiredPartition GUID:60\"\n\
    start=10035, size=10000, type=swap\n\
    start=50000, size=9999, type=U\n";

/// Scripts sync after each step, which a busy drive makes slow.
fn scratch_in_memory() -> Scratch {
    Scratch::in_memory().unwrap_or_else(Scratch::new)
}

fn straddle(arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    Ran::of(command.args(arguments).env("LC_ALL", "C.UTF-8"))
}

fn plan(image: &Path, more: &[&str]) -> Value {
    let image = scratch::text(image);
    let ran = straddle(&[&["plan", "--json", image], more].concat());
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let document = ran.document();
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    assert_eq!(schema::faults(&schema, &document), [""; 0]);
    document
}

/// Writes the script of the plan for `disk` to `script`.
fn written(disk: &Path, script: &Path) -> Ran {
    straddle(&["plan", scratch::text(disk), "--script", "-o", scratch::text(script)])
}

/// Types the script of the plan for `image` on `disk`.
fn typed(image: &Path, disk: &Path, scratch: &Scratch, more: &[&str]) -> Ran {
    let script = straddle(&[&["plan", "--script", scratch::text(image)], more].concat());
    assert_eq!(script.status, Some(0), "{script:?}");
    let file = scratch.file("plan.sh", script.out.as_bytes());
    let work = scratch.path().join("work");
    Ran::of(confirmed(&mut Command::new("sh"), &file, disk).arg(&work))
}

/// `sh` with `script` for `disk`: an image, confirmed by its name, or a loop device.
fn confirmed<'a>(shell: &'a mut Command, script: &Path, disk: &Path) -> &'a mut Command {
    let word = if disk.starts_with("/dev/") && !disk.starts_with("/dev/shm") {
        let mut device = std::fs::File::open(disk).expect("the device opens");
        let end = std::io::Seek::seek(&mut device, std::io::SeekFrom::End(0)).expect("it seeks");
        format!("{}={end}", scratch::text(disk))
    } else {
        disk.file_name().expect("an image has a name").to_str().expect("text").to_owned()
    };
    shell.arg(script).arg("--confirm").arg(word).arg(disk)
}

/// An image with `table`, its partitions filled with bytes that tell each sector from the others.
fn image(scratch: &Scratch, table: &str) -> PathBuf {
    let image = scratch.image("disk.raw", 32 << 20);
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], table);
    for (number, part) in dumped(&image) {
        if part[2].contains("type=5") || part[2].contains("type=f") {
            continue;
        }
        let (start, size): (u64, u64) = (sectors(&part[0]), sectors(&part[1]));
        let bytes: Vec<u8> = (0..size)
            .flat_map(|sector| [[number; 8], sector.to_le_bytes()].concat().repeat(32))
            .collect();
        let mut file = std::fs::OpenOptions::new().write(true).open(&image).expect("it opens");
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(start * 512)).expect("it seeks");
        std::io::Write::write_all(&mut file, &bytes).expect("it is written");
    }
    image
}

/// Start, size and the rest of each partition, as sfdisk dumps them.
fn dumped(image: &Path) -> Vec<(u8, [String; 3])> {
    let text = tool::run("sfdisk", &["--dump", scratch::text(image)]);
    (1_u8..)
        .zip(text.lines().filter(|line| line.contains("start=")))
        .map(|(number, line)| {
            let mut fields = line.split_once(':').map_or("", |(_, rest)| rest).splitn(3, ',');
            let mut field = || fields.next().unwrap_or_default().trim().to_owned();
            (number, [field(), field(), field()])
        })
        .collect()
}

fn sectors(field: &str) -> u64 {
    let digits: String = field.chars().filter(char::is_ascii_digit).collect();
    digits.parse().expect("a number of sectors")
}

/// The bytes of each partition with data.
fn contents(image: &Path) -> Vec<Vec<u8>> {
    let bytes = scratch::sparse_bytes(image);
    let index = |sectors: u64| usize::try_from(sectors * 512).expect("it fits");
    (dumped(image).iter())
        .filter(|(_, part)| !part[2].contains("type=5"))
        .map(|(_, part)| {
            let start = index(sectors(&part[0]));
            bytes[start..start + index(sectors(&part[1]))].to_vec()
        })
        .collect()
}

#[test]
fn a_typed_script_aligns_every_partition_and_keeps_all_else() {
    need_tools!("sfdisk", "sgdisk");
    for (table, hybrid) in [(LOGICAL, false), (GPT, false), (GPT, true)] {
        let scratch = scratch_in_memory();
        let image = image(&scratch, table);
        if hybrid {
            tool::run("sgdisk", &["-h", "1:2", scratch::text(&image)]);
        }
        let (old, before) = (contents(&image), dumped(&image));
        assert!(plan(&image, &[])["changes"].as_bool().expect("a truth"));
        let ran = typed(&image, &image, &scratch, &[]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        for (old, new) in old.iter().zip(contents(&image)) {
            let length = old.len().min(new.len());
            assert!(length > 0 && old[..length] == new[..length], "{table}");
        }
        let rest = |parts: Vec<(u8, [String; 3])>| {
            parts.into_iter().map(|(_, part)| part[2].clone()).collect::<Vec<_>>()
        };
        assert_eq!(rest(dumped(&image)), rest(before));
        let again = plan(&image, &[]);
        assert_eq!(again["changes"], false, "{again:#}");
        assert_eq!(straddle(&["check", scratch::text(&image)]).status, Some(0));
    }
}

#[test]
fn a_table_of_512_is_rewritten_for_sectors_of_4096() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let table = "label: gpt\nstart=2048, size=20000\nstart=22049, size=20000, name=odd\n";
    let image = image(&scratch, table);
    let ran = typed(&image, &image, &scratch, &["--on", "4Kn"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let after = plan(&image, &["--on", "4Kn"]);
    assert_eq!((&after["changes"], &after["old_sector_bytes"]), (&false.into(), &4096.into()));
    let starts: Vec<u64> = (after["partitions"].as_array().expect("a list").iter())
        .map(|one| one["new_start_bytes"].as_u64().expect("a number"))
        .collect();
    assert_eq!(starts[0], 1 << 20);
    assert!(starts[1].is_multiple_of(4096) && starts[1].abs_diff(22049 * 512) < 4096);
}

#[test]
fn the_script_refuses_another_disk_and_a_changed_one() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let image = image(&scratch, GPT);
    let longer = scratch.path().join("longer.raw");
    scratch::copy(&image, &longer);
    let file = std::fs::OpenOptions::new().write(true).open(&longer).expect("it opens");
    file.set_len(33 << 20).expect("it grows");
    let changed = scratch.path().join("changed.raw");
    scratch::copy(&image, &changed);
    tool::run("sfdisk", &["--part-label", scratch::text(&changed), "1", "other"]);
    for (disk, reason) in [(&longer, "not the disk of this plan"), (&changed, "table of")] {
        let before = std::fs::read(disk).expect("it is read");
        let ran = typed(&image, disk, &scratch, &[]);
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains(reason), "{ran:?}");
        assert!(before == std::fs::read(disk).expect("it is read"));
        assert!(!scratch.path().join("work").exists(), "a refusal leaves no empty directory");
    }
}

/// Place where the field's tools are.
const PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// Lines of a `dd` that fails at one of its calls, as if the script had been cut there.
const CUT: &str = "calls=$(($(cat \"$CALLS\") + 1))\necho $calls >\"$CALLS\"\n\
    [ $calls -ne \"$CUT_AT\" ] || exit 1";
/// Lines of a `dd` that fails at the first chunk of a move.
const NO_CHUNK: &str = "case \"$*\" in *chunk*) exit 1 ;; esac";

/// A search path with a `dd` that begins with `lines`.
fn with_dd(scratch: &Scratch, lines: &str) -> String {
    let tools = scratch.path().join("tools");
    std::fs::create_dir(&tools).expect("a directory is made");
    let script = format!("#!/bin/sh\n{lines}\nPATH=/usr/bin:/bin exec dd \"$@\"\n");
    std::fs::write(tools.join("dd"), script).expect("it is written");
    tool::run("chmod", &["+x", scratch::text(&tools.join("dd"))]);
    format!("{}:{PATH}", scratch::text(&tools))
}

#[test]
fn a_script_that_was_cut_anywhere_goes_on_where_it_stopped() {
    need_tools!("sfdisk");
    let early = "label: gpt\nfirst-lba: 34\nstart=40, size=9000\nstart=9041, size=9000\n";
    let mut halves = 0;
    for (table, on) in [(LOGICAL, &[][..]), (early, &["--on", "4Kn"])] {
        let scratch = scratch_in_memory();
        let image = image(&scratch, table);
        let whole = scratch.path().join("whole.raw");
        scratch::copy(&image, &whole);
        let ran = typed(&image, &whole, &scratch, on);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let cutting = with_dd(&scratch, CUT);
        let (script, calls) = (scratch.path().join("plan.sh"), scratch.path().join("calls"));
        let mut cut = 1 + testkit::random(3).below(23);
        loop {
            let (disk, work) = (scratch.path().join("cut.raw"), scratch.path().join("cut"));
            scratch::copy(&image, &disk);
            std::fs::write(&calls, "0").expect("it is written");
            let run = |path: &str| {
                let mut command = Command::new("sh");
                confirmed(&mut command, &script, &disk).arg(&work);
                command.env("STRADDLE_CHUNK_BYTES", "2097152").env("CALLS", &calls);
                command.env("CUT_AT", cut.to_string()).env("PATH", path);
                Ran::of(&mut command)
            };
            let first = run(&cutting);
            if first.status == Some(0) {
                break;
            }
            let half = half_moved(&image, &disk, on);
            halves += u64::from(half.is_some());
            let second = match half {
                Some(kept) => Ran::of(Command::new("sh").arg(kept.join("resume.sh")).arg(&disk)),
                None => run(PATH),
            };
            assert_eq!(second.status, Some(0), "cut at {cut}: {first:?}\n{second:?}");
            let [cut_once, never] = [&disk, &whole].map(|path| std::fs::read(path).expect("read"));
            assert!(cut_once == never, "cut at {cut}");
            std::fs::remove_dir_all(&work).expect("it is removed");
            cut += 23;
        }
        assert!(cut > 20 && halves > 0, "the script calls dd some times");
    }
}

/// The directory with which a move on `disk` goes on; `None` where nothing of it was changed, or
/// all of it has moved.
fn half_moved(image: &Path, disk: &Path, on: &[&str]) -> Option<PathBuf> {
    let check = straddle(&[&["check", "--json", scratch::text(disk)], on].concat()).document();
    let findings = check["targets"][0]["findings"].as_array().cloned().unwrap_or_default();
    let Some(found) = findings.iter().find(|one| one["code"] == "ST412") else {
        let changes = |disk: &Path| {
            let plan = plan(disk, on);
            (plan["changes"] == true).then(|| plan["partitions"].clone())
        };
        let left = changes(disk);
        assert!(left.is_none() || left == changes(image), "neither as before nor aligned");
        return None;
    };
    for one in findings.iter().filter(|one| one["code"] != "ST412") {
        assert_eq!(one["remedies"].as_array().map(Vec::len), Some(1), "{one:#}");
        assert_eq!(one["remedies"][0], "finish the move first: ST412");
    }
    let said = found["evidence"][0].as_str().expect("a text");
    let kept = said.split("in ").last().expect("the directory is named");
    // No other script is written over the one that can go on.
    let other = disk.with_extension("sh");
    let script = Path::new(kept).join("resume.sh");
    let text = std::fs::read(&script).expect("the script is kept");
    std::fs::write(&other, &text).expect("it is written");
    let words = ["plan", scratch::text(disk), "--script", "-o", scratch::text(&other)];
    let ran = straddle(&[&words[..], on].concat());
    assert!(ran.status == Some(5) && ran.errors.contains(kept), "{ran:?}");
    assert!(std::fs::read(&other).expect("it is read") == text);
    // The script itself begins no second time, with another directory.
    let before = std::fs::read(disk).expect("it is read");
    let ran = Ran::of(Command::new("sh").args([&script, disk, &disk.with_extension("other")]));
    assert!(ran.status == Some(3) && ran.errors.contains(kept), "{ran:?}");
    assert!(before == std::fs::read(disk).expect("it is read"));
    Some(kept.into())
}

#[test]
fn what_a_script_keeps_is_no_image_and_is_not_written_once_something_changed_it() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let disk = image(&scratch, LOGICAL);
    let script = scratch.path().join("plan.sh");
    assert_eq!(written(&disk, &script).status, Some(0));
    let (cutting, calls) = (with_dd(&scratch, CUT), scratch.path().join("calls"));
    // It is cut later and later, until it stops with the tables made and the disk half moved.
    let kept = (1..200).step_by(5).find_map(|cut| {
        std::fs::write(&calls, "0").expect("it is written");
        let copy = scratch.path().join("copy.raw");
        scratch::copy(&disk, &copy);
        let work = scratch.path().join("work");
        let _ = std::fs::remove_dir_all(&work);
        let mut command = Command::new("sh");
        confirmed(&mut command, &script, &copy).arg(&work);
        command.env("STRADDLE_CHUNK_BYTES", "2097152");
        command.env("CALLS", &calls).env("CUT_AT", cut.to_string()).env("PATH", &cutting);
        let _cut = Ran::of(&mut command);
        let kept = half_moved(&disk, &copy, &[])?;
        kept.join("table-0").exists().then_some((kept, copy))
    });
    let (kept, disk) = kept.expect("it was cut between two steps");
    let check = straddle(&["check", "--json", scratch::text(kept.parent().expect("a parent"))]);
    assert!(!check.out.contains("table-0") && check.status == Some(2), "{check:?}");
    // Something makes a kept table longer, as a fix for a cut image would.
    let table = std::fs::OpenOptions::new().write(true).open(kept.join("table-0"));
    let table = table.expect("it is opened");
    let length = table.metadata().expect("a file").len();
    table.set_len(length + (20 << 20)).expect("it is made longer");
    let resume = || Ran::of(Command::new("sh").arg(kept.join("resume.sh")).arg(&disk));
    let ran = resume();
    assert_eq!(ran.status, Some(4), "{ran:?}");
    assert!(ran.errors.contains("something changed") && ran.errors.contains("table-0"), "{ran:?}");
    table.set_len(length).expect("it is cut");
    let ran = resume();
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn a_disk_that_was_restored_is_not_taken_for_one_that_is_half_moved() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let image = image(&scratch, GPT);
    let restored = scratch.path().join("restored.raw");
    scratch::copy(&image, &restored);
    let script = straddle(&["plan", "--script", scratch::text(&image)]);
    let script = scratch.file("plan.sh", script.out.as_bytes());
    let path = with_dd(&scratch, NO_CHUNK);
    let ran = Ran::of(confirmed(&mut Command::new("sh"), &script, &image).env("PATH", path));
    assert_eq!(ran.status, Some(4), "{ran:?}");
    // From another working directory, with a relative name.
    let within = |disk: &Path| {
        let mut command = Command::new("sh");
        command.args(["../plan.sh", scratch::text(disk)]).current_dir(scratch.path().join("tools"));
        Ran::of(&mut command)
    };
    let before = std::fs::read(&restored).expect("it is read");
    let ran = within(&restored);
    assert!(ran.status == Some(3) && ran.errors.contains("restored"), "{ran:?}");
    assert!(before == std::fs::read(&restored).expect("it is read"));
    let ran = within(&image);
    assert!(ran.status == Some(0) && ran.out.contains("going on after"), "{ran:?}");
    // Nor is it taken for the one that was carried out.
    let ran = within(&restored);
    assert!(ran.status == Some(3) && ran.errors.contains("restored"), "{ran:?}");
    let ran = within(&image);
    assert!(ran.status == Some(0) && ran.out.contains("nothing to do"), "{ran:?}");
    let new = scratch.path().join("new");
    let ran = Ran::of(confirmed(&mut Command::new("sh"), &script, &restored).arg(new));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(std::fs::read(&image).expect("read") == std::fs::read(&restored).expect("read"));
}

#[test]
fn a_moved_sparse_image_stays_sparse() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let image = scratch.image("sparse.raw", 256 << 20);
    let table = "label: dos\nstart=63, size=500000\n";
    tool::run_with_input("sfdisk", &["-q", scratch::text(&image)], table);
    let blocks = || std::os::unix::fs::MetadataExt::blocks(&image.metadata().expect("it is there"));
    let before = blocks();
    let ran = typed(&image, &image, &scratch, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    // A head of 1 MiB, its old place and the tables.
    assert!(blocks() <= before + (4 << 20) / 512, "{before} blocks before, {} after", blocks());
}

/// Does what `cargo xtask soak plan` does, which tries more of them.
#[test]
fn generated_disks_keep_their_data_and_lose_their_findings() {
    need_loops!();
    need_tools!(
        "sfdisk",
        "sgdisk",
        "mkfs.ext4",
        "mkfs.xfs",
        "mkfs.btrfs",
        "mkfs.fat",
        "mkfs.exfat",
        "mkfs.ntfs",
        "mkswap",
        "cryptsetup",
        "lvm",
        "mdadm",
    );
    let directory = scratch_in_memory();
    let program = Path::new(env!("CARGO_BIN_EXE_straddle"));
    let first = testkit::random(1).next_u64() % 100_000;
    // The disk of seed 715 has room for a chunk only once other partitions moved.
    for seed in (first..first + 12).chain([715]) {
        Trial::new(program, directory.path(), seed).run().unwrap_or_else(|fault| panic!("{fault}"));
    }
}

#[test]
fn the_script_refuses_a_mounted_disk() {
    need_loops!();
    need_tools!("sfdisk", "mkfs.ext4", "partx");
    let scratch = scratch_in_memory();
    let image = image(&scratch, "label: dos\nstart=63, size=40000\n");
    let device = Loop::attach(&image, 512);
    let partition = device.partition(1);
    tool::run("mkfs.ext4", &["-q", "-F", scratch::text(&partition)]);
    let point = scratch.path().join("mounted");
    let mount = Mount::new("ext4", "", scratch::text(&partition), &point);
    let ran = typed(device.path(), device.path(), &scratch, &[]);
    drop(mount);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("is mounted"), "{ran:?}");
    let ran = typed(device.path(), device.path(), &scratch, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(plan(device.path(), &[])["changes"], false);
}

#[test]
fn a_new_disk_is_told_what_to_type_and_one_with_data_is_not() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let blank = scratch.image("blank.raw", 1 << 30);
    let on = ["plan", "--new", scratch::text(&blank), "--on", "512e,stripe=512Kx3+1"];
    let ran = straddle(&on);
    assert!(ran.out.contains("start at sector 6144 (3 MiB)"), "{ran:?}");
    assert!(ran.out.contains("-d su=524288,sw=3 PARTITION  # ERASES PARTITION"), "{ran:?}");
    let mut wide = ran.out.lines().filter(|line| line.len() > 100);
    let is_command = |line: &str| line.contains(" printf ") || line.contains("  straddle ");
    assert!(wide.all(is_command), "{ran:?}");
    let line = ran.out.lines().find(|line| line.contains("sfdisk")).expect("a table is offered");
    assert!(!line.contains('#') || line.len() <= 100, "{line}");
    let command = line.split_once("printf").map(|(_, rest)| format!("printf{rest}"));
    tool::run("sh", &["-c", &command.expect("it is a command line")]);
    let ran = straddle(&on);
    assert!(ran.out.contains("not shown") && !ran.out.contains("ERASES"), "{ran:?}");
    assert_eq!(plan(&blank, &on[3..])["changes"], false);
}

#[test]
fn a_disk_without_anything_on_it_has_no_plan() {
    need_loops!();
    let scratch = Scratch::new();
    let image = scratch.image("blank.raw", 1 << 20);
    let device = Loop::attach(&image, 512);
    for disk in [&image, device.path()] {
        let ran = straddle(&["plan", scratch::text(disk)]);
        assert_eq!(ran.status, Some(5), "{ran:?}");
        assert!(ran.errors.contains("nothing recognized"), "{ran:?}");
    }
}

#[test]
fn the_steps_of_a_plan_work_on_an_image_of_another_format_as_typed() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let raw = image(&scratch, LOGICAL);
    let qcow2 = scratch.path().join("disk.qcow2");
    tool::run(
        "qemu-img",
        &["convert", "-f", "raw", "-O", "qcow2", scratch::text(&raw), scratch::text(&qcow2)],
    );
    let old = contents(&raw);
    let told = straddle(&["plan", scratch::text(&qcow2)]);
    assert_eq!(told.status, Some(0), "{told:?}");
    let steps = told.out.split_once("  next ").map(|(_, steps)| steps).expect("it names steps");
    let steps = steps.split("  then ").next().expect("a split has a first part");
    let copy = scratch.path().join("disk.qcow2.raw");
    let type_step = |step: &str| {
        let step = step.trim();
        let step = step.replace(
            " DIR",
            &format!(" {} --confirm disk.qcow2.raw", scratch::text(&scratch.path().join("dir"))),
        );
        let own = format!("straddle() {{ {} \"$@\"; }}\n{step}", env!("CARGO_BIN_EXE_straddle"));
        let mut shell = Command::new("sh");
        Ran::of(shell.args(["-c", &own]).current_dir(scratch.path()))
    };
    for step in steps.lines().filter(|step| !step.trim().starts_with("read ")) {
        let ran = type_step(step);
        assert_eq!(ran.status, Some(0), "{step}: {ran:?}");
    }
    assert_eq!(plan(&copy, &[])["changes"], false);
    for (old, new) in old.iter().zip(contents(&copy)) {
        let length = old.len().min(new.len());
        assert!(length > 0 && old[..length] == new[..length]);
    }
}

#[test]
fn a_plan_says_where_the_image_format_itself_is_at_fault() {
    need_tools!("sfdisk", "qemu-img");
    let scratch = scratch_in_memory();
    let raw = image(&scratch, "label: dos\nstart=63, size=40000\n");
    let vhd = scratch.path().join("disk.vhd");
    tool::run(
        "qemu-img",
        &["convert", "-f", "raw", "-O", "vpc", scratch::text(&raw), scratch::text(&vhd)],
    );
    let ran = straddle(&["plan", scratch::text(&vhd)]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("ST501"), "{ran:?}");
    // What it moves is a raw copy, and there it is the offsets of the guest that count.
    let copy = scratch.path().join("copy.raw");
    let words = ["convert", "-O", "raw", scratch::text(&vhd), scratch::text(&copy)];
    tool::run("qemu-img", &words);
    let ran = typed(&vhd, &copy, &scratch, &[]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(plan(&copy, &[])["changes"], false);
}

#[test]
fn a_script_of_a_plan_that_changes_nothing_takes_the_place_of_an_older_one() {
    need_tools!("sfdisk");
    let scratch = scratch_in_memory();
    let disk = image(&scratch, "label: dos\nstart=2048, size=40960\n");
    let script = scratch.path().join("plan.sh");
    for _ in 0..2 {
        let ran = written(&disk, &script);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.errors.contains("nothing to change") && ran.out.is_empty(), "{ran:?}");
        let ran = Ran::of(Command::new("sh").args([&script, &disk]));
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
}

#[test]
fn a_disk_that_may_not_be_read_has_no_plan_and_is_not_called_blank() {
    need_loops!();
    need_tools!("sfdisk", "setpriv");
    if !host::is_root() {
        testkit::skip("needs root, to be somebody else");
        return;
    }
    let scratch = Scratch::new();
    let image = image(&scratch, GPT);
    let device = Loop::attach(&image, 512);
    let node = scratch::text(device.path());
    for part in [false, true] {
        let _held = part.then(|| device.partition(1));
        let as_nobody = |words: &[&str]| {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
            Ran::of(command.arg(env!("CARGO_BIN_EXE_straddle")).args(words))
        };
        let ran = as_nobody(&["check", "--format", "nagios", node]);
        assert_eq!(ran.status, Some(3), "nothing is found, and nothing is known: {ran:?}");
        for words in [&["plan", node][..], &["plan", "--script", node]] {
            let ran = as_nobody(words);
            assert_eq!(ran.status, Some(5), "{ran:?}");
            assert!(ran.errors.contains("Permission denied"), "{ran:?}");
            assert!(!ran.errors.contains("--new") && ran.out.is_empty(), "{ran:?}");
        }
    }
}

#[test]
fn a_plan_of_a_compressed_disk_says_to_decompress_it() {
    need_tools!("gzip");
    let scratch = scratch_in_memory();
    let raw = scratch.image("disk.raw", 1 << 20);
    tool::run("gzip", &[scratch::text(&raw)]);
    let packed = scratch.path().join("disk.raw.gz");
    let ran = straddle(&["plan", scratch::text(&packed)]);
    assert_eq!(ran.status, Some(5), "{ran:?}");
    assert!(ran.errors.contains("gzip-compressed: decompress it first"), "{ran:?}");
    assert!(!ran.errors.contains("--new"), "{ran:?}");
}
