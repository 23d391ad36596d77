//! The one place through which anything opens a block device for writing.
//!
//! A device is handed out only where nobody uses its bytes: nobody has it, its partitions, its disk
//! or what is built on them mounted, swaps to it, holds it or shows it by a loop device; nothing is
//! known to be on it; and whoever asks has said which device is meant in words that fit no other.
//! The checks are in `relatives` (who shares its bytes, by the `leaf_ranges` of where all bytes
//! are), `in_use` and `users` (who uses them) and `confirm` (what to type). They run in this
//! order, and the first that fails is the answer:
//!
//! | check | why it stands there |
//! |---|---|
//! | a block device | everything else asks about one |
//! | not empty, not read-only | a file of sysfs each |
//! | not mounted, no swap, nothing over its bytes, nobody has it open | no words help meanwhile |
//! | the exclusive open for reading | the kernel's own answer: it knows of users that sysfs hides |
//! | the locks of systemd's convention | who works on the disk without a claim has them |
//! | `confirm` fits | what is on a device that was not meant is nobody's to wipe |
//! | no signature, and nothing else that was not said to be needless | read through the claim |
//! | number, length and uses again | they may have changed while they were looked at |
//! | the open for writing | through the claimed descriptor |
//!
//! Nothing is opened for writing before all of them passed. The path is followed once
//! ([`Pinned`]); everything that is then opened, read and written is what that led to, through
//! `/proc`, and what is written is the disk that was claimed, by its number and its sequence number
//! (`BLKGETDISKSEQ`): a link that is turned or a loop device's number that is given away leads
//! nowhere else. While the claim lasts the number cannot be given away.
//!
//! The claim is `O_EXCL` (open(2)): while it lasts no one mounts the device, swaps to it or builds
//! on it, and no one claims its disk or its partitions (`block/bdev.c`, `bd_may_claim`). It does
//! not keep those out who open the device later without asking for it; the lock on the node
//! (flock(2)) tells those who keep to systemd's convention.
//!
//! Not here: knowing signatures. The caller looks at the claimed device and says what it
//! found.

mod confirm;
mod device;
mod forbidden_uses;
mod in_use;
mod leaf_ranges;
mod loop_backing;
mod machine;
mod node_locks;
mod number;
mod refusal;
mod relatives;
mod users;

pub use confirm::{IdentityWords, identity_words};
pub use forbidden_uses::Use;
pub(crate) use refusal::LOCKS_HINT;
pub use refusal::{ClaimRefusal, Relation};
pub(crate) use users::{is_locked, is_written};

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use self::device::{ClaimedDevice, number_of};
use self::forbidden_uses::{Sought, User};
use self::in_use::Wish;
use self::machine::{ClaimWorld, LiveMachine};
use self::node_locks::NodeLocks;
use self::number::Number;
use crate::{FileDisk, LiveTree, PathIdentity, Pinned, block_ioctls};

/// Contents of a device, as far as the caller can tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// The recognized content, in words: `ext4 data`, `a physical volume of LVM`. Any entry is a
    /// reason to refuse.
    pub signatures: Vec<String>,
    /// Address of bytes that would be overwritten and are not blank, in words; `None` where none
    /// were found. A refusal, unless the plan says that they are not needed.
    pub data: Option<String>,
}

/// A block device that is wanted for writing.
#[derive(Clone, Copy)]
pub struct ClaimPlan<'a> {
    /// Its node.
    pub node: &'a Pinned,
    /// Typed words that say which device is meant: see [`identity_words`]. `None` where nothing was
    /// typed yet: [`Claim::take`] refuses that, and [`Claim::rehearse`] leaves the question out.
    pub confirm: Option<&'a str>,
    /// True if it was said that bytes that nobody recognizes are not needed.
    pub overwrites_data: bool,
    /// Reads its contents; asked once, of the claimed device.
    pub contents: &'a dyn Fn(FileDisk) -> Contents,
}

/// A block device that is open for writing, past the page cache, and claimed for this process alone
/// until it is dropped.
#[derive(Debug)]
pub struct Claim {
    held: ReadOnlyClaim,
    file: OwnedFd,
}

/// The device at one look.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DeviceState {
    number: Number,
    length_bytes: u64,
}

/// A device that is claimed, and open for reading only.
#[derive(Debug)]
struct ReadOnlyClaim {
    file: OwnedFd,
    locks: NodeLocks,
    seen: DeviceState,
    /// Before Linux 5.15 there is none.
    sequence: Option<u64>,
}

impl ReadOnlyClaim {
    /// Claims what `node` is of; nobody used it.
    fn take(node: &Pinned, number: Number) -> Result<ReadOnlyClaim, ClaimRefusal> {
        let flags = OFlags::RDONLY | OFlags::EXCL;
        let file = opened(&node.path(), flags, node.given())?;
        require_number(&file, number, node.given())?;
        let nodes = relatives::nodes(&LiveMachine::new(), number)?;
        let locks = NodeLocks::take(file.as_fd(), &nodes, node.given())?;
        let seen = DeviceState { number, length_bytes: length(node.given(), file.as_fd())? };
        let sequence = block_ioctls::sequence(file.as_fd()).ok();
        Ok(ReadOnlyClaim { file, locks, seen, sequence })
    }

    /// Returns the device's contents, as `plan` reads them.
    fn contents(&self, plan: ClaimPlan<'_>) -> Result<Contents, ClaimRefusal> {
        // What is kept in memory may be older than what was written through the whole disk.
        let _ = block_ioctls::forget_cached(self.file.as_fd());
        let refused = |error| ClaimRefusal::kernel(plan.node.given(), error);
        let file = rustix::io::fcntl_dupfd_cloexec(&self.file, 0).map_err(refused)?;
        Ok((plan.contents)(FileDisk::of_device(file).map_err(refused)?))
    }

    /// The device opened for writing, past the page cache.
    fn writable(&self, node: &Path) -> Result<OwnedFd, ClaimRefusal> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()));
        // O_NONBLOCK is not asked for: with it a device without a medium can be opened.
        let file = opened(&path, OFlags::RDWR | OFlags::DIRECT, node)?;
        require_number(&file, self.seen.number, node)?;
        let changed = |what| ClaimRefusal::Changed { node: node.to_owned(), what };
        if block_ioctls::sequence(file.as_fd()).ok() != self.sequence {
            return Err(changed("the device behind its number"));
        }
        if length(node, file.as_fd())? != self.seen.length_bytes {
            return Err(changed("its length"));
        }
        Ok(file)
    }
}

/// Rejects contents that may not be written over.
fn permitted(
    machine: &impl ClaimWorld,
    node: &Path,
    number: Number,
    contents: &Contents,
    typed: Option<&str>,
    overwrites_data: bool,
) -> Result<(), ClaimRefusal> {
    if let Some(typed) = typed {
        confirm::check(machine, node, number, &contents.signatures, typed)?;
    }
    let is_named = typed.is_some();
    if !contents.signatures.is_empty() {
        let signatures = contents.signatures.clone();
        return Err(ClaimRefusal::Signature { node: node.to_owned(), signatures, is_named });
    }
    match &contents.data {
        Some(place) if !overwrites_data => {
            Err(ClaimRefusal::Data { node: node.to_owned(), place: place.clone(), is_named })
        }
        _ => Ok(()),
    }
}

/// Claims a device that nobody uses and that may be written over, without opening it for writing.
fn held(plan: ClaimPlan<'_>, typed: Option<&str>) -> Result<ReadOnlyClaim, ClaimRefusal> {
    let machine = LiveMachine::new();
    let number = number_of(plan.node)?;
    let (node, path) = (plan.node.given(), plan.node.path());
    // Who uses it is said before the kernel says that somebody does.
    look(&machine, number, Some(&path))?;
    let held = ReadOnlyClaim::take(plan.node, number)?;
    let contents = held.contents(plan)?;
    permitted(&machine, node, number, &contents, typed, plan.overwrites_data)?;
    if look(&machine, number, Some(&path))? != held.seen {
        return Err(ClaimRefusal::Changed { node: node.to_owned(), what: "its length" });
    }
    Ok(held)
}

impl Claim {
    /// Claims a device.
    ///
    /// # Errors
    /// [`ClaimRefusal`], in the order of the table at the head of this module. Nothing was written.
    pub fn take(plan: ClaimPlan<'_>) -> Result<Claim, ClaimRefusal> {
        let held = held(plan, Some(plan.confirm.unwrap_or_default()))?;
        Ok(Claim { file: held.writable(plan.node.given())?, held })
    }

    /// Returns whether a device would be claimed, as far as that can be told without opening it for
    /// writing.
    ///
    /// # Errors
    /// Same as [`Claim::take`], but for what only the open for writing finds, and for words that
    /// nobody typed yet.
    pub fn rehearse(plan: ClaimPlan<'_>) -> Result<(), ClaimRefusal> {
        held(plan, plan.confirm).map(drop)
    }

    /// The device, open for reading and writing with `O_DIRECT`.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The device's length in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.held.seen.length_bytes
    }

    /// The device's number, major and minor.
    #[must_use]
    pub fn number(&self) -> (u32, u32) {
        self.held.seen.number
    }

    /// Closes the nodes of its partitions, which the kernel is about to be told to change. The
    /// claim itself keeps others from opening them for themselves.
    pub(crate) fn release_partitions(&mut self) {
        self.held.locks.keep_own();
    }

    /// The descriptor once more, for a queue to own. The claim itself lasts as long as this does.
    ///
    /// # Errors
    /// When this process may have no more descriptors.
    pub fn try_clone(&self) -> io::Result<OwnedFd> {
        self.file.try_clone()
    }
}

impl AsFd for Claim {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

/// Rejects device `number`, of which `node` is a node, if by the kernel's files somebody uses it.
fn look(
    machine: &impl ClaimWorld,
    number: Number,
    node: Option<&Path>,
) -> Result<DeviceState, ClaimRefusal> {
    let own = ClaimedDevice::numbered(machine, number)?;
    let length_bytes = own.length_bytes(machine)?;
    if length_bytes == 0 {
        let device = own.node();
        return Err(match own.container_of(machine) {
            Some(metadata) => ClaimRefusal::Container { device, metadata },
            None => ClaimRefusal::Empty { device },
        });
    }
    if own.word(machine, "ro")? != "0" {
        return Err(ClaimRefusal::ReadOnly { device: own.node() });
    }
    in_use::check(machine, &own, node, Wish::Write)?;
    Ok(DeviceState { number, length_bytes })
}

/// Rejects device `number`, of which `node` is a node, for a copy of it: if somebody uses it who
/// may write to it, or that cannot be told.
///
/// # Errors
/// [`ClaimRefusal`], as `in_use` finds it, and [`ClaimRefusal::HeldElsewhere`].
pub(crate) fn unwritten(number: Number, node: &Path) -> Result<(), ClaimRefusal> {
    let machine = LiveMachine::new();
    let own = ClaimedDevice::numbered(&machine, number);
    let own = own.and_then(|own| in_use::check(&machine, &own, None, Wish::Read));
    // Whoever holds it is seen so in any mount namespace; its reader sees other errors.
    let held = || match opened(node, OFlags::RDONLY | OFlags::EXCL | OFlags::NONBLOCK, node) {
        Err(held @ ClaimRefusal::HeldElsewhere { .. }) => Err(held),
        _ => Ok(()),
    };
    own.and_then(|()| held())
}

/// Returns the refusal of `file`, which is called `name`, where a process that can be looked at has
/// it open for writing or mapped, or the kernel serves it.
pub(crate) fn file_user(file: PathIdentity, name: &str) -> Option<ClaimRefusal> {
    let sought = Sought { files: [file].into(), ..Sought::default() };
    let User { who, pid, how, .. } = users::seen(&LiveTree::new(Path::new("/")), &sought)?;
    Some(ClaimRefusal::Used { wanted: name.to_owned(), who, pid, how, device: "it".to_owned() })
}

/// Opens `path`, which is called `node`.
fn opened(path: &Path, flags: OFlags, node: &Path) -> Result<OwnedFd, ClaimRefusal> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::BUSY => ClaimRefusal::HeldElsewhere { node: node.to_owned() },
        error => ClaimRefusal::kernel(node, error),
    })
}

/// Rejects an open file that is not of block device `number`.
fn require_number(file: &OwnedFd, number: Number, node: &Path) -> Result<(), ClaimRefusal> {
    let stat = rustix::fs::fstat(file).map_err(|error| ClaimRefusal::kernel(node, error))?;
    match PathIdentity::of(&stat) == (PathIdentity::Block { major: number.0, minor: number.1 }) {
        true => Ok(()),
        false => Err(ClaimRefusal::Changed { node: node.to_owned(), what: "its number" }),
    }
}

fn length(node: &Path, file: BorrowedFd<'_>) -> Result<u64, ClaimRefusal> {
    block_ioctls::length_bytes(file).map_err(|error| ClaimRefusal::kernel(node, error))
}

#[cfg(test)]
mod tests;
