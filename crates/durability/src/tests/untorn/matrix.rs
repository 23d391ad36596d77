//! Every combination of starts, clusters and drives.

use super::made::{Answers, Made};
use crate::untorn::UntornAnswer;

const KIB: u64 = 1024;

/// Drives with what they promise.
fn drives() -> Vec<(&'static str, Answers)> {
    let plain = Answers::plain;
    let mut awupf = plain();
    awupf.controller[528] = 63;
    vec![
        ("a sector", plain()),
        ("AWUPF 32 KiB", awupf),
        ("NAWUPF 8 KiB", plain().promising(16, 0, 0)),
        ("NAWUPF 16 KiB", plain().promising(32, 0, 0)),
        ("NABSPF 16 KiB", plain().promising(32, 32, 0)),
        ("NABSPF 64 KiB", plain().promising(64, 128, 0)),
        ("NABSPF 24 KiB", plain().promising(32, 48, 0)),
        ("NABO 4 KiB", plain().promising(32, 32, 8)),
        ("NABO 16 KiB", plain().promising(32, 64, 32)),
        ("merging", plain().promising(32, 0, 0).queue("nomerges", "0")),
        ("merging below NAWUPF", plain().promising(2560, 0, 0).queue("nomerges", "0")),
        ("merging at boundaries", plain().promising(2560, 128, 0).queue("nomerges", "1")),
        ("Amazon 16 KiB", plain().amazon(32, 8, 0).queue("nomerges", "0")),
        ("Amazon 8 KiB", plain().amazon(16, 8, 0)),
        ("Amazon, 4 KiB boundary", plain().amazon(32, 8, 8)),
        ("Amazon, 64 KiB boundary", plain().amazon(32, 32, 128)),
        ("Amazon, step 12 KiB", plain().amazon(48, 24, 0)),
        ("chunks of 12 KiB", plain().promising(64, 0, 0).queue("chunk_sectors", "24")),
        ("short commands", plain().promising(64, 0, 0).queue("max_sectors_kb", "8")),
        ("few segments", plain().promising(64, 0, 0).queue("max_segments", "2")),
    ]
}

#[test]
fn every_made_stack_is_judged_as_the_oracle_says() {
    let (mut yes, mut no) = (0, 0);
    let offsets = [0, 4 * KIB, 8 * KIB, 12 * KIB];
    for (name, drive) in drives() {
        for start in offsets {
            for volume in offsets {
                for unit in [4 * KIB, 16 * KIB, 64 * KIB] {
                    for page in [4 * KIB, 8 * KIB, 16 * KIB] {
                        let drive = drive.clone();
                        let made = Made { start, volume, unit, page, drive };
                        let verdict = made.verdict();
                        let wanted = match made.is_whole() {
                            true => UntornAnswer::Yes,
                            false => UntornAnswer::No,
                        };
                        let case = format!("{name}: {start} {volume} {unit} {page}");
                        assert_eq!(verdict.answer, wanted, "{case}: {}", verdict.because);
                        match wanted {
                            UntornAnswer::Yes => yes += 1,
                            _ => no += 1,
                        }
                    }
                }
            }
        }
    }
    assert!(yes > 200 && no > 200, "{yes} yes, {no} no");
}
