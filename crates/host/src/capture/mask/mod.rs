//! Takes out of a capture what names a person, a machine or a single drive.
//!
//! Serials, WWNs, UUIDs and hosts are replaced by numbers of the same shape, the same one by the
//! same number wherever it stands, so that what belongs together still does. Lengths, sectors and
//! the names of devices stay. Who gets the capture sees how disks lie on each other, and not whose
//! they are.

mod drive_answers;
mod identifier_files;
mod mounts;
mod personal_names;
mod replacements;
mod udev;

use device::manifest::{Manifest, ManifestEntry};

pub use personal_names::Mask;

impl Mask {
    /// The capture without them.
    #[must_use]
    pub fn apply(&mut self, capture: &Manifest) -> Manifest {
        // First what is secret is learned, since it may stand in a file that is read before.
        for (path, entry) in capture.entries() {
            if let ManifestEntry::File(content) = entry {
                self.learn(&path, content);
            }
        }
        let mut masked = Manifest::new();
        masked.note("serials, identifiers, hosts and paths are masked: equal ones stay equal");
        for directory in capture.empty_directories() {
            let _ = masked.directory(&self.secrets.in_path(&directory));
        }
        for (path, entry) in capture.entries() {
            let entry = match entry {
                ManifestEntry::File(content) => ManifestEntry::File(self.content(&path, content)),
                ManifestEntry::Link(target) => ManifestEntry::Link(self.secrets.in_path(target)),
                ManifestEntry::Unreadable(reason) => {
                    ManifestEntry::Unreadable(self.secrets.in_text(reason))
                }
            };
            // What is put for an identifier is a name too.
            let _ = masked.put(&self.secrets.in_path(&path), entry);
        }
        masked
    }

    /// Takes note of what a file holds that is an identifier.
    fn learn(&mut self, path: &str, content: &[u8]) {
        let Ok(text) = std::str::from_utf8(content) else { return };
        if path.starts_with(super::captured_files::UDEV) {
            udev::learn(&mut self.secrets, text);
        } else if path.ends_with("/dm/uuid") {
            self.secrets.learn_parts(text.trim());
        } else if is_identifier(path) {
            self.secrets.learn(text.trim());
        }
    }

    fn content(&mut self, path: &str, content: &[u8]) -> Vec<u8> {
        let name = path.rsplit('/').next().unwrap_or_default();
        if let Some((_, question)) = device::answer::asked(path) {
            return drive_answers::answer(&mut self.secrets, question, content);
        }
        if let Some(page) = drive_answers::page(&mut self.secrets, name, content) {
            return page;
        }
        let text = String::from_utf8_lossy(content);
        let masked = match path {
            "/proc/self/mountinfo" => self.lines(&text, mounts::of_mountinfo),
            "/proc/mounts" => self.lines(&text, mounts::of_mounts),
            "/proc/swaps" => self.lines(&text, mounts::of_swaps),
            device::answer::DM_TABLES => replacements::without_keys(&self.secrets.in_text(&text)),
            path if path.starts_with(super::captured_files::UDEV) => {
                udev::masked(&mut self.secrets, &text)
            }
            path if path.ends_with("/loop/backing_file") => self.path(&text),
            // Of fabrics: who is reached where. PCI addresses name no host.
            path if path.ends_with("/address") && text.contains('=') => "fabrics".to_owned(),
            path if path.ends_with("/address") && text.contains("0x") => "fabrics".to_owned(),
            path if is_identifier(path) => self.secrets.whole(&text),
            _ => self.secrets.in_text(&text),
        };
        if masked == text { content.to_owned() } else { masked.into_bytes() }
    }

    fn lines(&mut self, text: &str, each: fn(&mut Mask, &str) -> String) -> String {
        text.split_inclusive('\n')
            .map(|line| match line.strip_suffix('\n') {
                Some(line) => each(self, line) + "\n",
                None => each(self, line),
            })
            .collect()
    }
}

/// True if a file of `/sys` is an identifier and nothing else.
fn is_identifier(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    path.starts_with("/sys/")
        && identifier_files::IDENTIFIERS.contains(&name)
        && !path.ends_with("/dm/uuid")
}

#[cfg(test)]
mod tests;
