//! Every exit code, and what each means after each command. The help, the manual pages and
//! `docs/exit-codes.md` are made from this file. It uses nothing else, so that the tests of the
//! documentation can include it; `tests/all/walks.rs` has the test that walks each.

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
        "interrupted by Ctrl-C; 128 + n after another signal n; a second one ends it at once, \
         without a word",
    ),
    code(4, "stopped part way, resumable; for commands that move data (none yet)"),
    code(3, "refused for safety; nothing was written"),
    code(2, "misuse, or something named cannot be opened, read or measured"),
    code(1, "something found, at or above --fail-on where the command has it"),
    code(5, "no verdict: unknown, inconclusive, void, not enough evidence"),
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

const SIGNAL: &str = "interrupted (128 + the signal); nothing is left behind";
const SAFETY: &str = "refused for safety; nothing was written";
const NOT_HERE: &str = "misuse, or the target cannot be measured";

/// Every code of every command, in the order of the commands.
pub(crate) const ENDINGS: &[Ending] = &[
    end("check", 0, "nothing at or above --fail-on"),
    end("check", 1, "something found; with --watch: something became worse"),
    end("check", 2, "misuse, or a target that cannot be opened"),
    end("check", 5, "nothing at or above --fail-on, but a target has no verdict"),
    end("explain", 0, "explained"),
    end("explain", 2, "no page is near the words"),
    end("trace", 0, "traced; holes have no address to know, so a file of holes alone too"),
    end("trace", 2, "misuse, or a file that cannot be traced"),
    end("trace", 5, "no byte has a known address: it waits in memory, is inline or compressed"),
    end("plan", 0, "a plan was printed, or nothing is to be changed"),
    end("plan", 2, "misuse, or a disk that cannot be opened"),
    end("plan", 5, "nothing was recognized, or a table that cannot be planned"),
    end("bench", 0, "no penalty, or a small one: the interval ends at or below 1.10"),
    end("bench", 1, "penalty: the interval lies above 1.10"),
    end("bench", 2, NOT_HERE),
    end("bench", 3, SAFETY),
    end("bench", 5, "no penalty found, and an interval reaches across 1.10, or is void"),
    end("bench", 130, SIGNAL),
    end("probe", 0, "something was found"),
    end("probe", 2, NOT_HERE),
    end("probe", 3, SAFETY),
    end("probe", 5, "cannot tell anything, or the drive failed meanwhile"),
    end("probe", 130, SIGNAL),
    end("compare", 0, "nothing differs by more than 10 %"),
    end("compare", 1, "something differs: an interval leaves \"no change\" out and passes 10 %"),
    end("compare", 2, "misuse, a file that cannot be read, or results of two commands"),
    end("compare", 5, "cannot tell: an interval is missing or too wide, or nothing is in both"),
    end("fsync", 0, "PASS or WARN; without --for: nothing shows that syncs are lost"),
    end("fsync", 1, "FAIL, syncs are not durable, or a sync failed"),
    end("fsync", 2, NOT_HERE),
    end("fsync", 5, "not enough evidence"),
    end("fsync", 130, SIGNAL),
    end("report", 0, "the page is written"),
    end("report", 2, "misuse, or a file that cannot be shown; the page is written with the others"),
    end(
        "drive simulate",
        0,
        "simulated; --published: each figure is within its bounds or says why not",
    ),
    end("drive simulate", 1, "--published: a figure is outside its bounds and does not say why"),
    end("drive simulate", 2, "misuse, or something that cannot be simulated"),
    end("generate", 0, "written"),
    end("generate", 2, "misuse, or a file that cannot be written"),
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
