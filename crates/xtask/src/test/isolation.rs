//! Isolation of tests of logic: they run as nobody, in new mount, net and pid namespaces, with an
//! empty /sys, a /tmp of their own, and nothing but null and zero in /dev (`isolated.sh` says why).

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::executable::TestExecutable;

const SCRIPT: &str = include_str!("isolated.sh");
/// Words of unshare. Whatever runs in it ends with it.
const NAMESPACES: [&str; 6] =
    ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
/// Variables of the caller that tests of logic may see.
const KEPT: [&str; 4] = ["PATH", "RUST_BACKTRACE", "STRADDLE_SEED", "STRADDLE_SOAK"];

/// A way to run a test executable with nothing beside its code.
#[derive(Debug)]
pub(super) struct Isolation {
    /// Directories that are hidden, since nobody may not enter them.
    covers: Vec<PathBuf>,
    /// Directories that are there all the same, and what is below.
    visible: Vec<PathBuf>,
}

impl Isolation {
    /// Returns the isolation of executables that were built from the project at `root`.
    ///
    /// # Errors
    /// With the reason where this process may not make it.
    pub(super) fn of(root: &Path, executables: &[TestExecutable]) -> Result<Isolation, String> {
        let mut visible = vec![root.to_owned()];
        for place in executables.iter().filter_map(|one| one.path.parent()) {
            if !visible.iter().any(|other| place.starts_with(other)) {
                visible.push(place.to_owned());
            }
        }
        let closed = |place: &PathBuf| (!is_open(place)).then(|| place.clone());
        if let Some(closed) = visible.iter().find_map(closed) {
            let name = closed.display();
            return Err(format!("nobody may not enter {name}; hint: chmod go+rx {name}"));
        }
        let covers = visible.iter().filter_map(|place| first_closed(place, &is_open)).collect();
        let isolation = Isolation { covers, visible };
        isolation.tried().map(|()| isolation)
    }

    /// Runs a program that does nothing, as the tests will run.
    fn tried(&self) -> Result<(), String> {
        let mut command = self.command(Path::new("/dev/zero"), Path::new("/"), "true".as_ref());
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("cannot start unshare: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().next().unwrap_or("unshare failed").to_owned();
        if output.status.success() { Ok(()) } else { Err(why) }
    }

    /// Returns the command that runs `program` in `directory`; its words may be added.
    pub(super) fn command(&self, skips: &Path, directory: &Path, program: &Path) -> Command {
        let list = |places: &[PathBuf]| {
            places.iter().map(|place| place.as_os_str()).collect::<Vec<_>>().join("\n".as_ref())
        };
        let [covers, visible]: [OsString; 2] = [list(&self.covers), list(&self.visible)];
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "unshare"])
            .args(NAMESPACES)
            .args(["sh", "-c", SCRIPT, "sh"]);
        command.arg(skips).arg(directory).arg(covers).arg(visible).arg(program);
        command.env_clear();
        command.envs(KEPT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        // The file itself is hidden there; it is open as this number.
        command.env("STRADDLE_SKIPS", "/proc/self/fd/3");
        command
    }
}

/// Returns whether everybody may enter the directory.
fn is_open(place: &Path) -> bool {
    place.metadata().is_ok_and(|data| data.permissions().mode() & 0o001 != 0)
}

/// Returns the first directory on the way to `place` that is not open.
fn first_closed(place: &Path, is_open: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut way: Vec<&Path> = place.ancestors().skip(1).collect();
    way.reverse();
    way.into_iter().find(|one| !is_open(one)).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use testkit::{Scratch, scratch::text};

    use super::*;

    #[test]
    fn the_first_closed_directory_on_the_way_is_covered() {
        let is_open = |place: &Path| !["/root", "/root/a"].map(Path::new).contains(&place);
        let closed = |place: &str| first_closed(Path::new(place), &is_open);
        assert_eq!(closed("/root/a/straddle"), Some(PathBuf::from("/root")));
        assert_eq!(closed("/srv/straddle"), None);
        assert_eq!(closed("/root"), None);
    }

    /// Runs a shell line isolated, from a checkout in a directory that nobody may enter.
    fn isolated(line: &str) -> Option<String> {
        let scratch = Scratch::new();
        let checkout = scratch.path().join("closed/checkout");
        std::fs::create_dir_all(&checkout).unwrap();
        for (place, mode) in [(scratch.path(), 0o755), (&scratch.path().join("closed"), 0o700)] {
            std::fs::set_permissions(place, PermissionsExt::from_mode(mode)).unwrap();
        }
        std::fs::write(checkout.join("source"), "code\n").unwrap();
        let isolation = match Isolation::of(&checkout, &[]) {
            Ok(isolation) => isolation,
            Err(why) => {
                testkit::skip(&format!("needs root and namespaces: {why}"));
                return None;
            }
        };
        let skips = scratch.file("skips", b"");
        std::fs::set_permissions(&skips, PermissionsExt::from_mode(0o666)).unwrap();
        let mut command = isolation.command(&skips, &checkout, "sh".as_ref());
        let output = command.args(["-c", line]).stdin(Stdio::null()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let noted = std::fs::read_to_string(text(&skips)).unwrap();
        let code = output.status.code().unwrap();
        Some(format!("{}{noted}{code}", String::from_utf8_lossy(&said)))
    }

    #[test]
    fn isolated_programs_find_their_checkout_and_nothing_else() {
        let line = "id -u; cat source; ls -A /dev /sys $TMPDIR; ls /sys/class/net; \
                    echo a > source; echo $((1 + $(ls -d /proc/[0-9]* | wc -l) / 10)); \
                    echo noted >> $STRADDLE_SKIPS; exit 7";
        let Some(said) = isolated(line) else { return };
        let expected = ["65534", "code", "/dev:", "/sys:", "/tmp/straddle-run:", "noted", "7"];
        let lines: Vec<&str> = said.lines().collect();
        for word in expected {
            assert!(lines.contains(&word), "{word}: {said}");
        }
        assert!(said.contains("source: Permission denied"), "{said}");
        assert!(said.contains("/sys/class/net': No such file"), "{said}");
        assert!(lines.contains(&"1"), "other processes are seen: {said}");
    }

    #[test]
    fn isolated_programs_that_leave_a_file_or_get_a_signal_fail() {
        let Some(said) = isolated("touch $TMPDIR/left") else { return };
        assert!(said.contains("LEFT BEHIND: left") && said.ends_with('1'), "{said}");
        let said = isolated("kill -ABRT $$").unwrap();
        assert!(said.ends_with("134"), "{said}");
    }
}
