//! Round trips, batches and groups that the ceilings of an engine are reckoned for.

use measure::throughput_ceiling::Around;
use workload::Profile;

/// Circumstances that the ceilings are reckoned for, where nobody says: a round trip within one
/// datacenter (0.5 ms: Dean, "Numbers everyone should know", 2009), 100 commits in a batch, groups
/// of three and five.
const ROUND_TRIP_NS: u64 = 500_000;
const BATCH: u64 = 100;
const NODES: [usize; 2] = [3, 5];

/// Circumstances that the ceilings are reckoned for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Circumstances {
    pub(super) around: Around,
    /// Decides what is drawn.
    pub(super) seed: u64,
}

impl Circumstances {
    /// Those that were typed: the round trips to the others of a group and the commits in a batch;
    /// the usual ones where nothing was, groups only for engines that commit by majority.
    pub(crate) fn of(
        profile: &Profile,
        trips_ns: &[u64],
        batch: Option<u64>,
        seed: u64,
    ) -> Circumstances {
        let groups = match trips_ns.first() {
            Some(_) => vec![trips_ns.to_vec()],
            None if profile.has_quorum => {
                NODES.iter().map(|nodes| vec![ROUND_TRIP_NS; nodes - 1]).collect()
            }
            None => Vec::new(),
        };
        let client_ns = trips_ns.first().copied().unwrap_or(ROUND_TRIP_NS);
        let batch = batch.unwrap_or(BATCH);
        Circumstances { around: Around { client_ns, batch, groups }, seed }
    }
}
