//! Programs that may write to an image, or to a device, while it is read.

use std::path::Path;

use crate::table_disk::{IMAGE_IN_USE_HINT, loops_over};
use crate::{PathIdentity, claim, identity};

/// Returns how `image` is in use by whoever may write to it, in words that go on after a colon, and
/// what to do. A file: a loop device shows it, or a program has it locked. A device: it, a
/// partition of it or its disk is mounted, swapped to, built on, held or open for writing, or that
/// cannot be told. `None` where nobody is seen.
#[must_use]
pub fn image_writer(image: &Path) -> Option<(String, String)> {
    let file = identity(image).ok()?;
    if let PathIdentity::Block { major, minor } = file {
        return claim::unwritten((major, minor), image).err();
    }
    let how = match loops_over(file).find(|device| is_writable(device)) {
        Some(device) => format!("in use by the writable loop device {device}"),
        None if claim::is_written(file) => {
            "locked for writing by another program, such as a running virtual machine".to_owned()
        }
        None => return None,
    };
    Some((how, IMAGE_IN_USE_HINT.to_owned()))
}

fn is_writable(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    std::fs::read_to_string(format!("/sys/block/{name}/ro")).is_ok_and(|text| text.trim() == "0")
}
