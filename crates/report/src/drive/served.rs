//! A drive that is served: its document, and its lines for people.

use ::drive::RequestCounts;
use serde::{Deserialize, Serialize};
use units::number::real;
use units::prefix::Size;

use super::SimulatedWork;
use crate::envelope::Envelope;
use crate::json::pretty;

/// The schema's name and version of a drive that is served.
pub const SERVED_SCHEMA: &str = "straddle.served/1";

/// A drive that is served, so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Served {
    /// Format, run, notes and refusal.
    #[serde(flatten)]
    pub envelope: Envelope,
    /// The profile's name.
    pub drive: String,
    /// Changed values of the profile: `rmw=batched`.
    pub changed: Vec<String>,
    /// `nbd`, `file` or `loop`.
    pub protocol: String,
    /// Place where clients find it: a URI, a file or a device.
    pub address: String,
    /// Its length in bytes.
    pub capacity_bytes: u64,
    /// Its logical sector in bytes.
    pub logical_bytes: u64,
    /// The physical sector that it reports, in bytes.
    pub physical_bytes: u64,
    /// True if it reports a volatile write cache.
    pub has_write_cache: bool,
    /// Factor by which the drive's times are multiplied; `null` where requests take no time.
    pub timing: Option<f64>,
    /// Nanoseconds since it is served.
    pub elapsed_ns: u64,
    /// Requests of clients.
    pub requests: RequestCounts,
    /// Work of the drive.
    pub did: SimulatedWork,
    /// Turns that the head waited or transferred; `null` where nothing turns.
    pub turns: Option<f64>,
    /// Bytes of memory that hold its contents; `null` where a file holds them.
    pub memory_bytes: Option<u64>,
}

/// A served drive as JSON, with its line feed.
#[must_use]
pub fn served_json(served: &Served) -> String {
    pretty(served)
}

/// A served drive in one line, without a line feed.
#[must_use]
pub fn served_line(served: &Served) -> String {
    let Served { requests, did, turns, .. } = served;
    let turns = turns.map(|turns| format!(", {turns:.1} turns")).unwrap_or_default();
    let programs = match did.programs {
        0 => String::new(),
        programs => format!(", {programs} programs"),
    };
    format!(
        "{} reads, {} writes, {} flushes, {} discards, {} errors; {} RMW reads{turns}{programs}",
        requests.reads,
        requests.writes,
        requests.flushes,
        requests.discards,
        requests.errors,
        did.rmw_reads
    )
}

/// A served drive in a few lines, with their line feeds.
#[must_use]
pub fn served_text(served: &Served) -> String {
    let Served { requests, did, .. } = served;
    let mut text = format!(
        "{} as {}, {:.1} s, timing {}\n",
        served.drive,
        served.protocol,
        real(served.elapsed_ns) / 1e9,
        served.timing.map_or_else(|| "off".to_owned(), |factor| factor.to_string())
    );
    let mut line = |name: &str, what: String| text += &format!("  {name:<9}{what}\n");
    line("requests", served_line(served));
    line(
        "bytes",
        format!("{} read, {} written", Size(requests.read_bytes), Size(requests.written_bytes)),
    );
    match (served.turns, requests.reads, requests.writes) {
        (Some(turns), 0, 1..) => {
            line("turns", format!("{:.2} for each write", turns / real(requests.writes)));
        }
        (Some(turns), 1.., _) => line("turns", format!("{turns:.1} in all, of reads too")),
        _ => {}
    }
    line("medium", format!("{} reads, {} writes", did.medium_reads, did.medium_writes));
    if let Some(mean_ns) = requests.late_ns.checked_div(requests.timed_answers) {
        let us = |ns: u64| real(ns) / 1e3;
        let (mean, most) = (us(mean_ns), us(requests.late_max_ns));
        line("lateness", format!("{mean:.0} µs mean, {most:.0} µs at most"));
    }
    text
}
