//! Every exit code, and what each means after each command. The help, the manual pages and
//! `docs/exit-codes.md` are made from this file. It uses nothing else, so that the tests of the
//! documentation can include it; `tests/system/exit_code_tests.rs` has the test that walks each.

/// One exit code.
pub(crate) struct Code {
    /// The number.
    pub(crate) number: u8,
    /// Meaning of the code, whatever the command.
    pub(crate) means: &'static str,
}

/// Every code. Of several that apply, the first one counts.
pub(crate) const CODES: [Code; 7] = [
    code(
        130,
        "interrupted by Ctrl-C (128 + n: by signal n); a second signal ends the program at once",
    ),
    code(4, "stopped part way, can be resumed; only from apply, and scripts of plan"),
    code(3, "refused for safety; nothing was written"),
    code(
        2,
        "usage error, a bug in straddle, or a target or file cannot be opened, read or measured",
    ),
    code(1, "something was found; with --fail-on, at that severity or above"),
    code(5, "no verdict: unknown, inconclusive, void, or not enough evidence"),
    code(0, "none of the above; with --allow-unknown also no verdict"),
];

const fn code(number: u8, means: &'static str) -> Code {
    Code { number, means }
}

/// One code of one command.
pub(crate) struct Ending {
    /// The command's words: `drive simulate`.
    pub(crate) command: &'static str,
    /// The code.
    pub(crate) number: u8,
    /// Meaning of the code there.
    pub(crate) means: &'static str,
}

const fn end(command: &'static str, number: u8, means: &'static str) -> Ending {
    Ending { command, number, means }
}

const SIGNAL: &str = "interrupted (128 + signal number); no scratch file remains";
const SAFETY: &str = "refused for safety; nothing was written";
const KEPT: &str = "the file to write to holds something else, and is kept";
const NOT_HERE: &str = "usage error, or the target cannot be measured";

/// Every code of every command, in the order of the commands.
pub(crate) const ENDINGS: &[Ending] = &[
    end(
        "check",
        0,
        "no finding at or above --fail-on; with no target named, also if a disk is unknown",
    ),
    end("check", 1, "a finding at or above --fail-on; with --watch: something became worse"),
    end("check", 2, "usage error, or a target cannot be opened"),
    end("check", 3, KEPT),
    end(
        "check",
        5,
        "no finding at or above --fail-on, but a named target is unknown, or no result fits \
         --cached",
    ),
    end("draw", 0, "drawn, whatever it shows"),
    end("draw", 2, "usage error, or a target cannot be opened, or the file cannot be written"),
    end("draw", 3, KEPT),
    end("demo", 0, "shown, and the image removed; with --keep: kept"),
    end("demo", 2, "usage error, or the image cannot be made"),
    end("demo", 130, "interrupted (128 + signal number); the image is removed"),
    end("explain", 0, "a page was shown"),
    end("explain", 2, "nothing to explain on standard input"),
    end("explain", 5, "no page explains the words"),
    end("trace", 0, "traced, or the file has only holes"),
    end("trace", 2, "usage error, or the file cannot be traced"),
    end("trace", 5, "no address: all data is still in memory, stored inline or compressed"),
    end("plan", 0, "a plan was printed, or nothing needs to change or can"),
    end("plan", 2, "usage error, or the disk cannot be opened"),
    end("plan", 3, KEPT),
    end("plan", 5, "nothing was recognized, or the partition table cannot be planned"),
    end(
        "apply",
        0,
        "the table is written, or nothing needs to change; with --dry-run: it could be",
    ),
    end("apply", 2, "usage error, or the plan cannot be read"),
    end("apply", 3, SAFETY),
    end("apply", 4, "stopped part way: one copy of a table is whole, and the same command goes on"),
    end(
        "convert",
        0,
        "converted or planned, or nothing to do; with --dry-run: its content allows it",
    ),
    end("convert", 2, "usage error, or the target cannot be opened, or the file cannot be written"),
    end("convert", 3, SAFETY),
    end("convert", 130, "interrupted (128 + signal number); no new file was made"),
    end("bench", 0, "at most 10 % slower: no penalty, or a small difference"),
    end("bench", 1, "penalty: more than 10 % slower (the whole interval is above 1.10)"),
    end("bench", 2, NOT_HERE),
    end("bench", 3, SAFETY),
    end("bench", 5, "no penalty found, but a comparison is void or its interval includes 1.10"),
    end("bench", 130, SIGNAL),
    end("probe", 0, "at least one value was found"),
    end("probe", 2, NOT_HERE),
    end("probe", 3, SAFETY),
    end(
        "probe",
        5,
        "no value was found, --contribute had nothing to write, or the drive failed during the run",
    ),
    end("probe", 130, SIGNAL),
    end("compare", 0, "no change above 10 %"),
    end("compare", 1, "a value differs, or a verdict changed"),
    end("compare", 2, "usage error, an unreadable file, or files from different commands"),
    end(
        "compare",
        5,
        "cannot tell: an interval is missing or too wide, or nothing but durability is in both",
    ),
    end("fsync", 0, "PASS or WARN; without --for: no proof that syncs are lost"),
    end("fsync", 1, "FAIL, syncs are not durable, or a sync failed"),
    end("fsync", 2, NOT_HERE),
    end("fsync", 3, SAFETY),
    end("fsync", 5, "not enough evidence"),
    end("fsync", 130, SIGNAL),
    end("watch", 0, "watched; without --seconds also where Ctrl-C ended it"),
    end("watch", 2, "usage error, or the target, process or control group is not there"),
    end("watch", 130, "interrupted before --seconds were over (128 + signal number)"),
    end("atomic", 0, "YES: pages of this length stay whole"),
    end("atomic", 1, "NO: a layer may tear a page"),
    end("atomic", 2, "usage error, or the target has no data file that can be judged"),
    end("atomic", 5, "UNKNOWN: a layer does not report enough"),
    end("report", 0, "the page is written"),
    end("report", 2, "usage error, or a file cannot be shown; the page has the others"),
    end("report", 3, KEPT),
    end("export", 0, "the metrics are printed or written"),
    end("export", 2, "usage error, or a file is no result; the metrics have the others"),
    end("emit", 0, "printed; what is unknown is a comment"),
    end("emit", 2, "usage error, or a file is no result; the lines are of the others"),
    end("drive", 0, "printed"),
    end("drive", 2, "usage error, or a profile cannot be read"),
    end(
        "drive simulate",
        0,
        "simulated; --published, --validate: each number outside its bound has a comment",
    ),
    end("drive simulate", 1, "--published, --validate: a number outside its bound has no comment"),
    end("drive simulate", 2, "usage error, or the workload cannot be simulated"),
    end("drive fit", 0, "fitted"),
    end("drive fit", 2, "usage error, or a file cannot be read"),
    end("drive serve", 0, "served until Ctrl-C, and everything is detached"),
    end("drive serve", 2, "usage error, or the drive cannot be served"),
    end("drive serve", 3, KEPT),
    end(
        "drive reproduce",
        0,
        "each number that was measured is within its bound; --dry-run: printed",
    ),
    end("drive reproduce", 1, "a number that was measured is outside its bound"),
    end("drive reproduce", 2, "usage error, or the numbers cannot be printed"),
    end("drive reproduce", 5, "within bounds, but a step could not be done here"),
    end("drive reproduce", 130, "interrupted (128 + signal number); every drive is detached"),
    end("drive detach", 0, "detached, or there was nothing to detach"),
    end("drive detach", 2, "usage error, or a drive is in use and stays"),
    end("drive torture", 0, "after every cut, all that was acknowledged was there"),
    end("drive torture", 1, "a cut lost something: the drive, or the program"),
    end("drive torture", 2, "usage error, or the drive or the program cannot be run"),
    end("drive torture", 3, KEPT),
    end("drive torture", 5, "no cut was made, or the program acknowledged nothing"),
    end("drive torture", 130, "interrupted (128 + signal number); nothing stays attached"),
    end("drive cut", 0, "the image is written"),
    end("drive cut", 2, "usage error, or the recording cannot be read"),
    end("generate", 0, "written"),
    end("generate", 2, "usage error, or a file cannot be written"),
    end("version", 0, "printed"),
];

/// The section `Exit codes:` of the help of `command`; empty where it has no codes of its own.
pub(crate) fn help(command: &str) -> String {
    let own = ENDINGS.iter().filter(|ending| ending.command == command);
    let lines: String =
        own.map(|ending| format!("  {:<3}  {}\n", ending.number, ending.means)).collect();
    match lines.is_empty() {
        true => lines,
        false => format!("Exit codes:\n{}", lines.trim_end()),
    }
}
