//! Kept results as lines for other programs, each read by that program's own parser.

use durability::Grade;
use report::bench::{Arm, Bench, Experiment, OperationDirection, Sync, Workload};
use report::fsync::Honesty;
use report::html::{FileContent, ResultFile};
use report::{Consumer, emitted};
use serde_json::Value;
use stack::UnitKind;
use testkit::{Scratch, need_tools, skip, tool};
use units::Source;

use crate::made::bench::{disk, penalty, workload};
use crate::made::sample::{document, drive, hostile, unit};
use crate::made::{fsync, probe};

const CONSUMERS: [Consumer; 6] = [
    Consumer::Seastar,
    Consumer::Ceph,
    Consumer::Libvirt,
    Consumer::Qemu,
    Consumer::Nfd,
    Consumer::Mkfs,
];

fn file(content: FileContent) -> ResultFile {
    ResultFile { name: "result.json".to_owned(), content }
}

/// A result of `straddle check` of one drive with this granule.
fn checked(granule: u64, rotates: Option<bool>) -> ResultFile {
    let mut layer = drive(0, "sda", "a disk", 1 << 40);
    layer.device = Some("sda".to_owned());
    layer.units = vec![
        unit(UnitKind::LogicalSector, 512, Source::Sysfs, true),
        unit(UnitKind::Granule, granule, Source::Sysfs, true),
    ];
    let fact = |key: &'static str, value: Option<String>| report::Fact {
        key: key.into(),
        source: value.as_ref().map(|_| Source::Sysfs),
        reason: value.is_none().then(|| "it does not say".to_owned()),
        value,
    };
    layer.facts = vec![
        fact("logical-sector-bytes", Some("512".to_owned())),
        fact("optimal-io-bytes", Some("0".to_owned())),
        fact("discard-granularity-bytes", Some("4096".to_owned())),
        fact("rotational", rotates.map(|rotates| rotates.to_string())),
        fact("model", Some("QLC 1".to_owned())),
    ];
    let target = crate::made::sample::target("/dev/sda", stack::Verdict::Aligned, vec![layer]);
    file(FileContent::Check(Box::new(document(vec![target]))))
}

fn probed() -> ResultFile {
    file(FileContent::Probe(Box::new(probe::platter())))
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with(['#', '<']) || line.starts_with("<b")).collect()
}

/// Four rates, as `straddle bench` measures them.
fn rated() -> ResultFile {
    let measured = |action, bytes, per_second| {
        let work = Workload {
            action,
            operation_bytes: Some(bytes),
            sync: Sync::None,
            depth: 32,
            ..workload()
        };
        let rate = |arm: Arm| Arm { operations_per_second: Some(per_second), ..arm };
        let arms = penalty().arms.into_iter().map(rate).collect();
        Experiment { workload: work, arms, ..penalty() }
    };
    let experiments = vec![
        measured(OperationDirection::Read, 4096, 250_000.5),
        measured(OperationDirection::Read, 1 << 20, 2500.0),
        measured(OperationDirection::Write, 4096, 90_000.0),
        measured(OperationDirection::Write, 1 << 20, 1000.0),
        // A synced write is no rate of Seastar's.
        Experiment {
            workload: Workload { sync: Sync::Fdatasync, ..workload() },
            ..measured(OperationDirection::Write, 4096, 900_000.0)
        },
    ];
    file(FileContent::Bench(Box::new(Bench { experiments, ..disk() })))
}

/// YAML as Python's parser reads it.
fn yaml(text: &str) -> Value {
    let program = "import sys, json, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)";
    let read = tool::run_with_input("/usr/bin/python3", &["-c", program], text);
    serde_json::from_str(&read).expect("it prints JSON")
}

#[test]
fn seastar_gets_a_whole_file_where_four_rates_were_measured_and_else_a_line() {
    let patch = emitted(Consumer::Seastar, &[checked(16384, Some(false))]);
    assert_eq!(lines(&patch), ["    physical_block_size: 16384"], "{patch}");
    let missing = "# read_iops, read_bandwidth, write_iops, write_bandwidth: unknown: ";
    assert!(patch.contains(missing) && patch.contains("# not a whole file: "), "{patch}");
    let mut python = tool::command("/usr/bin/python3");
    if !python.args(["-c", "import yaml"]).output().is_ok_and(|tried| tried.status.success()) {
        return skip("python3-yaml is not installed");
    }
    let whole = emitted(Consumer::Seastar, &[rated(), checked(16384, Some(false))]);
    let read = yaml(&whole);
    let entry = &read["disks"][0];
    assert_eq!(read["disks"].as_array().map(Vec::len), Some(1), "{whole}");
    for (key, value) in [
        ("read_iops", 250_000_u64),
        ("read_bandwidth", 2500 << 20),
        ("write_iops", 90_000),
        ("write_bandwidth", 1000 << 20),
        ("physical_block_size", 4096),
    ] {
        assert_eq!(entry[key], Value::from(value), "{key}: {whole}");
    }
    assert!(entry["mountpoint"].is_string(), "{whole}");
    // An entry of iotune's, with the line of the patch.
    let patched = format!(
        "disks:\n  - mountpoint: /data\n    read_iops: 1\n    read_bandwidth: 1\n    \
         write_iops: 1\n    write_bandwidth: 1\n{patch}"
    );
    assert_eq!(yaml(&patched)["disks"][0]["physical_block_size"], 16384, "{patched}");
}

#[test]
fn ceph_gets_a_line_for_the_class_of_the_device() {
    for (rotates, expected) in [
        (Some(false), "ceph config set osd/class:ssd bluestore_min_alloc_size_ssd 16384"),
        (Some(true), "ceph config set osd/class:hdd bluestore_min_alloc_size_hdd 16384"),
    ] {
        let text = emitted(Consumer::Ceph, &[checked(16384, rotates)]);
        assert_eq!(lines(&text), [expected], "{text}");
        // `ceph config set WHO OPTION VALUE`; WHO is a section with a mask.
        let words: Vec<&str> = expected.split(' ').collect();
        let class = words[3].strip_prefix("osd/class:").expect("a mask");
        assert_eq!(words[4], format!("bluestore_min_alloc_size_{class}"));
    }
    let text = emitted(Consumer::Ceph, &[checked(512, None)]);
    assert_eq!(lines(&text), Vec::<&str>::new(), "{text}");
    assert!(text.contains("# class: unknown: ") && text.contains("_ssd 4096\n"), "{text}");
}

#[test]
fn libvirt_takes_the_element_in_a_domain() {
    need_tools!("virt-xml-validate");
    let scratch = Scratch::new();
    for (granule, result) in [(4096, probed()), (16384, checked(16384, None))] {
        let own = checked(granule, None);
        let text = emitted(Consumer::Libvirt, &[result, own]);
        assert_eq!(text.matches("<blockio ").count(), 1, "{text}");
        let domain = format!(
            "<domain type='kvm'><name>t</name><memory>1024</memory><os><type>hvm</type></os>\
             <devices><disk type='block' device='disk'><source dev='/dev/sda'/>\
             <target dev='vda' bus='virtio'/>\n{text}</disk></devices></domain>\n"
        );
        let path = scratch.file("domain.xml", domain.as_bytes());
        tool::run("virt-xml-validate", &[testkit::scratch::text(&path), "domain"]);
        assert!(text.contains(&format!(" physical_block_size='{granule}'/>")), "{text}");
    }
}

#[test]
fn qemu_takes_the_device_on_a_drive_of_nothing() {
    need_tools!("qemu-system-x86_64");
    for result in [checked(512, None), checked(4096, None), checked(65536, Some(true))] {
        let text = emitted(Consumer::Qemu, &[result]);
        let [line] = lines(&text)[..] else { panic!("{text}") };
        let device = line.strip_prefix("-device ").expect("an option");
        assert!(device.contains(",discard_granularity=4096"), "{text}");
        let arguments = [
            "-machine",
            "pc,accel=tcg",
            "-nodefaults",
            "-display",
            "none",
            "-S",
            "-blockdev",
            "driver=null-co,node-name=ID,size=1073741824",
            "-device",
            device,
            "-monitor",
            "stdio",
        ];
        tool::run_with_input("qemu-system-x86_64", &arguments, "quit\n");
    }
}

#[test]
fn node_feature_discovery_gets_names_and_values_of_labels() {
    let mut document = fsync::plain();
    document.target.drive = Some("sda".to_owned());
    document.honesty = Some(Honesty { grade: Grade::NotDurable, ..Honesty::default() });
    let synced = file(FileContent::Fsync(Box::new(document)));
    let text = emitted(Consumer::Nfd, &[checked(4096, None), synced]);
    let expected = ["straddle-granule-bytes.sda=4096", "straddle-durable-writes.sda=not-durable"];
    assert_eq!(lines(&text), expected, "{text}");
    // Kubernetes: letters, digits, `-`, `_` and `.`; a letter or digit at both ends; 63 at most.
    let is_label = |text: &str| {
        let ends = [text.chars().next(), text.chars().last()];
        let inside = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        text.len() <= 63
            && text.chars().all(inside)
            && ends.iter().all(|end| end.is_some_and(|letter| letter.is_ascii_alphanumeric()))
    };
    let mut long = fsync::plain();
    long.target.path = format!("/data/{}/\u{e9}\u{1b}/", "x".repeat(99));
    long.honesty = Some(Honesty { grade: Grade::Consistent, ..Honesty::default() });
    let long = emitted(Consumer::Nfd, &[file(FileContent::Fsync(Box::new(long)))]);
    for line in lines(&text).into_iter().chain(lines(&long)) {
        let (name, value) = line.split_once('=').expect("a value");
        assert!(is_label(name) && is_label(value), "{line}");
    }
}

#[test]
fn tools_take_the_options_and_no_line_names_a_device() {
    need_tools!("mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "cryptsetup");
    let scratch = Scratch::new();
    let image = scratch.image("disk.img", 1 << 30);
    let image = testkit::scratch::text(&image);
    let key = scratch.file("key", b"a key");
    let key = testkit::scratch::text(&key);
    for granule in [512, 4096, 16384, 65536] {
        let text = emitted(Consumer::Mkfs, &[checked(granule, None)]);
        assert!(!lines(&text).iter().any(|line| line.contains("sda")), "{text}");
        let mut tools = Vec::new();
        for line in lines(&text) {
            let words: Vec<&str> = line.split(' ').collect();
            tools.push(words[0]);
            match words[0] {
                "mkfs.ext4" => {
                    let arguments = [&["-n", "-q"], &words[1..], &[image]].concat();
                    tool::run("mkfs.ext4", &arguments);
                }
                "mkfs.xfs" => {
                    tool::run("mkfs.xfs", &[&["-N", "-f"], &words[1..], &[image]].concat());
                }
                "mkfs.btrfs" => {
                    tool::run("mkfs.btrfs", &[&["-q", "-f"], &words[1..], &[image]].concat());
                }
                "cryptsetup" => {
                    let cheap = ["-q", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"];
                    tool::run("cryptsetup", &[&words[1..], &cheap, &[image, key]].concat());
                }
                "zpool" => {
                    let shift = line.strip_prefix("zpool create -o ashift=").expect("ashift");
                    let shift: u32 = shift.parse().expect("a number");
                    assert_eq!(1_u64 << shift, granule, "{line}");
                }
                "mdadm" => {
                    let chunk = line.strip_prefix("mdadm --create --chunk=").expect("a chunk");
                    let kib: u64 = chunk.parse().expect("a number");
                    assert!(kib.is_power_of_two() && (kib << 10).is_multiple_of(granule), "{line}");
                }
                other => panic!("{other}: {line}"),
            }
        }
        tools.sort_unstable();
        let all = ["cryptsetup", "mdadm", "mkfs.btrfs", "mkfs.ext4", "mkfs.xfs", "zpool"];
        assert_eq!(tools, all, "{text}");
    }
}

#[test]
fn an_array_gets_its_stripe_and_its_chunk() {
    let mut member = drive(0, "sda", "a disk", 1 << 40);
    member.units = vec![unit(UnitKind::Granule, 4096, Source::Sysfs, true)];
    let mut md = drive(1, "md0", "raid5", 3 << 40);
    md.kind = stack::LayerType::MdArray;
    md.device = Some("md0".to_owned());
    md.units = vec![
        unit(UnitKind::Chunk, 64 << 10, Source::Sysfs, true),
        unit(UnitKind::FullStripe, 192 << 10, Source::Derived, true),
    ];
    let array = crate::made::sample::target("/dev/md0", stack::Verdict::Aligned, vec![member, md]);
    let results = [file(FileContent::Check(Box::new(document(vec![array]))))];
    let text = emitted(Consumer::Mkfs, &results);
    let start = text.find("# md0").expect("the array is there");
    assert!(text[start..].contains(" -E stride=16,stripe_width=48\n"), "{text}");
    assert!(text[start..].contains("mkfs.xfs -d su=64k,sw=3\n"), "{text}");
    assert!(!text.contains("take its disks off"), "data members alone are counted: {text}");
}

#[test]
fn what_no_result_tells_is_unknown_with_the_reason_and_hostile_text_stays_a_comment() {
    let mut nothing = fsync::plain();
    nothing.target.drive = None;
    let nothing = file(FileContent::Fsync(Box::new(nothing)));
    let mut evil = hostile();
    for layer in &mut evil.layers {
        layer.device = Some("sda\nrm -rf --no-preserve-root -->".to_owned());
        layer.facts.clear();
    }
    let evil = file(FileContent::Check(Box::new(document(vec![evil]))));
    for consumer in CONSUMERS {
        let text = emitted(consumer, std::slice::from_ref(&nothing));
        assert!(text.contains("unknown: "), "{consumer:?}: {text}");
        assert_eq!(lines(&text), Vec::<&str>::new(), "{consumer:?}: {text}");
        assert_eq!(emitted(consumer, &[]), "", "{consumer:?}");
        let text = emitted(consumer, std::slice::from_ref(&evil));
        assert!(!lines(&text).iter().any(|line| line.contains("rm -rf")), "{consumer:?}: {text}");
        let comments = text.lines().filter(|line| line.starts_with("<!--"));
        assert!(comments.clone().all(|line| line.matches("--").count() == 2), "{text}");
    }
}
