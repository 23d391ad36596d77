//! Tests that the table is believed only where two measurements support it, and of the folder.

use std::collections::BTreeSet;
use std::path::Path;

use device::MemoryTree;
use measure::probe::granule::WriteComparison;
use report::probe::{
    DriveClaims, MEASURED_DRIVE_LICENSE, MEASURED_DRIVE_SCHEMA, MeasuredDrive, MeasuredUnit,
};
use stack::UnitKind;
use units::Source;

use super::*;

const WHOLE_BYTES: u64 = 64 << 10;
const FIRMWARE: &str = "XC311102";

/// A drive whose kernel says 512.
fn drive(firmware: &str) -> KernelDrive {
    let files = [
        ("queue/logical_block_size", "512"),
        ("queue/physical_block_size", "512"),
        ("device/model", "MADE UP 2T"),
        ("device/rev", firmware),
    ];
    let tree = files.iter().fold(MemoryTree::new(), |tree, (file, value)| {
        tree.with_file(&format!("/sys/block/sda/{file}"), value)
    });
    KernelDrive::read(&tree, "sda")
}

/// Comparisons as a probe makes them of a drive with this unit; `noise` makes them a run's own.
fn comparisons(unit: u64, noise: f64) -> (Vec<WriteComparison>, Vec<WriteComparison>) {
    let one = |writes: [(u64, u64); 2], is_slower: bool| {
        let ratio = if is_slower { 2.0 } else { 1.0 } + noise;
        let [(start_bytes, length_bytes), (against_start_bytes, against_length_bytes)] = writes;
        WriteComparison {
            start_bytes,
            length_bytes,
            against_start_bytes,
            against_length_bytes,
            ratio,
            low: ratio - 0.05,
            high: ratio + 0.05,
            blocks: 60,
        }
    };
    let powers = |from: u64, to: u64| {
        std::iter::successors(Some(from), |bytes| Some(bytes << 1)).take_while(move |it| *it <= to)
    };
    let shifts = powers(512, WHOLE_BYTES / 2).chain([WHOLE_BYTES * 2]);
    let starts = [0].into_iter().chain(shifts);
    let home = WHOLE_BYTES / 2;
    let starts = starts.map(|shift| {
        one([(home + shift, WHOLE_BYTES), (home, WHOLE_BYTES)], !shift.is_multiple_of(unit))
    });
    let length =
        |part, whole, is_slower| one([(WHOLE_BYTES, part), (WHOLE_BYTES, whole)], is_slower);
    let mut lengths = vec![length(WHOLE_BYTES, WHOLE_BYTES, false)];
    for whole in powers(unit, WHOLE_BYTES) {
        lengths.push(length(whole - 512, whole, true));
        if whole > unit {
            lengths.push(length(whole - unit, whole, false));
        }
    }
    lengths.push(length(WHOLE_BYTES - unit / 2, WHOLE_BYTES, true));
    (starts.collect(), lengths)
}

fn file(unit: u64, date: &str, noise: f64) -> MeasuredDrive {
    let (model, firmware, format) = model_state(&drive(FIRMWARE)).unwrap();
    let (starts, lengths) = comparisons(unit, noise);
    MeasuredDrive {
        schema: MEASURED_DRIVE_SCHEMA.to_owned(),
        license: MEASURED_DRIVE_LICENSE.to_owned(),
        version: "0.1.0".to_owned(),
        date: date.to_owned(),
        model,
        firmware,
        step_bytes: 512,
        format,
        claims: DriveClaims::default(),
        unit: MeasuredUnit {
            alignment_bytes: unit,
            size_bytes: Some(unit),
            slower_low: 2.0 + noise - 0.05,
            aligned_high: 1.0 + noise + 0.05,
        },
        starts,
        lengths,
    }
}

fn table(files: &[MeasuredDrive]) -> DriveTable {
    let texts: Vec<String> = files.iter().map(|file| file.toml().unwrap()).collect();
    let table = DriveTable::of(texts.iter().map(String::as_str));
    assert_eq!(table.entries.len(), files.len(), "all of them are as they should be");
    table
}

/// The granule that `drive` is judged by with this table, and what `measured` says beside it.
fn used(files: &[MeasuredDrive], drive: &KernelDrive) -> (u64, Source) {
    let mut drive = drive.clone();
    drive.table = table(files).of_drive(&drive);
    let (unit, source) = drive.units(None).used(UnitKind::Granule).unwrap();
    (unit.length_bytes(), source)
}

fn one() -> MeasuredDrive {
    file(16384, "2026-01-02", 0.01)
}

fn other() -> MeasuredDrive {
    file(16384, "2026-02-03", -0.02)
}

#[test]
fn two_independent_files_are_believed_for_their_model_firmware_and_format_alone() {
    let own = drive(FIRMWARE);
    assert_eq!(used(&[one(), other()], &own), (16384, Source::DriveTable));
    assert_eq!(used(&[one(), other()], &drive("XC311103")).1, Source::Assumed);
    let mut formatted = own.clone();
    formatted.logical_bytes = units::Known::yes(4096, Source::Sysfs);
    assert_eq!(table(&[one(), other()]).of_drive(&formatted), None);
    let mut virtual_disk = own;
    virtual_disk.is_virtual = true;
    assert_eq!(table(&[one(), other()]).of_drive(&virtual_disk), None);
}

#[test]
fn one_file_or_a_copy_of_it_or_two_that_disagree_are_a_note_alone() {
    let copied = MeasuredDrive { date: "2026-02-03".to_owned(), ..one() };
    let same_day = file(16384, "2026-01-02", -0.02);
    let disagrees = file(4096, "2026-02-03", -0.02);
    for (files, why) in [
        (vec![one()], "two independent ones are needed"),
        (vec![one(), copied], "two independent ones are needed"),
        (vec![one(), same_day], "two independent ones are needed"),
        (vec![one(), other(), disagrees], "disagree: 16384 and 4096 bytes"),
    ] {
        let mut own = drive(FIRMWARE);
        own.table = table(&files).of_drive(&own);
        let units = own.units(None);
        assert_eq!(units.used(UnitKind::Granule).unwrap().1, Source::Assumed, "{why}");
        let mut notes = units.facts().iter().filter(|fact| fact.bytes.is_none());
        assert!(notes.any(|fact| fact.reason.contains(why)), "{why}: {:?}", units.facts());
    }
}

#[test]
fn a_local_measurement_and_the_users_word_outrank_the_table() {
    let mut own = drive(FIRMWARE);
    own.table = table(&[one(), other()]).of_drive(&own);
    let told: stack::Condition = "granule=8K".parse().unwrap();
    assert_eq!(own.units(Some(&told)).used(UnitKind::Granule).unwrap().1, Source::Told);
    own.measured = Some(KeptMeasurement::Granule(MeasuredGranule {
        alignment_bytes: 4096,
        origin_bytes: 0,
        size_bytes: None,
        date: "2026-01-02".to_owned(),
        note: "a test".to_owned(),
    }));
    let (unit, source) = own.units(None).used(UnitKind::Granule).unwrap();
    assert_eq!((unit.length_bytes(), source), (4096, Source::Measured));
}

#[test]
fn the_table_outranks_what_the_drive_reports() {
    let mut own = drive(FIRMWARE);
    own.physical_bytes = units::Known::yes(4096, Source::Sysfs);
    let files = [one(), other()].map(|mut file| {
        file.format.physical_sector_bytes = 4096;
        file
    });
    assert_eq!(used(&[], &own), (4096, Source::Sysfs));
    assert_eq!(used(&files[..1], &own), (4096, Source::Sysfs));
    assert_eq!(used(&files, &own), (16384, Source::DriveTable));
}

#[test]
fn a_file_whose_comparisons_do_not_support_its_unit_is_refused() {
    let refused = |change: &dyn Fn(&mut MeasuredDrive)| {
        let mut file = one();
        change(&mut file);
        MeasuredDrive::parse(&file.toml().unwrap()).expect_err("it must be refused")
    };
    let check = |why: &str, change: &dyn Fn(&mut MeasuredDrive)| {
        let reason = refused(change);
        assert!(reason.contains(why), "{why}: {reason}");
    };
    assert_eq!(MeasuredDrive::parse(&one().toml().unwrap()), Ok(one()));
    check("another unit: 16384 bytes", &|it| it.unit.alignment_bytes = 8192);
    check("another unit", &|it| it.unit.size_bytes = None);
    check("another unit", &|it| it.unit.slower_low = 3.0);
    check("no granule", &|it| it.starts[2].low = 1.1);
    check("no granule", &|it| it.starts.iter_mut().for_each(|one| one.low = 0.5));
    check("control of the starts differs", &|it| {
        (it.starts[0].low, it.starts[0].ratio) = (1.01, 1.02);
    });
    check("not those that a probe compares", &|it| it.starts.truncate(3));
    check("not those that a probe compares", &|it| it.lengths[1].length_bytes += 512);
    check("outside of its interval", &|it| it.starts[1].ratio = 9.0);
    check("no block was counted", &|it| it.lengths[1].blocks = 0);
    check("half of the unit", &|it| {
        let half = it.lengths.last_mut().unwrap();
        (half.ratio, half.low, half.high) = (1.0, 0.95, 1.05);
    });
    check("the first unit starts at byte 512", &|it| {
        for one in it.starts.iter_mut().chain(&mut it.lengths) {
            one.start_bytes += 512;
            one.against_start_bytes += 512;
        }
    });
    check("row of an array", &|it| *it = file(32768, "2026-01-02", 0.01));
    check("its license", &|it| it.license = "MIT".to_owned());
    check("its date", &|it| it.date = "2026-01-02T03:04:05Z".to_owned());
    check("virtual disks", &|it| it.model = "QEMU HARDDISK".to_owned());
    let with_serial = one().toml().unwrap().replacen("model =", "serial = \"S1\"\nmodel =", 1);
    assert!(MeasuredDrive::parse(&with_serial).unwrap_err().contains("serial"));
}

#[test]
fn every_file_of_the_folder_is_in_the_table_and_supports_its_unit() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../drives");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.map(|name| name.into_string().unwrap());
    let names: BTreeSet<String> = names.filter(|name| name != "README.md").collect();
    let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| format!("{name}.toml")).collect();
    assert_eq!(listed, names, "each file of drives/ has a line in FILES");
    for (name, text) in FILES {
        assert_eq!(MeasuredDrive::parse(text).map(drop), Ok(()), "{name}");
    }
}
