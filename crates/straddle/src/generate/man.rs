//! Manual pages, from the definition of the command line: the sections of its help that only
//! readers need (examples, exit codes) become sections of the page.

use std::path::Path;

use anyhow::{anyhow, bail};
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::arguments::Arguments;
use crate::exit::table;

/// A heading of the help, and that of the manual page.
const HEADINGS: [(&str, &str); 3] =
    [("Start with:", "EXAMPLES"), ("Examples:", "EXAMPLES"), ("Exit codes:", "EXIT STATUS")];

/// Returns what every command may end with; most have a list of their own.
fn exit_status() -> String {
    let line = |code: &table::Code| format!("  {:<3}  {}\n", code.number, code.means);
    table::CODES.iter().map(line).collect()
}

/// Files that are read, and never written.
const FILES: [(&str, &str); 3] = [
    ("/sys/block, /sys/class/block", "limits, starts and members as the kernel knows them"),
    ("/proc/self/mountinfo", "what is mounted where"),
    ("/dev", "tables, headers and superblocks; devices are opened read-only"),
];

/// Manual pages of other programs that readers turn to.
const SEE_ALSO: [&str; 8] = [
    "lsblk(8)",
    "fdisk(8)",
    "sfdisk(8)",
    "parted(8)",
    "sgdisk(8)",
    "mdadm(8)",
    "lvm(8)",
    "cryptsetup(8)",
];

/// The page of a command by its words; of the program for none.
pub(super) fn page(words: &[String]) -> anyhow::Result<Vec<u8>> {
    let program = program();
    let mut command = &program;
    for word in words {
        let Some(next) = shown(command).find(|next| next.get_name() == word) else {
            let names: Vec<&str> = shown(command).map(Command::get_name).collect();
            let word = units::text::escape(word.as_bytes());
            bail!(
                "cannot print a manual page: no such command: {word}\nhint: name one of {}",
                names.join(", ")
            );
        };
        command = next;
    }
    render(command, &program)
}

/// Writes every page into `directory`, each under its own name: `straddle-check.1`.
pub(super) fn write(directory: &Path) -> anyhow::Result<()> {
    // As text, since an input or output error would be taken for one of standard output.
    let cannot = |error: std::io::Error| {
        let directory = units::text::escape(directory.as_os_str().as_encoded_bytes());
        anyhow!("cannot write manual pages into {directory}: {error}")
    };
    std::fs::create_dir_all(directory).map_err(cannot)?;
    let program = program();
    for command in all(&program) {
        let path = directory.join(format!("{}.1", name(command)));
        std::fs::write(&path, render(command, &program)?).map_err(cannot)?;
    }
    Ok(())
}

fn program() -> Command {
    let mut program = Arguments::command();
    program.build();
    program
}

/// A command and all below it.
fn all(command: &Command) -> Vec<&Command> {
    let below = shown(command).flat_map(all);
    std::iter::once(command).chain(below).collect()
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    let has_page = |command: &&Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(has_page)
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn render(command: &Command, program: &Command) -> anyhow::Result<Vec<u8>> {
    let version = env!("CARGO_PKG_VERSION");
    let man = Man::new(command.clone());
    // Without a date the same version always gives the same page.
    let mut out = format!(
        ".TH {:?} \"1\" \"\" \"straddle {version}\" \"straddle\"\n",
        name(command).to_uppercase()
    )
    .into_bytes();
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    man.render_options_section(&mut out)?;
    let mut roff = Roff::new();
    commands(&mut roff, command);
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut sections = sections(&help);
    if !sections.iter().any(|(heading, _)| *heading == "EXIT STATUS") {
        sections.push(("EXIT STATUS", exit_status()));
    }
    sections.sort_by_key(|(heading, _)| *heading != "EXIT STATUS");
    for (heading, text) in sections {
        roff.control("SH", [heading]);
        verbatim(&mut roff, &text);
    }
    roff.control("SH", ["FILES"]);
    for (path, what) in FILES {
        roff.control("TP", []);
        roff.text([bold(path)]);
        roff.text([roman(what)]);
    }
    see_also(&mut roff, command, program);
    roff.to_writer(&mut out)?;
    Ok(tidied(&String::from_utf8(out)?).into_bytes())
}

/// The page as both man and mandoc take it without a word: the preamble once, and a request for
/// each empty line.
fn tidied(page: &str) -> String {
    const PREAMBLE: [&str; 2] = [".ie \\n(.g .ds Aq \\(aq", ".el .ds Aq '"];
    let mut tidy = PREAMBLE.join("\n") + "\n";
    let mut literal = false;
    let mut lines = page.lines().filter(|line| !PREAMBLE.contains(line)).peekable();
    while let Some(line) = lines.next() {
        literal = (literal || line == ".nf") && line != ".fi";
        let is_gap = |line: &str| line.is_empty() || line == ".br";
        if !literal && is_gap(line) {
            while lines.next_if(|next| is_gap(next)).is_some() {}
            tidy.push_str(".sp\n");
        } else {
            tidy.push_str(line.trim_end());
            tidy.push('\n');
        }
    }
    tidy
}

fn commands(roff: &mut Roff, command: &Command) {
    if shown(command).next().is_none() {
        return;
    }
    roff.control("SH", ["COMMANDS"]);
    for below in shown(command) {
        roff.control("TP", []);
        roff.text([bold(format!("{}(1)", name(below)))]);
        roff.text([roman(below.get_about().map(ToString::to_string).unwrap_or_default())]);
    }
}

fn see_also(roff: &mut Roff, command: &Command, program: &Command) {
    roff.control("SH", ["SEE ALSO"]);
    let ours = std::iter::once(program).chain(shown(program));
    let ours = ours.map(name).filter(|own| *own != name(command)).map(|own| format!("{own}(1)"));
    let all: Vec<String> = ours.chain(SEE_ALSO.map(str::to_owned)).collect();
    roff.text([roman(all.join(", "))]);
}

/// The help after the options, cut at its headings.
fn sections(help: &str) -> Vec<(&'static str, String)> {
    let mut found: Vec<(&'static str, String)> = Vec::new();
    for line in help.lines() {
        let heading = HEADINGS.iter().find(|(own, _)| *own == line.trim_end());
        match (heading, found.last_mut()) {
            (Some((_, heading)), _) => found.push((heading, String::new())),
            (None, Some((_, text))) if line.starts_with(' ') || line.is_empty() => {
                text.push_str(line);
                text.push('\n');
            }
            _ => found.push(("NOTES", format!("{line}\n"))),
        }
    }
    found
}

/// Lines as they are.
fn verbatim(roff: &mut Roff, text: &str) {
    roff.control("nf", []);
    for line in text.trim_end().lines() {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_is_cut_at_its_headings() {
        let cut = sections("Examples:\n  one\n\nExit codes:\n  0  fine\nRest.");
        let headings: Vec<&str> = cut.iter().map(|(heading, _)| *heading).collect();
        assert_eq!(headings, ["EXAMPLES", "EXIT STATUS", "NOTES"]);
        assert_eq!(cut[1].1, "  0  fine\n");
    }

    #[test]
    fn what_an_example_does_is_a_comment_for_the_shell_too() {
        let program = program();
        for command in all(&program) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for (_, text) in sections(&help).iter().filter(|(heading, _)| *heading == "EXAMPLES") {
                for line in text.lines().map(str::trim) {
                    let command = line.split('#').next().unwrap_or(line).trim_end();
                    assert!(!command.contains("  ") && !line.ends_with('#'), "{line}");
                    let is_command = ["straddle", "sudo ", "sfdisk ", "journalctl ", "sh "];
                    let is_command = is_command.iter().any(|first| command.starts_with(first));
                    assert!(command.is_empty() || is_command, "{line}");
                }
            }
        }
    }

    #[test]
    fn every_command_has_a_page_with_the_sections_that_readers_expect() {
        let program = program();
        for command in all(&program) {
            let page = String::from_utf8(render(command, &program).unwrap()).unwrap();
            for heading in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "FILES", "SEE ALSO"] {
                assert!(
                    page.contains(&format!(".SH {heading}"))
                        || page.contains(&format!(".SH \"{heading}\"")),
                    "{}: {heading}",
                    name(command)
                );
            }
            assert!(page.contains("EXIT STATUS"), "{}", name(command));
        }
    }

    #[test]
    fn empty_lines_become_requests_outside_of_literal_text() {
        assert_eq!(
            tidied("a \n.br\n\n.br\nb\n.nf\n\n.fi\n"),
            ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\na\n.sp\nb\n.nf\n\n.fi\n"
        );
    }

    #[test]
    fn an_unknown_command_names_those_there_are() {
        let refused = page(&["chekc".to_owned()]).unwrap_err().to_string();
        let program = program();
        let known: Vec<&str> = shown(&program).map(Command::get_name).collect();
        assert!(refused.contains(&known.join(", ")), "{refused}");
    }
}
