//! Running the field's tools.

use crate::running_program::until;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Tools whose tests take long: emulators, compilers, a browser, a server, whatever traces.
const SLOW: [&str; 9] = [
    "c++",
    "cc",
    "chromium",
    "fio",
    "pg_test_fsync",
    "qemu-img",
    "qemu-io",
    "qemu-system-x86_64",
    "strace",
];

/// The directory in which Debian puts what Nagios runs.
const PLUGINS: &str = "/usr/lib/nagios/plugins";
/// Directories in which Debian puts firmware and boot loaders, which no one runs here.
const BOOT_FILES: [&str; 3] = ["/usr/share/OVMF", "/usr/lib/systemd/boot/efi", "/usr/lib/grub"];

/// Returns the path of the program `name`, also from the system directories that an ordinary user's
/// `PATH` lacks; `None` when it is not installed.
#[must_use]
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin", PLUGINS].map(PathBuf::from))
        .chain(BOOT_FILES.map(PathBuf::from))
        .chain(of_postgresql())
        .map(|directory| directory.join(name))
        .find(|candidate| candidate.is_file())
}

/// Returns why a test that needs tool `name` cannot run: the tool is missing, or too slow for the
/// fast tier. `None` when it can run.
#[must_use]
pub fn lack(name: &str) -> Option<String> {
    if SLOW.contains(&name) && !crate::is_full_tier() {
        return Some(crate::FULL_TIER.to_owned());
    }
    find(name).is_none().then(|| format!("needs {name}"))
}

/// Returns the directories in which Debian puts the programs of PostgreSQL's server: one for each
/// version.
fn of_postgresql() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = versions.map(|entry| entry.path().join("bin")).collect();
    directories.sort_unstable();
    directories
}

/// A command for tool `name`, with messages in English.
///
/// # Panics
/// When the tool is not installed: tests say `need_tools!` first.
#[must_use]
pub fn command(name: &str) -> Command {
    let path = find(name).unwrap_or_else(|| panic!("{name} is not installed"));
    let mut command = Command::new(path);
    command.env("LC_ALL", "C");
    command
}

/// Runs `name` with `arguments` and returns its output, whatever its exit status.
///
/// # Panics
/// When it cannot be started, or cannot look at a mounted loop device for five minutes.
#[must_use]
pub fn output(name: &str, arguments: &[&str]) -> Output {
    let once = || {
        let output = command(name).args(arguments).output();
        output.unwrap_or_else(|error| panic!("{name} cannot be started: {error}"))
    };
    // mkfs.btrfs looks at all mounted loop devices, and another test may be taking one away. It
    // writes nothing then.
    let is_kept_out = |output: &Output| text(&output.stderr).contains("cannot check mount status");
    let mut output = once();
    if is_kept_out(&output) {
        until("every mounted loop device is there", || {
            output = once();
            !is_kept_out(&output)
        });
    }
    output
}

/// Runs `name` with `arguments` and returns its standard output.
///
/// # Panics
/// When it cannot be started or exits with another status than 0; the message holds all it said.
pub fn run(name: &str, arguments: &[&str]) -> String {
    let output = output(name, arguments);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{name} {arguments:?}: {}\n{out}{err}", output.status);
    out
}

/// Same as [`run`], with `input` on standard input.
///
/// # Panics
/// Same as [`run`].
pub fn run_with_input(name: &str, arguments: &[&str], input: &str) -> String {
    use std::io::Write as _;
    use std::process::Stdio;

    let mut child = command(name)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{name} cannot be started: {error}"));
    // A tool that exits early closes its input; its status tells.
    let _ = child.stdin.take().expect("it was piped").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the child can be waited for");
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{name} {arguments:?}: {}\n{out}{err}", output.status);
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
