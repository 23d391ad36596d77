//! Target of a job's operations: the raw device, or a file on its file system.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;

use host::engine::{Access, open_measured};
use units::prefix::Size;
use workload::Job;

use super::requirements::name;
use crate::bench::ready_device::ReadyDevice;
use crate::bench::session::Session;
use crate::shared::halt::Halt;

/// Returns what a job's operations go to on a stage, open, and its length: the device, or a file
/// that is laid out on its file system.
pub(super) fn opened(
    session: &mut Session<'_>,
    job: &Job,
    stage: &ReadyDevice<'_>,
    device_bytes: u64,
) -> Result<(OwnedFd, u64), Halt> {
    let direct = job.direct;
    let Some(directory) = stage.directory() else {
        return Ok((stage.device().open(direct)?, device_bytes));
    };
    let path = directory.join("job");
    let wanted = job.size.map_or(device_bytes, |size| size.of(device_bytes));
    // What the file system needs for itself is not known; a half is always free.
    let length_bytes = wanted.min(device_bytes.div_euclid(2)) & !4095;
    if wanted > length_bytes {
        session.note(format!(
            "job {}: size is scaled down from {} to {}; a longer scratch file (--scratch) allows \
             more",
            name(job),
            Size(wanted),
            Size(length_bytes)
        ));
    }
    laid_out(&path, length_bytes, session.seed).map_err(|error| {
        Halt::refused(
            format!("cannot lay out a file of {} for the job: {error}", Size(length_bytes)),
            Some(session.longer_scratch()),
        )
    })?;
    let file = open_measured(&path, Access::Write, direct)?;
    Ok((file, length_bytes))
}

/// Writes a file of random bytes, so that a job overwrites what is there.
fn laid_out(path: &Path, length_bytes: u64, seed: u64) -> std::io::Result<()> {
    let mut random = units::random::Random::new(seed);
    let mut file = File::create_new(path)?;
    let mut chunk = vec![0; 1 << 20];
    let mut left = length_bytes;
    while left > 0 {
        let length = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        for word in chunk.chunks_mut(8) {
            word.copy_from_slice(&random.next_u64().to_le_bytes()[..word.len()]);
        }
        std::io::Write::write_all(&mut file, &chunk[..length])?;
        left -= u64::try_from(length).unwrap_or(left);
    }
    file.sync_all()
}
