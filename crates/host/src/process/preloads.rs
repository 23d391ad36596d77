//! Libraries that are to be loaded before a program's own: `LD_PRELOAD`, `LD_AUDIT`,
//! `/etc/ld.so.preload`. That they are named does not mean that they are loaded, nor the reverse.

use std::io::ErrorKind;
use std::path::Path;

use units::text;

use super::procfs::{COUNT_MAX, read};
use super::{rights, root_files};

/// A library that is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preload {
    /// Its name in the list, harmless to print.
    pub name: String,
    /// The variable or file that names it: `LD_PRELOAD`.
    pub named_by: &'static str,
    /// The same, byte for byte.
    pub(super) raw: Vec<u8>,
}

impl Preload {
    /// The library that is called `name` where `named_by` is.
    #[must_use]
    pub fn named(name: &str, named_by: &'static str) -> Preload {
        Preload { name: text::escape(name.as_bytes()), named_by, raw: name.as_bytes().to_vec() }
    }
}

/// The variables of ld.so(8) that name libraries.
const VARIABLES: [(&str, &[u8]); 2] = [("LD_PRELOAD", b"LD_PRELOAD="), ("LD_AUDIT", b"LD_AUDIT=")];
const FILE: &str = "/etc/ld.so.preload";

/// Libraries that are loaded into all that this process starts, or were named when it was started
/// itself: a library may have taken its name out of the environment since.
#[must_use]
pub fn own_preloads() -> Vec<Preload> {
    let mut found = Vec::new();
    for (named_by, _) in VARIABLES {
        let value = std::env::var_os(named_by).unwrap_or_default();
        found.extend(libraries(value.as_encoded_bytes(), named_by));
    }
    found.extend(named_in(&read("/proc/self/environ").unwrap_or_default()));
    found.extend(libraries(&read(FILE).unwrap_or_default(), FILE));
    let mut once: Vec<Preload> = Vec::new();
    for preload in found {
        if !once.contains(&preload) {
            once.push(preload);
        }
    }
    once
}

/// Those that the environment of a process names.
fn named_in(environment: &[u8]) -> Vec<Preload> {
    let mut found = Vec::new();
    for variable in environment.split(|&byte| byte == 0) {
        for (named_by, start) in VARIABLES {
            if let Some(value) = variable.strip_prefix(start) {
                found.extend(libraries(value, named_by));
            }
        }
    }
    found
}

/// Those of the process at `base`.
///
/// # Errors
/// When they cannot be read; the text says what, and what may help.
pub(super) fn of(base: &str) -> Result<Vec<Preload>, String> {
    let environment = read(&format!("{base}/environ"))
        .map_err(|error| rights::told("the environment it was started with", &error))?;
    let mut found = named_in(&environment);
    match root_files::content(base, Path::new(FILE)) {
        Ok((list, _)) => found.extend(libraries(&list, FILE)),
        // Most systems have none.
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(rights::told(format_args!("{FILE} in its root"), &error)),
    }
    found.truncate(COUNT_MAX);
    Ok(found)
}

/// The libraries of a list with colons or blanks between them (ld.so(8)).
fn libraries(list: &[u8], named_by: &'static str) -> Vec<Preload> {
    let parts = list.split(|byte| *byte == b':' || byte.is_ascii_whitespace());
    let parts = parts.filter(|part| !part.is_empty()).take(COUNT_MAX);
    parts.map(|part| Preload { name: text::escape(part), named_by, raw: part.to_vec() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_libraries_have_colons_or_blanks_between_them() {
        let names = |list: &[u8]| {
            let found = libraries(list, "LD_PRELOAD").into_iter();
            found.map(|one| one.name).collect::<Vec<_>>()
        };
        assert_eq!(names(b"/a.so:b.so c.so\n"), ["/a.so", "b.so", "c.so"]);
        assert_eq!(names(b"/a\x1b.so"), ["/a\\u{1b}.so"]);
        assert_eq!(names(b" :\n"), Vec::<String>::new());
    }
}
