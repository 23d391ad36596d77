//! Programs that may write to an image while it is read.

use std::path::Path;

use crate::table_disk::loops_over;
use crate::{PathIdentity, claim, identity};

/// Advice where somebody may write to an image.
pub const IMAGE_IN_USE_HINT: &str = "end the program that has it open, such as a virtual machine, \
                                     or detach its loop device; then try again";

/// Returns who may write to the regular file `image`, in words that begin a sentence: a loop
/// device, or a program that has it locked. `None` where nobody is seen.
#[must_use]
pub fn image_writer(image: &Path) -> Option<String> {
    let file = identity(image).ok().filter(|file| matches!(file, PathIdentity::File { .. }))?;
    if let Some(device) = loops_over(file).find(|device| is_writable(device)) {
        return Some(format!("in use by the writable loop device {device}"));
    }
    claim::is_written(file).then(|| {
        "locked for writing by another program, such as a running virtual machine".to_owned()
    })
}

fn is_writable(device: &str) -> bool {
    let name = device.trim_start_matches("/dev/");
    std::fs::read_to_string(format!("/sys/block/{name}/ro")).is_ok_and(|text| text.trim() == "0")
}
