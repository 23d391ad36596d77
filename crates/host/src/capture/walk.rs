//! Walks a tree and writes down what is there.

use std::collections::BTreeSet;

use device::answer::{self, Question};
use device::manifest::{Manifest, ManifestEntry};
use device::{KernelTree, TreeError};

use super::captured_files;

/// The most files, links and reasons that a capture holds.
const ENTRIES_MAX: usize = 1 << 20;
/// The most that the files of a capture may hold together, in bytes.
const BYTES_MAX: usize = 24 << 20;

/// A capture while it is made.
pub(super) struct CaptureWalk<'a> {
    tree: &'a dyn KernelTree,
    manifest: Manifest,
    /// Block devices and what they are attached to, by their true paths.
    seen: BTreeSet<String>,
    entries: usize,
    bytes: usize,
}

impl<'a> CaptureWalk<'a> {
    /// Everything that straddle reads, from `tree`.
    pub(super) fn of(tree: &'a dyn KernelTree) -> Manifest {
        let (manifest, seen) = (Manifest::new(), BTreeSet::new());
        let mut walk = CaptureWalk { tree, manifest, seen, entries: 0, bytes: 0 };
        for file in captured_files::FILES {
            walk.file(file);
        }
        for directory in captured_files::BLOCK_DEVICES {
            walk.links(directory, CaptureWalk::block_device);
        }
        for directory in captured_files::CONTROLLERS {
            walk.links(directory, CaptureWalk::attached);
        }
        for directory in captured_files::NAMES {
            walk.names(directory);
        }
        for name in walk.list(captured_files::UDEV) {
            if name.starts_with('b') {
                walk.file(&format!("{}/{name}", captured_files::UDEV));
            }
        }
        walk.answers();
        if walk.is_full() {
            walk.manifest.note("it is cut off: there are more than 1048576 files or 24 MiB");
        }
        walk.manifest
    }

    fn is_full(&self) -> bool {
        self.entries >= ENTRIES_MAX || self.bytes >= BYTES_MAX
    }

    fn put(&mut self, path: &str, entry: ManifestEntry) {
        if self.is_full() || self.manifest.holds(path) {
            return;
        }
        self.entries += 1;
        self.bytes += match &entry {
            ManifestEntry::File(content) => content.len(),
            ManifestEntry::Link(text) | ManifestEntry::Unreadable(text) => text.len(),
        };
        // The kernel has no name that a manifest cannot hold.
        let _ = self.manifest.put(path, entry);
    }

    /// Writes down the file at `path`, or why it cannot be read; nothing where there is none.
    fn file(&mut self, path: &str) {
        if self.is_full() || self.manifest.holds(path) {
            return;
        }
        match self.tree.bytes(path) {
            Ok(content) => self.put(path, ManifestEntry::File(content)),
            Err(TreeError::Unreadable { reason, .. }) => {
                self.put(path, ManifestEntry::Unreadable(reason))
            }
            Err(TreeError::Missing { .. }) => {}
        }
    }

    /// The names in a directory; it is noted where they cannot be told.
    fn list(&mut self, path: &str) -> Vec<String> {
        match self.tree.list(path) {
            Ok(names) => {
                let _ = self.manifest.directory(path);
                names
            }
            Err(TreeError::Unreadable { reason, .. }) => {
                self.put(path, ManifestEntry::Unreadable(reason));
                Vec::new()
            }
            Err(TreeError::Missing { .. }) => Vec::new(),
        }
    }

    /// Writes down the link at `path`, whose directory is no link; where it leads.
    fn link(&mut self, path: &str) -> Option<String> {
        let target = self.tree.link(path).ok()?;
        self.put(path, ManifestEntry::Link(relative(path, &target)));
        Some(target)
    }

    /// Every link in `directory`, and what `each` makes of where it leads.
    fn links(&mut self, directory: &str, each: fn(&mut Self, &str)) {
        for name in self.list(directory) {
            let path = format!("{directory}/{name}");
            // Old kernels have directories here.
            let target = self.link(&path).unwrap_or(path);
            each(self, &target);
        }
    }

    fn names(&mut self, directory: &str) {
        for name in self.list(directory) {
            let path = format!("{directory}/{name}");
            if self.tree.list(&path).is_ok() {
                let _ = self.manifest.directory(&path);
                // Btrfs and bcache call them by an id: these say which devices they are on.
                self.directory(&format!("{path}/devices"), 1);
            }
        }
    }

    /// A disk or a partition, at its true path.
    fn block_device(&mut self, path: &str) {
        if !self.seen.insert(path.to_owned()) || self.tree.list(path).is_err() {
            return;
        }
        for file in captured_files::BLOCK_FILES {
            self.file(&format!("{path}/{file}"));
        }
        for (directory, depth) in captured_files::BLOCK_DIRECTORIES {
            self.directory(&format!("{path}/{directory}"), depth);
        }
        for link in captured_files::LINKS {
            let target = self.link(&format!("{path}/{link}"));
            if let Some(target) = target.filter(|_| link == "device") {
                self.attached(&target);
            }
        }
        for name in self.tree.list(path).unwrap_or_default() {
            let inner = format!("{path}/{name}");
            if self.tree.read(&format!("{inner}/partition")).is_ok()
                && self.tree.link(&inner).is_err()
            {
                self.block_device(&inner);
            }
        }
    }

    /// Captures the device that a block device is attached to, at its true path.
    fn attached(&mut self, path: &str) {
        if !self.seen.insert(path.to_owned()) {
            return;
        }
        for file in captured_files::DEVICE_FILES.into_iter().chain(captured_files::PAGES) {
            // A directory of that name is something else.
            if self.tree.list(&format!("{path}/{file}")).is_err() {
                self.file(&format!("{path}/{file}"));
            }
        }
        for link in captured_files::LINKS {
            self.link(&format!("{path}/{link}"));
        }
        let disks = format!("{path}/scsi_disk");
        for disk in self.tree.list(&disks).unwrap_or_default() {
            for file in captured_files::SCSI_DISK_FILES {
                self.file(&format!("{disks}/{disk}/{file}"));
            }
        }
        // The controllers of an NVMe subsystem.
        for name in self.tree.list(path).unwrap_or_default() {
            if name.starts_with("nvme")
                && let Some(target) = self.link(&format!("{path}/{name}"))
            {
                self.attached(&target);
            }
        }
    }

    /// Files and links of a directory, `depth` directories deep.
    fn directory(&mut self, path: &str, depth: u32) {
        for name in self.list(path) {
            let inner = format!("{path}/{name}");
            if self.link(&inner).is_some() || captured_files::SLOW.contains(&name.as_str()) {
                continue;
            }
            if self.tree.list(&inner).is_err() {
                self.file(&inner);
            } else if depth > 1 {
                self.directory(&inner, depth - 1);
            }
        }
    }

    /// Captures answers that are no files.
    fn answers(&mut self) {
        self.file(answer::DM_TABLES);
        for disk in self.tree.list("/sys/block").unwrap_or_default() {
            for question in Question::ALL.into_iter().filter(|question| question.is_captured()) {
                self.file(&answer::of_drive(&disk, question));
            }
        }
    }
}

/// `target` as a link at `path` names it: both are absolute.
fn relative(path: &str, target: &str) -> String {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let (mut from, to) = (parts(path), parts(target));
    from.pop();
    let same = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = from[same..].iter().map(|_| "..");
    let words: Vec<&str> = up.chain(to[same..].iter().map(String::as_str)).collect();
    if words.is_empty() { ".".to_owned() } else { words.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_written_as_the_kernel_writes_it() {
        for (path, target, expected) in [
            ("/sys/block/sda", "/sys/devices/x/sda", "../devices/x/sda"),
            ("/sys/a/b/device", "/sys/a", ".."),
            ("/sys/a/self", "/sys/a", "."),
            ("/sys/a/b", "/sys/a/c", "c"),
        ] {
            assert_eq!(relative(path, target), expected);
        }
    }
}
