//! Who uses the bytes of a device, by the tables of mounts and swaps, and by what is built on it.
//!
//! Everything is compared by number, never by path: a link, a second node or a bind mount is the
//! same device.
//!
//! Source: proc_pid_mountinfo(5), proc_swaps(5).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use units::text::escape;

use super::refusal::{ClaimRefusal, Relation};
use super::relatives::{self, Relative, parsed};
use super::world::{Number, World};
use crate::Identity;

/// This thread's mounts, and those of the first process, which may be others.
const MOUNT_TABLES: [&str; 2] = ["/proc/thread-self/mountinfo", "/proc/1/mountinfo"];
const SWAPS: &str = "/proc/swaps";
const BTRFS: &str = "/sys/fs/btrfs";

/// That nobody uses the bytes of `own`.
///
/// # Errors
/// [`ClaimRefusal::Mounted`], [`ClaimRefusal::Swap`], [`ClaimRefusal::Holder`],
/// [`ClaimRefusal::BacksLoop`], [`ClaimRefusal::SharedFile`], in this order, and
/// [`ClaimRefusal::Unknown`] where that cannot be told.
pub(super) fn check(world: &impl World, own: Relative) -> Result<(), ClaimRefusal> {
    let wanted = own.node();
    let all = relatives::all(world, own)?;
    mounted(&all, &wanted, &mounts(world, &wanted)?)?;
    swapped(&all, &wanted, &swaps(world, &wanted)?)?;
    built_on(&all, &wanted)
}

/// A mounted device.
struct Mount {
    number: Number,
    /// Escaped.
    point: String,
}

fn mounted(all: &[Relative], wanted: &str, mounts: &[Mount]) -> Result<(), ClaimRefusal> {
    for one in all {
        if let Some(mount) = mounts.iter().find(|mount| mount.number == one.number) {
            return Err(ClaimRefusal::Mounted {
                wanted: wanted.to_owned(),
                relation: one.relation,
                device: one.node(),
                point: mount.point.clone(),
            });
        }
    }
    Ok(())
}

fn mounts(world: &impl World, wanted: &str) -> Result<Vec<Mount>, ClaimRefusal> {
    let [own, first] = MOUNT_TABLES.map(|path| world.tree().bytes(path));
    let own = own.map_err(|error| unknown(wanted, error.to_string()))?;
    // Who may not look at the first process knows what this one sees.
    let tables = [own, first.unwrap_or_default()];
    let lines = tables.iter().flat_map(|table| table.split(|&byte| byte == b'\n'));
    let mut mounts: Vec<Mount> = lines.flat_map(|line| mounts_of(world, line)).collect();
    mounts.extend(btrfs_members(world));
    Ok(mounts)
}

/// The devices of a line of mountinfo: its number, and what its source leads to, since btrfs and
/// others have numbers of their own; bcachefs lists sources with colons.
fn mounts_of(world: &impl World, line: &[u8]) -> Vec<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let (Some(number), Some(point)) = (fields.nth(2), fields.nth(1)) else { return Vec::new() };
    let source = fields.skip_while(|field| *field != b"-").nth(2).unwrap_or_default();
    let sources = source.split(|&byte| byte == b':').filter_map(|path| device(world, path));
    let own = std::str::from_utf8(number).ok().and_then(parsed);
    let point = escape(&unescaped(point));
    let numbers = own.into_iter().chain(sources);
    numbers.map(|number| Mount { number, point: point.clone() }).collect()
}

/// The devices of every mounted btrfs, of which mountinfo names one.
fn btrfs_members(world: &impl World) -> Vec<Mount> {
    let mut found = Vec::new();
    for name in world.tree().list(BTRFS).unwrap_or_default() {
        let directory = format!("{BTRFS}/{name}/devices");
        for member in world.tree().list(&directory).unwrap_or_default() {
            let number = world.tree().read(&format!("{directory}/{member}/dev"));
            let number = number.ok().and_then(|text| parsed(&text));
            let point = format!("(btrfs {})", escape(name.as_bytes()));
            found.extend(number.map(|number| Mount { number, point }));
        }
    }
    found
}

/// The block device that an escaped path of a table of the kernel leads to; where its node is not
/// there, the device of the same name.
fn device(world: &impl World, escaped: &[u8]) -> Option<Number> {
    let bytes = unescaped(escaped);
    let path = Path::new(OsStr::from_bytes(&bytes));
    if !path.is_absolute() {
        return None;
    }
    match world.identity(path) {
        Some(Identity::Block { major, minor }) => Some((major, minor)),
        Some(Identity::File { .. }) => None,
        None => {
            let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
            parsed(&world.tree().read(&format!("/sys/class/block/{name}/dev")).ok()?)
        }
    }
}

fn swapped(all: &[Relative], wanted: &str, swaps: &[Identity]) -> Result<(), ClaimRefusal> {
    for one in all {
        let (major, minor) = one.number;
        let own = Identity::Block { major, minor };
        if swaps.iter().any(|&swap| swap == own || one.behind == Some(swap)) {
            return Err(ClaimRefusal::Swap {
                wanted: wanted.to_owned(),
                relation: one.relation,
                device: one.node(),
            });
        }
    }
    Ok(())
}

/// What the kernel swaps to. A file that is no longer where it was is left out.
fn swaps(world: &impl World, wanted: &str) -> Result<Vec<Identity>, ClaimRefusal> {
    // A kernel without swap has no table.
    let table = match world.tree().bytes(SWAPS) {
        Err(device::TreeError::Missing { .. }) => return Ok(Vec::new()),
        table => table.map_err(|error| unknown(wanted, error.to_string()))?,
    };
    let mut found = Vec::new();
    for line in table.split(|&byte| byte == b'\n').skip(1) {
        let mut fields = line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
        let (Some(path), Some(kind)) = (fields.next(), fields.next()) else { continue };
        if let Some((major, minor)) = device(world, path) {
            found.push(Identity::Block { major, minor });
        } else if kind == b"partition" {
            let reason = format!("which device the swap {} is", escape(&unescaped(path)));
            return Err(unknown(wanted, format!("{reason} cannot be told")));
        } else {
            let bytes = unescaped(path);
            found.extend(world.identity(Path::new(OsStr::from_bytes(&bytes))));
        }
    }
    Ok(found)
}

/// That nothing is built on the device, nor on what shares its bytes.
fn built_on(all: &[Relative], wanted: &str) -> Result<(), ClaimRefusal> {
    let wanted = wanted.to_owned();
    for one in all {
        let under = &all[one.from];
        let (relation, device) = (under.relation, under.node());
        match one.relation {
            Relation::Above if one.behind.is_some() => {
                return Err(ClaimRefusal::BacksLoop { wanted, relation, device, by: one.node() });
            }
            Relation::Above => {
                let holder = one.node();
                return Err(ClaimRefusal::Holder { wanted, relation, device, holder });
            }
            Relation::Beside => {
                return Err(ClaimRefusal::SharedFile { wanted, other: one.node() });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The kernel writes blanks, tabs, newlines and backslashes of a path as a backslash and three
/// octal digits.
fn unescaped(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = field;
    while let Some((&first, tail)) = rest.split_first() {
        let digits = tail.get(..3).filter(|_| first == b'\\');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[3..] } else { tail };
    }
    bytes
}

fn unknown(device: &str, reason: String) -> ClaimRefusal {
    ClaimRefusal::Unknown { device: device.to_owned(), reason }
}
