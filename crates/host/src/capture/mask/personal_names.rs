//! The masked words: identifiers, and names of directories and hosts of people.

use std::collections::HashMap;

use super::identifier_files::SYSTEM;
use super::replacements::Secrets;

/// The masked words and what replaces each: use one for all captures of one machine.
#[derive(Clone, Debug, Default)]
pub struct Mask {
    pub(super) secrets: Secrets,
    pub(super) names: Names,
    keep_paths: bool,
}

impl Mask {
    /// A mask that knows nothing yet. Where `keep_paths` is set, mount points and the files that
    /// loop devices show keep their paths; else directories outside the system's keep only their
    /// depth.
    #[must_use]
    pub fn new(keep_paths: bool) -> Mask {
        Mask { keep_paths, ..Mask::default() }
    }

    /// Number of different serials, identifiers and hosts that were masked.
    #[must_use]
    pub fn count(&self) -> usize {
        self.secrets.count() + self.names.count()
    }

    /// A path on the machine: a mount point, a directory, a file behind a loop device.
    pub(super) fn path(&mut self, path: &str) -> String {
        if self.keep_paths {
            self.secrets.in_text(path)
        } else {
            self.names.path(path, &mut self.secrets)
        }
    }
}

/// The names that were masked, each by a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, usize>,
}

impl Names {
    fn count(&self) -> usize {
        self.numbers.len()
    }

    /// `path` without the names that no system has. How deep it is stays.
    fn path(&mut self, path: &str, secrets: &mut Secrets) -> String {
        let first = path.split('/').find(|part| !part.is_empty()).unwrap_or_default();
        let kept = SYSTEM.iter().find(|(system, _)| *system == first.trim_end());
        let kept = kept.map_or(0, |&(_, kept)| kept);
        let mut depth = 0;
        let parts: Vec<String> = path
            .split('/')
            .map(|part| {
                depth += usize::from(!part.trim().is_empty());
                if part.trim().is_empty() || depth <= kept {
                    secrets.in_text(part)
                } else {
                    let end = part.len() - part.trim_end().len();
                    let end = &part[part.len() - end..];
                    format!("{}{end}", self.name("d", part.trim_end()))
                }
            })
            .collect();
        parts.join("/")
    }

    /// Returns the replacement of a name: a letter or word that says what it was, and a number.
    pub(super) fn name(&mut self, kind: &str, name: &str) -> String {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(format!("{kind} {name}")).or_insert(next);
        format!("{kind}{number}")
    }
}
