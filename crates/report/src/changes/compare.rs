//! Two looks at one target, side by side.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::Hash;

use super::layer_matching::{Paths, Place};
use super::{Change, SeenValue, Subject, Trend, compared_values};
use crate::check_document::{Finding, LayerReport, Target};
use crate::text::one_line;
use stack::{Severity, Verdict};

/// Returns what changed from `before` to `after`. Of a target that could not be opened on either
/// side only the verdict and the findings are compared: that no layer was seen does not mean that
/// none is there.
pub(super) fn changes(before: &Target, after: &Target) -> Vec<Change> {
    let mut paths = Paths::default();
    let sides = [Side::of(before, &mut paths), Side::of(after, &mut paths)];
    let [old, new] = &sides;
    let mut changes = Vec::new();
    changes.extend(verdicts(None, (before.verdict, ""), (after.verdict, "")));
    if before.refusal.is_none() && after.refusal.is_none() {
        for (_, pair) in pairs(old.layers(), new.layers()) {
            changes.extend(layer(&paths, &pair));
        }
    }
    if after.refusal.is_none() {
        changes.extend(findings(&paths, old.findings(), new.findings()));
    }
    changes
}

/// Changes of findings. A code that another of its subject took the place of, on the same layer, is
/// one change.
fn findings(paths: &Paths, before: Vec<Keyed<'_>>, after: Vec<Keyed<'_>>) -> Vec<Change> {
    let subject = |(place, code): (Option<Place>, &str)| (place, code.get(..3).map(str::to_owned));
    let (mut same, mut gone, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for (key, pair) in pairs(before, after) {
        match pair {
            TargetPair::Before(found) => gone.push((subject(key), found)),
            TargetPair::After(found) => new.push((subject(key), found)),
            both @ TargetPair::Both(..) => same.push(both),
        }
    }
    same.extend(pairs(gone, new).into_iter().map(|(_, pair)| pair));
    same.iter().filter_map(|pair| finding(paths, pair)).collect()
}

/// One look with the place of each layer.
struct Side<'a> {
    target: &'a Target,
    places: Vec<Place>,
    of_id: HashMap<u32, Place>,
}

/// A finding and the place of its layer.
type Found<'a> = (Option<Place>, &'a Finding);
/// The same with the place and the code by which it is known again.
type Keyed<'a> = ((Option<Place>, &'a str), Found<'a>);
/// A layer and its place.
type Placed<'a> = (Place, &'a LayerReport);

impl<'a> Side<'a> {
    fn of(target: &'a Target, paths: &mut Paths) -> Side<'a> {
        let places = paths.places(&target.layers);
        let of_id = target.layers.iter().map(|layer| layer.id).zip(places.iter().copied());
        Side { target, of_id: of_id.collect(), places }
    }

    fn layers(&self) -> Vec<(Place, Placed<'a>)> {
        let placed = self.places.iter().copied().zip(&self.target.layers);
        placed.map(|(place, layer)| (place, (place, layer))).collect()
    }

    fn findings(&self) -> Vec<Keyed<'a>> {
        let keyed = |finding: &'a Finding| {
            let place = self.of_id.get(&finding.layer).copied();
            ((place, &*finding.code), (place, finding))
        };
        self.target.findings.iter().map(keyed).collect()
    }
}

/// Item of one look, the other, or both.
enum TargetPair<T> {
    Before(T),
    After(T),
    Both(T, T),
}

/// Values with the same key, side by side: in the order of `after`, then those that are only in
/// `before`. Where a key occurs several times, the first goes with the first.
fn pairs<K: Eq + Hash + Clone, T>(
    before: Vec<(K, T)>,
    after: Vec<(K, T)>,
) -> Vec<(K, TargetPair<T>)> {
    let mut old: HashMap<(K, usize), T> = HashMap::new();
    let before = numbered(before);
    let order: Vec<(K, usize)> = before.iter().map(|(key, _)| key.clone()).collect();
    old.extend(before);
    let mut pairs = Vec::new();
    for (key, after) in numbered(after) {
        let pair = match old.remove(&key) {
            Some(before) => TargetPair::Both(before, after),
            None => TargetPair::After(after),
        };
        pairs.push((key.0, pair));
    }
    for key in order {
        if let Some(before) = old.remove(&key) {
            pairs.push((key.0, TargetPair::Before(before)));
        }
    }
    pairs
}

fn numbered<K: Eq + Hash + Clone, T>(values: Vec<(K, T)>) -> Vec<((K, usize), T)> {
    let mut counts: HashMap<K, usize> = HashMap::new();
    let mut number = |key: K, value: T| {
        let count = counts.entry(key.clone()).or_default();
        *count += 1;
        ((key, *count), value)
    };
    values.into_iter().map(|(key, value)| number(key, value)).collect()
}

fn layer(paths: &Paths, pair: &TargetPair<Placed<'_>>) -> Vec<Change> {
    let one = |(place, layer): &Placed<'_>, trend| Change {
        layer: Some(paths.name(*place)),
        subject: Subject::Layer,
        key: layer.kind.word().to_owned(),
        trend,
        severity: Severity::Info,
        title: one_line(&layer.title),
        before: None,
        after: None,
    };
    let seen =
        |(_, layer): &Placed<'_>| Some(compared_values::verdict(layer.verdict, &layer.reason));
    match pair {
        TargetPair::After(new) => vec![Change { after: seen(new), ..one(new, Trend::Appeared) }],
        TargetPair::Before(old) => vec![Change { before: seen(old), ..one(old, Trend::Vanished) }],
        TargetPair::Both((place, old), (_, new)) => {
            let name = || paths.name(*place);
            let mut changes = Vec::new();
            changes.extend(verdicts(
                Some(&name),
                (old.verdict, &old.reason),
                (new.verdict, &new.reason),
            ));
            for (key, pair) in pairs(compared_values::values(old), compared_values::values(new)) {
                changes.extend(fact(&name, key, pair));
            }
            changes
        }
    }
}

fn verdicts(
    name: Option<&dyn Fn() -> String>,
    (old, why): (Verdict, &str),
    (new, reason): (Verdict, &str),
) -> Option<Change> {
    let trend = match (old, new) {
        _ if old == new => return None,
        (_, Verdict::Unknown) => Trend::Unknown,
        // A blank target is neither better nor worse than one with content.
        (Verdict::Unknown | Verdict::Empty, _) | (_, Verdict::Empty) => Trend::Changed,
        _ if new > old => Trend::Worse,
        _ => Trend::Better,
    };
    Some(Change {
        layer: name.map(|name| name()),
        subject: Subject::Verdict,
        key: "verdict".to_owned(),
        trend,
        severity: Severity::Info,
        title: String::new(),
        before: Some(compared_values::verdict(old, why)),
        after: Some(compared_values::verdict(new, reason)),
    })
}

fn fact(name: &dyn Fn() -> String, key: String, pair: TargetPair<SeenValue>) -> Option<Change> {
    let (trend, before, after) = match pair {
        // Another reason or source for the same value is no change.
        TargetPair::Both(old, new) if old.value == new.value => return None,
        TargetPair::Both(old, new) => (Trend::Changed, Some(old), Some(new)),
        TargetPair::Before(old) => (Trend::Vanished, Some(old), None),
        TargetPair::After(new) => (Trend::Appeared, None, Some(new)),
    };
    Some(Change {
        layer: Some(name()),
        subject: Subject::Fact,
        key,
        trend,
        severity: Severity::Info,
        title: String::new(),
        before,
        after,
    })
}

fn finding(paths: &Paths, pair: &TargetPair<Found<'_>>) -> Option<Change> {
    let (old, new) = match pair {
        TargetPair::Both(old, new) => (Some(old), Some(new)),
        TargetPair::Before(old) => (Some(old), None),
        TargetPair::After(new) => (None, Some(new)),
    };
    let of = |found: Option<&Found<'_>>| found.map(|(_, it)| (it.severity, it.code.clone()));
    if of(old) == of(new) {
        return None;
    }
    let severity = |found: Option<&Found<'_>>| found.map(|(_, it)| it.severity);
    let trend = match severity(new).cmp(&severity(old)) {
        Ordering::Greater => Trend::Worse,
        Ordering::Less => Trend::Better,
        Ordering::Equal => Trend::Changed,
    };
    let key = old.or(new)?.1.code.as_ref();
    let seen = |(_, finding): &Found<'_>| {
        let word = finding.severity.word();
        let value = if finding.code == key {
            word.to_owned()
        } else {
            one_line(&format!("{} {word}", finding.code))
        };
        SeenValue { value: Some(value), ..SeenValue::default() }
    };
    let (place, shown) = new.or(old)?;
    Some(Change {
        layer: place.map(|place| paths.name(place)),
        subject: Subject::Finding,
        key: one_line(key),
        trend,
        severity: if trend == Trend::Changed { Severity::Info } else { shown.severity },
        title: one_line(&shown.title),
        before: old.map(seen),
        after: new.map(seen),
    })
}
