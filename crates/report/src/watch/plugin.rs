//! A watch as a monitor sees it: the share of writes off the granule, held against limits that the
//! user gave. What was not counted is unknown.

use stack::Severity;

use super::{OffCount, Watch, WatchedDevice};
use crate::monitor_answer::MonitorAnswer;
use crate::nagios::{Metric, PluginAnswer};
use crate::quantity_words::ViewWords;
use crate::view_options::Look;

/// Percent of a device's writes that may be off the granule; `None` for any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffLimits {
    /// Above this it is a warning.
    pub warn_percent: Option<u8>,
    /// Above this it is critical.
    pub critical_percent: Option<u8>,
}

impl OffLimits {
    fn found(self, share_percent: f64) -> Option<Severity> {
        let is_over = |limit: Option<u8>| limit.is_some_and(|most| share_percent > f64::from(most));
        match (is_over(self.critical_percent), is_over(self.warn_percent)) {
            (true, _) => Some(Severity::Error),
            (false, true) => Some(Severity::Warning),
            (false, false) => None,
        }
    }
}

/// Returns what a plugin says of `watch` under these `limits`.
#[must_use]
pub fn watch_plugin(watch: &Watch, limits: OffLimits) -> PluginAnswer {
    let found = watch.devices.iter().filter_map(granule).filter_map(|off| limits.found(share(off)));
    let unknown = watch.devices.is_empty() || watch.devices.iter().any(|it| granule(it).is_none());
    let refusal = watch.envelope.refusal.as_ref();
    PluginAnswer {
        answer: MonitorAnswer::of_measurement(found.max(), refusal, unknown),
        headline: said(watch),
        metrics: watch.devices.iter().flat_map(|device| numbers(device, limits)).collect(),
    }
}

/// The count against the granule; `None` where there is none.
fn granule(device: &WatchedDevice) -> Option<&OffCount> {
    device.off.iter().find(|off| off.is_granule)
}

/// Share of all writes that are off, in percent; 0 where nothing was written.
#[expect(clippy::cast_precision_loss, reason = "counts of a watch are far below 2^52")]
fn share(off: &OffCount) -> f64 {
    if off.all_writes == 0 { 0.0 } else { off.writes as f64 * 100.0 / off.all_writes as f64 }
}

fn said(watch: &Watch) -> String {
    let look = Look::default();
    let words = ViewWords { look: &look };
    if let Some(refusal) = &watch.envelope.refusal {
        return words.text(&refusal.message);
    }
    let mut devices: Vec<&WatchedDevice> = watch.devices.iter().collect();
    // The worst first; a device that was not counted after those.
    let rank = |device: &&WatchedDevice| granule(device).map_or(-1.0, share);
    devices.sort_by(|one, other| rank(other).total_cmp(&rank(one)));
    let each = |device: &WatchedDevice| {
        let name = words.text(&device.name);
        match granule(device) {
            Some(off) => format!(
                "{name}: {} of {} writes off the granule ({:.1} %)",
                off.writes,
                off.all_writes,
                share(off)
            ),
            None => {
                let why = device.off_unknown.as_deref().unwrap_or("its granule is not known");
                format!("{name}: not counted: {}", words.text(why))
            }
        }
    };
    let said: Vec<String> = devices.into_iter().map(each).collect();
    if said.is_empty() { "no device was watched".to_owned() } else { said.join("; ") }
}

fn numbers(device: &WatchedDevice, limits: OffLimits) -> Vec<Metric> {
    let mut metrics = Vec::new();
    if let Some(off) = granule(device) {
        let percent = |limit: Option<u8>| limit.map(|most| most.to_string());
        metrics.push(Metric {
            value: format!("{:.2}", share(off)),
            unit: "%",
            warn: percent(limits.warn_percent),
            critical: percent(limits.critical_percent),
            max: Some(100),
            ..Metric::count(format!("{}_off", device.name), 0)
        });
        metrics.push(Metric::count(format!("{}_off_writes", device.name), off.writes));
        metrics.push(Metric::count(format!("{}_off_reads", device.name), off.reads));
    }
    let own = device.traffic.first();
    metrics.extend(
        own.map(|own| Metric::bytes(format!("{}_written", device.name), own.written_bytes)),
    );
    metrics
}
