//! An earlier look, read from a file that may hold anything.

use std::collections::{HashMap, HashSet};

use super::{Change, SeenValue, Subject, TargetChange, Trend, compare, compared_values};
use crate::check_document::{Document, LayerReport, SCHEMA, Target};
use crate::result_reader::{ResultFault, ResultText, shown};
use crate::text::one_line;
use stack::{LayerType, Severity, Verdict};

/// An earlier look at some targets.
#[derive(Debug)]
pub struct Baseline {
    /// The version of straddle that wrote it.
    version: String,
    /// The words of the command that wrote it, escaped; none where it does not tell.
    command: Vec<String>,
    /// The targets in their order.
    targets: Vec<Target>,
    /// The number of the target that a name stands for, alone or joined with others.
    named: HashMap<String, usize>,
}

/// One target beside what the baseline says of it.
#[derive(Clone, Debug)]
pub struct ComparedTarget {
    /// The name of the baseline's target that it was compared with; its own where there is none.
    pub target: String,
    /// Change; `None` for nothing.
    pub change: Option<TargetChange>,
}

impl Baseline {
    /// Returns whether `bytes` call themselves a document of `straddle check`, whole or not.
    ///
    /// # Errors
    /// When they are no JSON object that names [`SCHEMA`] as its schema.
    pub fn recognize(bytes: &[u8]) -> Result<(), ResultFault> {
        opened(bytes).map(|_| ())
    }

    /// The baseline that `bytes` hold: what `--json` or `--save` wrote.
    ///
    /// # Errors
    /// When they are no such document, whole and of this schema.
    pub fn read(bytes: &[u8]) -> Result<Baseline, ResultFault> {
        check_parse(bytes).map(Baseline::of)
    }

    /// The baseline that `document` is. Of targets with the same name the first one counts.
    #[must_use]
    pub fn of(document: Document) -> Baseline {
        let mut baseline = Baseline {
            version: shown(&document.envelope.version),
            command: document.envelope.run.command,
            targets: Vec::new(),
            named: HashMap::new(),
        };
        for target in document.targets {
            if !baseline.named.contains_key(&target.target) {
                for name in names(&target) {
                    baseline.named.entry(name.to_owned()).or_insert(baseline.targets.len());
                }
                baseline.targets.push(target);
            }
        }
        baseline
    }

    /// The version of straddle that wrote it, as it says.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The words of the command that wrote it, escaped; none where it does not tell.
    #[must_use]
    pub fn command(&self) -> &[String] {
        &self.command
    }

    /// `after` beside what the baseline says of it: of the target with its name, or of one that
    /// has a name in common with it.
    #[must_use]
    pub fn compare(&self, after: &Target) -> ComparedTarget {
        let before = names(after).find_map(|name| self.named.get(name));
        match before.and_then(|&index| self.targets.get(index)) {
            Some(before) => {
                ComparedTarget { target: before.target.clone(), change: changed(before, after) }
            }
            None => ComparedTarget { target: after.target.clone(), change: Some(appeared(after)) },
        }
    }

    /// Returns whether a target of this name is in it.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.named.keys().any(|known| names_target(name, known))
    }

    /// The targets that are not among those `seen` and that `asked` names, in the baseline's order,
    /// and the names of the others that were not seen; where nothing was asked for, all are. It is
    /// not known whether they became worse.
    #[must_use]
    pub fn vanished(
        &self,
        seen: &HashSet<String>,
        asked: &[String],
    ) -> (Vec<TargetChange>, Vec<String>) {
        let is_asked = |target: &&Target| {
            asked.is_empty()
                || names(target).any(|known| asked.iter().any(|it| names_target(it, known)))
        };
        let unseen = self.targets.iter().filter(|target| !seen.contains(&target.target));
        let (gone, others): (Vec<&Target>, Vec<&Target>) = unseen.partition(is_asked);
        let others = others.into_iter().map(|target| one_line(&target.target));
        (gone.into_iter().map(vanished).collect(), others.collect())
    }
}

/// All names of a target: its own, and those that it joins.
fn names(target: &Target) -> impl Iterator<Item = &str> {
    std::iter::once(&target.target).chain(&target.joined).map(String::as_str)
}

/// Returns whether a target that someone named `name` is, or holds, the one called `known`.
fn names_target(name: &str, known: &str) -> bool {
    let directory = name.trim_end_matches('/');
    let inside = known.strip_prefix(directory);
    known == name
        || directory == "." && !known.starts_with('/') && !known.starts_with("../")
        || known.strip_prefix("/dev/") == Some(name)
        || inside.is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the document of `straddle check` that `bytes` hold: what `--json` or `--save` wrote.
///
/// # Errors
/// When they are no such document, whole and of this schema.
pub fn check_parse(bytes: &[u8]) -> Result<Document, ResultFault> {
    opened(bytes)?.read()
}

/// A baseline may be longer than other results: whoever reads the file bounds it.
fn opened(bytes: &[u8]) -> Result<ResultText<'_>, ResultFault> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| ResultFault::NotOurs("expected text, found other bytes".to_owned()))?;
    ResultText::open(text, &[SCHEMA], usize::MAX)
}

fn changed(before: &Target, after: &Target) -> Option<TargetChange> {
    let mut changes = compare::changes(before, after);
    let reason = reason(after);
    let gone = gone(before, after).or_else(|| emptied(before, after));
    let is_unseen = after.verdict == Verdict::Unknown && before.verdict != Verdict::Unknown;
    if is_unseen || gone.is_some() {
        // What was bad about content that is gone, or not seen, did not get better.
        let better = changes.iter_mut().filter(|change| change.trend == Trend::Better);
        better.for_each(|change| change.trend = Trend::Vanished);
    }
    if changes.is_empty() && reason.is_none() {
        return None;
    }
    let has = |trend| changes.iter().any(|change: &Change| change.trend == trend);
    let trend = match () {
        () if has(Trend::Worse) => Trend::Worse,
        () if reason.is_some() => Trend::Unknown,
        () if has(Trend::Better) => Trend::Better,
        () => Trend::Changed,
    };
    let reason = reason.or(gone);
    Some(TargetChange {
        target: one_line(&after.target),
        trend,
        verdict_before: Some(before.verdict),
        verdict_after: Some(after.verdict),
        answered: reason.is_none(),
        reason,
        changes,
    })
}

/// Names the layers that are gone under any name; `None` where each has its like, or could not be
/// seen. It is not known whether their loss is for the better.
fn gone(before: &Target, after: &Target) -> Option<String> {
    if before.refusal.is_some() || after.refusal.is_some() {
        return None;
    }
    let mut left: HashMap<(LayerType, &str), usize> = HashMap::new();
    for layer in &after.layers {
        *left.entry(like(layer)).or_default() += 1;
    }
    let mut lost = before.layers.iter().filter(|layer| match left.get_mut(&like(layer)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    let first = lost.next()?;
    let same = |layer: &LayerReport| layer.kind == first.kind && layer.name == first.name;
    let title = if first.title.is_empty() { String::new() } else { format!(" ({})", first.title) };
    let kind = first.kind.word().replace('-', " ");
    let what = match after.layers.iter().any(same) {
        true => "is another one now",
        false => "is gone",
    };
    let more = match lost.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(one_line(&format!("the {kind} {}{title} {what}{more}", first.name)))
}

/// Says that nothing is left of what was on the target, whatever layers it still has.
fn emptied(before: &Target, after: &Target) -> Option<String> {
    let is_empty = |target: &Target| target.verdict == Verdict::Empty;
    (is_empty(after) && !is_empty(before)).then(|| "nothing is on it any more".to_owned())
}

/// Kind and title of a layer, by which it is known again under another name.
fn like(layer: &LayerReport) -> (LayerType, &str) {
    (layer.kind, layer.title.split(',').next().unwrap_or_default())
}

/// A target that is not in the baseline: what its rules found is new.
fn appeared(after: &Target) -> TargetChange {
    let reason = reason(after);
    let found = |finding: &crate::check_document::Finding| Change {
        layer: after
            .layers
            .iter()
            .find(|layer| layer.id == finding.layer)
            .map(|layer| one_line(&layer.name)),
        subject: Subject::Finding,
        key: one_line(&finding.code),
        trend: Trend::Appeared,
        severity: finding.severity,
        title: one_line(&finding.title),
        before: None,
        after: Some(SeenValue {
            value: Some(finding.severity.word().to_owned()),
            ..SeenValue::default()
        }),
    };
    let mut changes = vec![target_change(Trend::Appeared, after)];
    changes.extend(after.findings.iter().map(found));
    TargetChange {
        target: one_line(&after.target),
        trend: if after.refusal.is_some() { Trend::Unknown } else { Trend::Appeared },
        verdict_before: None,
        verdict_after: Some(after.verdict),
        answered: reason.is_none(),
        reason,
        changes,
    }
}

fn vanished(before: &Target) -> TargetChange {
    TargetChange {
        target: one_line(&before.target),
        trend: Trend::Vanished,
        verdict_before: Some(before.verdict),
        verdict_after: None,
        answered: false,
        reason: Some("not found any more".to_owned()),
        changes: vec![target_change(Trend::Vanished, before)],
    }
}

fn target_change(trend: Trend, target: &Target) -> Change {
    let seen = Some(SeenValue {
        value: Some(compared_values::word(target.verdict)),
        ..SeenValue::default()
    });
    let (before, after) = if trend == Trend::Vanished { (seen, None) } else { (None, seen) };
    Change {
        layer: None,
        subject: Subject::Verdict,
        key: "verdict".to_owned(),
        trend,
        severity: Severity::Info,
        title: String::new(),
        before,
        after,
    }
}

/// Why a target could not be judged; `None` when it was.
fn reason(target: &Target) -> Option<String> {
    if let Some(refusal) = &target.refusal {
        return Some(one_line(&refusal.message));
    }
    let unknown = |verdict| verdict == Verdict::Unknown;
    let layer = target.layers.iter().find(|layer| unknown(layer.verdict));
    let of_layer = || match layer {
        Some(layer) => one_line(&format!("{}: {}", layer.name, layer.reason)),
        None => "its verdict is unknown".to_owned(),
    };
    unknown(target.verdict).then(of_layer)
}
