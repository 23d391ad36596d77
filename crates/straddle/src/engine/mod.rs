//! Engines: those of the house and a site's own, as rows to measure and as verdicts.

mod verdict;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use device::durable::{Method, Place, Way};
use measure::durable::{Group, RowPlan};
use units::text::escape;
use workload::engine::{PROFILE_BYTES_MAX, Pattern, Placement, Space, Sync};
use workload::{Engines, Profile};

pub(crate) use verdict::{Circumstances, knee, undone, verdict};

/// The engines of the house and those in `files`, which replace engines of their name.
///
/// # Errors
/// When a file cannot be read, or is no profile, with its line; when two are of one name, with
/// both files. Each with what to do.
pub(crate) fn engines(files: &[PathBuf]) -> anyhow::Result<Engines> {
    let mut engines = Engines::built_in();
    let mut known: Vec<(String, String)> = Vec::new();
    for path in files {
        let shown = path.display().to_string();
        let tried = || format!("cannot read the profile {}", escape(shown.as_bytes()));
        let text = text(path).with_context(tried)?;
        let profile = Profile::parse(&shown, &text)
            .map_err(|error| anyhow!("{error}\nhint: {}", error.hint()))?;
        let (name, file) = (profile.name.to_ascii_lowercase(), escape(shown.as_bytes()));
        if let Some((_, other)) = known.iter().find(|(taken, _)| *taken == name) {
            bail!(
                "both {other} and {file} are profiles of `{}`\nhint: leave one of them out, or \
                 change its name =",
                profile.name
            );
        }
        known.push((name, file));
        engines.add(profile);
    }
    Ok(engines)
}

/// The text of a file, as much of it as a profile may have and a byte more.
fn text(path: &Path) -> anyhow::Result<String> {
    let most = u64::try_from(PROFILE_BYTES_MAX).unwrap_or(u64::MAX).saturating_add(1);
    // A pipe would be waited for, and a device has no end.
    if !std::fs::metadata(path)?.is_file() {
        bail!("it is no regular file");
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The row that does what the engine does.
pub(crate) fn row(profile: &Profile) -> RowPlan {
    RowPlan {
        id: row_id(profile),
        group: Group::Wal,
        label: format!("{}: {}", profile.name, operation(&profile.pattern)),
        is_pg: false,
        way: way(&profile.pattern),
    }
}

/// What the row of an engine is called.
pub(crate) fn row_id(profile: &Profile) -> String {
    format!("engine.{}", profile.name)
}

/// One durable write in words: `write + fdatasync`.
pub(crate) fn operation(pattern: &Pattern) -> String {
    let writes = match pattern.writes_per_sync {
        1 => "write".to_owned(),
        number => format!("{number} writes"),
    };
    match pattern.sync {
        Sync::Fdatasync | Sync::DirectFdatasync => format!("{writes} + fdatasync"),
        Sync::Fsync => format!("{writes} + fsync"),
        Sync::Dsync | Sync::DirectDsync => format!("{} {writes}", pattern.sync.name()),
    }
}

/// How the pattern is done. What a profile's reader lets through fits.
fn way(pattern: &Pattern) -> Way {
    let method = match pattern.sync {
        Sync::Fdatasync | Sync::DirectFdatasync => Method::Fdatasync,
        Sync::Fsync => Method::Fsync,
        Sync::Dsync | Sync::DirectDsync => Method::OpenDatasync,
    };
    let place = match (pattern.placement, pattern.space) {
        (Placement::Rewrite, _) => Place::Overwrite,
        (Placement::Append, Space::Growing) => Place::Append,
        (Placement::Append, Space::Preallocated) => Place::Preallocated,
        (Placement::Append, Space::Written) => Place::Sequential,
    };
    Way {
        method,
        is_direct: pattern.sync.is_direct(),
        place,
        write_bytes: u32::try_from(pattern.write_bytes).unwrap_or(u32::MAX),
        writes: u32::try_from(pattern.writes_per_sync).unwrap_or(u32::MAX),
        is_contended: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_done_by_the_calls_that_its_profile_names() {
        let check = |name: &str, expected: (Method, Place, bool, u32)| {
            let engines = Engines::built_in();
            let way = row(engines.find(name).unwrap()).way;
            let seen = (way.method, way.place, way.is_direct, way.write_bytes);
            assert_eq!(seen, expected, "{name}");
        };
        check("etcd", (Method::Fdatasync, Place::Preallocated, false, 2300));
        check("postgresql", (Method::Fdatasync, Place::Sequential, false, 8192));
        check("mysql", (Method::Fsync, Place::Sequential, false, 512));
        check("kafka", (Method::Fsync, Place::Append, false, 16384));
        check("ceph", (Method::OpenDatasync, Place::Sequential, true, 4096));
    }

    #[test]
    fn a_sites_file_is_read_and_a_wrong_one_is_named_with_its_line() {
        let scratch = testkit::Scratch::new();
        let (good, bad) = (scratch.path().join("own.toml"), scratch.path().join("bad.toml"));
        let text = include_str!("../../../workload/tests/seeds/profile/own.toml");
        std::fs::write(&good, text).unwrap();
        std::fs::write(&bad, text.replace("sync=", "sink=")).unwrap();
        assert!(engines(std::slice::from_ref(&good)).unwrap().find("a").is_ok());
        let said = format!("{:#}", engines(&[good.clone(), bad]).unwrap_err());
        assert!(said.contains("bad.toml:13: unknown field `sink`"), "{said}");
        assert!(said.contains("\nhint: docs/engines.md"), "{said}");
        let other = scratch.path().join("other.toml");
        std::fs::write(&other, text.replace("name=\"a\"", "name=\"A\"")).unwrap();
        let twice = format!("{:#}", engines(&[good.clone(), other]).unwrap_err());
        assert!(
            twice.contains("own.toml and ") && twice.contains("other.toml are profiles of `A`")
        );
        assert!(twice.contains("\nhint: leave one"), "{twice}");
        let pipe = engines(&["/dev/null".into()]).unwrap_err();
        assert!(format!("{pipe:#}").contains("no regular file"), "{pipe:#}");
        let missing = engines(&[scratch.path().join("none.toml")]).unwrap_err();
        assert!(format!("{missing:#}").starts_with("cannot read the profile "), "{missing:#}");
    }
}
