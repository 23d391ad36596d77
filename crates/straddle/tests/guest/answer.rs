//! Content of a document of `straddle check --json`, reduced to lines that another document of the
//! same disks can be compared with.
//!
//! A layer is found again by the disks beneath it, the partitions on the way down, its kind and
//! where it starts: not by names, which the kernel changes between boots, nor by numbers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

/// The verdicts of a document by layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The verdicts of the layers that share a place, in order.
    known: BTreeMap<String, Vec<String>>,
}

impl Answer {
    /// Reduces a document; `disk` gives the lasting name for the name that a disk has in it.
    pub(crate) fn of(document: &Value, disk: impl Fn(&str) -> String) -> Answer {
        let mut answer = Answer::default();
        for target in list(&document["targets"]) {
            let layers = Layers(list(&target["layers"]));
            for (id, layer) in layers.0.iter().enumerate() {
                // What dmsetup divides has no header: without that kernel, the disk seems empty.
                if !["unknown", "empty"].contains(&text(&layer["verdict"])) {
                    let place = layers.place(id, &disk);
                    answer.known.entry(place).or_default().push(verdict(layer));
                }
            }
        }
        answer.known.values_mut().for_each(|verdicts| verdicts.sort_unstable());
        answer
    }

    /// Joins what is said of other disks.
    pub(crate) fn join(&mut self, other: Answer) {
        self.known.extend(other.known);
    }

    /// Returns how many places it knows.
    pub(crate) fn count(&self) -> usize {
        self.known.len()
    }

    /// The places that it knows and `other` does not, of those that contain `word`.
    pub(crate) fn beyond<'a>(&'a self, other: &Answer, word: &str) -> Vec<&'a str> {
        let missing = self.known.keys().filter(|place| !other.known.contains_key(*place));
        missing.filter(|place| place.contains(word)).map(String::as_str).collect()
    }

    /// Returns how many places both know, and a diff of those on which they do not agree: `-` this, `+`
    /// the other.
    pub(crate) fn compare(&self, other: &Answer) -> (usize, String) {
        let mut diff = String::new();
        let mut count = 0;
        for (place, one) in &self.known {
            let Some(another) = other.known.get(place) else { continue };
            count += 1;
            if !is_within(one, another) && !is_within(another, one) {
                let _ = writeln!(diff, " {place}\n-    {}", one.join("\n-    "));
                let _ = writeln!(diff, "+    {}", another.join("\n+    "));
            }
        }
        (count, diff)
    }
}

/// Returns whether all of `some`, each as often, are among `all`: at one place the other side may know
/// more layers, as of many volumes over the same disks.
fn is_within(some: &[String], all: &[String]) -> bool {
    let times = |list: &[String], wanted| list.iter().filter(|&verdict| verdict == wanted).count();
    some.iter().all(|verdict| times(some, verdict) <= times(all, verdict))
}

/// A target's layers; each stands at the place that its number says.
struct Layers<'a>(&'a [Value]);

impl Layers<'_> {
    /// The disks beneath, the partitions on the way down, the kind and the start.
    fn place(&self, id: usize, disk: &impl Fn(&str) -> String) -> String {
        let layer = &self.0[id];
        let disks: BTreeSet<String> = self.roots(id).iter().map(|name| disk(name)).collect();
        let mut place = disks.into_iter().collect::<Vec<_>>().join("+");
        for start in self.partitions(id) {
            let _ = write!(place, " in {start}");
        }
        let kind = if below(layer).is_empty() { "disk" } else { text(&layer["kind"]) };
        let _ = write!(place, " {kind}");
        if let Some(start) = layer["start_bytes"].as_u64() {
            let _ = write!(place, " at {start}");
        }
        place
    }

    /// The names of the layers under all others.
    fn roots(&self, id: usize) -> BTreeSet<String> {
        let mut roots = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut ahead = vec![id];
        while let Some(id) = ahead.pop() {
            let under = below(&self.0[id]);
            if under.is_empty() {
                roots.insert(text(&self.0[id]["name"]).to_owned());
            }
            ahead.extend(under.into_iter().filter(|&id| seen.insert(id)));
        }
        roots
    }

    /// Returns where the partitions begin that lie under a layer, from the lowest to the highest. Members
    /// of one array begin at different places seldom: each start is reported once.
    fn partitions(&self, id: usize) -> BTreeSet<u64> {
        let mut starts = BTreeSet::new();
        let mut ahead = below(&self.0[id]);
        while let Some(id) = ahead.pop() {
            if self.0[id]["kind"] == "partition" {
                starts.extend(self.0[id]["start_bytes"].as_u64());
            }
            ahead.extend(below(&self.0[id]));
        }
        starts
    }
}

/// The layers directly under a layer: lower numbers only, so that a walk down ends.
fn below(layer: &Value) -> Vec<usize> {
    let own = layer["id"].as_u64().expect("a layer has a number");
    let under = list(&layer["below"]).iter().map(|id| id.as_u64().expect("it is a number"));
    under.inspect(|&id| assert!(id < own)).map(|id| usize::try_from(id).expect("few")).collect()
}

/// The verdict, and by how much of which unit, for which share.
fn verdict(layer: &Value) -> String {
    let word = text(&layer["verdict"]);
    let miss = &layer["misalignment"];
    if miss.is_null() {
        return word.to_owned();
    }
    let assumed = if layer["assumed"] == true { ", assumed" } else { "" };
    format!(
        "{word} by {} of the {} of {} in {} %{assumed}",
        miss["offset_bytes"],
        text(&miss["unit"]),
        miss["unit_bytes"],
        miss["share_percent"]
    )
}

/// The items of a list; none where there is no list.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A word in the document.
///
/// # Panics
/// When it is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().expect("it is a word")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn machine(disk: &str, offset: u64) -> Answer {
        let miss = json!({"unit": "granule", "unit_bytes": 4096, "offset_bytes": offset,
            "share_percent": 100.0});
        let layers = json!([
            {"id": 0, "below": [], "kind": "drive", "name": disk, "start_bytes": null,
                "verdict": "aligned", "misalignment": null},
            {"id": 1, "below": [0], "kind": "partition", "name": "any", "start_bytes": 32256,
                "verdict": "misaligned", "misalignment": miss},
            {"id": 2, "below": [1], "kind": "file-system", "name": "ext4", "start_bytes": 0,
                "verdict": "unknown", "misalignment": null},
        ]);
        Answer::of(&json!({"targets": [{"layers": layers}]}), |name| name.replace("sd", "disk-"))
    }

    #[test]
    fn the_same_disk_under_other_names_agrees_and_an_unknown_layer_is_not_compared() {
        let (one, other) = (machine("sda", 3584), machine("disk-a", 3584));
        assert_eq!(one.compare(&other), (2, String::new()));
        assert_eq!(one.count(), 2);
    }

    #[test]
    fn another_offset_is_a_difference_at_its_place() {
        let (_, diff) = machine("sda", 3584).compare(&machine("sda", 512));
        assert_eq!(
            diff,
            " disk-a partition at 32256\n\
             -    misaligned by 3584 of the granule of 4096 in 100.0 %\n\
             +    misaligned by 512 of the granule of 4096 in 100.0 %\n"
        );
    }

    #[test]
    fn a_disk_that_the_other_lacks_is_named() {
        let (one, other) = (machine("sda", 0), machine("sdb", 0));
        assert_eq!(one.beyond(&other, "partition"), ["disk-a partition at 32256"]);
    }
}
