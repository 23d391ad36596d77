//! Captured machines: what is read of their disks is what `lsblk` printed on them.

use std::path::{Path, PathBuf};

use device::{KernelTree, TextTree};
use stack::drive::KernelDrive;
use stack::kernel::Machine;
use units::Known;

/// The captured machines, each with what `lsblk --pairs --bytes` printed there.
fn machines() -> Vec<(PathBuf, TextTree, String)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysroots");
    let entries = std::fs::read_dir(directory).expect("the captures are kept in the repository");
    let paths = entries.map(|entry| entry.expect("the directory can be read").path());
    let paths = paths.filter(|path| path.extension().is_some_and(|end| end == "sysroot"));
    let read = |path: &Path| std::fs::read_to_string(path).expect("a capture can be read");
    let machine = |path: PathBuf| {
        let tree = TextTree::parse(read(&path)).expect("a capture is a manifest");
        let said = read(&path.with_extension("lsblk"));
        (path, tree, said)
    };
    let mut machines: Vec<_> = paths.map(machine).collect();
    machines.sort_by(|one, other| one.0.cmp(&other.0));
    assert!(machines.len() >= 19);
    machines
}

/// The value of a column in a line `KEY="VALUE" …`.
fn column<'a>(line: &'a str, key: &str) -> &'a str {
    let start = format!("{key}=\"");
    let at = line.match_indices(&start).map(|(at, _)| at);
    let at = at.into_iter().find(|&at| at == 0 || line[..at].ends_with(' '));
    let rest = &line[at.unwrap_or_else(|| panic!("no {key} in {line}")) + start.len()..];
    rest.split('"').next().unwrap_or_default()
}

fn shown<T: ToString>(value: &Known<T>) -> String {
    value.value().map_or("unknown".to_owned(), T::to_string)
}

fn flag(value: &Known<bool>) -> String {
    value.value().map_or("unknown".to_owned(), |&flag| u8::from(flag).to_string())
}

#[test]
fn every_value_of_a_disk_is_what_lsblk_printed() {
    let mut disks = 0;
    for (path, tree, said) in machines() {
        for line in said.lines().filter(|line| column(line, "TYPE") != "part") {
            let name = column(line, "KNAME");
            let drive = KernelDrive::read(&tree, name);
            let file = |file: &str| tree.read(&format!("/sys/block/{name}/{file}")).unwrap();
            // lsblk says 0 where the disk cannot discard, whatever the file says (lsblk.c, COL_DALIGN).
            let discards = column(line, "DISC-GRAN") != "0";
            let discard_alignment =
                if discards { file("discard_alignment") } else { "0".to_owned() };
            for (key, value) in [
                ("SIZE", shown(&drive.length_bytes)),
                ("RO", flag(&drive.read_only)),
                ("ROTA", flag(&drive.kernel_rotational)),
                ("ALIGNMENT", shown(&drive.alignment_offset_bytes)),
                ("MIN-IO", shown(&drive.minimum_io_bytes)),
                ("OPT-IO", shown(&drive.optimal_io_bytes)),
                ("PHY-SEC", shown(&drive.physical_bytes)),
                ("LOG-SEC", shown(&drive.logical_bytes)),
                ("DISC-GRAN", shown(&drive.discard_bytes)),
                ("ZONED", shown(&drive.zoned)),
                ("DISC-ALN", discard_alignment),
                ("DISC-MAX", file("queue/discard_max_bytes")),
                ("MAJ:MIN", file("dev")),
            ] {
                assert_eq!(value, column(line, key), "{key} of {name} in {path:?}");
            }
            disks += 1;
        }
    }
    assert!(disks > 100, "{disks}");
}

#[test]
fn every_partition_that_lsblk_printed_is_found_with_its_length() {
    let mut partitions = 0;
    for (path, tree, said) in machines() {
        let machine = Machine::read(&tree).expect("it lists its disks");
        for line in said.lines().filter(|line| column(line, "TYPE") == "part") {
            let (name, disk) = (column(line, "KNAME"), column(line, "PKNAME"));
            let node = machine.node(machine.named(name).expect("lsblk saw it"));
            let length = node.length_bytes.value().map(u64::to_string);
            assert_eq!(length.as_deref(), Some(column(line, "SIZE")), "{name} in {path:?}");
            assert_eq!(machine.node(node.below[0]).name, disk, "{path:?}");
            partitions += 1;
        }
    }
    assert!(partitions > 20, "{partitions}");
}

#[test]
fn what_lsblk_printed_under_a_device_is_what_it_lies_on() {
    let mut lines = 0;
    for (path, tree, said) in machines() {
        let machine = Machine::read(&tree).expect("it lists its disks");
        for line in said.lines().filter(|line| !column(line, "PKNAME").is_empty()) {
            let (name, parent) = (column(line, "KNAME"), column(line, "PKNAME"));
            let node = machine.node(machine.named(name).expect("lsblk saw it"));
            let below: Vec<&str> =
                node.below.iter().map(|&id| machine.node(id).name.as_str()).collect();
            assert!(below.contains(&parent), "{name} on {below:?}, not {parent}, in {path:?}");
            lines += 1;
        }
    }
    assert!(lines > 40, "{lines}");
}
