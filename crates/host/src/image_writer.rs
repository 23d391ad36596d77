//! Programs that may write to an image while it is read.

use std::path::Path;

use crate::table_disk::loop_over;
use crate::{PathIdentity, claim, identity};

/// Returns who may write to the regular file `image`, in words that begin a sentence: a loop
/// device, or a program that has it locked. `None` where nobody is seen.
#[must_use]
pub fn image_writer(image: &Path) -> Option<String> {
    let file = identity(image).ok().filter(|file| matches!(file, PathIdentity::File { .. }))?;
    if let Some(device) = loop_over(file).filter(|device| is_writable(device)) {
        return Some(format!("the loop device {device} shows it, and may be written"));
    }
    claim::is_written(file).then(|| {
        "another program has it locked to write to it, such as a running virtual machine".to_owned()
    })
}

fn is_writable(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    std::fs::read_to_string(format!("/sys/block/{name}/ro")).is_ok_and(|text| text.trim() == "0")
}
