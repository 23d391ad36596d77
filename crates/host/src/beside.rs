//! Files that images name, opened as [`device::Files`] asks: regular ones only, for reading only.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::rc::Rc;

use device::{FileIdentity, Files, OpenFile};

use crate::cache::HeadCache;
use crate::disk::FileDisk;
use crate::identity::Identity;

/// The files of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Beside;

impl Files for Beside {
    fn open_beside(&self, image_path: &[u8], path: &[u8]) -> Result<OpenFile, String> {
        let named = Path::new(OsStr::from_bytes(path));
        let image = Path::new(OsStr::from_bytes(image_path));
        let full = match image.parent() {
            Some(directory) if named.is_relative() => directory.join(named),
            _ => named.to_owned(),
        };
        let disk = FileDisk::open(&full).map_err(|error| error.to_string())?;
        // A name in an image must not make straddle read a device that nobody asked about.
        let Identity::File { device, inode } = disk.identity() else {
            return Err("it is a block device; only regular files are followed".to_owned());
        };
        Ok(OpenFile {
            path: full.as_os_str().as_bytes().to_vec(),
            identity: FileIdentity { device, inode },
            disk: Rc::new(HeadCache::new(disk)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::Scratch;

    #[test]
    fn names_are_relative_to_the_image_and_missing_ones_say_so() {
        let scratch = Scratch::new();
        let base = scratch.file("base.raw", b"bytes");
        let image = scratch.path().join("top.qcow2");
        let image = image.as_os_str().as_bytes();
        let found = Beside.open_beside(image, b"base.raw").unwrap();
        assert_eq!(found.disk.length_bytes(), 5);
        let same = Beside.open_beside(image, base.as_os_str().as_bytes()).unwrap();
        assert_eq!(found.identity, same.identity);
        assert!(Beside.open_beside(image, b"none.raw").unwrap_err().contains("none.raw"));
    }

    #[test]
    fn a_device_named_by_an_image_is_not_opened() {
        assert!(Beside.open_beside(b"/x", b"/dev/zero").is_err());
    }
}
