//! Stores below a file system that take space when bytes are first written: file systems with
//! files behind loop devices, and device-mapper's pools.
//!
//! The mounted file system does not know how much room they have. Where one of them has none left,
//! writes that the mounted file system took fail later, and with them its journal.
//!
//! | file | what it is |
//! |---|---|
//! | `store` | a store, its room, and how much of it a scratch file may take |
//! | `growth` | how much a file may grow while it is written over |
//! | `pool` | room in pools of device-mapper |
//!
//! Drives end the way down, as do file systems whose devices this kernel does not list: those of
//! other machines, programs and ZFS.
//!
//! Source: Linux `Documentation/ABI/testing/sysfs-block` and `sysfs-block-loop`,
//! `fs/btrfs/sysfs.c`.

mod growth;
mod pool;
mod store;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use device::mountinfo::{self, MountLine};
use device::{KernelTree, answer};
use units::DiskText;

use crate::extents::FileFacts;
use crate::{PathIdentity, file_facts, identity, loop_file};

use store::StoreKind;
pub use store::{Room, StoreBelow};

/// Largest number of layers on one way down.
const DEPTH_MAX: usize = 16;
/// Largest number of layers that are looked at.
const LOOKS_MAX: usize = 256;

/// Returns every store below the file system with `facts`, with what a new file of `length_bytes`
/// there may take of it; the nearest first.
pub(super) fn stores(
    tree: &dyn KernelTree,
    facts: &FileFacts,
    length_bytes: u64,
) -> Vec<StoreBelow> {
    let table = tree.bytes("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mountinfo::lines(&table).collect();
    let mut walk = Walk { tree, mounts, length_bytes, looks: 0, found: Vec::new() };
    walk.file_system(facts, Way { depth: 0, copies: false });
    walk.found
}

/// Part of the way down.
#[derive(Clone, Copy)]
struct Way {
    depth: usize,
    /// True if a layer above writes each byte to several layers below.
    copies: bool,
}

struct Walk<'a> {
    tree: &'a dyn KernelTree,
    mounts: Vec<MountLine>,
    length_bytes: u64,
    looks: usize,
    found: Vec<StoreBelow>,
}

impl Walk<'_> {
    /// The file system that a file with `facts` is on.
    fn file_system(&mut self, facts: &FileFacts, way: Way) {
        let mount = self.mount_of(facts).cloned();
        let (major, minor) = facts.device;
        if major != 0 {
            return self.numbered(major, minor, way);
        }
        let Some(mount) = mount else { return };
        if let Some(upper) = mount.option("upperdir") {
            // Where another namespace mounted the overlay, its path leads elsewhere or nowhere.
            if let Ok(upper) = file_facts(Path::new(OsStr::from_bytes(&upper))) {
                self.look(way, |walk, way| walk.file_system(&upper, way));
            }
            return;
        }
        let source = Path::new(OsStr::from_bytes(mount.source.raw()));
        let device = source.is_absolute().then(|| identity(source).ok()).flatten();
        let Some(PathIdentity::Block { major, minor }) = device else { return };
        match mount.kind.as_str() {
            "btrfs" => self.btrfs(major, minor, way),
            _ => self.numbered(major, minor, way),
        }
    }

    /// The devices of the btrfs that has the one with this number.
    fn btrfs(&mut self, major: u32, minor: u32, way: Way) {
        const ROOT: &str = "/sys/fs/btrfs";
        let Some(directory) = self.directory(major, minor) else { return };
        let name = name_of(&directory).to_owned();
        let mut systems = self.tree.list(ROOT).unwrap_or_default().into_iter();
        let members = systems.find_map(|system| {
            let members = self.tree.list(&format!("{ROOT}/{system}/devices")).ok()?;
            members.contains(&name).then_some((system, members))
        });
        let Some((system, members)) = members else { return self.numbered(major, minor, way) };
        let profiles = self.tree.list(&format!("{ROOT}/{system}/allocation/data"));
        let is_copy =
            |name: &String| name == "dup" || (name.starts_with("raid") && name != "raid0");
        let copies = way.copies || profiles.unwrap_or_default().iter().any(is_copy);
        for member in members {
            self.named(&member, Way { copies, ..way });
        }
    }

    fn numbered(&mut self, major: u32, minor: u32, way: Way) {
        if let Some(directory) = self.directory(major, minor) {
            self.look(way, |walk, way| walk.device(&directory, way));
        }
    }

    fn named(&mut self, name: &str, way: Way) {
        if let Ok(directory) = self.tree.link(&format!("/sys/class/block/{name}")) {
            self.look(way, |walk, way| walk.device(&directory, way));
        }
    }

    fn directory(&self, major: u32, minor: u32) -> Option<String> {
        self.tree.link(&format!("/sys/dev/block/{major}:{minor}")).ok()
    }

    /// Goes one layer down, as long as the way is neither too long nor a circle.
    fn look(&mut self, way: Way, next: impl FnOnce(&mut Self, Way)) {
        self.looks += 1;
        if way.depth < DEPTH_MAX && self.looks <= LOOKS_MAX {
            next(self, Way { depth: way.depth + 1, ..way });
        }
    }

    /// The block device with this directory in sysfs.
    fn device(&mut self, directory: &str, way: Way) {
        let file = |name: &str| self.tree.read(&format!("{directory}/{name}")).ok();
        if file("partition").is_some()
            && let Some((disk, _)) = directory.rsplit_once('/')
        {
            return self.device(disk, way);
        }
        if let Ok(path) = self.tree.bytes(&format!("{directory}/loop/backing_file")) {
            let path = path.strip_suffix(b"\n").unwrap_or(&path);
            return self.behind_loop(directory, Path::new(OsStr::from_bytes(path)), way);
        }
        let mut copies = way.copies;
        if let Some(level) = file("md/level") {
            copies |= !matches!(level.as_str(), "linear" | "raid0");
        }
        if let Some(name) = file("dm/name") {
            copies |= self.mapped(&name, way);
        }
        for slave in self.tree.list(&format!("{directory}/slaves")).unwrap_or_default() {
            self.named(&slave, Way { copies, ..way });
        }
    }

    /// Notes the pools that the device-mapper device `name` is; returns whether it copies.
    fn mapped(&mut self, name: &str, way: Way) -> bool {
        let states = self.tree.read(answer::DM_STATUS).unwrap_or_default();
        let mut copies = false;
        for target in pool::targets(&states, name) {
            copies |= target.copies();
            if let Some((kind, room)) = target.pool() {
                let store = StoreKind::Pool { kind, name: DiskText::from(name) };
                self.add(store, None, self.length_bytes, room, way);
            }
        }
        copies
    }

    /// The file or device behind a loop device.
    fn behind_loop(&mut self, directory: &str, path: &Path, way: Way) {
        let told = loop_file(&Path::new("/dev").join(name_of(directory))).ok();
        // Who may not ask the device has the path alone.
        let is_same = |seen: &FileFacts| {
            told.is_none_or(|told| (told.device, told.inode) == (seen.device, seen.inode))
        };
        let Some(facts) = file_facts(path).ok().filter(is_same) else {
            return self.hidden_file(path, told.map(|told| told.device), way);
        };
        if facts.is_block_device {
            if let Ok(PathIdentity::Block { major, minor }) = identity(path) {
                self.numbered(major, minor, way);
            }
            return;
        }
        let mount = self.mount_of(&facts).cloned();
        let kind = mount.as_ref().map_or("", |mount| mount.kind.as_str());
        let grows_bytes = growth::of(path, kind, self.length_bytes);
        let store = file_system(facts.device, mount.as_ref());
        self.add(store, Some(path), grows_bytes, room_of(path), way);
        self.look(way, |walk, way| walk.file_system(&facts, way));
    }

    /// A file that has no path here: it was deleted, or is in another mount namespace. It may have
    /// holes.
    fn hidden_file(&mut self, path: &Path, device: Option<(u32, u32)>, way: Way) {
        let Some(device) = device else { return };
        let number = format!("{}:{}", device.0, device.1);
        let mount = self.mounts.iter().find(|mount| mount.device == number).cloned();
        let room = match &mount {
            Some(mount) => room_of(Path::new(OsStr::from_bytes(mount.point.raw()))),
            None => Err("it is mounted in another mount namespace".to_owned()),
        };
        let store = file_system(device, mount.as_ref());
        self.add(store, Some(path), self.length_bytes, room, way);
        self.numbered(device.0, device.1, way);
    }

    /// Notes that a store may have to take `bytes`.
    fn add(
        &mut self,
        kind: StoreKind,
        file: Option<&Path>,
        bytes: u64,
        room: Result<Room, String>,
        way: Way,
    ) {
        let place = self.found.iter().position(|store| store.kind.is_same(&kind));
        let place = place.unwrap_or_else(|| {
            let file = file.map(|file| DiskText::from_bytes(file.as_os_str().as_bytes()));
            self.found.push(StoreBelow::new(kind, file, room));
            self.found.len() - 1
        });
        self.found[place].take(bytes, way.copies, self.length_bytes);
    }

    fn mount_of(&self, facts: &FileFacts) -> Option<&MountLine> {
        let number = format!("{}:{}", facts.device.0, facts.device.1);
        let mut mounts = self.mounts.iter().rev();
        let known = facts.mount.value();
        let by_id = known.and_then(|id| mounts.clone().find(|mount| mount.id == *id));
        by_id.or_else(|| mounts.find(|mount| mount.device == number))
    }
}

/// The file system on `device` as a store.
fn file_system(device: (u32, u32), mount: Option<&MountLine>) -> StoreKind {
    let kind = mount.map_or_else(|| "its file system".to_owned(), |mount| mount.kind.clone());
    let point = mount.map(|mount| mount.point.clone());
    StoreKind::FileSystem { device, kind, point }
}

/// The name of the device with this directory in sysfs.
fn name_of(directory: &str) -> &str {
    directory.rsplit_once('/').map_or(directory, |(_, name)| name)
}

/// The room of the file system at `path`.
fn room_of(path: &Path) -> Result<Room, String> {
    let told = rustix::fs::statvfs(path).map_err(crate::errno::words_of)?;
    Ok(Room {
        total_bytes: told.f_blocks.saturating_mul(told.f_frsize),
        free_bytes: told.f_bavail.saturating_mul(told.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;
    use units::{Known, Source};

    use super::*;

    const POOL: &str = "vg-pool-tpool: 0 2097152 thin-pool 1 406/4161 16000/16384 - rw\n\
                        vg-thin: 0 4194304 thin 1048576 4194303\n";

    fn on(major: u32, minor: u32) -> FileFacts {
        let unknown = || Known::no("not asked");
        FileFacts {
            device: (major, minor),
            inode: 2,
            is_block_device: false,
            length_bytes: 0,
            block_bytes: 4096,
            mount: Known::yes(1, Source::Statx),
            direct_offset_bytes: unknown(),
            direct_memory_bytes: unknown(),
            atomic_write_bytes: unknown(),
        }
    }

    /// A machine with these device-mapper devices, each on the one after it.
    fn machine(names: &[&str], status: &str) -> MemoryTree {
        let mut tree = MemoryTree::new().with_file(answer::DM_STATUS, status);
        for (number, name) in names.iter().enumerate() {
            let directory = format!("/sys/devices/virtual/block/dm-{number}");
            tree = tree
                .with_link(&format!("/sys/dev/block/252:{number}"), &directory)
                .with_link(&format!("/sys/class/block/dm-{number}"), &directory)
                .with_file(&format!("{directory}/dm/name"), name);
            if number + 1 < names.len() {
                let slave = format!("dm-{}", number + 1);
                let target = format!("/sys/devices/virtual/block/{slave}");
                tree = tree.with_link(&format!("{directory}/slaves/{slave}"), &target);
            }
        }
        tree
    }

    #[test]
    fn a_thin_pool_below_an_encrypted_volume_is_found_with_its_room() {
        let tree = machine(&["crypt", "vg-thin", "vg-pool-tpool", "vg-pool_tdata"], POOL);
        let found = stores(&tree, &on(252, 0), 32 << 20);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].to_string(), "thin pool vg-pool-tpool");
        assert_eq!(found[0].needs_bytes(), 32 << 20);
        let room = Room { total_bytes: 1 << 30, free_bytes: 24 << 20 };
        assert_eq!(found[0].room(), Some(room));
    }

    #[test]
    fn a_pool_that_may_not_be_asked_or_failed_has_unknown_room() {
        let failed = "vg-pool-tpool: 0 2097152 thin-pool Fail\n";
        let found = stores(&machine(&["vg-pool-tpool"], failed), &on(252, 0), 1 << 20);
        assert_eq!(found.iter().map(StoreBelow::room).collect::<Vec<_>>(), [None]);
        assert_eq!(stores(&machine(&["vg-pool-tpool"], ""), &on(252, 0), 1 << 20), []);
    }

    #[test]
    fn devices_in_a_circle_end() {
        let directory = "/sys/devices/virtual/block/dm-0";
        let tree = machine(&["vg-pool-tpool"], POOL)
            .with_link(&format!("{directory}/slaves/dm-0"), directory);
        assert_eq!(stores(&tree, &on(252, 0), 4 << 20)[0].needs_bytes(), 4 << 20);
    }

    #[test]
    fn a_partition_lies_on_its_disk_and_each_copy_takes_as_much() {
        let root = "/sys/devices/virtual/block";
        let status = "raid: 0 8 raid raid1 2 AA 8/8 idle 0 0 -\n";
        let tree = machine(&["raid", "vg-pool-tpool"], &format!("{POOL}{status}"))
            .with_link("/sys/dev/block/259:1", &format!("{root}/dm-0/part1"))
            .with_file(&format!("{root}/dm-0/part1/partition"), "1")
            .with_link(&format!("{root}/dm-0/slaves/dm-9"), &format!("{root}/dm-9"))
            .with_link("/sys/class/block/dm-9", &format!("{root}/dm-9"))
            .with_file(&format!("{root}/dm-9/dm/name"), "vg-pool-tpool");
        let found = stores(&tree, &on(259, 1), 4 << 20);
        assert_eq!(found.iter().map(StoreBelow::needs_bytes).collect::<Vec<_>>(), [8 << 20]);
    }
}
