//! Kept results as metrics, for node_exporter's textfile collector: only what they hold.

use jiff::Timestamp;
use stack::{Severity, Verdict};

use crate::bench::bench_plugin;
use crate::check_document::{Document, Target};
use crate::device_facts::{DeviceFacts, Quantity};
use crate::envelope::Envelope;
use crate::fsync::{Fsync, FsyncRow, fsync_plugin};
use crate::html::{FileContent, ResultFile};
use crate::monitor_answer::{MonitorAnswer, MonitorState};
use crate::nagios::exact_seconds;
use crate::probe::Probe;
use crate::prometheus::Family;
use crate::text::one_line;

/// Upper bounds of the buckets of durations, in nanoseconds.
const BUCKETS: [u64; 17] = [
    10_000,
    25_000,
    50_000,
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    10_000_000_000,
];

/// The metrics of `results`, with their last line feed. Of results of the same thing the newest is
/// shown; kinds of documents that hold none of it are passed over.
#[must_use]
pub fn results_textfile(results: &[ResultFile]) -> String {
    let mut newest: Vec<&ResultFile> = results.iter().collect();
    newest.sort_by_key(|result| std::cmp::Reverse(started(&result.content)));
    let mut metrics = ResultMetrics::new();
    newest.iter().for_each(|result| metrics.take(&result.content));
    let newest: Vec<ResultFile> = newest.into_iter().cloned().collect();
    DeviceFacts::of(&newest).iter().for_each(|device| metrics.device(device));
    metrics.text()
}

/// Returns when a result was made, in seconds since 1970; `None` where it does not tell.
fn started(content: &FileContent) -> Option<i64> {
    let envelope = match content {
        FileContent::Check(document) => &document.envelope,
        FileContent::Fsync(document) => &document.envelope,
        FileContent::Bench(document) => &document.envelope,
        FileContent::Probe(document) => &document.envelope,
        _ => return None,
    };
    seconds(envelope)
}

fn seconds(envelope: &Envelope) -> Option<i64> {
    Some(envelope.run.started.parse::<Timestamp>().ok()?.as_second())
}

struct ResultMetrics {
    status: Family,
    last_run: Family,
    misaligned: Family,
    misalignment: Family,
    durations: Family,
    unit: Family,
    info: Family,
}

impl ResultMetrics {
    fn new() -> ResultMetrics {
        ResultMetrics {
            status: Family::gauge(
                "straddle_check_status",
                "Verdict of a kept result: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN.",
            ),
            last_run: Family::gauge(
                "straddle_last_run_timestamp_seconds",
                "Start of the run that a kept result is of.",
            ),
            misaligned: Family::gauge(
                "straddle_layer_misaligned",
                "1 where a layer is misaligned, 0 where it is aligned.",
            ),
            misalignment: Family::gauge(
                "straddle_layer_misalignment_bytes",
                "Distance of a misaligned layer from the boundary before it.",
            ),
            durations: Family::histogram(
                "straddle_fsync_duration_seconds",
                "Time of a durable write in the last run.",
            ),
            unit: Family::gauge(
                "straddle_device_write_unit_bytes",
                "Unit that a device writes as a whole, as it reports it or as it was measured.",
            ),
            info: Family::gauge("straddle_device_info", "Identity of a device."),
        }
    }

    fn take(&mut self, content: &FileContent) {
        match content {
            FileContent::Check(document) => self.check(document),
            FileContent::Fsync(document) => self.fsync(document),
            FileContent::Bench(document) => {
                let state = bench_plugin(document).answer.state();
                self.run("bench", &document.target.path, state, &document.envelope);
            }
            FileContent::Probe(document) => {
                let path = &document.target.path;
                self.run("probe", path, probe_state(document), &document.envelope);
            }
            _ => {}
        }
    }

    fn run(&mut self, check: &str, target: &str, state: MonitorState, envelope: &Envelope) {
        let labels = [("check", check), ("target", &one_line(target))];
        self.status.put(&labels, &state.plugin_code());
        if let Some(seconds) = seconds(envelope) {
            self.last_run.put(&labels, &seconds);
        }
    }

    fn check(&mut self, document: &Document) {
        for target in &document.targets {
            let state = MonitorAnswer::of(target, Some(Severity::Warning)).state();
            self.run("check", &target.target, state, &document.envelope);
            self.layers(target);
        }
    }

    fn layers(&mut self, target: &Target) {
        let name = one_line(&target.target);
        for layer in target.layers.iter().filter(|layer| !layer.not_judged) {
            let is_misaligned = match layer.verdict {
                Verdict::Misaligned => true,
                Verdict::Aligned | Verdict::ChunkOnly => false,
                _ => continue,
            };
            let (kind, layer_name) = (layer.kind.word(), one_line(&layer.name));
            let device = layer.device.as_deref().map(one_line).unwrap_or_default();
            let mut labels = vec![
                ("target", name.as_str()),
                ("layer", &layer_name),
                ("kind", kind),
                ("device", &device),
            ];
            self.misaligned.put(&labels, &u8::from(is_misaligned));
            let off = layer.misalignment.as_ref().and_then(|off| Some((off, off.offset_bytes?)));
            if let Some((off, bytes)) = off {
                labels.push(("unit", off.unit.word()));
                self.misalignment.put(&labels, &bytes);
            }
        }
    }

    fn fsync(&mut self, document: &Fsync) {
        let state = fsync_plugin(document, Some(Severity::Warning)).answer.state();
        self.run("fsync", &document.target.path, state, &document.envelope);
        let path = one_line(&document.target.path);
        let drive = document.target.drive.as_deref().map(one_line).unwrap_or_default();
        for row in document.rows.iter().filter(|row| !row.histogram.is_empty()) {
            let labels = [("device", drive.as_str()), ("path", &path), ("row", &row.id)];
            self.durations(&labels, row);
        }
    }

    fn durations(&mut self, labels: &[(&str, &str)], row: &FsyncRow) {
        let all = row.histogram.iter().fold(0_u64, |all, (_, count)| all.saturating_add(*count));
        let below = |most: u64| {
            let within = row.histogram.iter().filter(|(least, _)| *least <= most);
            within.fold(0_u64, |all, (_, count)| all.saturating_add(*count))
        };
        let bounds = BUCKETS.map(|most| (exact_seconds(most), below(most)));
        for (bound, count) in bounds.into_iter().chain([("+Inf".to_owned(), all)]) {
            let labels = [labels, &[("le", bound.as_str())]].concat();
            self.durations.put_part("_bucket", &labels, &count);
        }
        self.durations.put_part("_sum", labels, &exact_seconds(row.busy_ns));
        self.durations.put_part("_count", labels, &all);
    }

    fn device(&mut self, device: &DeviceFacts) {
        for (source, quantity) in
            [("reported", Quantity::ReportedGranule), ("measured", Quantity::MeasuredGranule)]
        {
            if let Some(unit) = device.bytes(quantity) {
                let labels = [("device", device.name.as_str()), ("source", source)];
                self.unit.put(&labels, &unit.number);
            }
        }
        if !device.identity.is_empty() {
            let of = |key: &str| device.identity.get(key).map_or("", String::as_str);
            let labels = [
                ("device", device.name.as_str()),
                ("model", of("model")),
                ("firmware", of("firmware")),
                ("serial", of("serial")),
            ];
            self.info.put(&labels, &1);
        }
    }

    fn text(&self) -> String {
        let ResultMetrics { status, last_run, misaligned, misalignment, durations, unit, info } =
            self;
        let all = [status, last_run, misaligned, misalignment, durations, unit, info];
        all.into_iter().map(Family::text).collect()
    }
}

/// A probe that found nothing has no verdict.
fn probe_state(document: &Probe) -> MonitorState {
    let is_found = document.answers.found_any() && document.envelope.refusal.is_none();
    if is_found { MonitorState::Ok } else { MonitorState::Unknown }
}
