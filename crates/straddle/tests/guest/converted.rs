//! An image of 512-byte sectors, converted for a 4Kn disk: the kernel finds its partitions there and
//! reads every file, and what is converted back from that disk is the image as it was.
//!
//! `STRADDLE_GUEST_USE` names the result of a run of `guest/run … use`; without it this test skips.

use crate::answer::{list, text};
use crate::answers::Answers;

/// First bytes and lengths of the partitions.
const PARTITIONS: [(u64, u64); 2] = [(1 << 20, 20 << 20), (21 << 20, 16 << 20)];
const DISK_BYTES: u64 = 40 << 20;
/// Each copy of a GPT of 512-byte sectors is in so many bytes at its end of the disk.
const TABLE_BYTES: u64 = 34 * 512;

#[test]
fn a_kernel_uses_a_converted_image_on_a_4kn_disk_and_it_comes_back_as_it_was() {
    let Some(run) = Answers::named("STRADDLE_GUEST_USE", "use") else { return };
    assert_eq!(run.written("large.sector").trim(), "4096");
    assert_eq!(run.written("small.parts"), "", "the canary: not converted, it has no partitions");
    let places = PARTITIONS.map(|(start, length)| format!("{} {}\n", start / 512, length / 512));
    assert_eq!(run.written("large.parts"), places.concat());
    let sums = run.written("small.sums");
    assert_eq!(sums.lines().count(), 20, "{sums}");
    for name in ["large", "back"] {
        assert_eq!(run.written(&format!("{name}.sums")), sums, "{name}");
    }
    let (document, status) = run.answer("large");
    let target = &document["targets"][0];
    let codes: Vec<&str> =
        list(&target["findings"]).iter().map(|finding| text(&finding["code"])).collect();
    // An info that firmware may not read an ESP of 4096-byte sectors.
    assert_eq!(
        (text(&target["verdict"]), &codes[..], &status[..]),
        ("aligned", &["ST307"][..], "0")
    );
    let differences = run.written("back.differences");
    for at in differences.lines().map(|line| line.parse::<u64>().expect("a byte")) {
        let is_kept = (TABLE_BYTES..DISK_BYTES - TABLE_BYTES).contains(&at);
        assert!(!is_kept, "byte {at} differs");
    }
}
