//! Opening of files and devices: which are refused, how they are opened, and the kernel's answers.

use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use device::{Disk as _, ReadError, WritableDisk as _};
use host::{FileDisk, HeadCache, OpenError, Pinned, ReadCounts, Sparse as _, TableDisk};
use testkit::{Loop, Scratch, need_loops, need_tools, tool};
use units::{Known, Source};

#[test]
fn a_file_is_opened_read_only_and_closed_on_exec() {
    let scratch = Scratch::new();
    let disk = FileDisk::open(&scratch.image("disk", 4096)).unwrap();
    let information = format!("/proc/self/fdinfo/{}", disk.as_fd().as_raw_fd());
    let information = std::fs::read_to_string(information).unwrap();
    let flags = information.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
    assert_eq!(flags & 0o3, 0, "the access mode is O_RDONLY: {flags:o}");
    assert_eq!(flags & 0o2_004_000, 0o2_004_000, "O_CLOEXEC and O_NONBLOCK: {flags:o}");
}

#[test]
fn what_is_no_disk_is_refused_at_once_and_named() {
    let scratch = Scratch::new();
    let _listener = UnixListener::bind(scratch.path().join("socket")).unwrap();
    let directory = scratch.path().to_owned();
    for (path, expected) in [
        (directory.clone(), "a directory"),
        (directory.join("socket"), "a socket"),
        ("/dev/null".into(), "a character device"),
    ] {
        match FileDisk::open(&path) {
            Err(OpenError::NotADisk { found, .. }) => assert_eq!(found, expected),
            other => panic!("{}: {other:?}", path.display()),
        }
    }
}

#[test]
fn a_fifo_is_refused_without_waking_its_writer() {
    need_tools!("mkfifo");
    let scratch = Scratch::new();
    let fifo = scratch.path().join("fifo");
    tool::run("mkfifo", &[fifo.to_str().unwrap()]);
    let error = FileDisk::open(&fifo).unwrap_err();
    assert!(error.to_string().contains("it is a FIFO"), "{error}");
    assert!(error.hint().is_some());
}

#[test]
fn a_missing_file_and_a_dangling_link_are_refused_with_a_hint() {
    let scratch = Scratch::new();
    symlink("nowhere", scratch.path().join("link")).unwrap();
    for name in ["missing", "link", "missing/below"] {
        let error = FileDisk::open(&scratch.path().join(name)).unwrap_err();
        assert!(error.to_string().ends_with("No such file or directory"), "{error}");
        assert!(error.hint().is_some());
    }
}

#[test]
fn a_file_that_may_not_be_read_says_so() {
    let scratch = Scratch::new();
    let file = scratch.file("secret", b"x");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o000)).unwrap();
    if host::is_root() {
        return again_as_nobody("a_file_that_may_not_be_read_says_so");
    }
    let error = FileDisk::open(&file).unwrap_err();
    assert!(error.to_string().ends_with("Permission denied"), "{error}");
    assert!(error.hint().unwrap().contains("sudo"));
}

/// Runs one test of this file without root's rights.
fn again_as_nobody(test: &str) {
    need_tools!("setpriv");
    let program = std::env::current_exe().expect("a test knows its program");
    let output = tool::command("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(program)
        .args(["--exact", &format!("disks::{test}")])
        .env("TMPDIR", "/tmp")
        .output()
        .expect("setpriv is installed");
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.code() == Some(126) || output.status.code() == Some(127) {
        testkit::skip("another user may not run this test's program");
        return;
    }
    assert!(said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn bytes_are_read_where_they_are_and_never_behind_the_end() {
    let scratch = Scratch::new();
    let disk = FileDisk::open(&scratch.file("disk", b"0123456789")).unwrap();
    assert_eq!(disk.length_bytes(), 10);
    assert_eq!(disk.read_array(3), Ok(*b"345"));
    assert_eq!(
        disk.read_array::<3>(8),
        Err(ReadError::PastEnd { offset_bytes: 8, length_bytes: 3, disk_bytes: 10 })
    );
    assert!(disk.read_array::<1>(u64::MAX).is_err());
    assert_eq!(disk.inquiry(), None);
}

#[test]
fn a_file_that_becomes_shorter_is_an_error_not_zeros() {
    let scratch = Scratch::new();
    let path = scratch.file("disk", &[7; 1000]);
    let disk = FileDisk::open(&path).unwrap();
    std::fs::write(&path, [7; 400]).unwrap();
    match disk.read_array::<512>(0) {
        Err(ReadError::Failed { reason, .. }) => {
            assert_eq!(reason, "nothing is left at 400: it became shorter");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reading_a_hole_allocates_nothing_and_data_behind_it_is_found() {
    use std::os::unix::fs::{FileExt as _, MetadataExt as _};

    let scratch = Scratch::new();
    let path = scratch.image("disk", 1 << 40);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"x", 1 << 39).unwrap();
    let blocks = file.metadata().unwrap().blocks();
    let disk = FileDisk::open(&path).unwrap();
    assert_eq!(disk.read_array((1 << 40) - 4), Ok([0; 4]));
    assert_eq!(file.metadata().unwrap().blocks(), blocks);
    let next = disk.next_data(1 << 20);
    if next == 1 << 20 {
        testkit::skip("the file system of the temporary directory knows no holes");
        return;
    }
    assert_eq!(next, 1 << 39);
    assert_eq!(disk.next_data((1 << 39) + (1 << 30)), 1 << 40);
}

#[test]
fn two_paths_to_one_file_have_one_identity() {
    let scratch = Scratch::new();
    let path = scratch.image("disk", 1);
    let other = scratch.image("other", 1);
    let link = scratch.path().join("link");
    symlink("disk", &link).unwrap();
    let disk = FileDisk::open(&link).unwrap();
    assert_eq!(disk.identity(), host::identity(&path).unwrap());
    assert_ne!(disk.identity(), host::identity(&other).unwrap());
    assert_eq!(std::fs::canonicalize(&link).unwrap(), std::fs::canonicalize(&path).unwrap());
}

#[test]
fn superblocks_at_the_head_of_an_image_take_one_read() {
    let scratch = Scratch::new();
    let path = scratch.file("disk", &[7; 1 << 20]);
    let disk = HeadCache::new(FileDisk::open(&path).unwrap());
    for at in [0, 512, 1024, 4096, 32768, 65024] {
        disk.read_array::<512>(at).unwrap();
    }
    assert_eq!(disk.reads(), ReadCounts { count: 1, bytes: 65536 });
}

#[test]
fn a_hole_is_not_read_and_what_lies_around_it_is() {
    use std::os::unix::fs::FileExt as _;

    let scratch = Scratch::new();
    let path = scratch.image("disk", 64 << 20);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for at in [0, 20 << 20] {
        file.write_all_at(&[7; 65536], at).unwrap();
    }
    let disk = HeadCache::new(FileDisk::open(&path).unwrap());
    if disk.below().next_data(1 << 20) == 1 << 20 {
        testkit::skip("the file system of the temporary directory knows no holes");
        return;
    }
    for (at, byte) in [(65_532, 7), (65_536, 0), (1 << 20, 0), (20 << 20, 7), (60 << 20, 0)] {
        assert_eq!(disk.read_array(at), Ok([byte; 4]), "{at}");
    }
    assert_eq!(disk.read_array((20 << 20) - 2), Ok([0, 0, 7, 7]));
    assert_eq!(disk.read_array((20 << 20) + 65_534), Ok([7, 7, 0, 0]));
    assert_eq!(disk.reads().count, 3);
}

#[test]
fn the_lost_end_of_a_file_is_no_hole() {
    let scratch = Scratch::new();
    let path = scratch.file("disk", &[7; 1 << 20]);
    let disk = HeadCache::new(FileDisk::open(&path).unwrap());
    std::fs::write(&path, [7; 400]).unwrap();
    assert!(disk.read_array::<512>(600 << 10).is_err());
}

#[test]
fn the_lost_end_of_a_hole_is_no_hole() {
    let scratch = Scratch::new();
    let path = scratch.image("disk", 1 << 20);
    let disk = HeadCache::new(FileDisk::open(&path).unwrap());
    std::fs::File::options().write(true).open(&path).unwrap().set_len(400 << 10).unwrap();
    assert_eq!(disk.read_array(300 << 10), Ok([0; 512]));
    assert!(disk.read_array::<512>(600 << 10).is_err());
}

#[test]
fn a_loop_device_answers_with_its_sectors() {
    need_loops!();
    let scratch = Scratch::new();
    for sector_bytes in [512, 4096] {
        let path = scratch.image("disk", 8 << 20);
        let device = Loop::attach(&path, sector_bytes);
        let disk = FileDisk::open(device.path()).unwrap();
        assert!(disk.is_block_device());
        assert_eq!(disk.length_bytes(), 8 << 20);
        let inquiry = disk.inquiry().unwrap();
        assert_eq!(inquiry.logical_sector_bytes, Known::yes(sector_bytes, Source::Ioctl));
        assert_eq!(inquiry.physical_sector_bytes.value(), Some(&sector_bytes));
        assert_eq!(inquiry.minimum_io_bytes.value(), Some(&sector_bytes));
        assert!(inquiry.optimal_io_bytes.value().is_some());
        assert_eq!(inquiry.alignment_offset_bytes, Known::yes(0, Source::Ioctl));
        assert_eq!(inquiry.read_only, Known::yes(false, Source::Ioctl));
        assert_eq!(disk.read_array((8 << 20) - 3), Ok([0; 3]));
        assert_eq!(disk.next_data(4096), 4096);
    }
}

#[test]
fn the_kernel_agrees_with_sysfs_and_with_another_node_of_the_same_device() {
    need_loops!();
    need_tools!("mknod");
    let scratch = Scratch::new();
    let device = Loop::attach(&scratch.image("disk", 8 << 20), 512);
    let disk = FileDisk::open(device.path()).unwrap();
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let tree = host::LiveTree::new(Path::new("/"));
    let inquiry = disk.inquiry().unwrap();
    for (file, answer) in [
        ("logical_block_size", &inquiry.logical_sector_bytes),
        ("physical_block_size", &inquiry.physical_sector_bytes),
        ("minimum_io_size", &inquiry.minimum_io_bytes),
        ("optimal_io_size", &inquiry.optimal_io_bytes),
    ] {
        let said = device::KernelTree::read(&tree, &format!("/sys/block/{name}/queue/{file}"));
        assert_eq!(said.unwrap(), answer.value().unwrap().to_string(), "{file}");
    }
    let host::PathIdentity::Block { major, minor } = disk.identity() else {
        panic!("{:?}", disk.identity());
    };
    let node = scratch.path().join("node");
    let (major, minor) = (major.to_string(), minor.to_string());
    tool::run("mknod", &[node.to_str().unwrap(), "b", &major, &minor]);
    assert_eq!(host::identity(&node).unwrap(), disk.identity());
}

#[test]
fn qemu_does_not_open_an_image_that_is_being_written() {
    need_tools!("qemu-img", "qemu-io");
    let scratch = Scratch::new();
    let image = scratch.path().join("disk.qcow2");
    let name = testkit::scratch::text(&image);
    tool::run("qemu-img", &["create", "-q", "-f", "qcow2", name, "1M"]);
    let mut disk = TableDisk::of_image(&Pinned::at(&image).unwrap()).unwrap();
    let length = disk.length_bytes();
    disk.extend(length + 512).unwrap();
    assert_eq!(std::fs::metadata(&image).unwrap().len(), length + 512);
    assert_eq!(disk.extend(512), Ok(()), "a file does not get shorter");
    assert_eq!(disk.length_bytes(), length + 512);
    for words in [&["-c", "length", name][..], &["-r", "-c", "length", name]] {
        let ran = tool::output("qemu-io", words);
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(said.contains("lock"), "{said}");
    }
    drop(disk);
    let ran = tool::run("qemu-io", &["-c", "length", name]);
    assert!(ran.contains("1 MiB"), "{ran}");
}
