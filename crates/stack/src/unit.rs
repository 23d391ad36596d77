//! The units that a layer must fit, each from every source that names one.

use serde::{Deserialize, Serialize};
use units::{Known, Source, Unit};

/// Purpose of a unit. Purposes stay apart: a stripe is no granule, a hint is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum UnitKind {
    /// Unit that can be addressed: the logical sector.
    LogicalSector,
    /// Below it a write costs a read-modify-write.
    Granule,
    /// The largest write that is all-or-nothing on power loss.
    Atomic,
    /// The stripe unit of one member.
    Chunk,
    /// Chunk times data members.
    FullStripe,
    /// Unit that can be discarded at once.
    Discard,
}

units::words!(UnitKind);

impl UnitKind {
    /// The words for it in a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            UnitKind::LogicalSector => "logical sector",
            UnitKind::FullStripe => "full stripe",
            _ => self.word(),
        }
    }
}

/// One unit of a layer, from one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnitFact {
    /// Purpose of the unit.
    pub unit: UnitKind,
    /// Its length in bytes; `null` when unknown.
    pub bytes: Option<u64>,
    /// The address of its first boundary in bytes.
    pub origin_bytes: u64,
    /// Source: `sysfs`, `ioctl`, `on-disk`, `specified`, `assumed` and so on; `unknown` where the
    /// length is.
    #[serde(with = "or_unknown")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub source: Option<Source>,
    /// True if verdicts use this one; at most one of a kind.
    pub used: bool,
    /// Why it is unknown, or why it is not used; else where exactly it comes from
    /// (`physical_block_size`), or empty.
    pub reason: String,
}

impl UnitFact {
    /// The word for its source.
    #[must_use]
    pub fn source_word(&self) -> &'static str {
        self.source.map_or(UNKNOWN, Source::word)
    }
}

const UNKNOWN: &str = "unknown";

/// Sources in documents, where a word stands for none too.
mod or_unknown {
    use std::borrow::Cow;

    use serde::de::{Deserialize, Deserializer, IntoDeserializer, value};
    use serde::ser::{Serialize, Serializer};
    use units::Source;

    use super::UNKNOWN;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        source: &Option<Source>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        source.map_or(UNKNOWN, Source::word).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Source>, D::Error> {
        let word: Cow<'de, str> = Cow::deserialize(from)?;
        if word == UNKNOWN {
            return Ok(None);
        }
        let word: value::CowStrDeserializer<'_, D::Error> = word.into_deserializer();
        Source::deserialize(word).map(Some)
    }
}

/// The units of one layer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Units {
    facts: Vec<UnitFact>,
}

impl Units {
    /// No units.
    #[must_use]
    pub fn new() -> Units {
        Units::default()
    }

    /// Adds a fact that verdicts use; one of the same kind that was used before stays as a fact.
    pub fn put_used(&mut self, kind: UnitKind, bytes: u64, source: Source, note: &str) {
        self.put_used_from(kind, bytes, 0, source, note);
    }

    /// Adds a fact as [`Units::put_used`] does, with the first boundary at `origin_bytes`.
    pub fn put_used_from(
        &mut self,
        kind: UnitKind,
        bytes: u64,
        origin_bytes: u64,
        source: Source,
        note: &str,
    ) {
        // Nothing is assumed of what is known.
        self.facts.retain(|fact| fact.unit != kind || fact.source != Some(Source::Assumed));
        for fact in self.facts.iter_mut().filter(|fact| fact.unit == kind) {
            fact.used = false;
        }
        self.facts.push(UnitFact {
            unit: kind,
            bytes: Some(bytes),
            origin_bytes,
            source: Some(source),
            used: true,
            reason: note.to_owned(),
        });
    }

    /// Adds a fact that is shown but not used, and why.
    pub fn put_unused(&mut self, kind: UnitKind, bytes: Known<u64>, note: &str) {
        self.put_unused_from(kind, bytes, 0, note);
    }

    /// Adds a fact as [`Units::put_unused`] does, with the first boundary at `origin_bytes`.
    pub fn put_unused_from(
        &mut self,
        kind: UnitKind,
        bytes: Known<u64>,
        origin_bytes: u64,
        note: &str,
    ) {
        let (bytes, source, reason) = match bytes {
            Known::Yes(fact) => (Some(fact.value), Some(fact.source), note.to_owned()),
            Known::No(reason) => (None, None, reason),
        };
        self.facts.push(UnitFact { unit: kind, bytes, origin_bytes, source, used: false, reason });
    }

    /// Drops what is only assumed: a layer below is known to decide.
    pub(crate) fn forget_assumed(&mut self) {
        self.facts.retain(|fact| fact.source != Some(Source::Assumed));
    }

    /// The unit of `kind` that verdicts use, with its source; `None` when there is none.
    #[must_use]
    pub fn used(&self, kind: UnitKind) -> Option<(Unit, Source)> {
        let fact = self.facts.iter().find(|fact| fact.unit == kind && fact.used)?;
        Some((Unit::with_origin(fact.bytes?, fact.origin_bytes)?, fact.source?))
    }

    /// The length in bytes of the unit of `kind` that verdicts use.
    #[must_use]
    pub fn used_bytes(&self, kind: UnitKind) -> Option<u64> {
        self.used(kind).map(|(unit, _)| unit.length_bytes())
    }

    /// Every fact, in the order learnt.
    #[must_use]
    pub fn facts(&self) -> &[UnitFact] {
        &self.facts
    }
}
