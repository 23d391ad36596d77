//! The clients of the field.

use serve::Pace;
use testkit::scratch::text;
use testkit::{Scratch, need_tools, tool};

use crate::served::{Exported, drive};

#[test]
fn libnbd_learns_the_size_the_sectors_and_what_the_drive_can_do() {
    need_tools!("nbdinfo");
    let served = Exported::new(drive("hdd-7200-512e", Pace::Off, None));
    let shown = tool::run("nbdinfo", &[&served.uri()]);
    for line in [
        "export=\"disk\"",
        &format!("export-size: {}", served.drive.capacity_bytes()),
        "can_fua: true",
        "can_flush: true",
        "can_trim: true",
        "can_zero: true",
        "can_multi_conn: true",
        "is_rotational: true",
        "block_size_minimum: 512",
        "block_size_preferred: 4096",
        "block_size_maximum: 33554432",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let listed = tool::run("nbdinfo", &["--list", &served.uri()]);
    assert!(listed.contains("export=\"disk\""), "{listed}");
    let other = served.uri().replace("/disk?", "/other?");
    assert!(!tool::output("nbdinfo", &[&other]).status.success(), "there is one export");
}

#[test]
fn a_drive_without_a_volatile_cache_offers_no_flush() {
    need_tools!("nbdinfo");
    let served = Exported::new(drive("dc-p3700", Pace::Off, None));
    let shown = tool::run("nbdinfo", &[&served.uri()]);
    assert!(shown.contains("can_flush: false") && shown.contains("can_fua: false"), "{shown}");
}

#[test]
fn qemu_io_reads_back_what_it_wrote_and_the_drive_counts_it() {
    need_tools!("qemu-io");
    let served = Exported::new(drive("hdd-7200-512e", Pace::Off, None));
    let steps = [
        "write -P 7 512 4096",
        "read -P 7 512 4096",
        "write -f -P 8 1M 64k",
        "read -P 8 1M 64k",
        "write -z 1M 4k",
        "read -P 0 1M 4k",
        "read -P 8 1028k 60k",
        "discard 1M 64k",
        "read -P 0 1M 64k",
        "write -P 9 5000G 1M",
        "read -P 9 5000G 1M",
        "flush",
    ];
    let uri = served.uri();
    let commands = steps.iter().flat_map(|step| ["-c", step]);
    let words: Vec<&str> =
        ["-f", "raw", "-t", "writeback"].into_iter().chain(commands).chain([&*uri]).collect();
    let shown = tool::run("qemu-io", &words);
    assert!(!shown.contains("fail"), "{shown}");
    let (counts, tally) = (served.drive.counts(), served.drive.tally());
    // Zeros are written, not discarded: qemu-io asks for no hole.
    assert_eq!((counts.reads, counts.writes, counts.discards), (6, 4, 1), "{counts:?}");
    assert_eq!((counts.errors, counts.fua_writes), (0, 1), "{counts:?}");
    assert!(counts.flushes >= 1, "{counts:?}");
    assert_eq!(tally.rmw_reads, 2, "the first write covers two sectors in part");
}

#[test]
fn an_image_is_copied_to_the_drive_and_back_over_four_connections() {
    need_tools!("nbdcopy", "qemu-img");
    let served = Exported::new(drive("m4-256", Pace::Off, None));
    let scratch = Scratch::new();
    let mut random = testkit::random(4);
    let data: Vec<u8> = (0..(5 << 20) / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect();
    let image = scratch.file("image", &data);
    tool::run("nbdcopy", &["--connections=4", text(&image), &served.uri()]);
    let mut back = vec![0; data.len()];
    served.drive.store().read(0, &mut back).expect("memory is read");
    assert!(back == data, "nbdcopy wrote the image");
    // Of the drive, as much as the image is long: the rest is 256 GB of zeros.
    let file = format!("driver=raw,file.filename={}", text(&image));
    let disk = format!(
        "driver=raw,size={},file.driver=nbd,file.path={},file.export=disk",
        data.len(),
        text(&served.socket)
    );
    tool::run("qemu-img", &["compare", "--image-opts", &file, &disk]);
}

#[test]
fn fio_verifies_what_it_wrote_at_depth() {
    need_tools!("fio");
    if !tool::run("fio", &["--enghelp"]).contains("nbd") {
        testkit::skip("fio has no engine for NBD");
        return;
    }
    for pace in [Pace::Off, Pace::read("0.001").expect("a pace")] {
        let served = Exported::new(drive("m4-256", pace, None));
        let uri = format!("--uri={}", served.uri());
        let words = [
            "--name=verify",
            "--ioengine=nbd",
            &uri,
            "--rw=randwrite",
            "--bsrange=512-64k",
            "--size=8m",
            "--iodepth=32",
            "--verify=crc32c",
            "--verify_state_save=0",
            "--fsync=50",
            "--randseed=7",
        ];
        tool::run("fio", &words);
        let counts = served.drive.counts();
        assert!(counts.writes > 100 && counts.reads > 100, "{counts:?}");
        assert_eq!(counts.errors, 0, "{counts:?}");
        // The last of 50 may be followed by no more.
        assert!(counts.flushes > 0, "{counts:?}");
    }
}
