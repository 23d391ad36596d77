//! `straddle watch`: what the running workload does to the granules of drives.
//!
//! | file | what it is |
//! |---|---|
//! | `watched_devices` | the devices that are meant, with their granules |
//! | `layer_traffic` | operations of each layer, by the counters that everybody may read |
//! | `off_counters` | operations off the granule, counted in the kernel |
//! | `listened_time` | when more than the granule is counted, and for how long it was |
//! | `writer_sample` | who wrote off the granule, from a sample |
//! | `written_places` | what is at an address: layer, journal, swap, file |
//! | `drive_wear` | the drive's own word: rates between readings of its pages |
//! | `sync_calls` | calls that sync, of one process |
//! | `watched_scope` | those whose operations are counted: all, a process, a control group |
//! | `watcher` | all counters of all devices, and the document that they make |
//! | `screen` | the table on a terminal, drawn again and again |

mod drive_wear;
mod layer_traffic;
mod listened_time;
mod off_counters;
mod screen;
mod sync_calls;
mod watched_devices;
mod watched_scope;
mod watcher;
mod writer_sample;
mod written_places;

use std::io::Write as _;
use std::time::Duration;

use host::Interrupt;
use host::engine::now_ns;
use jiff::Timestamp;
use report::watch::{WATCH_SCHEMA, Watch as Document, WatchScope, watch_plugin};
use report::{Envelope, Refusal};

use self::screen::Screen;
use self::watched_scope::WatchedScope;
use self::watcher::{KernelEvents, Watcher};
use crate::arguments::{Watch, WatchFormat};
use crate::exit::{self, CommandOutcome};
use crate::shared::inspected_machine::InspectedMachine;
use crate::shared::printer::{self, PrintedKind, Printer, Said};
use crate::shared::{run, textfile};

/// Time that is watched where nobody says and nobody looks, in seconds.
const SUMMARY_SECONDS: u32 = 10;
/// A second, in nanoseconds.
const SECOND_NS: u64 = 1_000_000_000;
/// Longest wait before it is looked whether the user wants to end, and whether a device is busy: in
/// that time a busy one pays for all that is counted.
const STEP: Duration = Duration::from_millis(10);
/// The first wait of a second; the next ones are half as long as the second has lasted.
const FIRST_STEP: Duration = Duration::from_millis(1);
/// Seconds between two writings of the metrics.
const METRICS_SECONDS: u64 = 10;
/// Name of the file of metrics.
const METRICS: &str = "straddle_watch.prom";

/// The next wait at `now_ns` in a second that began at `second_ns` and ends at `until_ns`: short at
/// first, since a device may become busy at once.
fn step(second_ns: u64, now_ns: u64, until_ns: u64) -> Duration {
    let lasted = Duration::from_nanos(now_ns.saturating_sub(second_ns));
    let left = Duration::from_nanos(until_ns.saturating_sub(now_ns));
    (lasted / 2).clamp(FIRST_STEP, STEP).min(left)
}

pub(crate) fn run(watch: &Watch) -> anyhow::Result<CommandOutcome> {
    let inspected = InspectedMachine::live().ignoring_measured(watch.measured.is_ignored);
    let inspected = inspected.specified(watch.on.as_ref());
    let own = run::run(Timestamp::now(), &inspected);
    let prepared = WatchedScope::of(watch).and_then(|scope| {
        textfile::require_place(watch.textfile.directory.as_deref())?;
        let (targets, told) = (&watch.targets, watch.on.as_ref());
        Ok((watched_devices::watched(targets, told, &inspected)?, scope))
    });
    let (devices, scope) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return refused(watch, own, refusal),
    };
    let interrupt = Interrupt::install()?;
    let events = KernelEvents::open();
    let mut watcher = Watcher::start(&inspected, devices, &scope, &events, watch.exact, own);
    let mut screen = Screen::open(watch);
    let ends = Ending::of(watch, screen.is_shown());
    let begun_ns = now_ns();
    let mut seconds = 0_u64;
    loop {
        watcher.begin_second();
        let second_ns = now_ns();
        let until_ns = begun_ns + (seconds + 1) * SECOND_NS;
        while now_ns() < until_ns && !interrupt.is_raised() && !screen.is_ended() {
            watcher.step(step(second_ns, now_ns(), until_ns));
        }
        watcher.end_second(now_ns() - begun_ns);
        seconds += 1;
        let is_last = interrupt.is_raised() || screen.is_ended() || ends.is_over(seconds);
        if watch.format() == WatchFormat::Jsonl
            && !print_line(&watcher.document(now_ns() - begun_ns))?
        {
            break;
        }
        let is_due = is_last || seconds.is_multiple_of(METRICS_SECONDS);
        if let Some(directory) = watch.textfile.directory.as_ref().filter(|_| is_due) {
            let document = watcher.document(now_ns() - begun_ns);
            textfile::write(directory, METRICS, &report::watch::textfile(&document))?;
        }
        if is_last {
            break;
        }
        screen.draw(|| watcher.document(now_ns() - begun_ns));
    }
    let document = watcher.document(now_ns() - begun_ns);
    screen.close();
    if watch.format() == WatchFormat::Nagios && interrupt.signal().is_none() {
        return Ok(exit::of_plugin(&watch_plugin(&document, watch.limits()), &Printer::Standard)?);
    }
    let said = print(watch, &document)?;
    Ok(match interrupt.signal() {
        // Where no time was named, Ctrl-C is how it is ended.
        Some(signal) if ends.seconds.is_some() || signal != 2 => {
            CommandOutcome::Interrupted(signal, Said::or(said, printer::INTERRUPTED))
        }
        _ => CommandOutcome::Done,
    })
}

/// When the watch ends by itself.
struct Ending {
    seconds: Option<u32>,
}

impl Ending {
    fn of(watch: &Watch, is_shown: bool) -> Ending {
        let is_stream = watch.format() == WatchFormat::Jsonl;
        let goes_on = is_shown || is_stream || watch.textfile.directory.is_some();
        let seconds = watch.seconds.or((!goes_on).then_some(SUMMARY_SECONDS));
        Ending { seconds }
    }

    fn is_over(&self, seconds: u64) -> bool {
        self.seconds.is_some_and(|end| seconds >= u64::from(end))
    }
}

fn refused(watch: &Watch, own: report::Run, refusal: Refusal) -> anyhow::Result<CommandOutcome> {
    let outcome = CommandOutcome::of_refusal(&refusal, printer::refusal(&refusal));
    let envelope = Envelope { refusal: Some(refusal), ..Envelope::new(WATCH_SCHEMA, own) };
    let document = Document {
        envelope,
        watched_ns: 0,
        scope: WatchScope::Machine,
        devices: Vec::new(),
        syncs: None,
    };
    match watch.format() {
        WatchFormat::Nagios => {
            Ok(exit::of_plugin(&watch_plugin(&document, watch.limits()), &Printer::Standard)?)
        }
        WatchFormat::Jsonl => print_line(&document).map(|_| outcome),
        WatchFormat::Table | WatchFormat::Json => {
            print(watch, &document)?;
            Ok(outcome)
        }
    }
}

fn print(watch: &Watch, document: &Document) -> std::io::Result<Option<Said>> {
    let text = match watch.format() {
        WatchFormat::Json => document.json(),
        WatchFormat::Table => report::watch::table(document, &printer::look(false)),
        // Each second was printed; a plugin speaks at the end.
        WatchFormat::Jsonl | WatchFormat::Nagios => String::new(),
    };
    printer::print_bytes(PrintedKind::Text, text.as_bytes())
}

/// Prints one line of JSON; false where nobody reads any more.
fn print_line(document: &Document) -> anyhow::Result<bool> {
    let mut output = printer::output(PrintedKind::Data);
    output.write_all(document.json_line().as_bytes())?;
    output.flush()?;
    Ok(!output.is_unread())
}
