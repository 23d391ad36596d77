//! One line for each of many targets.

use report::{LayerReport, Look, Target, ViewShape};
use stack::{LayerType, Verdict};

use crate::made::sample::{
    MIB, array, broken, document, drive, hostile, image, layer, old_image, plain, same,
    shifted_disk, target, unknowns,
};
use crate::made::whole::people;

const LOOK: Look = Look { width: None, ascii: false, bytes: false, explain: false };

#[track_caller]
fn check(targets: Vec<Target>, look: Look, expected: &str) {
    let found = plain(&people(&document(targets), ViewShape::Lines, &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

fn several() -> Vec<Target> {
    vec![shifted_disk(), array(), unknowns(), broken(), image("a.raw"), old_image("b.raw")]
}

#[test]
fn each_target_gets_a_line_with_its_verdict_first_bad_layer_and_worst_rule() {
    check(
        several(),
        LOOK,
        r#"
/dev/sda    5.46 TiB, WDC WD60EFR…  misaligned  sda1: by 1.5 KiB                     ST101 error
/dev/md127  4 TiB, ST4000VN008      misaligned  sdc1: by 512 B                       ST101 error
/dev/sdb    USB bridge              undefined   the kernel says alignment_offset -1
/dev/sdz                            could not be opened
a.raw       20 GiB, raw image       aligned
b.raw       20 GiB, raw image       misaligned  #1: by 3.5 KiB (assumed 4 KiB)       ST101 warning
6 targets: 1 aligned, 3 misaligned, 1 undefined, 1 could not be opened
5 findings: 2 errors, 2 warnings, 1 info. Done in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn a_wide_terminal_shows_what_each_target_is_in_full() {
    check(
        several(),
        Look { width: Some(140), ..LOOK },
        r#"
/dev/sda    5.46 TiB, WDC WD60EFRX, hard disk 7200 rpm  misaligned  sda1: by 1.5 KiB                     ST101 error
/dev/md127  4 TiB, ST4000VN008                          misaligned  sdc1: by 512 B                       ST101 error
/dev/sdb    USB bridge                                  undefined   the kernel says alignment_offset -1
/dev/sdz                                                could not be opened
a.raw       20 GiB, raw image                           aligned
b.raw       20 GiB, raw image                           misaligned  #1: by 3.5 KiB (assumed 4 KiB)       ST101 warning
6 targets: 1 aligned, 3 misaligned, 1 undefined, 1 could not be opened
5 findings: 2 errors, 2 warnings, 1 info. Done in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn two_loop_devices_over_files_of_one_drive_are_shown_with_their_own_sizes() {
    let loop_device = |number: u64| {
        let name = format!("loop{number}");
        let title = format!("loop over /srv/{number}.raw");
        let own = LayerReport {
            below: vec![2],
            device: Some(name.clone()),
            ..drive(3, &name, &title, (64 + number) * MIB)
        };
        let layers = vec![
            drive(0, "vda", "virtual disk", 256 << 30),
            layer(1, &[0], LayerType::FileSystem, "ext4", "ext4"),
            layer(2, &[1], LayerType::File, "disk.raw", "file"),
            own,
        ];
        target(&format!("/dev/{name}"), Verdict::Aligned, layers)
    };
    // A mount point is on the device, and has no name of one.
    let mounted = Target { target: "/mnt".to_owned(), ..loop_device(2) };
    check(
        vec![loop_device(0), loop_device(1), mounted],
        LOOK,
        r#"
/dev/loop0  64 MiB, loop over /srv/0.raw  aligned
/dev/loop1  65 MiB, loop over /srv/1.raw  aligned
/mnt        66 MiB, loop over /srv/2.raw  aligned
3 targets: 3 aligned
No findings. Done in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn a_narrow_terminal_leaves_out_what_targets_are() {
    check(
        several(),
        Look { width: Some(60), ..LOOK },
        r#"
/dev/sda    misaligned  sda1: by 1.5 KiB     ST101 error
/dev/md127  misaligned  sdc1: by 512 B       ST101 error
/dev/sdb    undefined   the kernel says al…
/dev/sdz    could not be opened
a.raw       aligned
b.raw       misaligned  #1: by 3.5 KiB (as…  ST101 warning
6 targets: 1 aligned, 3 misaligned, 1 undefined, 1 could not
be opened
5 findings: 2 errors, 2 warnings, 1 info. Done in 3.14 ms;
nothing was written.
"#,
    );
}

#[test]
fn a_thousand_targets_are_counted_and_only_bad_ones_shown() {
    let mut targets: Vec<Target> = (0..990).map(|n| image(&format!("good-{n:03}.raw"))).collect();
    targets.extend((0..8).map(|n| old_image(&format!("bad-{n}.raw"))));
    targets.extend([broken(), broken()]);
    let mut document = document(targets);
    document.targets.retain(report::is_bad);
    same(
        &plain(&people(&document, ViewShape::Lines, &LOOK)),
        r#"
bad-0.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-1.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-2.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-3.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-4.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-5.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-6.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
bad-7.raw  20 GiB, raw image  misaligned  #1: by 3.5 KiB (assumed 4 KiB)  ST101 warning
/dev/sdz                      could not be opened
/dev/sdz                      could not be opened
1000 targets (10 shown): 990 aligned, 8 misaligned, 2 could not be opened
8 warnings. Done in 3.14 ms; nothing was written.
"#
        .strip_prefix('\n')
        .expect("starts on its own line"),
    );
}

#[test]
fn all_lines_are_shown_unless_only_bad_ones_are_wanted() {
    let targets: Vec<Target> = (0..1000).map(|n| image(&format!("{n}.raw"))).collect();
    let text = plain(&people(&document(targets), ViewShape::Lines, &LOOK));
    assert_eq!(text.lines().count(), 1002);
    assert!(text.contains("\n1000 targets: 1000 aligned\nNo findings."), "{text}");
}

#[test]
fn hostile_names_stay_in_their_line() {
    for width in [40, 60, 100, 200] {
        let look = Look { width: Some(width), ..LOOK };
        let text =
            plain(&people(&document(vec![hostile(), image("a.raw")]), ViewShape::Lines, &look));
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        let ascii = Look { ascii: true, ..look };
        assert!(plain(&people(&document(vec![hostile()]), ViewShape::Lines, &ascii)).is_ascii());
    }
}

#[test]
fn every_line_fits_the_width() {
    for width in 40..160 {
        let look = Look { width: Some(width), ..LOOK };
        let text = plain(&people(&document(several()), ViewShape::Lines, &look));
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
            assert_eq!(line, line.trim_end(), "{width}: {line:?}");
        }
    }
}
