//! Many hosts side by side: those with the same kind of drive that did the same thing, and who
//! among them stands out. A kind is a model and firmware; of virtual disks also a capacity.
//!
//! Models come first, hosts second: where a whole model is slow its hosts are not to blame, and
//! where one host of a model is slow the model is not.

mod drive_kind;
mod heat_map;
mod host_rows;
mod load_line;
mod named_outliers;
mod outlier_rule;
mod peer_groups;
mod sample;
mod shared_cause;

use std::collections::{BTreeMap, BTreeSet};

use units::number::real;

use super::source::ResultFile;
pub(super) use peer_groups::View;

use load_line::{LoadLine, is_far_busier, load};
use outlier_rule::GroupAnswer;
use sample::{FileSamples, HostSample, MeasuredOn, PeerKind};
use shared_cause::{Explanation, HostValues, explanation};

/// Comparison of the hosts of all files.
#[derive(Clone, Debug, Default)]
pub(super) struct Peers {
    samples: Vec<HostSample>,
    /// Place where something was measured on a drive that is not known.
    strangers: BTreeSet<MeasuredOn>,
}

/// The hosts of one kind, the slowest first.
#[derive(Clone, Debug)]
struct PeerGroup {
    kind: PeerKind,
    hosts: Vec<PeerHost>,
    median: Ruled,
    /// Findings for p99, of those that have one.
    p99: Ruled,
}

/// One host among its peers.
#[derive(Clone, Debug)]
struct PeerHost {
    name: String,
    /// Number of results it gave.
    runs: usize,
    median_ns: u64,
    p99_ns: Option<u64>,
    /// Bytes a second of others on its drive.
    others_bytes_per_second: Option<u64>,
    values: HostValues,
}

/// Findings of the rule for one measure.
#[derive(Clone, Debug)]
struct Ruled {
    answer: GroupAnswer,
    middle_ns: f64,
    /// Times the median of each host, for the throughput of its drive and for what explains it.
    times: Vec<Option<f64>>,
    /// Kernel or type of machine that explains why hosts are slow.
    cause: Option<Explanation>,
}

/// A latency that hosts have: its name, what the rule says of it, and what it is of one host.
type Measure<'a> = (&'static str, &'a Ruled, fn(&PeerHost) -> Option<u64>);

/// In which direction a host stands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// It takes longer than its peers.
    Slower,
    /// It takes less time than its peers: better, or its writes are not what theirs are.
    Faster,
}

impl Odd {
    fn of(times: f64) -> Odd {
        if times > 1.0 { Odd::Slower } else { Odd::Faster }
    }
}

/// A host that stands out among its peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// The host, or the file where that names none; harmless to print.
    pub host: String,
    /// Work in words.
    pub work: String,
    /// Latency: `median` or `p99`.
    pub measure: &'static str,
    /// The host's latency in nanoseconds.
    pub latency_ns: u64,
    /// Ratio to the median of the group.
    pub times: f64,
    /// Number of hosts the group has, this one included.
    pub hosts: usize,
    /// In which direction.
    pub odd: Odd,
    /// True if it makes writes durable in so much less time that they may not be durable: by the
    /// factor that two ways to the same durable write must not be apart.
    pub is_implausible: bool,
    /// Bytes a second of others on its drive, and the most of its peers, where its drive was far
    /// busier than any of theirs, so that nobody can tell whether its latency fits.
    pub busier: Option<(u64, u64)>,
}

/// Property that slow hosts share, where that explains why they are slow.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedCause {
    /// In words, harmless to print: `kernel 6.1.0-13`.
    pub what: String,
    /// Number of hosts that have it, all of them slow.
    pub hosts: usize,
    /// Number of hosts in the group that do not have it.
    pub others: usize,
    /// Ratio of their latency to that of the others.
    pub times: f64,
    /// Latency: `median` or `p99`.
    pub measure: &'static str,
    /// Work in words.
    pub work: String,
    /// Kind of drive that all of them have.
    pub drive: String,
}

/// The hosts among `sources` that stand out among those with the same kind of drive that did the
/// same. A kind is a model and firmware; of virtual disks also a capacity. Nobody does where there
/// are fewer than five, where all are alike, or where so many differ that there are two kinds of
/// hosts; and nobody whose drive is not known.
#[must_use]
pub fn outliers(sources: &[ResultFile]) -> Vec<Outlier> {
    let mut peers = Peers::default();
    sources.iter().for_each(|source| peers.add(source));
    peers.outliers()
}

impl Peers {
    /// Takes in what `source` says; the source is not needed any more.
    pub(super) fn add(&mut self, source: &ResultFile) {
        match sample::told(source) {
            FileSamples::Nothing => {}
            FileSamples::Unknown(place) => {
                self.strangers.insert(place);
            }
            FileSamples::Some(samples) => self.samples.extend(samples),
        }
    }

    /// The hosts that stand out, those of one group behind each other.
    pub(super) fn outliers(&self) -> Vec<Outlier> {
        let groups = self.groups();
        groups.iter().flat_map(PeerGroup::outliers).map(|(_, outlier)| outlier).collect()
    }

    /// Properties that slow hosts share, each of a kind of drive once.
    pub(super) fn causes(&self) -> Vec<SharedCause> {
        causes(&self.groups())
    }

    /// All groups of more than one host.
    fn groups(&self) -> Vec<PeerGroup> {
        let mut paths: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut kinds: BTreeMap<&PeerKind, BTreeMap<&MeasuredOn, Vec<&HostSample>>> =
            BTreeMap::new();
        for sample in &self.samples {
            paths.entry(&sample.place.host).or_default().insert(&sample.place.path);
            let places = kinds.entry(&sample.kind).or_default();
            places.entry(&sample.place).or_default().push(sample);
        }
        let several = |host: &str| paths.get(host).is_some_and(|paths| paths.len() > 1);
        let host = |(place, samples): (&MeasuredOn, Vec<&HostSample>)| {
            let MeasuredOn { host, path } = place;
            let name = if several(host) { format!("{host} {path}") } else { host.clone() };
            PeerHost::of(name, &samples)
        };
        let mut groups = Vec::new();
        for (kind, places) in kinds {
            let hosts: Vec<PeerHost> = places.into_iter().map(host).collect();
            if hosts.len() > 1 {
                groups.push(PeerGroup::of(kind.clone(), hosts));
            }
        }
        groups
    }
}

/// Properties that slow hosts of `groups` share, each of a kind of drive once.
fn causes(groups: &[PeerGroup]) -> Vec<SharedCause> {
    let mut causes: Vec<SharedCause> = Vec::new();
    for cause in groups.iter().filter_map(PeerGroup::cause) {
        if causes.iter().all(|it| (&it.what, &it.drive) != (&cause.what, &cause.drive)) {
            causes.push(cause);
        }
    }
    causes
}

impl PeerHost {
    /// One host with all that it said: of several runs the one in the middle.
    fn of(name: String, samples: &[&HostSample]) -> PeerHost {
        let middle = |mut values: Vec<u64>| {
            values.sort_unstable();
            values.get(values.len().saturating_sub(1).div_euclid(2)).copied()
        };
        let medians = samples.iter().map(|sample| sample.median_ns).collect();
        let p99s = samples.iter().filter_map(|sample| sample.p99_ns).collect();
        let loads = samples.iter().filter_map(|sample| sample.others_bytes_per_second).collect();
        let mut values = samples.first().map(|it| it.values.clone()).unwrap_or_default();
        values.retain(|name, value| samples.iter().all(|it| it.values.get(name) == Some(value)));
        PeerHost {
            name,
            runs: samples.len(),
            median_ns: middle(medians).unwrap_or(0),
            p99_ns: middle(p99s),
            others_bytes_per_second: middle(loads),
            values,
        }
    }
}

impl PeerGroup {
    fn of(kind: PeerKind, mut hosts: Vec<PeerHost>) -> PeerGroup {
        hosts.sort_by(|one, other| {
            let by = |host: &PeerHost| (host.median_ns, host.p99_ns);
            by(other).cmp(&by(one)).then_with(|| one.name.cmp(&other.name))
        });
        let median = Ruled::of(&hosts, |host| Some(host.median_ns));
        let p99 = Ruled::of(&hosts, |host| host.p99_ns);
        PeerGroup { kind, hosts, median, p99 }
    }

    /// The latencies that its hosts are compared by.
    fn measures(&self) -> [Measure<'_>; 2] {
        [
            ("median", &self.median, |host| Some(host.median_ns)),
            ("p99", &self.p99, |host| host.p99_ns),
        ]
    }

    /// Those that stand out, each with its place among the hosts.
    fn outliers(&self) -> Vec<(usize, Outlier)> {
        let mut found: Vec<(usize, Outlier)> = Vec::new();
        for (measure, told, latency) in self.measures() {
            let (places, is_exception) = match &told.answer {
                GroupAnswer::Some(places) => (places, true),
                GroupAnswer::Mixed(places) => (places, false),
                GroupAnswer::TooFew | GroupAnswer::Nobody => continue,
            };
            for &place in places {
                if !is_exception && !self.is_doubtful(place, told) {
                    continue;
                }
                let Some(host) = self.hosts.get(place) else { continue };
                let Some(latency_ns) = latency(host) else { continue };
                if found.iter().any(|(other, _)| *other == place) {
                    continue;
                }
                let Some(times) = told.times[place] else { continue };
                let outlier = Outlier {
                    host: host.name.clone(),
                    work: self.kind.work.clone(),
                    measure,
                    latency_ns,
                    times,
                    hosts: self.hosts.len(),
                    odd: Odd::of(times),
                    is_implausible: self.kind.is_durable && outlier_rule::is_implausible(times),
                    busier: self.busier(host, places).filter(|_| times > 1.0),
                };
                found.push((place, outlier));
            }
        }
        found
    }

    /// Returns whether a host of many that differ is so fast that its writes may not be durable, as
    /// few of them are: the others are slow, and these are doubted.
    fn is_doubtful(&self, place: usize, told: &Ruled) -> bool {
        let is_fast = |times: &Option<f64>| times.is_some_and(outlier_rule::is_implausible);
        let fast = told.times.iter().filter(|times| is_fast(times)).count();
        self.kind.is_durable
            && is_fast(&told.times[place])
            && outlier_rule::is_few(fast, &told.times)
    }

    /// Returns the throughput of a host, and the most of those that do not stand out, where it is
    /// far above that.
    fn busier(&self, host: &PeerHost, odd: &[usize]) -> Option<(u64, u64)> {
        let own = host.others_bytes_per_second?;
        let peers = self.hosts.iter().enumerate().filter(|(place, _)| !odd.contains(place));
        let most = peers.filter_map(|(_, peer)| peer.others_bytes_per_second).max()?;
        is_far_busier(load(own), load(most)).then_some((own, most))
    }

    /// Returns what explains that some hosts are slow.
    fn cause(&self) -> Option<SharedCause> {
        let (measure, ruled, _) =
            self.measures().into_iter().find(|(_, ruled, _)| ruled.cause.is_some())?;
        let Explanation { what, places, rise } = ruled.cause.as_ref()?;
        Some(SharedCause {
            what: what.clone(),
            hosts: places.len(),
            others: ruled.times.iter().flatten().count() - places.len(),
            times: rise.exp(),
            measure,
            work: self.kind.work.clone(),
            drive: self.kind.drive.clone(),
        })
    }
}

impl Ruled {
    fn of(hosts: &[PeerHost], latency: impl Fn(&PeerHost) -> Option<u64>) -> Ruled {
        let known: Vec<(usize, f64)> = (0..hosts.len())
            .filter_map(|place| Some((place, real(latency(&hosts[place])?).max(1.0).ln())))
            .collect();
        let load = |place: usize| hosts[place].others_bytes_per_second.map(load);
        let loads = known.iter().filter_map(|(place, value)| Some((load(*place)?, *value)));
        let line = LoadLine::of(loads.collect());
        let fit = |(place, value): &(usize, f64)| {
            value - load(*place).map_or(0.0, |load| line.rise(load))
        };
        let mut values: Vec<f64> = known.iter().map(fit).collect();
        let pairs = known.iter().zip(&values);
        let pairs: Vec<(&HostValues, f64)> =
            pairs.map(|((place, _), value)| (&hosts[*place].values, *value)).collect();
        let cause = explanation(&pairs);
        for (place, value) in values.iter_mut().enumerate() {
            *value -=
                cause.as_ref().filter(|it| it.places.contains(&place)).map_or(0.0, |it| it.rise);
        }
        let (answer, middle) = outlier_rule::answer(&values);
        let places = |odd: Vec<usize>| odd.into_iter().map(|at| known[at].0).collect();
        let answer = match answer {
            GroupAnswer::Some(odd) => GroupAnswer::Some(places(odd)),
            GroupAnswer::Mixed(odd) => GroupAnswer::Mixed(places(odd)),
            other => other,
        };
        let mut times = vec![None; hosts.len()];
        for ((place, _), value) in known.iter().zip(&values) {
            times[*place] = Some((value - middle).exp());
        }
        Ruled { answer, middle_ns: middle.exp(), times, cause }
    }
}
