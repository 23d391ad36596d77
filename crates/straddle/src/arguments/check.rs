//! Arguments of `straddle check`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use report::{FindingForm, MonitorAnswer};
use stack::Severity;

use super::common::{Bytes, Unknown, help};
use super::subject::Subject;
use super::values::age;

/// Show the layers of disks and images: verdicts, costs and fixes
///
/// Without a target, shows every disk of this machine except loop devices; name a loop device to
/// see it. A disk that cannot be read is then judged by what the kernel reports. Targets are only
/// read.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Output")]
#[command(after_help = help("check", "\
Examples:
  straddle check                          # every disk of this machine
  straddle check /dev/sda disk.qcow2      # a disk and an image
  straddle check --on 4Kn disk.raw        # will this image work on a 4Kn disk?
  straddle check --only-bad images/       # only the bad images of a directory
  straddle check /dev/sd[a-d]1            # members of one array, together
  straddle check /data                    # the device under a mount point
  straddle check --sysroot other.sysroot  # another machine, captured there
  straddle check --json disk.raw          # JSON, for programs
  straddle check --save base.json         # save the present state
  straddle check --watch base.json        # later: show what changed
  straddle check --keep                   # keep the result for monitors
  straddle check --cached --format nagios --max-age 8d
                                          # judge it later, without root
  straddle explain ST101                  # what a finding means"))]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) subject: Subject,

    /// Output format
    #[arg(
        long,
        value_enum,
        default_value_t = Format::Table,
        value_name = "FORMAT"
    )]
    pub(crate) format: Format,

    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,

    /// Show evidence, units and facts, each with its source
    #[arg(long)]
    pub(crate) explain: bool,

    /// Show only targets with a warning, an error or the verdict unknown, or that cannot be opened
    #[arg(long)]
    pub(crate) only_bad: bool,

    #[command(flatten)]
    pub(crate) exact: Bytes,

    /// Compare with this baseline and print changes only
    ///
    /// A baseline is a file that --save or --json wrote. Without targets, the baseline's targets
    /// are checked again, with its --on and --sysroot. Exit codes: 0 nothing became worse;
    /// 1 something became worse, at or above --fail-on (a changed fact counts as info); 5 nothing
    /// is known to be worse, but a target is now unknown, missing, or without its content.
    #[arg(
        long,
        value_name = "BASELINE",
        conflicts_with_all = ["only_bad", "explain"],
        help_heading = "Changes"
    )]
    pub(crate) watch: Option<PathBuf>,

    /// Write the result to this file, as a baseline for --watch
    ///
    /// The file is written whole or not at all. An existing file is replaced only if it is a
    /// baseline.
    #[arg(long, value_name = "FILE", help_heading = "Changes")]
    pub(crate) save: Option<PathBuf>,

    /// Keep the result for --cached and straddle export
    ///
    /// The file is last-check.json in $STATE_DIRECTORY, else in $XDG_STATE_HOME/straddle, else in
    /// /var/lib/straddle (root) or ~/.local/state/straddle. It is written whole or not at all, and
    /// everybody may read it.
    #[arg(long, conflicts_with_all = ["save", "on", "sysroot"], help_heading = "Kept result")]
    pub(crate) keep: bool,

    /// Judge the result that --keep kept last; no device is opened
    ///
    /// Looks where --keep writes, then in /var/lib/straddle. No verdict (exit code 5; for monitors
    /// UNKNOWN) if the result is missing, damaged, too old, or of another machine.
    #[arg(
        id = "cached",
        long = "cached",
        conflicts_with_all = [
            "targets", "on", "sysroot", "ignore_measured", "follow_references", "watch", "save",
            "keep", "rules",
        ],
        help_heading = "Kept result"
    )]
    pub(crate) is_cached: bool,

    /// Maximum age of a kept result: 90m, 24h, 8d
    #[arg(
        long,
        value_name = "TIME",
        default_value = "24h",
        value_parser = age,
        requires = "cached",
        help_heading = "Kept result"
    )]
    pub(crate) max_age: u32,

    /// Exit with 1 when a finding is at least this severe
    #[arg(
        long,
        value_enum,
        default_value_t = FailOn::Warning,
        value_name = "SEVERITY",
        help_heading = "Judging"
    )]
    pub(crate) fail_on: FailOn,

    #[command(flatten)]
    pub(crate) unknown: Unknown,

    /// Change the severity of a rule to info, warning, error or off; may be repeated
    #[arg(long = "rule", value_name = "CODE=SEVERITY", help_heading = "Judging")]
    pub(crate) rules: Vec<RuleChange>,

    /// Maximum length of the message of --format npd
    ///
    /// Give the `max_output_length` of the node-problem-detector's configuration, since it cuts
    /// longer messages. From 16 to 4096.
    #[arg(
        long,
        value_name = "BYTES",
        default_value_t = 80,
        value_parser = clap::value_parser!(u16).range(16..=4096)
    )]
    pub(crate) message_bytes: u16,
}

impl Check {
    /// Returns the format asked for.
    pub(crate) fn chosen(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Returns whether this shows every disk of this machine because nothing was named, and no
    /// monitor asks: what cannot be judged is then no failure.
    pub(crate) fn is_overview(&self) -> bool {
        let is_for_monitor = matches!(self.chosen(), Format::Nagios | Format::Npd);
        let is_named = !self.subject.targets.is_empty() || self.subject.sysroot.tree.is_some();
        !is_named && !is_for_monitor && self.watch.is_none() && !self.is_cached
    }

    /// Returns `answer` where a missing verdict may be allowed.
    pub(crate) fn allowed(&self, answer: MonitorAnswer) -> MonitorAnswer {
        MonitorAnswer { unknown: answer.unknown && !self.unknown.is_allowed, ..answer }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A tree for one target, one line each for several
    Table,
    /// One JSON document
    Json,
    /// One line of JSON for each target
    Jsonl,
    /// JUnit XML, for the test results of a CI system
    Junit,
    /// SARIF, for annotations on a code host
    Sarif,
    /// Annotations of GitHub Actions
    Github,
    /// Code Quality report of GitLab
    Gitlab,
    /// Markdown: a table of findings, for $GITHUB_STEP_SUMMARY or a comment
    Markdown,
    /// CSV: one row for each finding
    Csv,
    /// Prometheus, for node_exporter's textfile collector
    Prometheus,
    /// Nagios, Icinga and Naemon; exit codes: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN
    Nagios,
    /// Kubernetes' node-problem-detector; exit codes: 0 OK, 1 NonOK, 2 Unknown
    Npd,
    /// Picture as text: straddle draw
    #[value(skip)]
    Picture,
    /// Picture as SVG: straddle draw -o
    #[value(skip)]
    Svg,
}

impl Format {
    /// Returns the form of a list of findings; `None` of all other formats.
    pub(crate) fn finding_form(self) -> Option<FindingForm> {
        Some(match self {
            Format::Github => FindingForm::Github,
            Format::Gitlab => FindingForm::Gitlab,
            Format::Markdown => FindingForm::Markdown,
            Format::Csv => FindingForm::Csv,
            Format::Prometheus => FindingForm::Prometheus,
            _ => return None,
        })
    }

    /// Returns whether changes since a baseline can be shown in it.
    pub(crate) fn shows_changes(self) -> bool {
        self.finding_form().is_none() && !matches!(self, Format::Junit | Format::Sarif)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Info,
    Warning,
    Error,
    Never,
}

impl FailOn {
    /// The least severity that makes the command fail; `None` for never.
    pub(crate) fn severity(self) -> Option<Severity> {
        match self {
            FailOn::Info => Some(Severity::Info),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Error => Some(Severity::Error),
            FailOn::Never => None,
        }
    }
}

/// A rule's severity as the user wants it; `None` switches it off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RuleChange {
    pub(crate) code: &'static str,
    pub(crate) severity: Option<Severity>,
}

impl FromStr for RuleChange {
    type Err = String;

    fn from_str(text: &str) -> Result<RuleChange, String> {
        if text.contains(',') {
            let each = text.replace(',', " --rule ");
            return Err(format!("expected one CODE=SEVERITY; repeat --rule: --rule {each}"));
        }
        let (code, severity) = text
            .split_once('=')
            .ok_or("expected CODE=SEVERITY, such as ST106=warning or ST106=off")?;
        let rule = stack::rule::rule(code)
            .ok_or_else(|| format!("no such rule: {code}; to list all: straddle explain rules"))?;
        let severity = match severity {
            "info" => Some(Severity::Info),
            "warning" => Some(Severity::Warning),
            "error" => Some(Severity::Error),
            "off" => None,
            other => return Err(format!("expected info, warning, error or off, got `{other}`")),
        };
        Ok(RuleChange { code: rule.code, severity })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_change_by_code_in_any_case() {
        let change: RuleChange = "st106=off".parse().unwrap();
        assert_eq!((change.code, change.severity), ("ST106", None));
        assert!("ST999=info".parse::<RuleChange>().is_err());
        assert!("ST106=loud".parse::<RuleChange>().is_err());
        assert!("ST106".parse::<RuleChange>().is_err());
        let several = "ST101=off,ST102=off".parse::<RuleChange>().unwrap_err();
        assert!(several.ends_with("repeat --rule: --rule ST101=off --rule ST102=off"), "{several}");
    }
}
