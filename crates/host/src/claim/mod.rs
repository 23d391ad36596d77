//! The one place through which anything opens a block device for writing.
//!
//! A device is handed out only where nobody uses its bytes: nobody has it, its partitions, its disk
//! or what is built on them mounted, swaps to it, holds it or shows it by a loop device; nothing is
//! known to be on it; and whoever asks has said which device is meant in words that fit no other.
//! The checks stand in `relatives` (who shares its bytes), `uses` (who uses them) and `confirm`
//! (what to type). They run in this order, and the first that fails is the answer:
//!
//! | check | why it stands there |
//! |---|---|
//! | a block device | everything else asks about one |
//! | not empty, not read-only | a file of sysfs each |
//! | not mounted, no swap, no holder, no loop over it | as long as that lasts, no words help |
//! | `confirm` fits | what is on a device that was not meant is nobody's to wipe |
//! | no signature | the caller looked; a wipe helps |
//! | the exclusive open | the kernel's own answer, also for users that sysfs does not show |
//! | number, length and uses again | they may have changed while they were looked at |
//!
//! Nothing is opened for writing before all of them passed. The node is opened as a mere path
//! first (`O_PATH`), and what is then opened for writing is that very node, through `/proc`: so no
//! path is followed twice, and a link that is changed meanwhile leads nowhere else.
//!
//! The claim is `O_EXCL` (open(2)): while it lasts no one mounts the device, swaps to it or builds
//! on it, and no one claims its disk or its partitions (`block/bdev.c`, `bd_may_claim`). It does
//! not keep those out who open the device without asking for it.
//!
//! What is *not* here: knowing signatures. The caller reads the device and says what it found.

mod confirm;
mod refusal;
mod relatives;
mod showing;
mod uses;
mod world;

pub use confirm::{IdentityWords, identity_words};
pub use refusal::{ClaimRefusal, Relation};

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use self::relatives::{Relative, directory};
use self::world::{Live, Number, World};
use crate::inquiry;

/// The kernel counts lengths in these, whatever the device's own sectors are
/// (`Documentation/ABI/stable/sysfs-block`).
const SECTOR_BYTES: u64 = 512;

/// A block device that is wanted for writing.
#[derive(Clone, Copy, Debug)]
pub struct ClaimPlan<'a> {
    /// A path that leads to it; links are followed.
    pub node: &'a Path,
    /// What was typed to say which device is meant: see [`identity_words`]. `None` where nothing
    /// was yet: [`Claim::take`] refuses that, and [`Claim::rehearse`] leaves the question out.
    pub confirm: Option<&'a str>,
    /// What was recognised on it, in words: `ext4`, `LVM physical volume`. Anything is a refusal.
    pub signatures: &'a [String],
}

/// A block device that is open for writing, past the page cache, and claimed for this process alone
/// until it is dropped.
#[derive(Debug)]
pub struct Claim {
    file: OwnedFd,
    length_bytes: u64,
    number: Number,
}

/// What one look at a device found.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    number: Number,
    length_bytes: u64,
    /// `diskseq`, which no other device of the same number shares; `None` before Linux 5.15.
    sequence: Option<String>,
}

/// What was seen of a device that nobody uses, that holds nothing and that was named by `typed`,
/// where that is asked.
fn permitted(
    world: &impl World,
    plan: ClaimPlan<'_>,
    number: Number,
    typed: Option<&str>,
) -> Result<Seen, ClaimRefusal> {
    let seen = look(world, number)?;
    if let Some(typed) = typed {
        confirm::check(world, plan, number, typed)?;
    }
    if !plan.signatures.is_empty() {
        let signatures = plan.signatures.to_vec();
        let (node, is_named) = (plan.node.to_owned(), typed.is_some());
        return Err(ClaimRefusal::Signature { node, signatures, is_named });
    }
    Ok(seen)
}

impl Claim {
    /// Claims a device.
    ///
    /// # Errors
    /// [`ClaimRefusal`], in the order of the table at the head of this module. Nothing was written.
    pub fn take(plan: ClaimPlan<'_>) -> Result<Claim, ClaimRefusal> {
        let world = Live::new();
        let (pinned, number) = pin(plan.node)?;
        let typed = plan.confirm.unwrap_or_default();
        let seen = permitted(&world, plan, number, Some(typed))?;
        let file = exclusive(plan.node, &pinned)?;
        let claim = Claim { length_bytes: length(plan.node, file.as_fd())?, file, number };
        claim.check_again(&world, plan.node, &seen)?;
        Ok(claim)
    }

    /// Whether a device would be claimed, as far as that can be told without opening it for
    /// writing.
    ///
    /// # Errors
    /// As [`Claim::take`], but for what only the exclusive open finds, and for words that nobody
    /// typed yet.
    pub fn rehearse(plan: ClaimPlan<'_>) -> Result<(), ClaimRefusal> {
        let (_, number) = pin(plan.node)?;
        permitted(&Live::new(), plan, number, plan.confirm).map(drop)
    }

    /// That the claimed device is the one that was `seen`, and still used by nobody.
    fn check_again(&self, world: &Live, node: &Path, seen: &Seen) -> Result<(), ClaimRefusal> {
        let changed = |what| ClaimRefusal::Changed { node: node.to_owned(), what };
        let stat = rustix::fs::fstat(&self.file).map_err(|error| refused(node, error))?;
        if numbers(&stat) != Some(self.number) {
            return Err(changed("its number"));
        }
        let now = look(world, self.number)?;
        if now.sequence != seen.sequence {
            return Err(changed("the device behind its number"));
        }
        if now.length_bytes != seen.length_bytes || self.length_bytes != seen.length_bytes {
            return Err(changed("its length"));
        }
        Ok(())
    }

    /// The device, open for reading and writing with `O_DIRECT`.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The device's length in bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// The device's number, major and minor.
    #[must_use]
    pub fn number(&self) -> (u32, u32) {
        self.number
    }

    /// The descriptor once more, for a queue to own. The claim lasts until the last is closed.
    ///
    /// # Errors
    /// When this process may have no more descriptors.
    pub fn try_clone(&self) -> io::Result<OwnedFd> {
        self.file.try_clone()
    }

    /// The descriptor, with which the claim ends.
    #[must_use]
    pub fn into_fd(self) -> OwnedFd {
        self.file
    }
}

impl AsFd for Claim {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}

/// The node that `node` leads to, held without being opened, and which device it is of.
fn pin(node: &Path) -> Result<(OwnedFd, Number), ClaimRefusal> {
    let pinned = rustix::fs::open(node, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
    let pinned = pinned.map_err(|error| refused(node, error))?;
    let stat = rustix::fs::fstat(&pinned).map_err(|error| refused(node, error))?;
    match numbers(&stat) {
        Some(number) => Ok((pinned, number)),
        None => {
            let found = kind(FileType::from_raw_mode(stat.st_mode));
            Err(ClaimRefusal::NotABlockDevice { node: node.to_owned(), found })
        }
    }
}

/// The device's number; `None` when it is no block device.
fn numbers(stat: &rustix::fs::Stat) -> Option<Number> {
    let is_block = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
    is_block.then(|| (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev)))
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a regular file",
        FileType::Directory => "a directory",
        FileType::CharacterDevice => "a character device",
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        _ => "of another kind",
    }
}

/// That nobody uses device `number`, by what the kernel's files say.
fn look(world: &impl World, number: Number) -> Result<Seen, ClaimRefusal> {
    let own = Relative::itself(world, number)?;
    let length_bytes = own.length_bytes(world)?;
    if length_bytes == 0 {
        return Err(ClaimRefusal::Empty { device: own.node() });
    }
    if own.word(world, "ro")? != "0" {
        return Err(ClaimRefusal::ReadOnly { device: own.node() });
    }
    let sequence = world.tree().read(&format!("{}/diskseq", directory(world, number)?)).ok();
    uses::check(world, own)?;
    Ok(Seen { number, length_bytes, sequence })
}

/// Opens what was pinned, for this process alone.
fn exclusive(node: &Path, pinned: &OwnedFd) -> Result<OwnedFd, ClaimRefusal> {
    let path = format!("/proc/self/fd/{}", pinned.as_raw_fd());
    // O_NONBLOCK is not asked for: drivers that know it let a device without a medium be opened.
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::DIRECT | OFlags::CLOEXEC | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::BUSY => ClaimRefusal::HeldElsewhere { node: node.to_owned() },
        error => refused(node, error),
    })
}

fn length(node: &Path, file: BorrowedFd<'_>) -> Result<u64, ClaimRefusal> {
    inquiry::length_bytes(file).map_err(|error| refused(node, error))
}

fn refused(node: &Path, error: Errno) -> ClaimRefusal {
    let reason = io::Error::from(error).to_string();
    let hint = match error {
        Errno::NOENT => "check the path; lsblk -p lists block devices",
        Errno::ACCESS | Errno::PERM => "writing to a device needs root: try sudo",
        Errno::NXIO | Errno::NODEV => "no device answers behind this node; lsblk -p lists those",
        Errno::NOMEDIUM => "insert a medium first",
        Errno::ROFS => "the device is read-only",
        _ => "",
    };
    ClaimRefusal::Kernel { node: node.to_owned(), reason, hint }
}

#[cfg(test)]
mod tests;
