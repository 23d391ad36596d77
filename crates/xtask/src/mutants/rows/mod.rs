//! The mutations of each crate. A row names a change with which straddle would say something false,
//! or lose a byte.

mod durability;
mod layout;
mod measure;
mod stack;

use super::mutation::MutatedCrate;

/// In this order, a crate after those that it is built from.
pub(super) const CRATES: &[MutatedCrate] = &[
    MutatedCrate { package: "measure", mutations: measure::MUTATIONS },
    MutatedCrate { package: "stack", mutations: stack::MUTATIONS },
    MutatedCrate { package: "durability", mutations: durability::MUTATIONS },
    MutatedCrate { package: "layout", mutations: layout::MUTATIONS },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::cargo::root;

    #[test]
    fn every_line_stands_once_in_its_file_and_names_are_unique() {
        let mut names = BTreeSet::new();
        for one in CRATES {
            for mutation in one.mutations {
                let path = root().join("crates").join(one.package).join("src").join(mutation.file);
                let source = std::fs::read_to_string(&path).unwrap();
                let changed = mutation.applied(&source);
                assert!(changed.is_ok_and(|changed| changed != source), "{}", mutation.name);
                assert!(names.insert(mutation.name), "{}", mutation.name);
            }
        }
    }

    /// The text of all sources below `directory`.
    fn sources(directory: &Path) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                text += &sources(&path);
            } else if path.extension() == Some("rs".as_ref()) {
                text += &std::fs::read_to_string(&path).unwrap();
            }
        }
        text
    }

    #[test]
    fn every_test_is_in_its_crate() {
        for one in CRATES {
            let text = sources(&root().join("crates").join(one.package));
            for mutation in one.mutations {
                let name = mutation.test.path().rsplit("::").next().unwrap();
                assert!(text.contains(&format!("fn {name}() {{")), "{}", mutation.name);
            }
        }
    }
}
