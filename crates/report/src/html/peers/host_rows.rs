//! The hosts with one drive model and firmware: in which order they are shown, and how their rows
//! are named.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use units::number::real;

use super::PeerGroup;

/// The most drives, and the most hosts of one, that are shown.
pub(super) const FLEETS_MAX: usize = 24;
pub(super) const HOSTS_MAX: usize = 200;
/// The section as links name it.
pub(super) const ID: &str = "peers";

/// The hosts with one drive, and all that they did.
pub(super) struct Fleet {
    /// Works of its hosts, each with those that did it; at least one.
    pub(super) groups: Vec<PeerGroup>,
    /// Names of the hosts: those that stand out first, then the slower ones.
    pub(super) hosts: Vec<String>,
}

/// The fleets of `groups`: those with something to tell first, then the larger ones.
pub(super) fn fleets(groups: Vec<PeerGroup>) -> Vec<Fleet> {
    let mut drives: BTreeMap<String, Vec<PeerGroup>> = BTreeMap::new();
    for group in groups {
        let drive = group.kind.drive.clone();
        drives.entry(drive).or_default().push(group);
    }
    let mut fleets: Vec<Fleet> = drives.into_values().map(Fleet::of).collect();
    fleets.sort_by_key(|fleet| {
        let odd: usize = fleet.groups.iter().map(|group| group.outliers().len()).sum();
        (Reverse(odd), Reverse(fleet.hosts.len()))
    });
    fleets
}

impl Fleet {
    fn of(groups: Vec<PeerGroup>) -> Fleet {
        let mut away: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
        let mut odd: BTreeSet<String> = BTreeSet::new();
        for group in &groups {
            odd.extend(group.outliers().into_iter().map(|(_, outlier)| outlier.host));
            for host in &group.hosts {
                // The slower of its latencies counts: a fast median hides no slow writes.
                let times = group.measures().into_iter().filter_map(|(_, ruled, latency)| {
                    Some(real(latency(host)?).max(1.0) / ruled.middle_ns.max(1.0))
                });
                let (sum, count) = away.entry(&host.name).or_default();
                *sum += times.fold(0.0, f64::max).max(f64::MIN_POSITIVE).ln();
                *count += 1.0;
            }
        }
        let mut hosts: Vec<(bool, f64, &str)> = away
            .iter()
            .map(|(name, (sum, count))| (odd.contains(*name), sum / count, *name))
            .collect();
        hosts.sort_by(|one, other| other.0.cmp(&one.0).then(other.1.total_cmp(&one.1)));
        let hosts = hosts.into_iter().map(|(.., name)| name.to_owned()).collect();
        Fleet { hosts, groups }
    }

    /// Returns where the row of `host` is in the fleet `number`; the section where that is not
    /// shown.
    pub(super) fn row_id(&self, number: usize, host: &str) -> String {
        let place = self.hosts.iter().position(|one| one == host);
        match place.filter(|place| number < FLEETS_MAX && *place < HOSTS_MAX) {
            Some(place) => format!("{ID}-{number}-{}", place + 1),
            None => ID.to_owned(),
        }
    }
}
