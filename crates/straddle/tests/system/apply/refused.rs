//! Plans that are not applied: nothing is written, and the exit code is 3.

use serde_json::Value;
use testkit::running_program::Going;
use testkit::{Loop, need_loops, need_tools, scratch, tool};

use super::{DATA, Disk, GPT, MBR, put, read};

/// Applies plan.json, and expects a refusal for `reason` that changes no byte.
fn refused(disk: &Disk, reason: &str) {
    let now = read(&disk.image);
    let ran = disk.apply(&["plan.json"]);
    assert_eq!(ran.status, Some(3), "{reason}: {ran:?}");
    assert!(ran.errors.contains(reason) && ran.out.is_empty(), "{reason}: {ran:?}");
    assert!(read(&disk.image) == now, "{reason}");
}

/// The same, for a reason that a dry run finds too: that the image is in use.
fn refused_dry_too(disk: &Disk, reason: &str) {
    refused(disk, reason);
    let ran = disk.run(&["apply", "plan.json", "--dry-run"]);
    assert_eq!(ran.status, Some(3), "{reason}: {ran:?}");
    assert!(ran.errors.contains("disk.raw is in use: "), "{reason}: {ran:?}");
    assert!(ran.errors.contains(reason) && ran.out.is_empty(), "{reason}: {ran:?}");
}

fn edit(disk: &Disk, change: impl Fn(&mut Value)) {
    let path = disk.file("plan.json");
    let text = std::fs::read_to_string(&path).expect("the plan is there");
    let mut plan: Value = serde_json::from_str(&text).expect("it is JSON");
    change(&mut plan);
    std::fs::write(path, plan.to_string()).expect("it is written");
}

#[test]
fn a_plan_that_moves_data_is_for_the_script() {
    need_tools!("sfdisk");
    for (table, place) in [(GPT, 20_000), (MBR, 500), (GPT, 63)] {
        let disk = Disk::new(table);
        put(&disk.image, place * 512, b"data");
        disk.plan(&[]);
        refused(&disk, "holds data");
    }
    // In the middle, far from all that is recognized.
    let disk = Disk::new("label: gpt\nfirst-lba: 34\nstart=63, size=30001\n");
    put(&disk.image, 15_000 * 512, b"data");
    disk.plan(&[]);
    refused(&disk, "holds data");
    edit(&disk, |plan| plan["table_change"] = Value::Null);
    let ran = disk.apply(&["plan.json"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
}

#[test]
fn random_edited_foreign_and_old_plans_are_refused_and_nothing_is_written() {
    need_tools!("sfdisk");
    let disk = Disk::new(GPT);
    let missing = disk.apply(&["plan.json"]);
    assert_eq!(missing.status, Some(2), "{missing:?}");
    let mut random = testkit::random(5);
    for length in [0, 1, 40, 4000] {
        let noise: Vec<u8> = (0..length).map(|_| random.next_u64().to_le_bytes()[0]).collect();
        std::fs::write(disk.file("plan.json"), noise).expect("it is written");
        refused(&disk, "not a result of straddle");
    }
    std::fs::write(disk.file("plan.json"), "{\"schema\": \"straddle.bench/1\"}").expect("written");
    refused(&disk, "not of straddle.plan/1");
    std::fs::write(disk.file("plan.json"), "{\"schema\": \"straddle.plan/99\"}").expect("written");
    refused(&disk, "another version of straddle");
    for (name, value) in [
        ("disk_bytes", Value::from(1 << 20)),
        ("path", Value::from("/dev/null")),
        ("known_sha256", Value::from("00")),
        ("known", Value::from(Vec::<Value>::new())),
        ("was_blank", Value::from(true)),
        ("new_sector_bytes", Value::from(4096)),
    ] {
        disk.plan(&[]);
        edit(&disk, |plan| plan["table_change"][name] = value.clone());
        refused(&disk, "edited");
    }
    for (name, value) in [
        ("at_bytes", Value::from(DATA.start * 512)),
        ("new_hex", Value::from("00")),
        ("length_bytes", Value::from(u64::MAX)),
    ] {
        disk.plan(&[]);
        edit(&disk, |plan| plan["table_change"]["writes"][0][name] = value.clone());
        refused(&disk, "edited");
    }
    // Each byte of the plan that is cut off or changed.
    disk.plan(&[]);
    let plan = std::fs::read(disk.file("plan.json")).expect("the plan is there");
    for _ in 0..20 {
        let at = usize::try_from(random.below(plan.len() as u64)).expect("short");
        std::fs::write(disk.file("plan.json"), &plan[..at]).expect("it is written");
        refused(&disk, "cannot apply plan.json");
    }
    assert!(disk.is_unchanged() && !disk.file("plan.json.undo").exists());
}

#[test]
fn a_disk_that_changed_since_is_refused_by_apply_and_by_undo() {
    need_tools!("sfdisk", "sgdisk");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    tool::run("sgdisk", &["-c", "1:other", scratch::text(&disk.image)]);
    refused(&disk, "not the one that was planned");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    put(&disk.image, 32 << 20, &[0; 512]);
    refused(&disk, "the disk has");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    refused(&disk, "applied already");
    tool::run("sgdisk", &["-c", "1:other", scratch::text(&disk.image)]);
    let now = read(&disk.image);
    let ran = disk.apply(&["--undo", "plan.json.undo"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(read(&disk.image) == now);
    // A new table whose partition is used by now is not taken away.
    let disk = Disk::new("");
    disk.plan(&["--new"]);
    assert_eq!(disk.apply(&["plan.json"]).status, Some(0));
    put(&disk.image, 8 << 20, b"data");
    let ran = disk.apply(&["--undo", "plan.json.undo"]);
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.errors.contains("holds data"), "{ran:?}");
}

#[test]
fn a_blank_disk_that_is_none_any_more_is_refused() {
    let disk = Disk::new("");
    disk.plan(&["--new"]);
    put(&disk.image, (5 << 20) + (300 << 10), b"data");
    refused(&disk, "the plan is for a blank disk");
    let ran = disk.run(&["plan", "--new", "disk.raw", "--json"]);
    assert_eq!(ran.status, Some(0), "only the start of each MiB is looked at: {ran:?}");
    put(&disk.image, 5 << 20, b"data");
    let ran = disk.run(&["plan", "--new", "disk.raw", "--json"]);
    assert_eq!(ran.status, Some(5), "{ran:?}");
}

#[test]
fn a_refusal_replaces_no_plan_and_writes_none() {
    need_tools!("sfdisk");
    let disk = Disk::new("");
    disk.plan(&["--new"]);
    let plan = read(&disk.file("plan.json"));
    tool::run_with_input("sfdisk", &["-q", scratch::text(&disk.image)], MBR);
    for file in ["plan.json", "new.json"] {
        let ran = disk.run(&["plan", "--new", "disk.raw", "-o", file]);
        assert_eq!(ran.status, Some(5), "{ran:?}");
        let hint = "found on it: a partition table\nhint: to see what: straddle check disk.raw";
        assert!(ran.errors.contains(hint), "{ran:?}");
    }
    assert!(read(&disk.file("plan.json")) == plan && !disk.file("new.json").exists());
}

#[test]
fn an_image_is_named_and_nobody_else_may_use_it() {
    need_tools!("sfdisk", "flock");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    for words in [&["plan.json"][..], &["plan.json", "--confirm", "disk"]] {
        let ran = disk.run(&[&["apply"], words].concat());
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.errors.contains("--confirm does not name the image"), "{ran:?}");
    }
    let held = std::fs::File::open(&disk.image).expect("it opens");
    held.lock().expect("it is locked");
    refused_dry_too(&disk, "another program has it locked\nhint: lslocks ");
    drop(held);
    let open = std::fs::File::options().write(true).open(&disk.image).expect("it opens");
    refused_dry_too(&disk, ") has it open for writing\nhint: ps -fp ");
    drop(open);
    std::fs::write(disk.file("plan.json.undo"), "mine").expect("it is written");
    refused(&disk, "it exists, and is no record");
    assert_eq!(read(&disk.file("plan.json.undo")), b"mine");
    let ran = disk.apply(&["plan.json", "--undo-file", "other.undo"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(disk.file("other.undo").exists());
}

#[test]
fn an_image_that_may_not_be_written_is_refused_by_a_dry_run_too() {
    need_loops!();
    need_tools!("sfdisk", "unshare", "mount");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    let read_only = "mount --bind disk.raw disk.raw && mount -o remount,bind,ro disk.raw && \
         exec \"$0\" apply plan.json \"$@\"";
    for way in [&["--dry-run"][..], &["--confirm", "disk.raw"]] {
        let mut command = tool::command("unshare");
        command.args(["-m", "sh", "-c", read_only, env!("CARGO_BIN_EXE_straddle")]).args(way);
        let ran = command.current_dir(disk.file("")).output().expect("it starts");
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(3), "{errors}");
        assert!(errors.contains("disk.raw: Read-only file system"), "{errors}");
    }
    assert!(disk.is_unchanged() && !disk.file("plan.json.undo").exists());
}

#[test]
fn an_image_whose_writer_proc_does_not_show_is_refused() {
    need_tools!("sfdisk", "python3");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    let going = Going::hidden_writer(&disk.image);
    refused_dry_too(&disk, "somebody has it open for writing\nhint: /proc does not show who ");
    drop(going);
    let ran = disk.apply(&["plan.json"]);
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[test]
fn an_image_that_a_loop_device_shows_is_refused() {
    need_loops!();
    need_tools!("sfdisk");
    let disk = Disk::new(GPT);
    disk.plan(&[]);
    let _device = Loop::attach(&disk.image, 512);
    refused_dry_too(&disk, " shows it\nhint: ");
}
