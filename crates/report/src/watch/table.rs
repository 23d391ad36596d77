//! The watch for people: for each device its layers, what is off the granule, who wrote it, why.

use units::prefix::Exact;

use super::cause_words::sentence;
use super::rate::{bytes_per_second, grouped, per_second};
use super::writer_rows;
use super::{CountedWork, LayerTraffic, LengthCount, OffCount, Watch, WatchScope, WatchedDevice};
use crate::bench::figure_rounding::time;
use crate::bench::grid::{Sheet, SheetRow, cell, quiet};
use crate::colored_line::NAME;
use crate::quantity_words::{quantity, share};
use crate::text_page::TextPage;
use crate::view_options::Look;

/// Most writers that are shown; `--json` has them all.
const WRITERS_MAX: usize = 8;

/// The whole watch as text, with its last line feed. A refused one is empty: errors are not data.
#[must_use]
pub fn table(watch: &Watch, look: &Look) -> String {
    if watch.envelope.refusal.is_some() {
        return String::new();
    }
    let mut view = WatchText { watch, page: TextPage::new(look) };
    for (index, device) in watch.devices.iter().enumerate() {
        if index > 0 {
            view.page.text.push('\n');
        }
        view.device(device);
    }
    view.syncs();
    view.page.notes(&watch.envelope.notes);
    let words = view.page.words;
    let watched = format!("{} watched; nothing was written", time(watch.watched_ns, words));
    view.page.prose(quiet(""), &watched);
    view.page.text
}

struct WatchText<'a> {
    watch: &'a Watch,
    page: TextPage<'a>,
}

impl WatchText<'_> {
    fn device(&mut self, device: &WatchedDevice) {
        let words = self.page.words;
        let granule = match device.granule_bytes {
            Some(_) => format!(
                "granule {}",
                words.granule(
                    device.granule_bytes,
                    Some(device.granule_origin_bytes),
                    device.granule_source
                )
            ),
            None => "granule not known".to_owned(),
        };
        let title = [words.text(&device.title), granule];
        let title: Vec<String> = title.into_iter().filter(|part| !part.is_empty()).collect();
        self.page.prose((NAME, words.text(&device.name)), &title.join(", "));
        self.traffic(device);
        self.off(device);
        self.writers(device);
        self.wear(device);
        for cause in &device.consequences {
            let (text, command) = sentence(cause, device);
            self.page.labeled("cause", vec![cell(words.text(&text))]);
            if let Some(command) = command {
                self.page.labeled("see", vec![cell(words.command(&command))]);
            }
        }
    }

    /// Writes a table, of which columns may be left out, the first of `droppable` first.
    fn sheet(&mut self, heads: &[&str], droppable: &[usize], rows: Vec<Vec<String>>) {
        let row = |cells| SheetRow { group: String::new(), cells };
        let rows = rows.into_iter().map(row).collect();
        Sheet { heads, droppable, rows }.write(self.page.limit, &mut self.page.text);
    }

    fn traffic(&mut self, device: &WatchedDevice) {
        let heads = [
            "layer",
            "kind",
            "writes/s",
            "bytes written/s",
            "reads/s",
            "bytes read/s",
            "flushes/s",
            "write amplification",
        ];
        // Nothing stands in the last column where nothing lies above.
        let is_stacked = device.traffic.iter().any(|layer| layer.written_per_byte_above.is_some());
        let shown = if is_stacked { heads.len() } else { heads.len() - 1 };
        let rows = device.traffic.iter().map(|layer| self.traffic_row(layer)[..shown].to_vec());
        let rows = rows.collect();
        self.sheet(&heads[..shown], &[1, 5, 4], rows);
    }

    fn traffic_row(&self, layer: &LayerTraffic) -> [String; 8] {
        let (words, ns) = (self.page.words, self.watch.watched_ns);
        let ratio = layer.written_per_byte_above.map_or("-".to_owned(), |ratio| {
            let above = match &layer.above[..] {
                [one] => words.text(one),
                several => format!("{} layers above", several.len()),
            };
            format!("{ratio:.2} over {above}")
        });
        [
            words.text(&layer.name),
            words.text(&layer.kind),
            per_second(layer.writes, ns),
            bytes_per_second(layer.written_bytes, ns),
            per_second(layer.reads, ns),
            bytes_per_second(layer.read_bytes, ns),
            layer.flushes.map_or("-".to_owned(), |flushes| per_second(flushes, ns)),
            ratio,
        ]
    }

    fn off(&mut self, device: &WatchedDevice) {
        let words = self.page.words;
        if let Some(reason) = &device.off_unknown {
            self.page
                .labeled("granule", vec![cell(format!("nothing counted: {}", words.text(reason)))]);
            return;
        }
        let work = match device.counted {
            CountedWork::Requests => "requests",
            CountedWork::Bios => "block I/Os",
        };
        let whose = match &self.watch.scope {
            WatchScope::Machine => work.to_owned(),
            WatchScope::Process { name, process_id } => {
                format!("{work} of {} ({process_id})", words.text(name))
            }
            WatchScope::Group { path } => format!("{work} of {}", words.text(path)),
        };
        let first = format!("{whose} off multiples of");
        let heads = [first.as_str(), "writes/s", "of all writes", "reads/s", "of all reads"];
        let ns = self.watch.watched_ns;
        let rows = device.off.iter().map(|off| off_row(device, off, ns).to_vec()).collect();
        self.sheet(&heads, &[], rows);
        self.write_lengths(device);
        let lost: u64 = device.off.iter().filter_map(|off| off.lost).sum();
        if lost > 0 {
            let text = format!("{} events were lost: the counts are too low", grouped(lost));
            self.page.labeled("lost", vec![cell(text)]);
        }
    }

    /// The lengths of writes, up to the first that no write is longer than.
    fn write_lengths(&mut self, device: &WatchedDevice) {
        let counts = &device.write_lengths;
        let is_all = |count: &LengthCount| count.writes == count.all_writes;
        let shown = counts.iter().position(is_all).map_or(counts.len(), |last| last + 1);
        let text = |count: &LengthCount| {
            let share = share_of(count.writes, count.all_writes);
            format!("{share} up to {}", Exact(count.up_to_bytes))
        };
        let texts: Vec<String> = counts[..shown].iter().map(text).collect();
        if counts.iter().any(|count| count.all_writes > 0) {
            self.page.labeled("write lengths", vec![cell(texts.join(", "))]);
        }
    }

    fn writers(&mut self, device: &WatchedDevice) {
        let words = self.page.words;
        if let Some(reason) = &device.writers_unknown {
            // One reason is said once.
            if device.off_unknown.as_ref() == Some(reason) {
                return;
            }
            self.page.labeled("writers", vec![cell(words.text(reason))]);
            return;
        }
        let heads = ["written off the granule by", "share", "usual length", "written to"];
        let found = writer_rows::rows(&device.writers);
        let shown = found.iter().take(WRITERS_MAX);
        let rows = shown.map(|row| row.cells(words).to_vec()).collect();
        self.sheet(&heads, &[], rows);
        let hidden = found.len().saturating_sub(WRITERS_MAX);
        if hidden > 0 {
            self.page.labeled("more", vec![cell(format!("{hidden} writers; --json has them"))]);
        }
        let Some(sample) = device.sample.filter(|sample| sample.writes > 0) else { return };
        let lost = match sample.lost {
            Some(0) => "none was lost".to_owned(),
            Some(lost) => format!("{} more were lost", grouped(lost)),
            None => "the kernel does not tell how many were lost".to_owned(),
        };
        let taken = time(sample.taken_ns, words);
        let text =
            format!("{} writes off the granule within {taken}; {lost}", grouped(sample.writes));
        self.page.labeled("sampled", vec![cell(text)]);
        if let Some(reads) = device.extra_reads {
            let text = format!(
                "{} extra granule reads/s (without a cache)",
                per_second(reads, self.watch.watched_ns)
            );
            self.page.labeled("predicted", vec![cell(text)]);
        }
    }

    /// The drive's own word: what it knows, else the first reason why it does not.
    fn wear(&mut self, device: &WatchedDevice) {
        let words = self.page.words;
        let known = device.wear.iter().filter_map(|fact| {
            let value = words.value(&fact.key, fact.value.as_ref()?);
            Some(format!("{} {value}", quantity(&fact.key).replace('-', " ")))
        });
        let known: Vec<String> = known.collect();
        let reason = device.wear.iter().find_map(|fact| fact.reason.as_ref());
        let text = match (known.is_empty(), reason) {
            (false, _) => known.join(", "),
            (true, Some(reason)) => format!("cannot tell: {}", words.text(reason)),
            (true, None) => return,
        };
        self.page.labeled("drive says", vec![cell(text)]);
    }

    fn syncs(&mut self) {
        let Some(syncs) = &self.watch.syncs else { return };
        let words = self.page.words;
        let calls: Vec<String> = syncs
            .calls
            .iter()
            .filter(|call| call.calls > 0)
            .map(|call| format!("{} {}", grouped(call.calls), words.text(&call.name)))
            .collect();
        let text = match (calls.is_empty(), &syncs.unknown) {
            (_, Some(reason)) if calls.is_empty() => format!("not counted: {}", words.text(reason)),
            (true, _) => "none: no call that syncs was made".to_owned(),
            (false, _) => calls.join(", "),
        };
        self.page.labeled("sync calls", vec![cell(text)]);
    }
}

fn off_row(device: &WatchedDevice, off: &OffCount, ns: u64) -> [String; 5] {
    let origin = match (off.is_granule, device.granule_origin_bytes) {
        (false, _) | (true, 0) => String::new(),
        (true, origin) => format!(" from {} on", Exact(origin)),
    };
    let taken = off.taken_ns.map(|taken_ns| format!("{} of the time", share(taken_ns.min(ns), ns)));
    let marks = off.is_granule.then(|| "granule".to_owned()).into_iter().chain(taken);
    let marks = marks.collect::<Vec<_>>().join(", ");
    let mark = if marks.is_empty() { origin } else { format!("{origin} ({marks})") };
    let ns = off.taken_ns.unwrap_or(ns);
    [
        format!("{}{mark}", Exact(off.unit_bytes)),
        per_second(off.writes, ns),
        share_of(off.writes, off.all_writes),
        per_second(off.reads, ns),
        share_of(off.reads, off.all_reads),
    ]
}

/// The share in percent; `-` of nothing.
fn share_of(part: u64, all: u64) -> String {
    if all == 0 { "-".to_owned() } else { share(part.min(all), all) }
}
