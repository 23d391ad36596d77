//! Many hosts side by side: those of the same drive model and firmware that did the same thing, and
//! who among them stands out.
//!
//! Models come first, hosts second: where a whole model is slow its hosts are not to blame, and
//! where one host of a model is slow the model is not.

mod rule;
mod view;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use view::section;

use super::facts::{self, Setting};
use super::phrase::say;
use super::source::{Content, Source};
use crate::bench::{Bench, Experiment};
use crate::fsync::{Fsync, FsyncRow};
use rule::Answer;

/// Names that many machines have.
const NO_NAMES: [&str; 3] = ["localhost", "localhost.localdomain", "(none)"];

/// A latency of one host, one of its peers' kind.
#[derive(Clone, Debug)]
struct Sample {
    /// The host, or the file where that names none.
    host: String,
    /// What was measured on it.
    place: String,
    kind: Kind,
    median_ns: u64,
    p99_ns: Option<u64>,
}

/// What peers share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    /// The drive's model and firmware; `None` where they are not known.
    model: Option<String>,
    firmware: Option<String>,
    /// What was done.
    work: String,
}

/// The hosts of one kind, the slowest first.
#[derive(Clone, Debug)]
struct Group {
    kind: Kind,
    hosts: Vec<Host>,
    median: Told,
    /// What p99 says, of those that have one.
    p99: Told,
}

/// One host among its peers.
#[derive(Clone, Debug)]
struct Host {
    name: String,
    median_ns: u64,
    p99_ns: Option<u64>,
}

/// What the rule says of one measure.
#[derive(Clone, Debug)]
struct Told {
    answer: Answer,
    middle_ns: f64,
}

/// A latency that hosts have: its name, what the rule says of it, and what it is of one host.
type Measure<'a> = (&'static str, &'a Told, fn(&Host) -> Option<u64>);

/// In which direction a host stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// It takes longer than its peers.
    Slower,
    /// It takes less time than its peers: better, or its writes are not what theirs are.
    Faster,
}

/// A host that stands out among its peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// The host, or the file where that names none; harmless to print.
    pub host: String,
    /// What was done, as a person says it.
    pub work: String,
    /// Which latency: `median` or `p99`.
    pub measure: &'static str,
    /// The host's latency in nanoseconds.
    pub latency_ns: u64,
    /// How many times as long that is as the median of the group.
    pub times: f64,
    /// How many hosts the group has, this one included.
    pub hosts: usize,
    /// In which direction.
    pub odd: Odd,
}

/// The hosts among `sources` that stand out among those with the same drive model and firmware that
/// did the same. Nobody does where there are fewer than five, where all are alike, or where so many
/// differ that there are two kinds of hosts.
#[must_use]
pub fn outliers(sources: &[Source]) -> Vec<Outlier> {
    groups(sources).iter().flat_map(Group::outliers).collect()
}

/// All groups of more than one host.
fn groups(sources: &[Source]) -> Vec<Group> {
    let samples: Vec<Sample> = sources.iter().flat_map(samples).collect();
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for sample in &samples {
        places.entry(&sample.host).or_default().insert(&sample.place);
    }
    let mut kinds: BTreeMap<&Kind, BTreeMap<(&str, &str), Vec<&Sample>>> = BTreeMap::new();
    for sample in &samples {
        let hosts = kinds.entry(&sample.kind).or_default();
        hosts.entry((&sample.host, &sample.place)).or_default().push(sample);
    }
    let mut groups = Vec::new();
    for (kind, hosts) in kinds {
        let host = |((host, place), samples): ((&str, &str), Vec<&Sample>)| {
            let several = places.get(host).is_some_and(|places| places.len() > 1);
            let name = if several { format!("{host} {place}") } else { host.to_owned() };
            Host::of(name, &samples)
        };
        let hosts: Vec<Host> = hosts.into_iter().map(host).collect();
        if hosts.len() > 1 {
            groups.push(Group::of(kind.clone(), hosts));
        }
    }
    groups
}

/// The latencies of one file that others may have too.
fn samples(source: &Source) -> Vec<Sample> {
    match &source.content {
        Content::Bench(bench) => of_bench(bench, &source.name),
        Content::Fsync(fsync) => of_fsync(fsync, &source.name),
        Content::Check(_)
        | Content::Compare(_)
        | Content::Probe(_)
        | Content::Trace(_)
        | Content::Simulation(_)
        | Content::Published(_) => Vec::new(),
    }
}

/// The baselines: what a drive does where nothing is misaligned.
fn of_bench(bench: &Bench, file: &str) -> Vec<Sample> {
    let Setting { host, model, firmware, .. } = facts::of_bench(bench);
    let seen = |experiment: &Experiment| {
        let arm = experiment.arms.first().filter(|arm| arm.count > 0)?;
        let work = format!("{}, {}", say(&experiment.title), say(&arm.name));
        let kind = Kind { model: model.clone(), firmware: firmware.clone(), work };
        let (host, place) = (named(host.as_deref(), file), say(&bench.target.path));
        Some(Sample { host, place, kind, median_ns: arm.median_ns, p99_ns: arm.p99_ns })
    };
    bench.experiments.iter().filter_map(seen).collect()
}

fn of_fsync(fsync: &Fsync, file: &str) -> Vec<Sample> {
    let Setting { host, model, firmware, .. } = facts::of_fsync(fsync);
    let seen = |row: &FsyncRow| {
        let median_ns = row.median_ns?;
        let work = format!("{}, {}", say(&row.label), say(&row.id));
        let kind = Kind { model: model.clone(), firmware: firmware.clone(), work };
        let (host, place) = (named(host.as_deref(), file), say(&fsync.target.path));
        Some(Sample { host, place, kind, median_ns, p99_ns: row.p99_ns })
    };
    fsync.rows.iter().filter_map(seen).collect()
}

/// The host's name, or the file's where it has none of its own.
fn named(told: Option<&str>, file: &str) -> String {
    match told.filter(|name| !name.is_empty() && !NO_NAMES.contains(name)) {
        Some(name) => say(name),
        // As it was given: files of many hosts may have one name in many directories.
        None => say(file),
    }
}

impl Host {
    /// One host with all that it said: of several runs the one in the middle.
    fn of(name: String, samples: &[&Sample]) -> Host {
        let middle = |mut values: Vec<u64>| {
            values.sort_unstable();
            values.get(values.len().saturating_sub(1).div_euclid(2)).copied()
        };
        let medians = samples.iter().map(|sample| sample.median_ns).collect();
        let p99s = samples.iter().filter_map(|sample| sample.p99_ns).collect();
        Host { name, median_ns: middle(medians).unwrap_or(0), p99_ns: middle(p99s) }
    }
}

impl Group {
    fn of(kind: Kind, mut hosts: Vec<Host>) -> Group {
        hosts.sort_by(|one, other| {
            let by = |host: &Host| (host.median_ns, host.p99_ns);
            by(other).cmp(&by(one)).then_with(|| one.name.cmp(&other.name))
        });
        let median = Told::of(&hosts, |host| Some(host.median_ns));
        let p99 = Told::of(&hosts, |host| host.p99_ns);
        Group { kind, hosts, median, p99 }
    }

    fn outliers(&self) -> Vec<Outlier> {
        let mut found: Vec<Outlier> = Vec::new();
        let measures: [Measure<'_>; 2] = [
            ("median", &self.median, |host| Some(host.median_ns)),
            ("p99", &self.p99, |host| host.p99_ns),
        ];
        for (measure, told, latency) in measures {
            let Answer::Some(places) = &told.answer else { continue };
            for host in places.iter().filter_map(|&place| self.hosts.get(place)) {
                let Some(latency_ns) = latency(host) else { continue };
                if found.iter().any(|other| other.host == host.name) {
                    continue;
                }
                let times = real(latency_ns) / told.middle_ns;
                found.push(Outlier {
                    host: host.name.clone(),
                    work: self.kind.work.clone(),
                    measure,
                    latency_ns,
                    times,
                    hosts: self.hosts.len(),
                    odd: if times > 1.0 { Odd::Slower } else { Odd::Faster },
                });
            }
        }
        found
    }
}

impl Told {
    fn of(hosts: &[Host], latency: impl Fn(&Host) -> Option<u64>) -> Told {
        let known = (0..hosts.len()).filter_map(|place| Some((place, latency(&hosts[place])?)));
        let (places, values): (Vec<usize>, Vec<f64>) =
            known.map(|(place, value)| (place, real(value))).unzip();
        let (answer, middle_ns) = rule::answer(&values);
        let answer = match answer {
            Answer::Some(odd) => Answer::Some(odd.into_iter().map(|at| places[at]).collect()),
            other => other,
        };
        Told { answer, middle_ns }
    }
}

#[expect(clippy::cast_precision_loss, reason = "latencies of months are none")]
fn real(nanoseconds: u64) -> f64 {
    nanoseconds as f64
}
