//! Claims about the reader of `guest`, on bytes made by hand.

use std::cell::Cell;

use device::MemoryDisk;

use super::*;

/// A disk that counts its reads.
struct Counted {
    disk: MemoryDisk,
    reads: Cell<u32>,
}

impl Disk for Counted {
    fn length_bytes(&self) -> u64 {
        self.disk.length_bytes()
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.reads.set(self.reads.get() + 1);
        self.disk.read_at(offset_bytes, buffer)
    }
}

/// A qcow2 image of 1 MiB with three clusters of 64 KiB, the first two in one run; `backing` is the
/// offset of a backing file's name.
fn qcow2(backing: u64) -> Counted {
    let mut disk = MemoryDisk::new(0x7_0100);
    disk.put(0, b"QFI\xfb");
    disk.put(4, &3_u32.to_be_bytes());
    disk.put(8, &backing.to_be_bytes());
    disk.put(16, &4_u32.to_be_bytes());
    disk.put(20, &16_u32.to_be_bytes());
    disk.put(24, &0x10_0000_u64.to_be_bytes());
    disk.put(36, &1_u32.to_be_bytes());
    disk.put(40, &0x1_0000_u64.to_be_bytes());
    disk.put(96, &4_u32.to_be_bytes());
    disk.put(100, &104_u32.to_be_bytes());
    disk.put(512, b"base");
    disk.put(0x1_0000, &0x2_0000_u64.to_be_bytes());
    for (number, entry) in [0x4_0000_u64, 0x5_0000, 0x7_0000, 0, 1].iter().enumerate() {
        disk.put(0x2_0000 + 8 * u64::try_from(number).unwrap(), &entry.to_be_bytes());
    }
    disk.put(0x4_0000, &[1; 0x2_0000]);
    disk.put(0x7_0000, &[2; 0x100]);
    Counted { disk, reads: Cell::new(0) }
}

fn image(file: &dyn Disk) -> Image {
    super::super::read(file).unwrap().value
}

fn read(guest: &dyn Disk, offset: u64, length: usize) -> Result<Vec<u8>, ReadError> {
    let mut buffer = vec![0xee; length];
    guest.read_at(offset, &mut buffer).map(|()| buffer)
}

#[test]
fn contiguous_clusters_are_one_read_and_zeros_are_none() {
    let file = qcow2(0);
    let image = image(&file);
    let guest = Guest::new(&image, &file, Vec::new());
    assert_eq!(read(&guest, 0, 512).unwrap(), [1; 512]);
    file.reads.set(0);
    assert_eq!(read(&guest, 100, 0x1_ff00).unwrap(), vec![1; 0x1_ff00]);
    assert_eq!(file.reads.get(), 1);
    assert_eq!(read(&guest, 0x3_0000, 0xd_0000).unwrap(), vec![0; 0xd_0000]);
    assert_eq!(file.reads.get(), 1);
}

#[test]
fn the_last_cluster_may_be_cut_and_then_reads_as_zeros() {
    let file = qcow2(0);
    let image = image(&file);
    let bytes = read(&Guest::new(&image, &file, Vec::new()), 0x2_0000, 0x1_0000).unwrap();
    assert!(bytes[..0x100].iter().all(|&byte| byte == 2));
    assert!(bytes[0x100..].iter().all(|&byte| byte == 0));
}

#[test]
fn a_backing_file_that_is_not_open_is_an_error_and_not_zeros() {
    let file = qcow2(512);
    let image = image(&file);
    assert_eq!(image.references[0].path.raw(), b"base");
    let closed = Guest::new(&image, &file as &dyn Disk, vec![None]);
    assert!(read(&closed, 0x3_0000, 512).is_err());
    assert_eq!(read(&closed, 0x4_0000, 512).unwrap(), [0; 512], "zeros are zeros in any case");

    let base = MemoryDisk::with_head(0x3_0100, &[3; 0x3_0100]);
    let open = Guest::new(&image, &file as &dyn Disk, vec![Some(&base as &dyn Disk)]);
    let bytes = read(&open, 0x3_0000, 0x1_0000).unwrap();
    assert!(bytes[..0x100].iter().all(|&byte| byte == 3));
    assert!(bytes[0x100..].iter().all(|&byte| byte == 0), "behind its end it reads as zeros");
}

#[test]
fn nothing_is_read_behind_the_guest_and_an_unknown_layout_reads_nothing() {
    let file = qcow2(0);
    let mut image = image(&file);
    let guest = Guest::new(&image, &file, Vec::new());
    assert!(matches!(read(&guest, 0xf_ffff, 2), Err(ReadError::PastEnd { .. })));
    assert_eq!(guest.length_bytes(), 0x10_0000);
    image.layout = ImageLayout::Unknown("a feature of tomorrow".to_owned());
    let error = read(&Guest::new(&image, &file, Vec::new()), 0, 1).unwrap_err();
    assert!(error.to_string().contains("a feature of tomorrow"));
}

#[test]
fn an_encrypted_image_gives_no_data() {
    let file = qcow2(0);
    let image = Image { encrypted: true, ..image(&file) };
    let guest = Guest::new(&image, &file, Vec::new());
    assert!(read(&guest, 0, 512).is_err());
    assert_eq!(read(&guest, 0x4_0000, 512).unwrap(), [0; 512]);
}
