//! Lanes: what can make a test fail. An executable stands in one of them, by its name.

use anyhow::Context as _;

/// A cause by which the tests of an executable can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    /// Nothing but the code.
    Logic,
    /// Linux, tools and child processes: bytes, words and exit codes.
    System,
    /// Results of guests.
    Guest,
    /// The speed of this machine.
    Machine,
}

impl Lane {
    pub(super) const ALL: [Lane; 4] = [Lane::Logic, Lane::System, Lane::Guest, Lane::Machine];

    pub(super) fn word(self) -> &'static str {
        match self {
            Lane::Logic => "logic",
            Lane::System => "system",
            Lane::Guest => "guest",
            Lane::Machine => "machine",
        }
    }

    /// Returns the lane that is called `word`.
    pub(super) fn named(word: &str) -> Option<Lane> {
        Lane::ALL.into_iter().find(|lane| lane.word() == word)
    }

    /// Returns the seconds by the clock that the lane may take on two processors.
    pub(super) fn budget_seconds(self) -> Option<u64> {
        match self {
            Lane::Logic => Some(60),
            Lane::System => Some(300),
            Lane::Guest | Lane::Machine => None,
        }
    }
}

/// Lane of an executable, and the way its tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) lane: Lane,
    /// True if one test runs at a time.
    pub(super) is_serial: bool,
}

/// Executables of the system lane that have names of their own.
const OF_SYSTEM: [&str; 2] = ["fixes", "races"];

/// The one of these whose tests free the number of a loop device for a moment: other tests, which
/// may get it, would be in its races.
const FREES_NUMBERS: &str = "races";

impl Standing {
    /// Returns where the executable `name` of a `tests` directory stands. The machine lane is
    /// serial: a test that runs at the same time is part of what another measures.
    ///
    /// # Errors
    /// When the name is no lane's and has no row here.
    pub(super) fn of_tests(name: &str) -> anyhow::Result<Standing> {
        let of_system = || OF_SYSTEM.contains(&name).then_some(Lane::System);
        let lane = Lane::named(name).or_else(of_system).with_context(|| {
            let known: Vec<&str> = Lane::ALL.iter().map(|lane| lane.word()).collect();
            format!("the test executable {name} is in no lane: expected {}", known.join(", "))
        })?;
        Ok(Standing { lane, is_serial: lane == Lane::Machine || name == FREES_NUMBERS })
    }

    /// Returns where the unit tests of the package with this manifest stand: in the lane that it
    /// names under `package.metadata.tests`, else in that of logic.
    pub(super) fn of_unit_tests(manifest: &str) -> Standing {
        let mut lines = manifest.lines().map(str::trim);
        let is_named = lines.by_ref().any(|line| line == "[package.metadata.tests]");
        let is_system = is_named && lines.next() == Some("unit = \"system\"");
        let lane = if is_system { Lane::System } else { Lane::Logic };
        Standing { lane, is_serial: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_lane_or_one_of_the_system() {
        let of = |name| Standing::of_tests(name).unwrap();
        assert_eq!(of("logic"), Standing { lane: Lane::Logic, is_serial: false });
        assert_eq!(of("machine"), Standing { lane: Lane::Machine, is_serial: true });
        assert_eq!(of("fixes"), Standing { lane: Lane::System, is_serial: false });
        assert_eq!(of("races"), Standing { lane: Lane::System, is_serial: true });
        let error = Standing::of_tests("all").unwrap_err().to_string();
        assert!(error.contains("all is in no lane: expected logic, system"), "{error}");
    }

    #[test]
    fn unit_tests_are_logic_where_their_manifest_says_nothing_else() {
        let lane = |manifest| Standing::of_unit_tests(manifest).lane;
        assert_eq!(lane("[package]\nname = \"a\"\n"), Lane::Logic);
        assert_eq!(lane("[package.metadata.tests]\nunit = \"system\"\n[lib]\n"), Lane::System);
        assert_eq!(lane("[package.metadata.tests]\n\n[lib]\nunit = \"system\""), Lane::Logic);
    }

    #[test]
    fn no_library_has_tests_in_its_documentation() {
        // Cargo alone runs those, so they would be in no lane.
        for entry in std::fs::read_dir(crate::root().join("crates")).unwrap() {
            let package = entry.unwrap().path();
            let manifest = std::fs::read_to_string(package.join("Cargo.toml")).unwrap();
            let is_library = package.join("src/lib.rs").is_file();
            assert!(!is_library || manifest.contains("doctest = false"), "{}", package.display());
        }
    }
}
