//! Numbers in what programs print.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::Value;
use units::text::escape;
use workload::near_words::near_words;

use super::procedure::Reading;
use crate::shared::printer::shown;

/// The longest file of numbers.
const NUMBERS_BYTES_MAX: u64 = 1 << 20;
/// Unit of a ratio.
const TIMES: &str = "times";

/// Numbers by name from lines `NAME: NUMBER`, for the article's numbers `units`, each with its
/// unit. Of a ratio `WHAT`, `WHAT, misaligned` and `WHAT, aligned` may be there instead.
///
/// # Errors
/// When the file cannot be read, a line is another or not above 0, a name is none of those or there
/// twice, or half of a ratio is missing.
pub(super) fn measured(
    path: &Path,
    units: &BTreeMap<&str, &str>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let failed = |reason: &dyn std::fmt::Display| anyhow!("cannot read {}: {reason}", shown(path));
    let bytes = host::read_input(path, NUMBERS_BYTES_MAX).map_err(|error| failed(&error))?;
    let text = String::from_utf8(bytes).map_err(|_| failed(&"not UTF-8 text"))?;
    let mut numbers = BTreeMap::new();
    for line in text.lines() {
        let Some((name, number)) = named_number(line) else {
            let example = units.keys().next().copied().unwrap_or("NAME");
            let line = escape(line.as_bytes());
            let reason = format!("`{line}` is not NAME: NUMBER\nhint: for example {example}: 100");
            return Err(failed(&reason));
        };
        let half = [", aligned", ", misaligned"].iter().find_map(|half| name.strip_suffix(half));
        let is_half = half.is_some_and(|what| units.get(what) == Some(&TIMES));
        if !is_half && !units.contains_key(name) {
            bail!(
                "cannot compare {}: this article has no number `{}`\nhint: the nearest of its {} \
                 names: `{}`",
                shown(path),
                escape(name.as_bytes()),
                units.len(),
                near_words(half.unwrap_or(name), units.keys().copied()).join("`, `")
            );
        }
        if numbers.insert(name.to_owned(), number).is_some() {
            return Err(failed(&format!("`{name}` is there twice")));
        }
    }
    for (what, _) in units.iter().filter(|(_, unit)| **unit == TIMES) {
        let half = |half: &str| numbers.get(&format!("{what}, {half}")).copied();
        match (half("misaligned"), half("aligned")) {
            (Some(misaligned), Some(aligned)) => {
                numbers.insert((*what).to_owned(), misaligned / aligned);
            }
            (None, None) => {}
            _ => return Err(failed(&format!("`{what}` needs `, aligned` and `, misaligned`"))),
        }
    }
    Ok(numbers)
}

/// The name and the number of a line; `None` where it has none that is finite and above 0.
fn named_number(line: &str) -> Option<(&str, f64)> {
    let (name, number) = line.rsplit_once(": ")?;
    let number: f64 = number.trim().parse().ok()?;
    (number.is_finite() && number > 0.0).then_some((name, number))
}

impl Reading {
    /// The number in `printed`; `None` where the program printed none.
    pub(super) fn of(self, printed: &str) -> Option<f64> {
        match self {
            Reading::FioRate => {
                let job = fio_job(printed)?;
                let rate = |way: &str| job[way]["iops"].as_f64().unwrap_or(0.0);
                Some(rate("read") + rate("write")).filter(|&rate| rate > 0.0)
            }
            Reading::FioSync => Some(fio_job(printed)?["sync"]["lat_ns"]["mean"].as_f64()? / 1e6),
            Reading::PgTime => Some(1e3 / pg_rate(printed)?),
            Reading::PgRate => pg_rate(printed),
        }
    }
}

/// The first job of fio's JSON, which warnings may precede.
fn fio_job(printed: &str) -> Option<Value> {
    let mut document: Value = serde_json::from_str(printed.get(printed.find('{')?..)?).ok()?;
    Some(document.get_mut("jobs")?.get_mut(0)?.take())
}

/// The rate of `fdatasync` in the first comparison of pg_test_fsync, one 8 kB write each.
fn pg_rate(printed: &str) -> Option<f64> {
    let line = printed.lines().find(|line| line.trim_start().starts_with("fdatasync"))?;
    let rate: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    (rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_what_fio_and_pg_test_fsync_print() {
        let fio = r#"note: psync
            {"jobs": [{"read": {"iops": 0}, "write": {"iops": 118.5},
                       "sync": {"lat_ns": {"mean": 8421180.5}}}]}"#;
        assert_eq!(Reading::FioRate.of(fio), Some(118.5));
        assert!(Reading::FioSync.of(fio).is_some_and(|ms| (ms - 8.421).abs() < 0.001));
        let postgres = "1 seconds per test\n        open_datasync    9.0 ops/sec\n\
                        \x20       fdatasync      250.0 ops/sec    4000 usecs/op\n\
                        \x20       fdatasync      125.0 ops/sec    8000 usecs/op\n";
        assert_eq!(Reading::PgTime.of(postgres), Some(4.0));
        assert_eq!(Reading::PgRate.of(postgres), Some(250.0));
        for nothing in ["", "{", "fdatasync n/a*", r#"{"jobs": []}"#] {
            assert_eq!(Reading::FioRate.of(nothing), None, "{nothing}");
            assert_eq!(Reading::PgRate.of(nothing), None, "{nothing}");
        }
    }
}
