//! Running processes of known truth: what `--pid` must catch, and what must pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use durability::{Direction, Grade};
use report::fsync::{Honesty, ProcessWord, fsync_parse};
use testkit::running_program::until;
use testkit::{Scratch, need_tools, scratch::text, suppress, tool};

use super::{check, ran, with};

/// Returns what is found of a process.
#[track_caller]
fn of_process(directory: &Path, pid: u32) -> Honesty {
    with(directory, &["--pid", &pid.to_string()])
}

/// The codes of its evidence.
fn codes(found: &Honesty) -> Vec<&str> {
    found.evidence.iter().map(|one| one.code.as_str()).collect()
}

fn word(found: &Honesty) -> &ProcessWord {
    found.process.as_ref().expect("it was asked about")
}

/// A library of this name, from a line of C.
fn library(directory: &Path, name: &str, source: &str) -> PathBuf {
    let (from, to) = (directory.join("source.c"), directory.join(name));
    std::fs::write(&from, source).expect("a file can be written");
    tool::run("cc", &["-shared", "-fPIC", "-o", text(&to), text(&from)]);
    to
}

/// A process that sleeps; killed when dropped.
struct Sleeper(std::process::Child);

impl Sleeper {
    fn start(command: &mut Command) -> Sleeper {
        let child = command.arg("1000").stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        let sleeper = Sleeper(child.expect("sleep can be started"));
        // It is given its name a moment after it was started, and libraries after that; a process
        // that waits for those is in state D.
        let comm = format!("/proc/{}/comm", sleeper.0.id());
        let is_named = || std::fs::read_to_string(&comm).is_ok_and(|name| name.trim() == "sleep");
        until("it sleeps", || is_named() && sleeper.state() == "S");
        sleeper
    }

    fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id()));
        let stat = stat.expect("it runs");
        let (_, behind) = stat.rsplit_once(") ").expect("it has a state");
        behind[..1].to_owned()
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_whose_syncs_a_filter_suppresses_is_told_by_its_number_and_goes_on() {
    let started = std::thread::spawn(|| {
        suppress::syncs().then(|| Sleeper::start(&mut Command::new("sleep")))
    });
    let Some(sleeper) = started.join().expect("it does not panic") else {
        testkit::skip("needs seccomp filters");
        return;
    };
    let scratch = Scratch::new();
    let found = of_process(scratch.path(), sleeper.0.id());
    until("it goes on", || sleeper.state() == "S");
    if let Some(unknown) = found.evidence.iter().find(|one| one.code == "process-unknown") {
        testkit::skip(&unknown.sentence);
        return;
    }
    check(&found, "not-durable", "filter-suppresses");
    let process = found.process.expect("it was asked about");
    assert_eq!(process.name, "sleep");
    for call in ["fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"] {
        let sentence = format!("A seccomp filter suppresses {call}.");
        assert!(process.suppressors.contains(&sentence), "{call}: {process:#?}");
    }
    let refused = found.evidence.iter().find(|one| one.code == "filter-refuses");
    assert!(refused.is_some_and(|one| one.sentence.contains("openat with O_DSYNC")));
}

/// A process with filters of its own; `None`, and counted as skipped, where that cannot be.
fn filtered(suppress: fn() -> bool) -> Option<Sleeper> {
    let start = move || suppress().then(|| Sleeper::start(&mut Command::new("sleep")));
    let sleeper = std::thread::spawn(start).join().expect("it does not panic");
    if sleeper.is_none() {
        testkit::skip("needs seccomp filters");
    }
    sleeper
}

#[test]
fn a_filter_that_looks_at_the_descriptor_cannot_be_told() {
    let Some(sleeper) = filtered(|| suppress::syncs_of(5, 5)) else { return };
    let scratch = Scratch::new();
    let found = of_process(scratch.path(), sleeper.0.id());
    if let Some(unknown) = found.evidence.iter().find(|one| one.code == "process-unknown") {
        testkit::skip(&unknown.sentence);
        return;
    }
    check(&found, "unproven", "filter-unclear");
    let reason = found.evidence.iter().find(|one| one.code == "filter-unclear");
    let reason = reason.expect("it is among the evidence");
    assert!(
        reason.sentence.contains("fsync, fdatasync pass a seccomp filter that decides"),
        "{reason:?}"
    );
    assert!(found.would_change.iter().any(|one| one.contains("strace")), "{found:#?}");
}

#[test]
fn filters_as_newer_systemd_installs_them_are_caught() {
    let Some(sleeper) = filtered(|| suppress::syncs_of(0, 0x7fff_ffff)) else { return };
    let scratch = Scratch::new();
    let found = of_process(scratch.path(), sleeper.0.id());
    if codes(&found).contains(&"process-unknown") {
        testkit::skip("needs root outside of containers");
        return;
    }
    check(&found, "not-durable", "filter-suppresses");
}

#[test]
fn a_library_that_is_named_and_not_loaded_is_not_blamed() {
    let scratch = Scratch::new();
    let library = scratch.path().join("libeatmydata.so");
    // The loader says that it cannot take it, and goes on without.
    std::fs::write(&library, "").expect("a file can be written");
    let sleeper = Sleeper::start(Command::new("sleep").env("LD_PRELOAD", &library));
    let found = of_process(scratch.path(), sleeper.0.id());
    assert_eq!(word(&found).suppressors, Vec::<String>::new(), "{found:#?}");
    let absent = found.evidence.iter().find(|one| one.code == "preload-absent");
    assert!(absent.is_some_and(|one| one.sentence.contains(text(&library))), "{found:#?}");
}

#[test]
fn a_preloaded_library_is_judged_by_what_it_defines() {
    need_tools!("cc");
    let scratch = Scratch::new();
    let syncs = library(scratch.path(), "libplain.so", "int fsync(int f) { return 0; }");
    let memory = library(scratch.path(), "libmemory.so", "int counted(int f) { return f; }");
    let known = library(scratch.path(), "libeatmydata.so", "int fsync(int f) { return 0; }");

    let run = |library: &Path| {
        let sleeper = Sleeper::start(Command::new("sleep").env("LD_PRELOAD", library));
        of_process(scratch.path(), sleeper.0.id())
    };
    let found = run(&syncs);
    let taken = found.evidence.iter().find(|one| one.code == "preload-takes");
    let taken = taken.unwrap_or_else(|| panic!("{found:#?}"));
    let said = format!("{}, preloaded into process", text(&syncs));
    assert!(taken.sentence.contains(&said), "{taken:?}");
    assert!(taken.sentence.contains("replaces libc's fsync"), "{taken:?}");
    assert_eq!(
        (taken.direction, word(&found).unknown.len()),
        (Direction::Against, 0),
        "{found:#?}"
    );

    let found = run(&memory);
    let clean = found.evidence.iter().find(|one| one.code == "preload");
    assert!(clean.is_some_and(|one| one.sentence.contains("replaces none of")), "{found:#?}");
    assert!(found.evidence.iter().all(|one| one.code != "preload-takes"), "{found:#?}");
    assert_eq!(word(&found).suppressors, Vec::<String>::new(), "{found:#?}");

    check(&run(&known), "not-durable", "suppressor-loaded");
}

#[test]
fn a_program_that_has_its_own_fsync_is_named_as_the_program() {
    need_tools!("cc");
    let scratch = Scratch::new();
    let (source, program) = (scratch.path().join("source.c"), scratch.path().join("sleep"));
    let text_of = "#include <unistd.h>\nint fsync(int f) { return 0; }\n\
                   int main(void) { sleep(1000); return 0; }";
    std::fs::write(&source, text_of).expect("a file can be written");
    tool::run("cc", &["-rdynamic", "-o", text(&program), text(&source)]);
    let sleeper = Sleeper::start(&mut Command::new(&program));
    let found = of_process(scratch.path(), sleeper.0.id());
    let own = found.evidence.iter().find(|one| one.code == "program-takes");
    let own = own.unwrap_or_else(|| panic!("{found:#?}"));
    let said = format!("its program {} replaces libc's fsync", text(&program));
    assert!(own.sentence.contains(&said), "{own:?}");
    let word = word(&found).suppressors.join(" ");
    assert_eq!(word, format!("Its program {} replaces libc's fsync.", text(&program)));
    assert!(found.evidence.iter().all(|one| one.code != "library-takes"), "{found:#?}");
}

/// Returns what is found where this library is asked for by `LD_PRELOAD`.
fn preloading(directory: &Path, library: &str) -> Honesty {
    started_with(directory, "LD_PRELOAD", library)
}

/// Returns what is found where this variable names a library.
fn started_with(directory: &Path, variable: &str, library: &str) -> Honesty {
    let mut command = Command::new(env!("CARGO_BIN_EXE_straddle"));
    command.arg("fsync").arg(directory).args(["--rows", "none", "--json"]);
    command.env("LC_ALL", "C.UTF-8").env(variable, library).stdin(Stdio::null());
    let output = command.output().expect("the binary runs");
    let document = String::from_utf8(output.stdout).expect("it prints UTF-8");
    fsync_parse(&document).expect("a document").honesty.expect("it looked")
}

#[test]
fn a_library_that_is_asked_for_here_is_judged_by_whether_it_is_loaded() {
    need_tools!("cc");
    let scratch = Scratch::new();
    // A name that no machine has installed, since the loader finds libeatmydata.so where one has.
    for missing in ["libeatmydata-nowhere.so", "/nonexistent/libeatmydata.so"] {
        let found = preloading(scratch.path(), missing);
        assert_ne!(found.grade, Grade::NotDurable, "{found:#?}");
        let absent = found.evidence.iter().find(|one| one.code == "preload-absent");
        let said = format!("{missing} is named by LD_PRELOAD, but not loaded.");
        assert_eq!(absent.map(|one| &*one.sentence), Some(&*said), "{found:#?}");
    }
    let known = library(scratch.path(), "libeatmydata.so", "int nothing(void) { return 0; }");
    check(&preloading(scratch.path(), text(&known)), "not-durable", "suppressor-loaded");
}

#[test]
fn a_library_that_hides_from_the_environment_of_this_process_is_found_in_its_memory() {
    need_tools!("cc");
    let scratch = Scratch::new();
    // It takes its name out of the environment, and out of what /proc shows of it.
    let hides = "#include <stdlib.h>\n#include <string.h>\nextern char **environ;\n\
                 __attribute__((constructor)) static void hide(void) {\n\
                 for (char **one = environ; *one; one++)\n\
                 if (!strncmp(*one, \"LD_\", 3)) memset(*one, 'x', strlen(*one));\n\
                 unsetenv(\"LD_PRELOAD\"); unsetenv(\"LD_AUDIT\"); }\n";
    let check = |name: &str, variable: &str, body: &str, grade: Grade, code: &str| {
        let library = library(scratch.path(), name, &format!("{hides}{body}"));
        let found = started_with(scratch.path(), variable, text(&library));
        let seen = found.evidence.iter().find(|one| one.code == code);
        let seen = seen.unwrap_or_else(|| panic!("{name}: {found:#?}"));
        assert!(seen.sentence.contains(name), "{seen:?}");
        assert!(seen.source.contains("/proc/self/maps"), "{seen:?}");
        assert!(found.grade >= grade, "{found:#?}");
    };
    let preload = "LD_PRELOAD";
    let sync = "int fsync(int f) { return 0; }";
    check("libquiet.so", preload, sync, Grade::Suspect, "preload-takes");
    // One that looks like a C library beside the real one.
    let libc = "int fsync(int f) { return 0; } void __libc_init(void) {}";
    check("libc.so.6", preload, libc, Grade::Suspect, "preload-takes");
    let opens = "#include <fcntl.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
                 int open(const char *p, int f, ...) { return syscall(SYS_openat, -100, p, f, 0600); }";
    check("libopens.so", preload, opens, Grade::Unproven, "preload-takes");
    let audits = "unsigned la_version(unsigned v) { return v; }\n\
                  unsigned long la_symbind64(void *s, unsigned n, void *r, void *d, void *f, \
                  const char *c) { return *(unsigned long *)((char *)s + 8); }";
    check("libaudit.so", "LD_AUDIT", audits, Grade::Unproven, "preload-takes");

    let harmless = library(scratch.path(), "libcount.so", &format!("{hides}int counted;"));
    let found = started_with(scratch.path(), preload, text(&harmless));
    assert!(found.evidence.iter().all(|one| one.direction != Direction::Against), "{found:#?}");
}

#[test]
fn what_traces_this_process_is_named() {
    need_tools!("strace");
    let scratch = Scratch::new();
    let mut command = tool::command("strace");
    command.args(["-f", "-qq", "-e", "trace=none", env!("CARGO_BIN_EXE_straddle"), "fsync"]);
    command.arg(scratch.path()).args(["--rows", "none", "--json"]).stdin(Stdio::null());
    let output = command.env("LC_ALL", "C.UTF-8").output().expect("strace runs");
    let document = String::from_utf8(output.stdout).expect("it prints UTF-8");
    let found = fsync_parse(&document).expect("a document").honesty.expect("it looked");
    let traced = found.evidence.iter().find(|one| one.code == "traced");
    let said = "this process is traced by process";
    assert!(traced.is_some_and(|one| one.sentence.starts_with(said)), "{found:#?}");
    assert_ne!(found.grade, Grade::Consistent);
}

#[test]
fn a_preloaded_library_that_was_deleted_is_still_read_or_unknown() {
    need_tools!("cc");
    let scratch = Scratch::new();
    let library = library(scratch.path(), "libgone.so", "int fdatasync(int f) { return 0; }");
    let sleeper = Sleeper::start(Command::new("sleep").env("LD_PRELOAD", &library));
    std::fs::remove_file(&library).expect("it was there");
    let found = of_process(scratch.path(), sleeper.0.id());
    let found_codes = codes(&found);
    let told = found_codes.contains(&"preload-takes") || found_codes.contains(&"preload");
    assert!(told, "{found:#?}");
    assert!(found.grade != Grade::Consistent, "{found:#?}");
}

#[test]
fn a_clean_process_says_what_was_looked_at() {
    let scratch = Scratch::new();
    let sleeper = Sleeper::start(&mut Command::new("sleep"));
    let found = of_process(scratch.path(), sleeper.0.id());
    let process = word(&found);
    assert_eq!((process.suppressors.len(), process.unknown.len()), (0, 0), "{process:#?}");
    let said = process.looked_at.join(" ");
    assert!(said.contains("Its program and libraries: "), "{said}");
    assert!(said.contains("Seccomp filters: 1 of 1 thread read."), "{said}");
}

#[test]
fn a_process_that_may_not_be_seen_is_not_called_clean() {
    need_tools!("setpriv");
    if !host::is_root() {
        testkit::skip("needs root");
        return;
    }
    let scratch = Scratch::new();
    let sleeper = Sleeper::start(&mut Command::new("sleep"));
    // Root by number, without the capability that lets it look.
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-sys_ptrace,-sys_admin", "--inh-caps=-sys_ptrace,-sys_admin"]);
    let mut others = Command::new("setpriv");
    others.args(["--reuid=65534", "--clear-groups", "sleep"]);
    let other = Sleeper::start(&mut others);
    command.arg(env!("CARGO_BIN_EXE_straddle")).arg("fsync").arg(scratch.path());
    command.args(["--rows", "none", "--pid", &other.0.id().to_string()]);
    let output = command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).output();
    let output = output.expect("the binary runs");
    let said =
        String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("not all of it is visible"), "{said} {output:?}");
    assert!(said.contains("no CAP_SYS_PTRACE"), "{said}");
    assert!(!said.contains("sudo") && !said.contains("nothing visible"), "{said}");
    drop(sleeper);
}

#[test]
fn what_is_no_process_to_look_at_is_refused_with_what_it_is() {
    let scratch = Scratch::new();
    let refused = |pid: u32| {
        let ran = ran(scratch.path(), &["--pid", &pid.to_string()]);
        assert_eq!(ran.status, Some(2));
        ran.document.envelope.refusal.expect("it is refused")
    };
    let missing = refused(4_194_305);
    assert!(missing.hint.is_some() && missing.message.contains("4194305"), "{missing:?}");
    let kernel = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
    if !kernel {
        testkit::skip("needs the machine's own PID namespace");
        return;
    }
    let kernel = refused(2);
    assert!(kernel.message.contains("it is a kernel thread"), "{kernel:?}");
}

#[test]
fn the_directory_that_is_offered_for_a_process_in_a_container_is_the_one_that_it_writes_to() {
    if !host::is_root() || tool::find("unshare").is_none() {
        testkit::skip("needs root and unshare");
        return;
    }
    let scratch = Scratch::new();
    let script = "mount -t tmpfs none \"$0\" && exec 3>\"$0/file\" && exec sleep \"$1\"";
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, text(scratch.path())]);
    let sleeper = Sleeper::start(&mut command);
    let found = of_process(scratch.path(), sleeper.0.id());
    check(&found, "unproven", "writes-elsewhere");
    let within = format!("/proc/{}/root{}", sleeper.0.id(), text(scratch.path()));
    let offered = format!("straddle fsync {within} --pid {}", sleeper.0.id());
    assert!(found.would_change.iter().any(|change| change.contains(&offered)), "{found:#?}");
    // What is offered leads into the memory there, not to what has that path here.
    let found = of_process(Path::new(&within), sleeper.0.id());
    check(&found, "not-durable", "in-memory");
    assert!(codes(&found).contains(&"writes-here"), "{found:#?}");
}
