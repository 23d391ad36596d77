//! A loop device over a part of a file, which is gone when it is dropped, also by SIGKILL.
//!
//! The kernel is told at once, in the call that makes the device, to let go of the file when the
//! device is closed for the last time (`LO_FLAGS_AUTOCLEAR`). The only one who has it open is this
//! process, and what uses it: so it cannot stay behind, however the process ends.

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{self, Opcode, Setter};
use thiserror::Error;

use super::status::{self, AUTOCLEAR, DIRECT_IO, LoopConfig, LoopStatus, PARTITIONS, READ_ONLY};
use crate::errno::text_of;
use crate::passthrough::BareIoctl;

const LOOP_CLR_FD: Opcode = 0x4c01;
const LOOP_CONFIGURE: Opcode = 0x4c0a;
const LOOP_CTL_ADD: Opcode = 0x4c80;
const LOOP_CTL_REMOVE: Opcode = 0x4c81;
const LOOP_CTL_GET_FREE: Opcode = 0x4c82;

#[cfg(test)]
pub(super) const OPCODES: [Opcode; 5] =
    [LOOP_CLR_FD, LOOP_CONFIGURE, LOOP_CTL_ADD, LOOP_CTL_REMOVE, LOOP_CTL_GET_FREE];

const CONTROL: &str = "/dev/loop-control";
/// Largest number of times that another process may take the free device that the kernel named,
/// before this gives up.
const RACES_MAX: u32 = 64;
/// Longest time in which a device may go, and the pause between looks.
const GONE_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// A loop device that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct LoopPlan<'a> {
    /// The file, or block device, whose bytes it shows; open for writing unless `read_only`.
    pub file: BorrowedFd<'a>,
    /// The file's byte that is the device's first. With direct I/O a multiple of the file's own
    /// direct I/O alignment.
    pub offset_bytes: u64,
    /// The device's length in bytes; 0 for all of the file behind the offset.
    #[doc(alias = "sizelimit")]
    pub length_bytes: u64,
    /// The device's logical sector in bytes; `None` as the kernel likes.
    pub sector_bytes: Option<u32>,
    /// True if the file is to be read and written past the page cache. It is then certain that it
    /// is: a device that the kernel gave without is not handed out.
    pub direct: bool,
    /// True if nothing may be written through it.
    pub read_only: bool,
    /// True if the kernel is to look for partitions on it, where it can.
    pub partitions: bool,
}

/// Why there is no loop device, or why it is still there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LoopError {
    /// Only root may make loop devices.
    #[error("cannot make a loop device: only root may (effective user {user})")]
    NeedsRoot {
        /// Number of the user who asks.
        user: u32,
    },
    /// The kernel's loop driver is not there, or keeps this process away.
    #[error("cannot open {CONTROL}: {reason}")]
    NoControl {
        /// The kernel's error text.
        reason: String,
    },
    /// The kernel made a device, and no node in `/dev` leads to it.
    #[error("cannot open {}: {reason}", .node.display())]
    NoNode {
        /// The node that should be there.
        node: PathBuf,
        /// The kernel's error text.
        reason: String,
    },
    /// Others took every device that the kernel named as free.
    #[error("cannot make a loop device: other processes took {RACES_MAX} free ones first")]
    Races,
    /// The kernel does not want to.
    #[error("cannot attach a file to {} at byte {offset_bytes}: {reason}", .node.display())]
    Refused {
        /// The device.
        node: PathBuf,
        /// The offset that was asked for, in bytes.
        offset_bytes: u64,
        /// The kernel's error text.
        reason: String,
    },
    /// The kernel silently fell back to the page cache.
    #[error(
        "cannot use direct I/O through {} at byte {offset_bytes} of the file: \
         the kernel fell back to the page cache",
        .node.display()
    )]
    NotDirect {
        /// The device, which is gone again.
        node: PathBuf,
        /// The offset that was asked for, in bytes.
        offset_bytes: u64,
    },
    /// The device is not what was asked for.
    #[error("cannot use {}: its {what} is {found}, not {asked}", .node.display())]
    Differs {
        /// The device, which is gone again.
        node: PathBuf,
        /// The property.
        what: &'static str,
        /// The wanted value.
        asked: u64,
        /// The kernel's value.
        found: u64,
    },
    /// The device is still attached, because somebody else has it open.
    #[error("cannot detach {} within {waited:?}: somebody has it open", .node.display())]
    StillThere {
        /// The device.
        node: PathBuf,
        /// Time that was waited.
        waited: Duration,
    },
}

impl LoopError {
    /// Advice, in lower case and without a full stop; `None` when there is none.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            LoopError::NeedsRoot { .. } => Some("try sudo"),
            LoopError::NoControl { .. } => {
                Some("modprobe loop; in a container, try on the host or give it /dev/loop-control")
            }
            LoopError::NoNode { .. } => {
                Some("in a container, give it the host's /dev, or mknod the node (major 7)")
            }
            LoopError::NotDirect { .. } => {
                Some("put the file on a file system with direct I/O, and shift by whole sectors")
            }
            LoopError::StillThere { .. } => Some("lsof or fuser tell who has it open"),
            LoopError::Races | LoopError::Refused { .. } | LoopError::Differs { .. } => None,
        }
    }
}

/// A loop device that this process attached. It goes when this is dropped.
#[derive(Debug)]
pub struct LoopDevice {
    /// `None` once it was closed.
    pub(super) device: Option<OwnedFd>,
    node: PathBuf,
    number: u32,
    /// `/sys/block/loopN/diskseq`, which no other attachment of the number shares; `None` before
    /// Linux 5.15.
    pub(super) sequence: Option<String>,
    /// True if the number was added for this device, and goes with it.
    is_own: bool,
}

impl LoopDevice {
    /// A new loop device.
    ///
    /// # Errors
    /// When the process may not, when the kernel does not, and when what it gave is not what was
    /// asked for. Nothing is left attached then.
    pub fn attach(plan: LoopPlan<'_>) -> Result<LoopDevice, LoopError> {
        if !crate::is_root() {
            return Err(LoopError::NeedsRoot { user: rustix::process::geteuid().as_raw() });
        }
        let control = rustix::fs::open(CONTROL, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        let control = control.map_err(|error| LoopError::NoControl { reason: text_of(error) })?;
        for _ in 0..RACES_MAX {
            let number = free_number(control.as_fd())
                .map_err(|error| LoopError::NoControl { reason: text_of(error) })?;
            if let Some(device) = LoopDevice::configured(plan, number)? {
                device.check(plan)?;
                return Ok(device);
            }
        }
        Err(LoopError::Races)
    }

    /// A new loop device that refuses discards, which would punch holes into the file. The kernel
    /// keeps such a refusal with the number and never takes it back, so the number is a new one
    /// that goes with the device. Where none can be had it is as [`LoopDevice::attach`].
    ///
    /// # Errors
    /// Same as [`LoopDevice::attach`].
    pub fn attach_without_discards(plan: LoopPlan<'_>) -> Result<LoopDevice, LoopError> {
        let Some(number) = added_number().filter(|_| crate::is_root()) else {
            return LoopDevice::attach(plan);
        };
        match LoopDevice::configured(plan, number) {
            Ok(Some(mut device)) => {
                device.is_own = true;
                device.check(plan)?;
                let limit = format!("/sys/block/loop{number}/queue/discard_max_bytes");
                // What this leaves possible shows in the file.
                let _ = std::fs::write(limit, "0");
                Ok(device)
            }
            // A container may lack its node, and another process may have been quicker.
            Ok(None) | Err(LoopError::NoNode { .. }) => {
                remove_number(number);
                LoopDevice::attach(plan)
            }
            Err(error) => {
                remove_number(number);
                Err(error)
            }
        }
    }

    /// Device `number` over the file; `None` when somebody else was quicker.
    fn configured(plan: LoopPlan<'_>, number: u32) -> Result<Option<LoopDevice>, LoopError> {
        let node = PathBuf::from(format!("/dev/loop{number}"));
        let access = if plan.read_only { OFlags::RDONLY } else { OFlags::RDWR };
        let device = match rustix::fs::open(&node, access | OFlags::CLOEXEC, Mode::empty()) {
            Ok(device) => device,
            // Taken, and given back, since the kernel named it.
            Err(Errno::NXIO | Errno::BUSY) => return Ok(None),
            Err(error) => return Err(LoopError::NoNode { node, reason: text_of(error) }),
        };
        if !is_loop(device.as_fd(), number) {
            let reason = "it is the node of another device".to_owned();
            return Err(LoopError::NoNode { node, reason });
        }
        match configure(device.as_fd(), &plan) {
            Ok(()) => {
                let sequence = sequence(number);
                let device = Some(device);
                Ok(Some(LoopDevice { device, node, number, sequence, is_own: false }))
            }
            Err(Errno::BUSY) => Ok(None),
            Err(error) => {
                let offset_bytes = plan.offset_bytes;
                Err(LoopError::Refused { node, offset_bytes, reason: text_of(error) })
            }
        }
    }

    /// Device `number` once more, if a file is attached to it and it has this `sequence` of
    /// `diskseq`; dropped, it is detached. `None` where it is gone, or is another's by now.
    #[must_use]
    pub fn adopted(number: u32, wanted: Option<&str>) -> Option<LoopDevice> {
        if !LoopDevice::is_there(number, wanted) {
            return None;
        }
        let sequence = sequence(number);
        let node = PathBuf::from(format!("/dev/loop{number}"));
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let device = rustix::fs::open(&node, flags, Mode::empty()).ok()?;
        is_loop(device.as_fd(), number).then_some(LoopDevice {
            device: Some(device),
            node,
            number,
            sequence,
            is_own: false,
        })
    }

    /// Returns whether a file is attached to device `number`, which has this `sequence`.
    #[must_use]
    pub fn is_there(number: u32, wanted: Option<&str>) -> bool {
        Path::new(&format!("/sys/block/loop{number}/loop")).exists()
            && sequence(number).as_deref().map(str::trim) == wanted.map(str::trim)
    }

    /// The number of this attachment, which no later one of the device has (`diskseq`); `None`
    /// before Linux 5.15.
    #[must_use]
    pub fn sequence(&self) -> Option<&str> {
        self.sequence.as_deref().map(str::trim)
    }

    /// Returns whether the kernel gave what was asked for. It falls back to the page cache in
    /// silence (drivers/block/loop.c, `loop_update_dio`).
    fn check(&self, plan: LoopPlan<'_>) -> Result<(), LoopError> {
        let (node, offset_bytes) = (self.node.clone(), plan.offset_bytes);
        let found = status::status_of(self.fd()).map_err(|error| LoopError::Refused {
            node: node.clone(),
            offset_bytes,
            reason: text_of(error),
        })?;
        let same = |what, asked: u64, found: u64| {
            let node = node.clone();
            if asked == found {
                Ok(())
            } else {
                Err(LoopError::Differs { node, what, asked, found })
            }
        };
        let flag = |flag: u32| u64::from(found.flags & flag != 0);
        same("offset in bytes", offset_bytes, found.offset_bytes)?;
        same("length in bytes", plan.length_bytes, found.limit_bytes)?;
        same("autoclear", 1, flag(AUTOCLEAR))?;
        same("read-only", plan.read_only.into(), flag(READ_ONLY))?;
        if plan.direct && flag(DIRECT_IO) == 0 {
            return Err(LoopError::NotDirect { node, offset_bytes });
        }
        same("direct I/O", plan.direct.into(), flag(DIRECT_IO))?;
        if plan.length_bytes > 0 {
            let length_bytes = crate::block_ioctls::length_bytes(self.fd()).unwrap_or(0);
            same("size in bytes", plan.length_bytes, length_bytes)?;
        }
        Ok(())
    }

    /// The device's node.
    #[must_use]
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// The device's number: 3 of `loop3`.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The device, open for what the plan allowed.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.device.as_ref().expect("it is closed only by what takes the value").as_fd()
    }

    /// Detaches the device, and waits until it is gone.
    ///
    /// # Errors
    /// [`LoopError::StillThere`] when somebody else keeps it open. It goes when they close it.
    pub fn detach(mut self) -> Result<(), LoopError> {
        self.let_go(GONE_WITHIN)
    }

    pub(super) fn let_go(&mut self, within: Duration) -> Result<(), LoopError> {
        let Some(device) = self.device.take() else { return Ok(()) };
        // That it goes with the last who closes it was asked for before. This keeps others from
        // opening it in between.
        let _ = clear(device.as_fd());
        drop(device);
        let begun = Instant::now();
        while self.is_attached() {
            let waited = begun.elapsed();
            if waited >= within {
                return Err(LoopError::StillThere { node: self.node.clone(), waited });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        if self.is_own {
            // Where somebody took it meanwhile it stays.
            remove_number(self.number);
        }
        Ok(())
    }

    /// Returns whether sysfs still shows this attachment, and not a later one of the same number.
    fn is_attached(&self) -> bool {
        Path::new(&format!("/sys/block/loop{}/loop", self.number)).exists()
            && (self.sequence.is_none() || self.sequence == sequence(self.number))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // Who wants to know calls `detach`.
        let _ = self.let_go(GONE_WITHIN);
    }
}

impl AsFd for LoopDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

fn sequence(number: u32) -> Option<String> {
    std::fs::read_to_string(format!("/sys/block/loop{number}/diskseq")).ok()
}

/// Returns whether `device` is loop device `number`, by what sysfs says of its device number. The
/// driver's minors are its numbers only where partitions have numbers of their own.
fn is_loop(device: BorrowedFd<'_>, number: u32) -> bool {
    let Ok(stat) = rustix::fs::fstat(device) else { return false };
    let (major, minor) = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    let told = std::fs::read_to_string(format!("/sys/block/loop{number}/dev"));
    told.is_ok_and(|told| told.trim_end() == format!("{major}:{minor}"))
}

/// A number that no device had, added now; `None` where the kernel adds none.
fn added_number() -> Option<u32> {
    u32::try_from(asked_control(LOOP_CTL_ADD, -1)?).ok()
}

/// Removes a number that no device uses.
fn remove_number(number: u32) {
    let _ = libc::c_int::try_from(number).map(|number| asked_control(LOOP_CTL_REMOVE, number));
}

/// Asks the driver about a number; `None` where it refuses.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel reads")]
fn asked_control(opcode: Opcode, number: libc::c_int) -> Option<libc::c_int> {
    let control = rustix::fs::open(CONTROL, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).ok()?;
    // Of this length every libc takes it.
    let opcode = u16::try_from(opcode).ok()?;
    // SAFETY: both opcodes take a number by value and return one (drivers/block/loop.c,
    // loop_control_ioctl); no memory is touched.
    let answer = unsafe { libc::ioctl(control.as_raw_fd(), opcode.into(), number) };
    (answer >= 0).then_some(answer)
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel reads")]
fn free_number(control: BorrowedFd<'_>) -> Result<u32, Errno> {
    // SAFETY: LOOP_CTL_GET_FREE takes no argument and returns a number (drivers/block/loop.c,
    // loop_control_get_free).
    let number = unsafe { ioctl::ioctl(control, BareIoctl::<LOOP_CTL_GET_FREE>)? };
    u32::try_from(number).map_err(|_| Errno::INVAL)
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel reads")]
fn configure(device: BorrowedFd<'_>, plan: &LoopPlan<'_>) -> Result<(), Errno> {
    let mut flags = AUTOCLEAR;
    if plan.direct {
        flags |= DIRECT_IO;
    }
    if plan.read_only {
        flags |= READ_ONLY;
    }
    if plan.partitions {
        flags |= PARTITIONS;
    }
    let config = LoopConfig {
        file: u32::try_from(plan.file.as_raw_fd()).map_err(|_| Errno::BADF)?,
        sector_bytes: plan.sector_bytes.unwrap_or(0),
        status: LoopStatus::wanted(plan.offset_bytes, plan.length_bytes, flags),
        reserved: [0; 8],
    };
    // SAFETY: loop.h defines the argument as a struct loop_config, whose layout LoopConfig has; the
    // driver copies it (lo_ioctl), and `device` is its device, which was checked.
    unsafe { ioctl::ioctl(device, Setter::<LOOP_CONFIGURE, LoopConfig>::new(config)) }
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel reads")]
fn clear(device: BorrowedFd<'_>) -> Result<(), Errno> {
    // SAFETY: LOOP_CLR_FD takes no argument (drivers/block/loop.c, loop_clr_fd).
    unsafe { ioctl::ioctl(device, BareIoctl::<LOOP_CLR_FD>) }.map(drop)
}
