//! Uses of the bytes of a device, by the tables of mounts and swaps, by what is built on it, and by
//! what processes have open.
//!
//! Everything is compared by number, never by path: a link, a second node or a bind mount is the
//! same device.
//!
//! Source: proc_pid_mountinfo(5), proc_swaps(5).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use ::device::mountinfo::unescaped;
use units::text::escape;

use super::device::ClaimedDevice;
use super::forbidden_uses::{Sought, Used, User};
use super::machine::ClaimWorld;
use super::number::{Number, parsed};
use super::refusal::{ClaimRefusal, Relation};
use super::relatives::{self, Relative, Relatives};
use crate::PathIdentity;

/// This thread's mounts, and those of the first process, which may be others.
const MOUNT_TABLES: [&str; 2] = ["/proc/thread-self/mountinfo", "/proc/1/mountinfo"];
const SWAPS: &str = "/proc/swaps";
const BTRFS: &str = "/sys/fs/btrfs";

/// Purpose for which a device is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Read,
    Write,
}

/// Rejects a device if somebody uses the bytes of `own`, which `pinned` leads to, too.
///
/// # Errors
/// [`ClaimRefusal::Mounted`], [`ClaimRefusal::Swap`], [`ClaimRefusal::Holder`],
/// [`ClaimRefusal::BacksLoop`], [`ClaimRefusal::SharedFile`], where it is to be written
/// [`ClaimRefusal::Away`], [`ClaimRefusal::Used`], in this order, and [`ClaimRefusal::Unknown`]
/// where that cannot be told.
pub(super) fn check(
    machine: &impl ClaimWorld,
    own: &ClaimedDevice,
    pinned: Option<&Path>,
    wish: Wish,
) -> Result<(), ClaimRefusal> {
    let wanted = own.node();
    let relatives = relatives::all(machine, own)?;
    let mounts = mounts(machine, &wanted)?;
    mounted(&relatives.all, &wanted, &mounts)?;
    swapped(&relatives, &wanted, &swaps(machine, &wanted)?)?;
    built_on(&relatives.all, &wanted)?;
    if wish == Wish::Write {
        kept_here(&relatives.files, &wanted, &mounts)?;
    }
    open(machine, &relatives, &wanted, pinned)
}

struct Mount {
    number: Number,
    /// Escaped.
    point: String,
    /// Its type: `ext4`; empty where it is not known.
    kind: String,
}

/// File systems whose files may be written where nobody here sees it: by another machine, by a
/// program, through the file system that they stand on.
const AWAY: [&str; 12] = [
    "fuse", "overlay", "nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "ceph", "gfs2", "ocfs2",
    "ecryptfs",
];

/// Rejects files behind loop devices that can be written elsewhere than on this machine through
/// their own inodes.
fn kept_here(files: &[PathIdentity], wanted: &str, mounts: &[Mount]) -> Result<(), ClaimRefusal> {
    for file in files {
        let PathIdentity::File { device, .. } = *file else { continue };
        let number = (rustix::fs::major(device), rustix::fs::minor(device));
        let mount = mounts.iter().find(|mount| mount.number == number);
        let family = mount.map(|mount| mount.kind.split('.').next().unwrap_or_default());
        if let Some(family) = family.filter(|family| AWAY.contains(family)) {
            let (wanted, kind) = (wanted.to_owned(), escape(family.as_bytes()));
            return Err(ClaimRefusal::Away { wanted, kind });
        }
    }
    Ok(())
}

fn mounted(all: &[Relative], wanted: &str, mounts: &[Mount]) -> Result<(), ClaimRefusal> {
    for one in all {
        if let Some(mount) = mounts.iter().find(|mount| mount.number == one.device.number) {
            return Err(ClaimRefusal::Mounted {
                wanted: wanted.to_owned(),
                relation: one.relation,
                device: one.device.node(),
                point: mount.point.clone(),
            });
        }
    }
    Ok(())
}

fn mounts(machine: &impl ClaimWorld, wanted: &str) -> Result<Vec<Mount>, ClaimRefusal> {
    let [own, first] = MOUNT_TABLES.map(|path| machine.tree().bytes(path));
    let own = own.map_err(|error| unknown(wanted, error.to_string()))?;
    // Who may not look at the first process knows what this one sees.
    let tables = [own, first.unwrap_or_default()];
    let lines = tables.iter().flat_map(|table| table.split(|&byte| byte == b'\n'));
    let mut mounts: Vec<Mount> = lines.flat_map(|line| mounts_of(machine, line)).collect();
    mounts.extend(btrfs_members(machine));
    Ok(mounts)
}

/// The devices of a line of mountinfo: its number, and what its source leads to, since btrfs and
/// others have numbers of their own; bcachefs lists sources with colons.
fn mounts_of(machine: &impl ClaimWorld, line: &[u8]) -> Vec<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let (Some(number), Some(point)) = (fields.nth(2), fields.nth(1)) else { return Vec::new() };
    let mut behind = fields.skip_while(|field| *field != b"-").skip(1);
    let kind = String::from_utf8_lossy(behind.next().unwrap_or_default()).into_owned();
    let source = behind.next().unwrap_or_default();
    let sources = source.split(|&byte| byte == b':').filter_map(|path| device(machine, path));
    let own = std::str::from_utf8(number).ok().and_then(parsed);
    let point = escape(&unescaped(point));
    let numbers = own.into_iter().chain(sources);
    numbers.map(|number| Mount { number, point: point.clone(), kind: kind.clone() }).collect()
}

/// The devices of every mounted btrfs, of which mountinfo names one.
fn btrfs_members(machine: &impl ClaimWorld) -> Vec<Mount> {
    let mut found = Vec::new();
    for name in machine.tree().list(BTRFS).unwrap_or_default() {
        let directory = format!("{BTRFS}/{name}/devices");
        for member in machine.tree().list(&directory).unwrap_or_default() {
            let number = machine.tree().read(&format!("{directory}/{member}/dev"));
            let number = number.ok().and_then(|text| parsed(&text));
            let point = format!("(btrfs {})", escape(name.as_bytes()));
            found.extend(number.map(|number| Mount { number, point, kind: "btrfs".to_owned() }));
        }
    }
    found
}

/// The block device that an escaped path of a table of the kernel leads to; where its node is not
/// there, the device of the same name.
fn device(machine: &impl ClaimWorld, escaped: &[u8]) -> Option<Number> {
    let bytes = unescaped(escaped);
    let path = Path::new(OsStr::from_bytes(&bytes));
    if !path.is_absolute() {
        return None;
    }
    match machine.identity(path) {
        Some(PathIdentity::Block { major, minor }) => Some((major, minor)),
        Some(PathIdentity::File { .. }) => None,
        None => {
            let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
            parsed(&machine.tree().read(&format!("/sys/class/block/{name}/dev")).ok()?)
        }
    }
}

fn swapped(
    relatives: &Relatives,
    wanted: &str,
    swaps: &[PathIdentity],
) -> Result<(), ClaimRefusal> {
    let to = |relation, device: &ClaimedDevice| ClaimRefusal::Swap {
        wanted: wanted.to_owned(),
        relation,
        device: device.node(),
    };
    for one in &relatives.all {
        let (major, minor) = one.device.number;
        if swaps.contains(&PathIdentity::Block { major, minor }) {
            return Err(to(one.relation, &one.device));
        }
    }
    match relatives.files.iter().any(|file| swaps.contains(file)) {
        true => Err(to(Relation::Itself, &relatives.all[0].device)),
        false => Ok(()),
    }
}

/// Returns the devices and files that the kernel swaps to. A file that is no longer where it was is
/// left out.
fn swaps(machine: &impl ClaimWorld, wanted: &str) -> Result<Vec<PathIdentity>, ClaimRefusal> {
    // A kernel without swap has no table.
    let table = match machine.tree().bytes(SWAPS) {
        Err(device::TreeError::Missing { .. }) => return Ok(Vec::new()),
        table => table.map_err(|error| unknown(wanted, error.to_string()))?,
    };
    let mut found = Vec::new();
    for line in table.split(|&byte| byte == b'\n').skip(1) {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let (Some(path), Some(kind)) = (fields.next(), fields.next()) else { continue };
        if let Some((major, minor)) = device(machine, path) {
            found.push(PathIdentity::Block { major, minor });
        } else if kind == b"partition" {
            let reason = format!("which device the swap {} is", escape(&unescaped(path)));
            return Err(unknown(wanted, format!("{reason} cannot be told")));
        } else {
            let bytes = unescaped(path);
            found.extend(machine.identity(Path::new(OsStr::from_bytes(&bytes))));
        }
    }
    Ok(found)
}

/// Rejects a device if something is built on it, or on what shares its bytes.
fn built_on(all: &[Relative], wanted: &str) -> Result<(), ClaimRefusal> {
    let wanted = wanted.to_owned();
    for one in all {
        let (device, relation) = one.under.clone();
        match one.relation {
            Relation::Above if one.is_loop => {
                return Err(ClaimRefusal::BacksLoop {
                    wanted,
                    relation,
                    device,
                    by: one.device.node(),
                });
            }
            Relation::Above => {
                let holder = one.device.node();
                return Err(ClaimRefusal::Holder { wanted, relation, device, holder });
            }
            Relation::Beside => {
                return Err(ClaimRefusal::SharedFile { wanted, other: one.device.node() });
            }
            _ => {}
        }
    }
    Ok(())
}

/// Rejects a device if a process uses any of the devices, or a file in which bytes of them are.
fn open(
    machine: &impl ClaimWorld,
    relatives: &Relatives,
    wanted: &str,
    pinned: Option<&Path>,
) -> Result<(), ClaimRefusal> {
    let devices = || relatives.all.iter().map(|one| &one.device);
    let nodes = devices().map(|device| PathBuf::from(device.path()));
    let sought = Sought {
        devices: devices().map(|device| device.number).collect(),
        characters: devices().flat_map(|device| device.characters(machine)).collect(),
        files: relatives.files.iter().copied().collect(),
        nodes: nodes.chain(pinned.map(Path::to_owned)).collect(),
    };
    let user = machine.user(&sought).map_err(|reason| unknown(wanted, reason))?;
    let Some(User { who, pid, what, how }) = user else { return Ok(()) };
    let of = |is_it: &dyn Fn(&ClaimedDevice) -> bool| {
        relatives.all.iter().find(|one| is_it(&one.device))
    };
    let one = match what {
        Used::Device(number) => of(&|device| device.number == number),
        Used::Character(number) => of(&|device| device.characters(machine).contains(&number)),
        Used::File(_) => None,
    };
    let device = match (what, one) {
        (Used::File(_), _) => "the file behind it".to_owned(),
        (_, Some(one)) => format!("{}{}", one.relation.words(), one.device.node()),
        (_, None) => wanted.to_owned(),
    };
    Err(ClaimRefusal::Used { wanted: wanted.to_owned(), who, pid, how, device })
}

fn unknown(device: &str, reason: String) -> ClaimRefusal {
    ClaimRefusal::Unknown { device: device.to_owned(), reason }
}
