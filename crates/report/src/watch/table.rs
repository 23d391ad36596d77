//! The watch for people: for each device its layers, what is off the granule, who wrote it, why.

use measure::live::{OffWriter, Region, WriterIdentity};
use units::prefix::Exact;

use super::cause_words::sentence;
use super::rate::{bytes_per_second, grouped, per_second};
use super::{CountedWork, LayerTraffic, OffCount, Watch, WatchScope, WatchedDevice};
use crate::bench::figure_rounding::time;
use crate::bench::grid::{Sheet, SheetRow, cell, quiet};
use crate::colored_line::NAME;
use crate::quantity_words::share;
use crate::text::shorten_middle;
use crate::text_page::TextPage;
use crate::view_options::Look;

/// Most writers that are shown; `--json` has them all.
const WRITERS_MAX: usize = 8;
/// Most columns of a control group's name.
const GROUP_MAX: usize = 20;
/// Most columns of a place that is written to.
const PLACE_MAX: usize = 40;

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
        for cause in &device.consequences {
            let (text, command) = sentence(cause, device);
            self.page.labeled("cause", vec![cell(words.text(&text))]);
            if let Some(command) = command {
                self.page.labeled("see", vec![cell(words.command(&command))]);
            }
        }
    }

    fn traffic(&mut self, device: &WatchedDevice) {
        let heads = [
            "layer",
            "kind",
            "writes/s",
            "written/s",
            "reads/s",
            "read/s",
            "flushes/s",
            "written for 1 byte above",
        ];
        let rows = device.traffic.iter().map(|layer| SheetRow {
            group: String::new(),
            cells: self.traffic_row(layer).to_vec(),
        });
        let rows = rows.collect();
        let limit = self.page.limit;
        Sheet { heads: &heads, droppable: &[1, 5, 4], rows }.write(limit, &mut self.page.text);
    }

    fn traffic_row(&self, layer: &LayerTraffic) -> [String; 8] {
        let (words, ns) = (self.page.words, self.watch.watched_ns);
        let ratio = layer.written_per_byte_above.map_or("-".to_owned(), |ratio| {
            let above: Vec<String> = layer.above.iter().map(|name| words.text(name)).collect();
            format!("{ratio:.2} ({})", above.join(", "))
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
            self.page.labeled("not counted", vec![cell(words.text(reason))]);
            return;
        }
        let work = match device.counted {
            CountedWork::Requests => "requests",
            CountedWork::Bios => "bios",
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
        let rows = device
            .off
            .iter()
            .map(|off| SheetRow { group: String::new(), cells: off_row(off, ns).to_vec() });
        let rows = rows.collect();
        let limit = self.page.limit;
        Sheet { heads: &heads, droppable: &[], rows }.write(limit, &mut self.page.text);
        let lost: u64 = device.off.iter().filter_map(|off| off.lost).sum();
        if lost > 0 {
            let text = format!("{} events were lost: the counts are too low", grouped(lost));
            self.page.labeled("lost", vec![cell(text)]);
        }
    }

    fn writers(&mut self, device: &WatchedDevice) {
        let words = self.page.words;
        if let Some(reason) = &device.writers_unknown {
            self.page.labeled("writers", vec![cell(words.text(reason))]);
            return;
        }
        let heads = ["off the granule, by", "share", "usual length", "starts off by", "written to"];
        let rows = device.writers.iter().take(WRITERS_MAX).map(|writer| SheetRow {
            group: String::new(),
            cells: self.writer_row(writer).to_vec(),
        });
        let rows = rows.collect();
        let limit = self.page.limit;
        Sheet { heads: &heads, droppable: &[3], rows }.write(limit, &mut self.page.text);
        let hidden = device.writers.len().saturating_sub(WRITERS_MAX);
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
                "{} granules/s that the drive reads first because of them, if it has no cache",
                per_second(reads, self.watch.watched_ns)
            );
            self.page.labeled("predicted", vec![cell(text)]);
        }
    }

    fn writer_row(&self, writer: &OffWriter<WriterIdentity>) -> [String; 5] {
        let words = self.page.words;
        let identity = &writer.writer;
        let mut name = identity.process.as_ref().map_or("unknown".to_owned(), |it| words.text(it));
        if let (Some(number), false) = (identity.process_id, identity.is_kernel) {
            name += &format!(" ({number})");
        }
        if let Some(group) = identity.control_group.as_ref().filter(|group| *group != "/") {
            let group = words.text(last_part(group));
            name += " in ";
            name += &shorten_middle(&group, GROUP_MAX, words.glyphs().ellipsis);
        }
        let usual = |value: u64, share: f64| match share {
            share if share >= 0.995 => words.exact(value),
            share => format!("{} ({})", words.exact(value), percent(share)),
        };
        [
            name,
            percent(writer.share),
            usual(writer.usual_length_bytes, writer.usual_length_share),
            usual(writer.usual_offset_bytes, writer.usual_offset_share),
            shorten_middle(&self.place(identity), PLACE_MAX, words.glyphs().ellipsis),
        ]
    }

    fn place(&self, identity: &WriterIdentity) -> String {
        let words = self.page.words;
        let on = identity.layer.as_ref().map(|layer| words.text(layer));
        let on = |what: &str| match &on {
            Some(layer) => format!("{what} {layer}"),
            None => what.split(' ').next().unwrap_or_default().to_owned(),
        };
        match (&identity.region, &identity.file) {
            (Region::File, Some(file)) => words.text(file),
            (Region::File, None) => on("file on"),
            (Region::Journal, _) => on("journal of"),
            (Region::Swap, _) => on("swap on"),
            (Region::FileSystem, _) => on("somewhere in"),
            (Region::Raw, _) => on("directly to"),
            (Region::Unknown, _) => "unknown".to_owned(),
        }
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

fn off_row(off: &OffCount, ns: u64) -> [String; 5] {
    let mark = match off.taken_ns {
        Some(taken_ns) => format!(" ({} of the time)", share(taken_ns.min(ns), ns)),
        None if off.is_granule => " (granule)".to_owned(),
        None => String::new(),
    };
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

fn percent(share: f64) -> String {
    crate::quantity_words::percent(share * 100.0)
}

/// The last part of a control group's path, which names the unit or container.
fn last_part(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or(path)
}
