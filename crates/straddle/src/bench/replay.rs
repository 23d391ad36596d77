//! Given requests, done again by each arm, a block at a time: inside the scratch file, each arm at
//! its own distance from a boundary. All arms share one queue, since a queue or a device of its own
//! may give an arm a speed of its own, which no coin evens out.

use device::{Action, Completion, Durability, Operation, Queue};
use host::engine::Access;
use measure::Histogram;
use units::number::real;
use workload::raidtest::{RaidRequest, RequestKind};

use super::document::ArmRecord;
use super::paired_loop::Timed;
use super::scratch_file::ScratchFile;
use crate::shared::halt::Halt;
use crate::world::{BufferPlan, ScratchSpace as _, World};

/// Number of requests an observation has for each slot.
const REQUESTS_A_SLOT: usize = 8;

/// A queue of either kind.
enum Either<W: World> {
    One(Box<W::One>),
    Many(Box<W::Many>),
}

/// The requests, and what each arm saw of them.
pub(crate) struct ReplayedRequests<'a, W: World> {
    ground: &'a ScratchFile<W::Scratch>,
    queue: Either<W>,
    /// Place where each arm's medium starts in the file, in bytes.
    starts_bytes: Vec<u64>,
    requests: &'a [RaidRequest],
    /// The first request of this pair.
    next: usize,
    /// Number of requests an observation has.
    pub(crate) block: usize,
    latencies: Vec<Histogram>,
    busy_ns: Vec<u64>,
}

impl<'a, W: World> ReplayedRequests<'a, W> {
    /// `requests` on a medium that starts at each of `starts_bytes` of the scratch file, `depth` at
    /// a time, past the page cache.
    pub(crate) fn new(
        (world, ground): (&W, &'a ScratchFile<W::Scratch>),
        starts_bytes: Vec<u64>,
        requests: &'a [RaidRequest],
        depth: u16,
        seed: u64,
    ) -> Result<ReplayedRequests<'a, W>, Halt> {
        let longest = requests.iter().map(|request| request.length_bytes).max().unwrap_or(1);
        Ok(ReplayedRequests {
            ground,
            queue: queue(world, ground, BufferPlan { depth, slot_bytes: longest, seed })?,
            requests,
            next: 0,
            block: (usize::from(depth) * REQUESTS_A_SLOT).min(requests.len().max(1)),
            latencies: starts_bytes.iter().map(|_| Histogram::new()).collect(),
            busy_ns: vec![0; starts_bytes.len()],
            starts_bytes,
        })
    }

    /// Returns what each arm saw.
    pub(crate) fn seen(&self) -> Vec<ArmRecord> {
        let seen = |(latencies, busy_ns): (&Histogram, &u64)| {
            let rate = real(latencies.count()) / (real(*busy_ns) / 1e9);
            ArmRecord {
                latencies: Some(latencies.clone()),
                operations_per_second: Some(rate).filter(|rate| rate.is_finite()),
                ..ArmRecord::default()
            }
        };
        self.latencies.iter().zip(&self.busy_ns).map(seen).collect()
    }
}

fn queue<W: World>(
    world: &W,
    ground: &ScratchFile<W::Scratch>,
    buffers: BufferPlan,
) -> Result<Either<W>, Halt> {
    let file = ground.scratch.open(Access::Write)?;
    Ok(match buffers.depth {
        1 => Either::One(Box::new(world.one(file, buffers)?)),
        _ => Either::Many(Box::new(world.many(file, buffers)?)),
    })
}

impl<W: World> Timed for ReplayedRequests<'_, W> {
    fn time(&mut self, arm: usize) -> Result<u64, Halt> {
        let start_bytes = self.starts_bytes[arm];
        let chosen = self.requests.iter().cycle().skip(self.next).take(self.block);
        let chosen = chosen.map(|request| RaidRequest {
            offset_bytes: request.offset_bytes.saturating_add(start_bytes),
            ..*request
        });
        let latencies = &mut self.latencies[arm];
        let took_ns = match &mut self.queue {
            Either::One(queue) => replayed(queue.as_mut(), chosen, latencies),
            Either::Many(queue) => replayed(queue.as_mut(), chosen, latencies),
        };
        let took_ns = took_ns.map_err(Halt::Void)?;
        self.busy_ns[arm] = self.busy_ns[arm].saturating_add(took_ns);
        Ok(took_ns)
    }

    fn pair_bytes(&self) -> u64 {
        let written = |request: &RaidRequest| match request.kind {
            RequestKind::Write => u64::from(request.length_bytes),
            RequestKind::Read => 0,
        };
        let most = self.requests.iter().map(written).max().unwrap_or(0);
        let many = u64::try_from(self.block * self.starts_bytes.len()).unwrap_or(u64::MAX);
        most.saturating_mul(many)
    }

    fn start_pair(&mut self) {
        self.next = (self.next + self.block) % self.requests.len().max(1);
    }

    fn fault(&mut self) -> Option<String> {
        self.ground.moved()
    }
}

/// Does `requests` with as many in flight as the queue has slots; how long all of it took, in
/// nanoseconds.
fn replayed<Q: Queue>(
    queue: &mut Q,
    mut requests: impl Iterator<Item = RaidRequest>,
    latencies: &mut Histogram,
) -> Result<u64, String> {
    const NONE: Completion =
        Completion { slot: 0, submitted_ns: 0, completed_ns: 0, result: Ok(0) };
    let stopped = |error: device::QueueError| error.to_string();
    let mut lengths = vec![0; queue.depth().into()];
    let mut completions = vec![NONE; lengths.len()];
    let mut in_flight = 0_usize;
    let begun_ns = queue.now_ns();
    for slot in 0..queue.depth() {
        let Some(request) = requests.next() else { break };
        lengths[usize::from(slot)] = request.length_bytes;
        queue.push(operation(request, slot));
        in_flight += 1;
    }
    while in_flight > 0 {
        queue.submit().map_err(stopped)?;
        let count = queue.reap(&mut completions, 1).map_err(stopped)?;
        for completion in &completions[..count] {
            in_flight -= 1;
            let asked = lengths[usize::from(completion.slot)];
            match completion.result {
                Ok(moved) if moved == asked => latencies.record(completion.latency_ns().max(1)),
                Ok(moved) => return Err(format!("a request of {asked} bytes moved {moved}")),
                Err(number) => {
                    let error = std::io::Error::from_raw_os_error(number);
                    return Err(format!("a request of {asked} bytes failed: {error}"));
                }
            }
            if let Some(request) = requests.next() {
                lengths[usize::from(completion.slot)] = request.length_bytes;
                queue.push(operation(request, completion.slot));
                in_flight += 1;
            }
        }
    }
    Ok(queue.now_ns().saturating_sub(begun_ns))
}

fn operation(request: RaidRequest, slot: u16) -> Operation {
    let write = Action::Write { durability: Durability::Cached, atomic: false };
    Operation {
        action: match request.kind {
            RequestKind::Write => write,
            RequestKind::Read => Action::Read,
        },
        file: 0,
        slot,
        offset_bytes: request.offset_bytes,
        length_bytes: request.length_bytes,
    }
}
