//! Prometheus's text format, as node_exporter's textfile collector reads it.
//!
//! Source: Prometheus "Exposition formats", version 0.0.4, and "Metric and label naming": base
//! units, `_total` for counters alone. A sample that is there twice is an error, so each is kept
//! once.

use std::collections::HashSet;
use std::fmt::Display;

/// A metric: its name, and its samples in the order in which they were taken.
pub(crate) struct Family {
    name: &'static str,
    help: &'static str,
    kind: &'static str,
    /// Everything of each sample but its value.
    taken: HashSet<String>,
    lines: String,
}

impl Family {
    /// A metric without samples: something that goes up and down.
    pub(crate) fn gauge(name: &'static str, help: &'static str) -> Family {
        Family { name, help, kind: "gauge", taken: HashSet::new(), lines: String::new() }
    }

    /// A count that only grows.
    pub(crate) fn counter(name: &'static str, help: &'static str) -> Family {
        Family { kind: "counter", ..Family::gauge(name, help) }
    }

    /// A distribution in buckets.
    pub(crate) fn histogram(name: &'static str, help: &'static str) -> Family {
        Family { kind: "histogram", ..Family::gauge(name, help) }
    }

    /// Takes a sample; of several with the same labels the first is kept.
    pub(crate) fn put(&mut self, labels: &[(&str, &str)], value: &impl Display) {
        self.put_part("", labels, value);
    }

    /// Takes a sample of a part of a distribution: `_bucket`, `_count` or `_sum`.
    pub(crate) fn put_part(
        &mut self,
        part: &'static str,
        labels: &[(&str, &str)],
        value: &impl Display,
    ) {
        let labels = labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let sample = match labels.is_empty() {
            true => format!("{}{part}", self.name),
            false => format!("{}{part}{{{labels}}}", self.name),
        };
        if !self.taken.contains(&sample) {
            self.lines += &format!("{sample} {value}\n");
            self.taken.insert(sample);
        }
    }

    /// Returns its lines; empty where it has no sample.
    pub(crate) fn text(&self) -> String {
        let Family { name, help, kind, lines, .. } = self;
        match lines.is_empty() {
            true => String::new(),
            false => format!("{}{lines}", head(name, help, kind)),
        }
    }
}

/// The lines before the samples of a metric.
fn head(name: &str, help: &str, kind: &str) -> String {
    format!("# HELP {name} {help}\n# TYPE {name} {kind}\n")
}

/// A label's value: backslash, quote and line feed are escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
