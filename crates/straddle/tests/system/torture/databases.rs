//! File systems and databases under power cuts, by the programs of `docs/torture`: what is
//! acknowledged stays on honest drives, liars are caught, and torn pages are seen.

use testkit::running_program::Ran;
use testkit::scratch::text;
use testkit::{need_loops, need_tools};

use super::{count, drive, reasons, recipe, torture};

const PYTHON: &str = "/usr/bin/python3";

const M4: [&str; 4] = ["--profile", "m4-256", "--cuts", "6"];

#[test]
fn files_that_are_synced_and_renamed_stay_on_every_file_system() {
    need_tools!("python3", "mkfs.ext4", "e2fsck", "mkfs.xfs", "xfs_repair", "mkfs.btrfs", "btrfs");
    need_loops!();
    for fs in ["ext4", "xfs", "btrfs"] {
        for profile in ["hdd-7200-512e", "m4-256"] {
            let words = ["--profile", profile, "--cuts", "4", "--fs", fs];
            let ran = torture(&words, &["files.py", "40"]);
            assert_eq!(count(&ran, "cuts", 0), 4, "{fs} on {profile}");
        }
        let words = ["--profile", "m4-256", "--cuts", "8", "--lie", "flush", "--fs", fs];
        let ran = torture(&words, &["files.py", "40"]);
        assert!(count(&ran, "drive_lost", 1) > 0, "{fs}: {ran:?}");
    }
}

#[test]
fn files_that_are_not_synced_are_the_programs_fault() {
    need_tools!("python3", "mkfs.ext4", "e2fsck");
    need_loops!();
    let ran = torture(&M4, &["files.py", "40", "no-fsync"]);
    assert!(count(&ran, "program_lost", 1) > 0, "{ran:?}");
    assert_eq!(count(&ran, "drive_lost", 1), 0, "{ran:?}");
}

#[test]
fn sqlite_keeps_its_rows_if_it_syncs_all_and_a_lying_drive_is_caught() {
    need_tools!("python3", "mkfs.ext4", "e2fsck");
    need_loops!();
    for mode in [["delete", "EXTRA"], ["wal", "FULL"]] {
        let program = ["sqlite.py", mode[0], mode[1], "60"];
        let honest = torture(&M4, &program);
        assert_eq!(count(&honest, "cuts", 0), 6, "{mode:?}");
        let words = [&M4[..], &["--lie", "flush", "--survivors", "none"]].concat();
        let liar = torture(&words, &program);
        assert!(count(&liar, "drive_lost", 1) > 2, "{mode:?}: {liar:?}");
        assert!(reasons(&liar.document()).contains("lost"), "{mode:?}");
    }
    let words = [&M4[..], &["--survivors", "none"]].concat();
    let careless = torture(&words, &["sqlite.py", "wal", "OFF", "60"]);
    assert!(count(&careless, "program_lost", 1) > 0, "{careless:?}");
}

#[test]
fn sqlite_may_lose_its_last_row_where_the_directory_of_a_removed_journal_is_not_synced() {
    need_tools!("python3", "mkfs.ext4", "e2fsck");
    need_loops!();
    let words = ["--profile", "m4-256", "--cuts", "20", "--survivors", "none"];
    let ran = torture(&words, &["sqlite.py", "delete", "FULL", "60"]);
    assert!(count(&ran, "program_lost", 1) > 0, "{ran:?}");
    assert_eq!(count(&ran, "drive_lost", 1), 0, "{ran:?}");
    // It is never more than the last one.
    assert!(reasons(&ran.document()).lines().all(|why| why.starts_with("\"1 of ")), "{ran:?}");
}

#[test]
fn lmdb_keeps_its_values_unless_it_does_not_sync() {
    need_tools!("python3", "mkfs.ext4", "e2fsck");
    need_loops!();
    // Debian's own Python has Debian's modules.
    let has_lmdb = std::process::Command::new(PYTHON).args(["-c", "import lmdb"]).output();
    if !has_lmdb.is_ok_and(|output| output.status.success()) {
        testkit::skip("needs LMDB for Python (package python3-lmdb)");
        return;
    }
    let path = recipe("lmdb_values.py");
    let lmdb = |words: &[&str], mode: &str| {
        let base = ["torture", "--timing", "off", "--json"];
        let program = ["--", PYTHON, text(&path), mode, "60"];
        Ran::of(drive(&base).args(words).args(program))
    };
    let honest = lmdb(&M4, "sync");
    assert_eq!(count(&honest, "cuts", 0), 6);
    let words = [&M4[..], &["--survivors", "none"]].concat();
    let careless = lmdb(&words, "nosync");
    assert!(count(&careless, "program_lost", 1) > 0, "{careless:?}");
}

/// Cuts of torn pages: each part of a write survives by chance.
const TORN: [&str; 4] = ["--profile", "m4-256", "--survivors", "random"];

#[test]
fn a_torn_page_of_postgresql_is_repaired_by_full_page_writes_and_else_is_seen() {
    need_tools!("initdb", "psql", "setpriv", "mkfs.ext4", "e2fsck", "unshare");
    need_loops!();
    let safe = torture(&[&TORN[..], &["--cuts", "8"]].concat(), &["postgresql.sh", "on", "60"]);
    assert_eq!(count(&safe, "cuts", 0), 8);
    // Of a checkpoint's writes few are open at a time: more commits, more checkpoints, more cuts.
    let words = [&TORN[..], &["--cuts", "40"]].concat();
    let unsafe_ = torture(&words, &["postgresql.sh", "off", "100"]);
    assert!(count(&unsafe_, "program_lost", 1) > 0, "{unsafe_:?}");
    assert_eq!(count(&unsafe_, "drive_lost", 1), 0, "{unsafe_:?}");
}

#[test]
fn a_torn_page_of_innodb_is_repaired_by_the_doublewrite_buffer_and_else_is_seen() {
    need_tools!("mariadbd", "mariadb", "mariadb-install-db", "mkfs.ext4", "e2fsck", "unshare");
    need_loops!();
    let safe = torture(&[&TORN[..], &["--cuts", "8"]].concat(), &["mariadb.sh", "1", "60"]);
    assert_eq!(count(&safe, "cuts", 0), 8);
    let words = [&TORN[..], &["--cuts", "16"]].concat();
    let unsafe_ = torture(&words, &["mariadb.sh", "0", "60"]);
    assert!(count(&unsafe_, "program_lost", 1) > 0, "{unsafe_:?}");
    assert_eq!(count(&unsafe_, "drive_lost", 1), 0, "{unsafe_:?}");
}
