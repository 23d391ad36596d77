//! The profiles that are known: the built-in ones, and those in a site's files.

use std::path::{Path, PathBuf};

use host::InputError;
use report::Refusal;
use units::text::escape;
use workload::profile_text::PROFILE_BYTES_MAX;
use workload::{Engines, Profile};

/// Command that shows what a profile holds.
const FORMAT: &str = "to print one to copy: straddle explain engine profile";

/// The built-in engines and those in `files`, which replace engines of their name.
///
/// # Errors
/// When a file cannot be read, or is no profile, with its line; when two are of one name, with
/// both files. Each with what to do.
pub(crate) fn engines(files: &[PathBuf]) -> Result<Engines, Refusal> {
    let mut engines = Engines::built_in();
    let mut known: Vec<(String, String)> = Vec::new();
    for path in files {
        let shown = path.display().to_string();
        let file = escape(shown.as_bytes());
        let text = text(path).map_err(|(reason, way)| {
            let message = format!("cannot read the profile {file}: {reason}");
            Refusal::hinted(message, format!("{way}; {FORMAT}"))
        })?;
        let profile = Profile::parse(&shown, &text)
            .map_err(|error| Refusal::hinted(error.to_string(), error.hint().to_string()))?;
        let name = profile.name.to_ascii_lowercase();
        if let Some((_, other)) = known.iter().find(|(taken, _)| *taken == name) {
            return Err(Refusal::hinted(
                format!(
                    "cannot use both {other} and {file}: both are profiles of `{}`",
                    profile.name
                ),
                "leave out one of them, or change the value of its key `name`",
            ));
        }
        known.push((name, file));
        engines.add(profile);
    }
    Ok(engines)
}

/// The text of a file; else why there is none, and what to name instead.
fn text(path: &Path) -> Result<String, (String, String)> {
    let bytes = host::read_input(path, u64::try_from(PROFILE_BYTES_MAX).unwrap_or(u64::MAX));
    let bytes = bytes.map_err(|error| {
        let way = match error {
            InputError::Io(_) => "name a file that you may read".to_owned(),
            InputError::Directory => {
                let inside = escape(path.join("NAME.toml").as_os_str().as_encoded_bytes());
                format!("name the file of one engine in it: --profile {inside}")
            }
            InputError::NotAFile | InputError::TooLong { .. } => {
                "name the file of one engine".to_owned()
            }
        };
        (error.to_string(), way)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sites_file_is_read_and_a_wrong_one_is_named_with_its_line() {
        let scratch = testkit::Scratch::new();
        let (good, bad) = (scratch.path().join("own.toml"), scratch.path().join("bad.toml"));
        let text = include_str!("../../../../workload/tests/seeds/profile/own.toml");
        std::fs::write(&good, text).unwrap();
        std::fs::write(&bad, text.replace("sync=", "sink=")).unwrap();
        assert!(engines(std::slice::from_ref(&good)).unwrap().find("a").is_ok());
        let refused = |files: &[&PathBuf]| {
            let files: Vec<PathBuf> = files.iter().map(|file| (*file).clone()).collect();
            engines(&files).unwrap_err()
        };
        let said = refused(&[&good, &bad]);
        assert!(said.message.contains("bad.toml:13: unknown field `sink`"), "{said:?}");
        assert!(
            said.hint.as_deref().unwrap().contains("straddle explain engine profile"),
            "{said:?}"
        );
        let other = scratch.path().join("other.toml");
        std::fs::write(&other, text.replace("name=\"a\"", "name=\"A\"")).unwrap();
        let twice = refused(&[&good, &other]);
        for word in ["own.toml and ", "other.toml: both are profiles of `A`"] {
            assert!(twice.message.contains(word), "{twice:?}");
        }
        assert!(twice.hint.as_deref().unwrap().starts_with("leave out one"), "{twice:?}");
    }

    #[test]
    fn what_is_no_file_that_ends_is_refused_unread_with_what_to_name_instead() {
        let scratch = testkit::Scratch::new();
        let check = |path: PathBuf, reason: &str, way: &str| {
            let said = engines(std::slice::from_ref(&path)).unwrap_err();
            let tried = format!("cannot read the profile {}: {reason}", path.display());
            assert!(said.message.starts_with(&tried), "{said:?}");
            assert!(
                said.hint.as_deref().unwrap().starts_with(way)
                    && said.hint.as_deref().unwrap().ends_with(FORMAT),
                "{said:?}"
            );
        };
        let inside = format!("name the file of one engine in it: --profile {}/NAME.toml", {
            scratch.path().display()
        });
        check(scratch.path().to_owned(), "is a directory", &inside);
        check("/dev/zero".into(), "not a regular file", "name the file of one engine");
        check(scratch.path().join("none.toml"), "No such file", "name a file that you may read");
    }
}
