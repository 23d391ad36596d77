//! Syncs of a process that is looked at.

use super::*;

/// A path on which nothing speaks against a sync, with a process.
fn with_process(files: Known<Vec<Library>>, calls: Known<Vec<CallFate>>) -> Evidence {
    let process = Process {
        pid: 7,
        name: "postgres".to_owned(),
        options: " --rows none".to_owned(),
        tracer: None,
        files,
        absent: Known::yes(Vec::new(), Source::Procfs),
        threads: 1,
        alike: 0,
        missed: None,
        calls,
        server: None,
        writes: Known::yes(Vec::new(), Source::Procfs),
    };
    Evidence {
        process: Some(process),
        ..stack(vec![system("xfs", &[]), drive(virtual_word(), true, counts(8, 8, 0))])
    }
}

fn fated(fate: Fate) -> Known<Vec<CallFate>> {
    Known::yes(vec![CallFate { call: "fsync".to_owned(), fate }], Source::Procfs)
}

#[test]
fn a_process_is_told_by_its_filters() {
    let process = |calls| with_process(Known::yes(Vec::new(), Source::Procfs), calls);
    check(&process(fated(Fate::Done)), Grade::Consistent, "flushed");
    check(&process(fated(Fate::Suppressed)), Grade::NotDurable, "filter-suppresses");
    check(&process(fated(Fate::Refused)), Grade::Consistent, "filter-refuses");
    check(&process(fated(Fate::Decided)), Grade::Unproven, "filter-decides");
    check(&process(fated(Fate::Unclear)), Grade::Unproven, "filter-unclear");
    let sometimes = Fate::Sometimes("in 2 of the 5 threads that were read".to_owned());
    check(&process(fated(sometimes)), Grade::Suspect, "filter-sometimes");
    check(&process(Known::no("it may not be read")), Grade::Unproven, "process-unknown");
    let mut some = process(fated(Fate::Done));
    some.process.as_mut().unwrap().missed = Some("it does not stop".to_owned());
    check(&some, Grade::Unproven, "process-unknown");
    let mut traced = process(fated(Fate::Done));
    traced.process.as_mut().unwrap().tracer = Some((8, "strace".to_owned()));
    check(&traced, Grade::Unproven, "traced");
}

#[test]
fn a_library_is_judged_by_what_it_defines_and_known_ones_by_their_name() {
    let process = |library: Library| {
        with_process(Known::yes(vec![library], Source::Procfs), fated(Fate::Done))
    };
    let preload = Some("LD_PRELOAD");
    let eatmydata = library("/usr/lib/libeatmydata.so.1", None, taking(&[]));
    check(&process(eatmydata), Grade::NotDurable, "suppressor-loaded");
    let own = library("/opt/libx.so", preload, taking(&["fsync", "open"]));
    check(&process(own), Grade::Suspect, "preload-takes");
    let opens = library("/opt/libx.so", preload, taking(&["open"]));
    check(&process(opens), Grade::Unproven, "preload-takes");
    let memory = library("/opt/libanything.so", preload, taking(&[]));
    check(&process(memory), Grade::Consistent, "preload");
    let unread = library("/opt/libjemalloc.so", preload, Known::no("it was deleted"));
    check(&process(unread), Grade::Unproven, "preload");
    let linked = library("/opt/libx.so", None, taking(&["fsync"]));
    check(&process(linked), Grade::Unproven, "library-takes");
    let lost = library("/opt/libx.so", None, Known::no("it was deleted"));
    check(&process(lost), Grade::Unproven, "process-unknown");
    let hidden = with_process(Known::no("try sudo"), fated(Fate::Done));
    check(&hidden, Grade::Unproven, "process-unknown");
}

#[test]
fn a_program_that_has_its_own_sync_is_called_the_program_whatever_it_is_named() {
    let program = |name: &str, takes| Library { is_program: true, ..library(name, None, takes) };
    let process = |library: Library| {
        with_process(Known::yes(vec![library], Source::Procfs), fated(Fate::Done))
    };
    let own = check(
        &process(program("/opt/libeatmydata-test", taking(&["fsync"]))),
        Grade::Unproven,
        "program-takes",
    );
    assert!(
        own.sentence.contains("its program /opt/libeatmydata-test replaces libc's fsync"),
        "{own:?}"
    );
    let plain = judge(&process(program("/opt/nosync", taking(&[]))));
    assert_eq!(plain.grade, Grade::Consistent, "{plain:?}");
}

#[test]
fn a_library_that_was_asked_for_and_is_not_loaded_is_said_and_not_blamed() {
    let asked = |name: &str| NeededLibrary { name: name.to_owned(), by: "LD_PRELOAD".to_owned() };
    let mut good = stack(vec![system("ext4", &[]), drive(virtual_word(), true, counts(8, 16, 0))]);
    good.here.absent = vec![asked("libeatmydata.so")];
    let found = check(&good, Grade::Consistent, "preload-absent");
    let said = "libeatmydata.so is named by LD_PRELOAD, but not loaded";
    assert!(found.reasons.iter().any(|reason| reason.sentence == said), "{found:?}");
    good.here.unsure = vec![asked("libeatmydata.so")];
    check(&good, Grade::Unproven, "preload");
}

/// A clean process that writes these files, each here or not.
fn writing(files: &[(&str, bool)], server: Option<Server>) -> Evidence {
    let evidence = with_process(
        Known::yes(Vec::new(), Source::Procfs),
        Known::yes(Vec::new(), Source::Procfs),
    );
    let files = files.iter().map(|&(path, is_here)| WrittenFile {
        path: path.to_owned(),
        mount_point: "/mnt".to_owned(),
        is_here,
    });
    let writes = Known::yes(files.collect(), Source::Procfs);
    let process = evidence.process.map(|process| Process { writes, server, ..process });
    Evidence { process, ..evidence }
}

#[test]
fn a_process_that_writes_on_another_file_system_is_not_judged_by_this_one() {
    let direction = |files: &[(&str, bool)]| {
        let found = check(&writing(files, None), Grade::Consistent, "writes-here");
        let here = found.reasons.iter().find(|reason| reason.code == "writes-here");
        here.map(|reason| reason.direction)
    };
    assert_eq!(direction(&[("/data/a", true)]), Some(Direction::For), "good news");
    assert_eq!(direction(&[]), Some(Direction::Open));
    let here = judge(&writing(&[("/data/a", true)], None));
    let said = |reason: &Reason| reason.sentence.ends_with(" file system of `/data`");
    assert!(here.reasons.iter().any(said), "no path runs into a full stop: {here:#?}");
    let both = [("/var/log/a", true), ("/mnt/a", false)];
    check(&writing(&both, None), Grade::Consistent, "writes-elsewhere");
    let found = check(&writing(&both[1..], None), Grade::Unproven, "writes-elsewhere");
    let change = found.reasons.iter().find_map(|reason| reason.change.as_deref());
    assert_eq!(
        change,
        Some("judge the other file system: straddle fsync /mnt --pid 7 --rows none")
    );
    // Of a server it is its log that counts.
    let setting = ServerSetting {
        text: "--unsafe-no-fsync".to_owned(),
        is_absent: true,
        source: "/proc/7/cmdline".to_owned(),
        effect: SyncEffect::Synced,
        standing: Confidence::InForce,
    };
    let etcd = Server {
        title: "etcd",
        ask: String::new(),
        settings: vec![setting],
        log: &["/member/wal/"],
        log_path: None,
    };
    let files = [("/var/log/etcd", true), ("/mnt/member/wal/0.wal", false)];
    check(&writing(&files, Some(etcd.clone())), Grade::Unproven, "writes-elsewhere");
    let files = [("/var/log/etcd", false), ("/data/member/wal/0.wal", true)];
    check(&writing(&files, Some(etcd)), Grade::Consistent, "writes-here");
    let unseen = writing(&[], None);
    let writes = Known::no("may not be seen");
    let process = unseen.process.clone().map(|process| Process { writes, ..process });
    check(&Evidence { process, ..unseen }, Grade::Unproven, "process-unknown");
}
