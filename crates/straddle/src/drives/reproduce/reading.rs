//! Numbers in what programs print.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{anyhow, bail};
use serde_json::Value;

use super::procedure::Reading;
use crate::shared::near_words::near_words;
use crate::shared::printer::shown;

/// Numbers by name from lines `NAME: NUMBER`. Of a name `WHAT, misaligned` whose `WHAT, aligned` is
/// there too, also the first divided by the second, as `WHAT`.
///
/// # Errors
/// When the file cannot be read, a line is another, or a name, or what is left of it without its
/// place, is none of `names`.
pub(super) fn measured(
    path: &Path,
    names: &BTreeSet<&str>,
) -> anyhow::Result<BTreeMap<String, f64>> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| anyhow!("cannot read {}: {error}", shown(path)))?;
    let mut numbers = BTreeMap::new();
    for line in text.lines() {
        let parts = line.rsplit_once(": ").map(|(name, number)| (name, number.trim().parse()));
        let Some((name, Ok(number))) = parts else {
            bail!(
                "cannot read {}: `{line}` is not NAME: NUMBER\nhint: for example {}: 100",
                shown(path),
                names.first().copied().unwrap_or("NAME")
            );
        };
        let what = [", aligned", ", misaligned"].iter().find_map(|place| name.strip_suffix(place));
        if !names.contains(name) && !what.is_some_and(|what| names.contains(what)) {
            bail!(
                "cannot compare {}: this article has no number `{name}`\nhint: the nearest of its \
                 {} names: {}",
                shown(path),
                names.len(),
                near_words(what.unwrap_or(name), names.iter().copied())
            );
        }
        numbers.insert(name.to_owned(), number);
    }
    let times = |(name, number): (&String, &f64)| {
        let what = name.strip_suffix(", misaligned")?;
        Some((what.to_owned(), number / numbers.get(&format!("{what}, aligned"))?))
    };
    let ratios: Vec<(String, f64)> = numbers.iter().filter_map(times).collect();
    numbers.extend(ratios);
    Ok(numbers)
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
