//! `straddle drive`, as typed.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use testkit::running_program::Ran;
use testkit::{Scratch, scratch::text};

fn drive(arguments: &[&str]) -> Ran {
    let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
    straddle.arg("drive").args(arguments).stdin(Stdio::null());
    Ran::of(straddle.env("LC_ALL", "C.UTF-8").env("COLUMNS", "140"))
}

/// That it was refused with both words, and printed nothing else.
#[track_caller]
fn refused(arguments: &[&str], word: &str, hint: &str) {
    let ran = drive(arguments);
    assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{arguments:?}: {ran:?}");
    assert!(ran.errors.contains(word) && ran.errors.contains(hint), "{arguments:?}: {ran:?}");
}

#[test]
fn every_drive_that_is_listed_is_shown_and_its_file_is_read_back() {
    let scratch = Scratch::new();
    let listed = drive(&["list", "--json"]).document();
    let drives = listed["drives"].as_array().expect("a list");
    assert!(drives.len() >= 13, "{drives:?}");
    for one in drives {
        let name = one["name"].as_str().expect("a text");
        let shown = drive(&["show", name]);
        assert_eq!(shown.status, Some(0), "{shown:?}");
        for value in one["values"].as_array().expect("a list") {
            let key = value["key"].as_str().expect("a text");
            assert!(shown.out.contains(key), "{name} shows {key}");
            assert!(!value["source"].as_str().expect("a text").is_empty(), "{name}: {key}");
        }
        let file = scratch.file("own.toml", drive(&["show", name, "--toml"]).out.as_bytes());
        let own = drive(&["show", text(&file), "--json"]).document();
        assert_eq!(own["drives"][0], *one, "{name}");
    }
}

#[test]
fn a_synced_write_a_sector_off_costs_three_times_and_two_with_other_firmware() {
    let arguments = ["simulate", "--profile", "hdd-7200-512e", "--vary", "rmw=batched", "--json"];
    let ran = drive(&[&arguments[..], &["--operations", "2000"]].concat());
    let document = ran.document();
    let cost = |arm: usize| document["arms"][arm]["ratio"].as_f64().expect("a number");
    for (arm, wanted) in [(0, 1.0), (1, 3.0), (2, 1.0), (3, 2.0)] {
        assert!((cost(arm) - wanted).abs() < 0.02, "arm {arm}: {}", cost(arm));
    }
    assert_eq!(document["arms"][1]["did"]["rmw_reads"], 2 * 2000);
}

#[test]
fn values_that_hang_on_each_other_are_changed_together_in_any_order() {
    let changes = ["spare=100G", "capacity=2T"];
    for order in [changes, [changes[1], changes[0]]] {
        let words = ["--set", order[0], "--set", order[1], "--operations", "9", "--json"];
        let profile = ["simulate", "--profile", "m4-256"];
        let document = drive(&[&profile[..], &words].concat()).document();
        assert_eq!(document["arms"][0]["changed"], serde_json::json!(order));
    }
    let alone = ["simulate", "--profile", "m4-256", "--set", "capacity=2T"];
    refused(&alone, "spare is 18817392640", "a hundredth of capacity");
}

#[test]
fn flash_reads_as_often_a_second_as_the_source_of_its_host_side_says() {
    for (name, told) in [
        ("m4-256", 29_947.0),
        ("dc-s3700", 75_000.0),
        ("dc-p3700", 460_000.0),
        ("950-pro", 300_000.0),
        ("970-evo-500", 370_000.0),
        ("optane-p4800x", 550_000.0),
    ] {
        let words = ["--read", "--random", "--depth", "128", "--json"];
        let document = drive(&[&["simulate", "--profile", name], &words[..]].concat()).document();
        let rate = document["arms"][0]["operations_per_second"].as_f64().expect("a number");
        assert!((rate / told - 1.0_f64).abs() < 0.03, "{name}: {rate} for {told}");
    }
}

#[test]
fn fio_s_job_of_the_ssd_article_is_twenty_times_slower_from_sector_34() {
    let scratch = Scratch::new();
    let words = "[global]\nioengine=libaio\ndirect=1\nbs=4k\niodepth=4\nnumjobs=8\nsize=500m\n\
                 [test]\nrw=write\n";
    let job = scratch.file("fio.ini", words.as_bytes());
    let shift = (34 * 512 % 4096).to_string();
    let arguments = ["simulate", "--profile", "m4-256", "--job", text(&job), "--json"];
    let document = drive(&[&arguments[..], &["--shift", &shift]].concat()).document();
    let ratio = document["arms"][1]["ratio"].as_f64().expect("a number");
    assert!((18.0..22.0).contains(&ratio), "{ratio}");
}

#[test]
fn a_job_that_begins_at_a_percentage_begins_at_one_of_its_operations() {
    let scratch = Scratch::new();
    let words = b"[part]\nrw=write\nbs=4k\noffset=33%\nsize=10%\ndirect=1\nfsync=1\n";
    let job = scratch.file("job", words);
    let simulate = ["simulate", "--operations", "100", "--job", text(&job), "--json"];
    for name in ["hdd-7200-512e", "cloud-nvme-2019"] {
        let document = drive(&[&simulate[..], &["--profile", name]].concat()).document();
        let first = &document["arms"][0];
        assert_eq!((&first["failed"], &first["did"]["rmw_reads"]), (&0.into(), &0.into()));
        assert!(first["mean_ns"].as_u64().expect("a number") > 1_000_000, "{first}");
    }
}

#[test]
fn a_job_of_which_no_drive_takes_the_operations_is_refused() {
    let scratch = Scratch::new();
    let profile = |name: &'static str| ["simulate", "--profile", name, "--job"];
    for (name, words, word, hint) in [
        ("hdd-7200-512e", "bs=1000", "1000 bytes from 1048576", "multiples of 512"),
        ("hdd-7200-512e", "bs=4k\noffset=100", "from 1048676", "multiples of 512"),
        ("m4-256", "bs=4k\nrw=randwrite\nba=1000", "at multiples of 1000", "multiples of 512"),
        ("cloud-nvme-2019", "bs=512", "512 bytes from 1048576", "multiples of 4096"),
    ] {
        let words = format!("[odd]\nrw=write\nsize=1g\ndirect=1\n{words}\n");
        let job = scratch.file("job", words.as_bytes());
        refused(&[&profile(name)[..], &[text(&job)]].concat(), word, hint);
    }
}

#[test]
fn jobs_that_would_wait_for_others_are_said_to_run_beside_them() {
    let scratch = Scratch::new();
    let first = "[first]\nrw=write\nsize=1g\ndirect=1\n";
    for (second, word) in [
        ("[second]\nstonewall\nrw=read\nsize=1g\ndirect=1\n", "stonewall of second is not kept"),
        ("[second]\nrw=read\nsize=1g\ndirect=1\n", ""),
    ] {
        let job = scratch.file("job", format!("{first}{second}").as_bytes());
        let simulate = ["simulate", "--profile", "m4-256", "--operations", "99", "--json"];
        let notes = drive(&[&simulate[..], &["--job", text(&job)]].concat()).document();
        let notes = notes["notes"].to_string();
        assert!(notes.contains(word) && notes.contains("stonewall") != word.is_empty(), "{notes}");
    }
}

#[test]
fn a_job_that_reads_through_the_page_cache_is_refused_with_the_option_that_helps() {
    let scratch = Scratch::new();
    let job = scratch.file("job", b"[cached]\nrw=read\nbs=4k\nsize=1g\n");
    let simulate = ["simulate", "--profile", "m4-256", "--job", text(&job)];
    refused(&simulate, "reads through the page cache", "hint: set direct=1 in the job file");
    let job = scratch.file("deep", b"[deep]\nrw=read\nsize=1g\ndirect=1\nnumjobs=4096\n");
    refused(
        &["simulate", "--profile", "m4-256", "--job", text(&job)],
        "1024 that can be",
        "numjobs",
    );
}

#[test]
fn a_recorded_workload_is_replayed_whole() {
    let scratch = Scratch::new();
    let mut words = "fio version 3 iolog\n0 /dev/a add\n0 /dev/a open\n".to_owned();
    for number in 1..=100_u32 {
        words +=
            &format!("{number} /dev/a write {} 4096\n{number} /dev/a sync 0 0\n", number << 12);
    }
    let log = scratch.file("log", words.as_bytes());
    let arguments = ["simulate", "--profile", "hdd-7200-512e", "--trace", text(&log), "--json"];
    let document = drive(&arguments).document();
    // The flush after each write is none of its own.
    assert_eq!(document["arms"][0]["operations"], 100);
    let ratio = document["arms"][1]["ratio"].as_f64().expect("a number");
    assert!((ratio - 3.0).abs() < 0.1, "{ratio}");
}

#[test]
fn a_trace_that_is_longer_than_what_is_asked_for_says_how_much_of_it_is_replayed() {
    let scratch = Scratch::new();
    let mut words = "fio version 2 iolog\n/dev/a add\n/dev/a open\n".to_owned();
    words += &"/dev/a write 0 4096\n".repeat(10_001);
    let log = scratch.file("log", words.as_bytes());
    let simulate = ["simulate", "--profile", "hdd-7200-512e", "--trace", text(&log)];
    let short = drive(&simulate).out;
    assert!(short.contains("the first 10000 of 10001 operations of "), "{short}");
    assert!(short.contains("--operations 10001 replays all"), "{short}");
    let whole = drive(&[&simulate[..], &["--operations", "10001"]].concat()).out;
    assert!(whole.contains("  10001 operations of ") && !whole.contains("--operations"), "{whole}");
}

#[test]
fn a_trace_with_smaller_sectors_than_the_drive_is_said_to_be_made_wider() {
    let scratch = Scratch::new();
    let words = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 4096 512\n";
    let log = scratch.file("log", words.as_bytes());
    let plan = scratch.file("plan", b"label: dos\n\nstart=2048, size=2048000\n");
    for (name, place, widened) in [
        ("cloud-nvme-2019", &[][..], true),
        ("cloud-nvme-2019", &["--stack", text(&plan)], true),
        ("m4-256", &[], false),
    ] {
        let simulate = ["simulate", "--profile", name, "--trace", text(&log)];
        let said = drive(&[&simulate[..], place].concat()).out;
        let note = "no whole sectors of 4096 bytes are made wider on cloud-nvme-2019";
        assert_eq!(said.contains(note), widened, "{said}");
    }
}

#[test]
fn a_trace_that_no_layer_of_a_stack_can_hold_is_refused_with_a_hint_that_helps() {
    let scratch = Scratch::new();
    let words = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 16777216 4096\n";
    let log = scratch.file("log", words.as_bytes());
    let plan = scratch.file("plan", b"label: dos\n\nstart=2048, size=2048\n");
    let simulate = ["simulate", "--profile", "hdd-7200-512e", "--trace", text(&log)];
    let reaches = "the trace reaches 17 MiB, and the place is 1 MiB long";
    refused(&[&simulate[..], &["--stack", text(&plan)]].concat(), reaches, "leave out --stack");
    let reaches = "the trace reaches 17 MiB, and the place is 14 MiB long";
    let small = [&simulate[..], &["--set", "capacity=16M", "--start", "2M"]].concat();
    refused(&small, reaches, "--set capacity=4T");
}

#[test]
fn a_trace_that_is_cut_or_out_of_order_says_so() {
    let scratch = Scratch::new();
    let head = "fio version 3 iolog\n0 /dev/a add\n0 /dev/a open\n";
    let lines = "9 /dev/a write 0 4096\n5 /dev/a write 4096 4096\n";
    let whole = scratch.file("whole", format!("{head}{lines}").as_bytes());
    let simulate = |path: &std::path::Path| {
        drive(&["simulate", "--profile", "hdd-7200-512e", "--trace", text(path)])
    };
    let ran = simulate(&whole);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("earlier than one before them: 1;"), "{ran:?}");
    let cut = scratch.file("cut", format!("{head}{lines}10 /d").as_bytes());
    let ran = simulate(&cut);
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("its last line is cut: "), "{ran:?}");
    assert!(ran.errors.contains("line 6") && ran.errors.contains("head --lines=-1"), "{ran:?}");
}

#[test]
fn every_published_number_is_there_and_what_is_outside_says_why() {
    let ran = drive(&["simulate", "--published", "--json"]);
    assert_eq!(ran.status, Some(0), "{}", ran.errors);
    let document = ran.document();
    let lines = document["lines"].as_array().expect("a list");
    for line in lines {
        let is_fine = line["within"] == true || line["note"].is_string();
        assert!(is_fine, "{line}");
    }
    let table = drive(&["simulate", "--published"]);
    for line in lines {
        assert!(table.out.contains(line["what"].as_str().expect("a text")), "{line}");
    }
    let places: BTreeSet<String> =
        lines.iter().map(|line| format!("{} {}", line["article"], line["what"])).collect();
    assert_eq!(places.len(), lines.len(), "each name is there once");
}

#[test]
fn times_that_are_those_of_a_cache_say_so_and_those_of_a_medium_do_not() {
    let simulate = |name: &str, words: &[&str]| {
        let always = ["simulate", "--random", "--no-sync", "--profile", name, "--json"];
        let document = drive(&[&always[..], words].concat()).document();
        document["notes"].to_string().matches("took the time of the cache").count()
    };
    let scratch = Scratch::new();
    let plan = scratch.file("plan", b"label: dos\n\nstart=63, size=2097152\n");
    let small = ["--operations", "500"];
    assert_eq!(simulate("hdd-7200-512e", &small), 1, "both places, said once");
    assert_eq!(simulate("raid5-5x64k", &small), 1, "in its members");
    assert_eq!(simulate("raid5-bbu", &small), 1);
    assert_eq!(simulate("hdd-7200-512e", &["--operations", "500", "--stack", text(&plan)]), 1);
    assert_eq!(simulate("hdd-7200-512e", &["--operations", "500", "--vary", "cache=0"]), 1);
    assert_eq!(simulate("hdd-7200-512e", &["--operations", "500", "--set", "cache=0"]), 0);
    assert_eq!(simulate("hdd-7200-512n", &small), 0, "it has no cache");
    assert_eq!(simulate("hdd-7200-512e", &["--size", "1M", "--operations", "1000"]), 0);
}

#[test]
fn published_numbers_take_no_other_workload_drive_or_place() {
    for words in [
        &["--set", "rpm=5400"][..],
        &["--vary", "rmw=serial"],
        &["--job", "job.fio"],
        &["--trace", "log"],
        &["--stack", "disk.raw"],
        &["--read"],
        &["--random"],
        &["--size", "8K"],
        &["--no-sync"],
        &["--depth", "4"],
        &["--start", "2M"],
        &["--shift", "1K"],
        &["--what-if"],
        &["--layer", "1"],
        &["--sysroot", "tree"],
        &["--power-cuts", "3"],
        &["--lie", "flush"],
        &["--survivors", "all"],
        &["--half-written", "new"],
        &["--lost-member", "1"],
        &["--operations", "10"],
    ] {
        let arguments = [&["simulate", "--published"], words].concat();
        refused(&arguments, words[0], "cannot be used with");
    }
}

#[test]
fn what_is_outside_of_its_bound_says_so_at_any_width() {
    // Each of them simulates all that was published.
    for columns in ["60", "80"] {
        let mut straddle = Command::new(env!("CARGO_BIN_EXE_straddle"));
        straddle.args(["drive", "simulate", "--published"]).env("COLUMNS", columns);
        let said = Ran::of(&mut straddle).out;
        let words: Vec<&str> = said.split_whitespace().collect();
        let outside = words.iter().filter(|word| **word == "(allowed:");
        let number = |place: usize| words[place].parse::<usize>().expect("a number");
        assert_eq!(outside.count(), number(2) - number(0), "{columns} columns: {said}");
        let is_row = |line: &&str| line.starts_with("  raw, aligned, mean ");
        let row = said.lines().find(is_row).filter(|row| row.ends_with(" predicted"));
        assert_eq!(row.is_some(), columns != "60", "{columns} columns: {said}");
    }
}

#[test]
fn what_cannot_be_simulated_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let profile = ["simulate", "--profile", "hdd-7200-512e"];
    let with = |more: &[&'static str]| [&profile[..], more].concat();
    refused(&with(&["--set", "rpm=0"]), "rpm is 0", "hint: choose from 60 to 100000");
    refused(&with(&["--set", "rpm"]), "`rpm` is not KEY=VALUE", "such as cache=0");
    refused(&with(&["--vary", "color=red"]), "has no `color`", "straddle drive show");
    refused(&with(&["--size", "1T"]), "at most 1 GiB", "--size");
    refused(&with(&["--size", "0"]), "at least one byte", "--size");
    refused(&with(&["--size", "3"]), "not whole logical sectors", "multiples of 512");
    refused(&with(&["--shift", "100"]), "not a multiple of its logical sector", "multiples of 512");
    refused(&with(&["--start", "9T"]), "the drive ends at 6001175126016 bytes", "--start");
    refused(&with(&["--trace", "/nonexistent"]), "No such file", "hint: check the path");
    refused(&with(&["--trace", "/dev/null"]), "not a regular file", "hint:");
    refused(&with(&["--job", "/nonexistent"]), "No such file", "hint: name a job file");
    let absent = "there is no built-in drive and no file called ";
    refused(&["simulate", "--profile", "nobody"], absent, "straddle drive list");
    let hint = "such as `solidigm-p5520`; straddle drive list shows all";
    refused(&["show", "P5520"], absent, hint);
    for name in ["990pro", "990-Pro", "samsung 990 pro"] {
        refused(&["show", name], absent, "such as `samsung-990-pro`");
    }
    refused(&["show", "samsung-980pro"], absent, "such as `samsung-980-pro`, ");
    refused(&["show", "/dev/null"], "not a regular file", "a built-in drive such as");
    let array = ["simulate", "--profile", "raid5-5x64k", "--set"];
    refused(&[&array[..], &["members=1000000000"]].concat(), "members is", "from 2 to 1920");
    refused(&[&array[..], &["chunk=0"]].concat(), "chunk is 0", "a power of two");
    let empty = scratch.file("empty", b"");
    let junk = scratch.file("junk", &[0xff; 4096]);
    for (file, word) in [(&empty, "empty"), (&junk, "the file begins with")] {
        let arguments = [&profile[..], &["--trace", text(file)]].concat();
        let ran = drive(&arguments);
        assert_eq!(ran.status, Some(2), "{ran:?}");
        assert!(ran.errors.contains(word) && ran.errors.contains("hint: "), "{ran:?}");
        // Without the path: what stands in the file takes little room.
        let said = ran.errors.replace(text(file), "");
        assert!(said.lines().all(|line| line.len() < 160), "{said}");
    }
    let cut = drive(&["show", "hdd-7200-512e", "--toml"]).out.replace("7200,", "\"seven\",");
    let cut = scratch.file("cut.toml", cut.as_bytes());
    refused(&["show", text(&cut)], "got `rpm = \"seven\"`", "hint: write a whole");
}

/// Each variant of `--what-if` with its cost and what its arm is compared with.
fn variants(arguments: &[&str]) -> Vec<(String, f64, u64)> {
    let what_if = ["simulate", "--what-if", "--json", "--operations", "500"];
    let document = drive(&[&what_if[..], arguments].concat()).document();
    let told = |arm: &serde_json::Value| {
        let name = arm["variant"].as_str().expect("a text").to_owned();
        let against = arm["against"].as_u64().expect("a number");
        (name, arm["ratio"].as_f64().expect("a number"), against)
    };
    document["arms"].as_array().expect("a list").iter().map(told).collect()
}

#[track_caller]
fn cost(found: &[(String, f64, u64)], name: &str) -> f64 {
    let row = found.iter().find(|(own, ..)| own == name);
    row.unwrap_or_else(|| panic!("no {name} in {found:?}")).1
}

#[test]
fn what_if_shows_one_workload_aligned_misaligned_on_512e_on_raid5_and_without_plp() {
    let found = variants(&["--profile", "hdd-7200-512n"]);
    for (name, wanted) in [
        ("aligned, as given", 1.0),
        ("512 B off", 1.0),
        ("512e, aligned", 1.0),
        ("512e, 512 B off", 3.0),
    ] {
        assert!((cost(&found, name) - wanted).abs() < 0.05, "{name}: {found:?}");
    }
    assert!(cost(&found, "RAID 5, 5 x 64 KiB, aligned") > 1.5, "{found:?}");
    let found = variants(&["--profile", "hdd-7200-512e", "--profile", "dc-s3700"]);
    assert!((cost(&found, "3584 B off") - 3.0).abs() < 0.05, "{found:?}");
    assert!(cost(&found, "without PLP, aligned") > 5.0, "{found:?}");
    let second = found.iter().rposition(|(name, ..)| name == "aligned, as given");
    let second = second.expect("the second drive's first row");
    let is_own = |&(_, _, against): &(String, f64, u64)| against == second as u64;
    assert!(found.iter().skip(second).all(is_own), "{found:?}");
}

#[test]
fn what_if_finds_how_far_off_a_workload_is_given() {
    let found = variants(&["--profile", "hdd-7200-512e", "--start", "32256"]);
    assert_eq!(found[0].0, "as given, 3584 B off", "{found:?}");
    assert!((cost(&found, "aligned") - 1.0 / 3.0).abs() < 0.02, "{found:?}");
    // A trace that was recorded on sector 34.
    let scratch = Scratch::new();
    let lines: String = (0..100_u32)
        .map(|number| format!("/dev/a write {} 4096\n/dev/a sync 0 0\n", (number << 12) + 1024))
        .collect();
    let words = format!("fio version 2 iolog\n/dev/a add\n/dev/a open\n{lines}");
    let log = scratch.file("log", words.as_bytes());
    let found = variants(&["--profile", "hdd-7200-512e", "--trace", text(&log)]);
    assert_eq!(found[0].0, "as given, 1024 B off", "{found:?}");
    assert!(cost(&found, "aligned") < 0.4, "{found:?}");
    let table = drive(&["simulate", "--profile", "m4-256", "--trace", text(&log)]);
    assert!(table.out.contains("closed loop"), "{table:?}");
    let cut = drive(&["simulate", "--profile", "cloud-nvme-2019", "--what-if"]);
    assert!(cut.out.contains("sectors of 4096 bytes"), "{cut:?}");
}

#[test]
fn the_same_words_give_the_same_bytes() {
    for profile in ["gp2-100", "raid0-2x16k", "m4-256"] {
        let arguments =
            ["simulate", "--profile", profile, "--random", "--depth", "8", "--operations", "2000"];
        assert_eq!(drive(&arguments).out, drive(&arguments).out);
        // On a volume it does not matter where a request is.
        let other = [&arguments[..], &["--seed", "2"]].concat();
        let is_alike = drive(&arguments).out == drive(&other).out;
        assert_eq!(is_alike, profile == "gp2-100", "{profile}");
    }
}

#[test]
fn a_drive_that_does_not_keep_up_with_a_rate_costs_operations_a_second_and_says_so() {
    let document = drive(&["simulate", "--profile", "hdd-7200-512e", "--rate", "50", "--json"]);
    let document = document.document();
    let ratio = document["arms"][1]["ratio"].as_f64().expect("a number");
    assert!((1.2..1.3).contains(&ratio), "40 of 50 a second: {ratio}");
    assert!(document["notes"].to_string().contains("does not keep up"), "{}", document["notes"]);
}

#[test]
fn a_job_with_a_rate_costs_time_and_not_operations() {
    let scratch = Scratch::new();
    let job = "[x]\nrw=randwrite\nbs=4k\nfsync=1\ndirect=1\nrate_iops=5\n";
    let job = scratch.file("job.fio", job.as_bytes());
    let base = ["simulate", "--json", "--profile", "hdd-7200-512e", "--operations", "100"];
    let document = drive(&[&base[..], &["--job", text(&job)]].concat()).document();
    let arms = document["arms"].as_array().expect("a list");
    for arm in arms {
        let rate = arm["operations_per_second"].as_f64().expect("a number");
        assert!((rate - 5.0).abs() < 0.1, "{arm}");
    }
    assert!(arms[1]["ratio"].as_f64() > Some(1.3), "{document:#}");
    assert!(document["notes"].as_array().expect("a list").is_empty(), "{document:#}");
}

#[test]
fn a_job_keeps_its_rate_and_thinks_between_its_operations() {
    let scratch = Scratch::new();
    let arm = |name: &str, pace: &str| {
        let job = format!("[x]\nrw=randread\nbs=4k\ndirect=1\nioengine=psync\n{pace}\n");
        let job = scratch.file(name, job.as_bytes());
        let words = ["simulate", "--profile", "micron-7300-pro", "--job", text(&job)];
        let ran = drive(&[&words[..], &["--operations", "2000", "--json"]].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let document = ran.document();
        assert!(!document["notes"].to_string().contains("not honored"), "{document}");
        document["arms"][0]["operations_per_second"].as_f64().expect("a rate")
    };
    let near = |found: f64, wanted: f64| assert!((found / wanted - 1.0).abs() < 0.02, "{found}");
    near(arm("rate", "rate_iops=300"), 300.0);
    near(arm("bytes", "rate=2m"), 512.0);
    // A read takes 90 us.
    near(arm("think", "thinktime=910"), 1000.0);
}

#[test]
fn a_note_says_where_garbage_collection_decides() {
    let says = |name: &str, words: &[&str]| {
        let always = ["simulate", "--profile", name, "--random", "--no-sync", "--depth", "32"];
        let ran = drive(&[&always[..], words].concat());
        assert_eq!(ran.status, Some(0), "{ran:?}");
        ran.out.contains("garbage collection decides the writes of")
    };
    assert!(says("samsung-pm883", &["--size", "1M", "--operations", "20000"]));
    assert!(!says("samsung-pm883", &["--set", "used=1G", "--operations", "20000"]));
    assert!(!says("hdd-7200-512e", &[]));
}
