//! Chunks and full stripes.

use testkit::{Scratch, need_tools, tool};

use super::run::{check, partitioned, straddle, text};

const MIB: u64 = 1 << 20;

#[test]
fn a_partition_at_1_mib_on_three_data_disks_of_512_kib_is_chunk_only() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let told = check(&[text(&image), "--on", "512e,stripe=512Kx3"]);
    assert_eq!(told.verdict("partition", "#1"), "chunk-only");
    assert!(told.has("ST202", "info"), "{:?}", told.findings());
    assert_eq!(told.status, 0);
    let shown = straddle(&["check", text(&image), "--on", "512e,stripe=512Kx3"]).stdout;
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.contains("on a chunk, but 1 MiB off the 1.5 MiB full stripe"), "{shown}");
    let parity = check(&[text(&image), "--on", "512e,stripe=512Kx3+1"]);
    assert!(parity.has("ST202", "warning"), "{:?}", parity.findings());
    assert_eq!(parity.status, 1);
}

#[test]
fn an_efi_system_partition_off_a_chunk_says_why_that_costs_nothing() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2056,type=U\n");
    let checked = check(&[text(&image), "--on", "512e,stripe=512Kx3+1"]);
    assert_eq!(checked.verdict("partition", "#1"), "misaligned");
    assert!(checked.has("ST104", "info"), "{:?}", checked.findings());
    assert_eq!(checked.findings().len(), 1, "{:?}", checked.findings());
}

#[test]
fn a_partition_at_3_mib_on_three_data_disks_of_512_kib_is_aligned() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=6144\n");
    let checked = check(&[text(&image), "--on", "512e,stripe=512Kx3+1"]);
    assert_eq!(checked.verdict("partition", "#1"), "aligned");
    assert_eq!(checked.status, 0);
}

#[test]
fn a_file_system_told_of_another_stripe_is_found_and_one_without_any_is_not_blamed() {
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("fs.raw", 64 * MIB);
    tool::run(
        "mkfs.ext4",
        &["-q", "-F", "-b", "4096", "-E", "stride=16,stripe_width=32", text(&image)],
    );
    assert!(check(&[text(&image), "--on", "512e,stripe=64Kx3+1"]).has("ST204", "warning"));
    assert!(!check(&[text(&image), "--on", "512e,stripe=64Kx2+1"]).has("ST204", "info"));
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", text(&image)]);
    assert!(check(&[text(&image), "--on", "512e,stripe=64Kx3"]).findings().is_empty());
}

#[test]
fn a_start_off_the_granule_is_no_less_bad_because_a_stripe_was_told() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=4096\n");
    let plain = check(&[text(&image), "--on", "512e,origin=3584"]);
    assert!(plain.has("ST101", "warning"), "{:?}", plain.findings());
    for stripe in ["stripe=64Kx3", "stripe=64Kx3+1"] {
        let on = format!("512e,origin=3584,{stripe}");
        let checked = check(&[text(&image), "--on", &on]);
        assert!(!checked.has("ST101", "info"), "{stripe}: {:?}", checked.findings());
        assert_eq!(checked.status, 1, "{stripe}");
    }
}

#[test]
fn a_told_origin_moves_chunks_and_full_stripes_as_well() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    // LBA 7 + 384 is the first boundary of a full stripe of 192 KiB after LBA 63.
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: dos\nstart=391\n");
    let checked = check(&[text(&image), "--on", "512e,origin=3584,stripe=64Kx3+1"]);
    assert_eq!(checked.verdict("partition", "#1"), "aligned", "{:#}", checked.target);
    let image = partitioned(&scratch, "off.raw", 64 * MIB, "label: dos\nstart=384\n");
    let checked = check(&[text(&image), "--on", "512e,origin=3584,stripe=64Kx3+1"]);
    assert_eq!(checked.verdict("partition", "#1"), "misaligned");
}

#[test]
fn a_cost_that_is_the_same_when_aligned_is_not_told() {
    need_tools!("sfdisk");
    let scratch = Scratch::new();
    let image = partitioned(&scratch, "disk.raw", 64 * MIB, "label: gpt\nstart=2048\n");
    let checked = check(&[text(&image), "--on", "512e,stripe=512Kx3"]);
    assert!(checked.target["findings"][0]["cost"].is_null(), "{:#}", checked.target);
}

#[test]
fn a_stripe_width_of_hundreds_of_disks_is_left_over_from_somewhere() {
    need_tools!("mkfs.ext4");
    let scratch = Scratch::new();
    let image = scratch.image("fs.raw", 64 * MIB);
    let geometry = "stride=16,stripe_width=10752";
    tool::run("mkfs.ext4", &["-q", "-F", "-b", "4096", "-E", geometry, text(&image)]);
    let checked = check(&[text(&image), "--on", "512e"]);
    assert!(checked.has("ST205", "warning"), "{:?}", checked.findings());
}
