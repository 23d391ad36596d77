//! Times of a workload by job, and by reads and writes.

use drive::run::EndedOperation;
use measure::Histogram;
use report::drive::SimulatedPart;
use units::number::real;

/// Times of the operations of one job that read, or that write.
struct Part {
    job: String,
    reads: bool,
    times: Histogram,
    sum_ns: u128,
    failed: u64,
}

/// Times of a workload's parts.
pub(super) struct JobParts {
    parts: Vec<Part>,
    /// Place of each program's reads among the parts; its writes follow.
    places: Vec<usize>,
}

impl JobParts {
    /// No times yet, of programs that are of the jobs with these names.
    pub(super) fn new(names: &[String]) -> JobParts {
        let mut all = JobParts { parts: Vec::new(), places: Vec::new() };
        for name in names {
            let known = all.parts.iter().position(|part| part.job == *name);
            let place = known.unwrap_or(all.parts.len());
            if known.is_none() {
                let part = |reads| Part {
                    job: name.clone(),
                    reads,
                    times: Histogram::new(),
                    sum_ns: 0,
                    failed: 0,
                };
                all.parts.extend([true, false].map(part));
            }
            all.places.push(place);
        }
        all
    }

    /// Takes an operation.
    pub(super) fn record(&mut self, one: &EndedOperation) {
        let place = self.places[one.job] + usize::from(!one.reads);
        let part = &mut self.parts[place];
        part.times.record(one.took_ns());
        part.sum_ns += u128::from(one.took_ns());
        part.failed += u64::from(one.fault.is_some());
    }

    /// The parts that have operations, where there are several; all took `elapsed_ns`.
    pub(super) fn told(self, elapsed_ns: u64) -> Option<Vec<SimulatedPart>> {
        let parts = self.parts.into_iter().filter(|part| part.times.count() > 0);
        let told: Vec<SimulatedPart> = parts.map(|part| part.told(elapsed_ns)).collect();
        (told.len() > 1).then_some(told)
    }
}

impl Part {
    fn told(self, elapsed_ns: u64) -> SimulatedPart {
        let operations = self.times.count();
        let mean_ns = self.sum_ns.checked_div(operations.into()).unwrap_or(0);
        SimulatedPart {
            operations_per_second: real(operations) * 1e9 / real(elapsed_ns.max(1)),
            operations,
            mean_ns: u64::try_from(mean_ns).unwrap_or(u64::MAX),
            p50_ns: self.times.percentile(50.0),
            p99_ns: self.times.percentile(99.0),
            p999_ns: self.times.percentile(99.9),
            max_ns: self.times.max(),
            failed: self.failed,
            reads: self.reads,
            job: self.job,
        }
    }
}
