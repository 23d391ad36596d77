//! The tree, as a person reads it.

use report::{LayerReport, Look, Target, ViewShape};
use stack::{LayerType, Severity, UnitFact, UnitKind, Verdict};
use units::Source;

use crate::made::sample::{
    MIB, array, broken, document, drive, finding, hostile, image, layer, off_granule, old_image,
    plain, same, shifted_disk, target, unit, unknowns,
};
use crate::made::whole::people;

const LOOK: Look = Look { width: None, ascii: false, bytes: false, explain: false };

#[track_caller]
fn check(targets: Vec<Target>, look: Look, expected: &str) {
    let found = plain(&people(&document(targets), ViewShape::Tree, &look));
    same(&found, expected.strip_prefix('\n').expect("starts on its own line"));
}

#[test]
fn a_wide_terminal_shows_the_disk_the_first_bad_layer_its_cost_and_its_fix() {
    check(
        vec![shifted_disk()],
        Look { width: Some(130), ..LOOK },
        r#"
sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB  512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
└─ sda1     gpt "data"           at sector 256003 (~125 MiB)  2.73 TiB  misaligned by 1.5 KiB  ◀ first bad layer
   │  ST101  error: partition start is not on a physical sector         straddle explain ST101
   │  seen   sda1 starts at 131073536 B
   │  cost   a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead of 1
   │  fix    straddle plan /dev/sda
   │         empty disk: parted -a none /dev/sda mkpart data 126MiB 50%
   └─ ext4  4 KiB blocks, /data                               2.73 TiB  inherits it
1 error. 1 disk, 1 partition, 1 file system in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn a_drive_that_nobody_asked_about_is_not_judged_and_counts_for_nothing() {
    let mut host = drive(0, "vda", "virtual disk", 1 << 38);
    host.verdict = Verdict::Unknown;
    host.not_judged = true;
    host.reason = "it lies beneath the loop's file".to_owned();
    let image = layer(1, &[0], LayerType::File, "img", "file");
    let found = document(vec![target("m", Verdict::Aligned, vec![host, image])]);
    let text = plain(&people(&found, ViewShape::Tree, &Look { width: Some(100), ..LOOK }));
    assert!(text.contains("not judged") && !text.contains("unknown"), "{text}");
    assert!(text.contains("why    it lies beneath the loop's file"), "{text}");
    assert!(text.contains("No findings."), "{text}");
}

#[test]
fn a_hundred_columns_keep_the_verdicts_under_each_other() {
    check(
        vec![shifted_disk()],
        LOOK,
        r#"
sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB
│    512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
└─ sda1     gpt "data"  at sector 256003 (~125 MiB)         misaligned by 1.5 KiB  ◀ first bad layer
   │        2.73 TiB
   │  ST101  error: partition start is not on a physical sector  straddle explain ST101
   │  seen   sda1 starts at 131073536 B
   │  cost   a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead
   │         of 1
   │  fix    straddle plan /dev/sda
   │         empty disk: parted -a none /dev/sda mkpart data 126MiB 50%
   └─ ext4  4 KiB blocks, /data  2.73 TiB                   inherits it
1 error. 1 disk, 1 partition, 1 file system in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn a_narrow_terminal_wraps_everything_but_commands() {
    check(
        vec![shifted_disk()],
        Look { width: Some(60), ..LOOK },
        r#"
sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB
│    512e: 512 B logical, 4 KiB granule (sysfs, identify
│    agree)
└─ sda1  gpt "data"  at sector 256003 (~125 MiB)  2.73 TiB
   │    misaligned by 1.5 KiB  ◀ first bad layer
   │  ST101  error: partition start is not on a physical
   │         sector  straddle explain ST101
   │  seen   sda1 starts at 131073536 B
   │  cost   a 4 KiB write reads 2 and writes 2 sectors
   │         instead of writing 1: about 3 turns instead of
   │         1
   │  fix    straddle plan /dev/sda
   │         empty disk: parted -a none /dev/sda mkpart data 126MiB 50%
   └─ ext4  4 KiB blocks, /data  2.73 TiB  inherits it
1 error. 1 disk, 1 partition, 1 file system in 3.14 ms;
nothing was written.
"#,
    );
}

#[test]
fn ascii_draws_with_ascii_only() {
    let mut target = shifted_disk();
    target.layers[1].title = "gpt \"Données\"".to_owned();
    check(
        vec![target],
        Look { ascii: true, ..LOOK },
        r#"
sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB
|    512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
`- sda1     gpt "Donn\u{e9}es"                             misaligned by 1.5 KiB  <- first bad layer
   |        at sector 256003 (~125 MiB)  2.73 TiB
   |  ST101  error: partition start is not on a physical sector  straddle explain ST101
   |  seen   sda1 starts at 131073536 B
   |  cost   a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead
   |         of 1
   |  fix    straddle plan /dev/sda
   |         empty disk: parted -a none /dev/sda mkpart data 126MiB 50%
   `- ext4  4 KiB blocks, /data  2.73 TiB                  inherits it
1 error. 1 disk, 1 partition, 1 file system in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn raw_bytes_stand_beside_sizes_when_asked_for() {
    check(
        vec![shifted_disk()],
        Look { bytes: true, width: Some(160), ..LOOK },
        r#"
sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB (6001175126016 B)  512e: 512 B logical, 4 KiB (4096 B) granule (sysfs, identify agree)
└─ sda1     gpt "data"           at sector 256003 (~125 MiB) (131073536 B)  2.73 TiB (3000591450112 B)  misaligned by 1.5 KiB (1536 B)  ◀ first bad layer
   │  ST101  error: partition start is not on a physical sector                                         straddle explain ST101
   │  seen   sda1 starts at 131073536 B
   │  cost   a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead of 1
   │  fix    straddle plan /dev/sda
   │         empty disk: parted -a none /dev/sda mkpart data 126MiB 50%
   └─ ext4  4 KiB blocks, /data                                             2.73 TiB (3000591450112 B)  inherits it
1 error. 1 disk, 1 partition, 1 file system in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn an_explanation_shows_units_facts_evidence_and_damage_with_sources() {
    check(
        vec![shifted_disk()],
        Look { explain: true, ..LOOK },
        r#"
sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB
│    512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
│  units  logical sector  512 B          sysfs
│         granule         4 KiB          sysfs
│         granule         4 KiB  agrees  identify
└─ sda1     gpt "data"  at sector 256003 (~125 MiB)         misaligned by 1.5 KiB  ◀ first bad layer
   │        2.73 TiB
   │  ST101  error: partition start is not on a physical sector  straddle explain ST101
   │  seen   sda1 starts at 131073536 B
   │         131073536 mod 4096 = 1536
   │  cost   a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about 3 turns instead
   │         of 1
   │  fix    straddle plan /dev/sda
   │         empty disk: parted -a none /dev/sda mkpart data 126MiB 50%
   └─ ext4  4 KiB blocks, /data  2.73 TiB                   inherits it
         facts  block-size-bytes  4096     on-disk
                stride-bytes      unknown           the superblock does not say
1 error. 1 disk, 1 partition, 1 file system in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn an_array_stands_under_its_first_member_and_the_others_point_to_it() {
    check(
        vec![array()],
        LOOK,
        r#"
/dev/md127:  misaligned by 512 B at sdc1
sda  ST4000VN008  4 TiB  512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
└─ sda1       gpt, Linux RAID  at 1 MiB (sector 2048)  aligned
   │          4 TiB
   └─ md127   raid5, 4 members, 512 KiB chunk  12 TiB  inherits it
      └─ xfs  4 KiB blocks, su 512 KiB, sw 3, /srv     misaligned: 1 MiB off the 1.5 MiB full stripe
              data at +1 MiB (sector 2048)  12 TiB
            ST301  warning: data does not start on a full stripe of the array
                   straddle explain ST301
            ST302  info: the log is not on a chunk     straddle explain ST302
sdb  ST4000VN008  4 TiB  512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
└─ sdb1       gpt, Linux RAID  at 1 MiB (sector 2048)  aligned
   │          4 TiB
   └─ member of md127, shown above
sdc  ST4000VN008  4 TiB  512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
└─ sdc1       gpt, Linux RAID                          misaligned by 512 B  ◀ first bad layer
   │          at 1024.5 KiB (sector 2049)  4 TiB
   │  ST101  error: partition start is not on a sector  straddle explain ST101
   │  fix    mdadm /dev/md127 --fail /dev/sdc1 --remove /dev/sdc1
   └─ member of md127, shown above
sdd  ST4000VN008  4 TiB  512e: 512 B logical, 4 KiB granule (sysfs, identify agree)
└─ sdd1       gpt, Linux RAID  at 1 MiB (sector 2048)  aligned
   │          4 TiB
   └─ member of md127, shown above
3 findings: 1 error, 1 warning, 1 info. 4 disks, 4 partitions, 1 file system in 3.14 ms; nothing was
written.
"#,
    );
}

#[test]
fn what_is_unknown_says_why_once() {
    check(
        vec![unknowns()],
        LOOK,
        r#"
sdb  USB bridge  sectors unknown  unknown
│  why    neither sysfs nor identify says a sector size
└─ sdb1             mbr, type 0x83  at 1 MiB (sector 2048)  unknown
   ├─ secure        dm-integrity                            not expressible
   │     why    dm-integrity interleaves tags with data, so no fixed offset leads to the drive
   └─ vg0/snapshot                                          undefined
         why    the kernel says alignment_offset -1
No findings, but 2 layers are unknown. 1 disk, 1 partition in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn a_target_that_cannot_be_judged_leaves_its_error_to_standard_error() {
    check(
        vec![broken()],
        LOOK,
        r#"
1 target could not be opened. Done in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn several_targets_are_headed_by_name_and_verdict() {
    let targets = vec![broken(), image("a.raw"), old_image("b.raw")];
    check(
        targets,
        LOOK,
        r#"
/dev/sdz:  could not be opened

a.raw:  aligned
a.raw  raw image  20 GiB  512 B logical, 4 KiB granule (assumed)
└─ a.raw#1  gpt "root"  at 1 MiB (sector 2048)  20 GiB  aligned

b.raw:  misaligned by 3.5 KiB (assumed 4 KiB) at b.raw#1
b.raw  raw image  20 GiB  512 B logical, 4 KiB granule (assumed)
└─ b.raw#1  gpt "root"                      misaligned by 3.5 KiB (assumed 4 KiB)  ◀ first bad layer
            at 31.5 KiB (sector 63)  20 GiB
      ST101  warning: partition start is not on a physical sector  straddle explain ST101

1 warning. 1 target could not be opened. 2 disks, 2 partitions in 3.14 ms; nothing was written.
"#,
    );
}

#[test]
fn only_bad_leaves_out_targets_without_warnings() {
    let mut noted = image("noted.raw");
    noted.findings.push(finding("ST401", Severity::Info, 1, "worth knowing"));
    let targets = vec![image("a.raw"), noted, old_image("b.raw")];
    let mut document = document(targets);
    document.targets.retain(report::is_bad);
    let found = plain(&people(&document, ViewShape::Tree, &LOOK));
    assert!(found.contains("b.raw#1"), "{found}");
    assert!(!found.contains("a.raw") && !found.contains("noted.raw"), "{found}");
    assert!(found.contains("2 targets not shown."), "{found}");
}

#[test]
fn sources_that_disagree_and_shifted_granules_are_named_on_the_first_line() {
    let mut sdb = drive(0, "sdb", "", 1000 * MIB);
    sdb.units[1] =
        UnitFact { origin_bytes: 3584, ..unit(UnitKind::Granule, 4096, Source::Identify, true) };
    sdb.units[2] = unit(UnitKind::Granule, 512, Source::Sysfs, false);
    let found = plain(&people(
        &document(vec![target("sdb", Verdict::Aligned, vec![sdb])]),
        ViewShape::Tree,
        &LOOK,
    ));
    let first = found.lines().next().unwrap();
    assert_eq!(
        first,
        "sdb  1000 MiB  512e: 512 B logical, 4 KiB granule, the first at 3.5 KiB (identify; sysfs \
         says 512 B)"
    );
}

#[test]
fn a_rule_is_offered_for_explanation_once_for_each_target() {
    let found =
        plain(&people(&document(vec![shifted_disk(), shifted_disk()]), ViewShape::Tree, &LOOK));
    assert_eq!(found.matches("ST101  error").count(), 2);
    assert_eq!(found.matches("straddle explain ST101").count(), 2);
}

#[test]
fn a_finding_about_a_layer_that_is_not_there_is_shown_all_the_same() {
    let mut target = image("a.raw");
    target.findings.push(finding("ST999", Severity::Error, 77, "about nothing"));
    let found = plain(&people(&document(vec![target]), ViewShape::Tree, &LOOK));
    assert!(found.contains("ST999  error: about nothing"), "{found}");
}

#[test]
fn layers_that_name_themselves_or_later_ones_end_up_as_roots() {
    let layers = vec![
        layer(0, &[0], LayerType::Partition, "itself", ""),
        layer(1, &[2], LayerType::Partition, "early", ""),
        layer(2, &[1, 1, 0], LayerType::Partition, "late", ""),
        layer(2, &[2], LayerType::Partition, "twin", ""),
    ];
    let found = plain(&people(
        &document(vec![target("x", Verdict::Aligned, layers)]),
        ViewShape::Tree,
        &LOOK,
    ));
    for name in ["itself", "early", "late", "twin"] {
        assert_eq!(found.matches(name).count(), if name == "late" { 2 } else { 1 }, "{found}");
    }
}

#[test]
fn a_thousand_levels_neither_overflow_nor_indent_without_end() {
    let layers: Vec<LayerReport> = (0..1000)
        .map(|id: u32| {
            let below: Vec<u32> = id.checked_sub(1).into_iter().collect();
            layer(id, &below, LayerType::Loop, &format!("level-{id}"), "")
        })
        .collect();
    let found = plain(&people(
        &document(vec![target("x", Verdict::Aligned, layers)]),
        ViewShape::Tree,
        &LOOK,
    ));
    assert!(found.contains("level-999"));
    assert!(found.len() < 200_000, "{} bytes", found.len());
}

#[test]
fn hostile_text_stays_in_its_line_and_brings_no_control_characters() {
    for look in
        [LOOK, Look { explain: true, width: Some(60), ..LOOK }, Look { ascii: true, ..LOOK }]
    {
        let painted = people(&document(vec![hostile()]), ViewShape::Tree, &look);
        let text = plain(&painted);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
        assert!(!text.contains('\u{202e}'), "{text:?}");
        assert!(!look.ascii || text.is_ascii(), "{text:?}");
        assert!(text.contains("\\u{1b}[31m") && text.contains("\\xff"), "{text}");
    }
}

#[test]
fn every_line_but_a_command_fits_the_width() {
    for width in 40..160 {
        for explain in [false, true] {
            let look = Look { width: Some(width), explain, bytes: explain, ..LOOK };
            let targets = vec![shifted_disk(), array(), unknowns(), broken(), old_image("b.raw")];
            let text = plain(&people(&document(targets), ViewShape::Tree, &look));
            for line in
                text.lines().filter(|line| !line.contains("parted") && !line.contains("fix "))
            {
                assert!(line.chars().count() <= width, "{width}: {line}");
                assert_eq!(line, line.trim_end(), "{width}: {line:?}");
            }
        }
    }
}

#[test]
fn color_only_repeats_what_the_words_say() {
    let painted = people(&document(vec![shifted_disk()]), ViewShape::Tree, &LOOK);
    assert!(painted.contains("\u{1b}["));
    let text = plain(&painted);
    for word in ["misaligned", "first bad layer", "error"] {
        assert!(text.contains(word), "{word}");
    }
}

#[test]
fn a_share_and_another_unit_than_the_granule_are_said() {
    let mut target = array();
    target.layers[8].inherited = false;
    target.layers[8].misalignment =
        Some(stack::Misalignment { share_percent: 25.0, ..off_granule(512) });
    let text = plain(&people(
        &document(vec![target]),
        ViewShape::Tree,
        &Look { width: Some(150), ..LOOK },
    ));
    assert!(text.contains("misaligned by 512 B in 25 % of it"), "{text}");
    assert!(text.contains("misaligned: 1 MiB off the 1.5 MiB full stripe"), "{text}");
}
