//! The units that a layer must fit, each from every source that names one.

use units::{Known, Source, Unit};

/// What a unit is for. They stay apart: a stripe is no granule, a hint is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UnitKind {
    /// What can be addressed: the logical sector.
    LogicalSector,
    /// Below it a write costs a read-modify-write.
    Granule,
    /// The largest write that is all-or-nothing on power loss.
    Atomic,
    /// The stripe unit of one member.
    Chunk,
    /// Chunk times data members.
    FullStripe,
    /// What can be discarded at once.
    Discard,
}

impl UnitKind {
    /// The word used for it in text and JSON.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            UnitKind::LogicalSector => "logical-sector",
            UnitKind::Granule => "granule",
            UnitKind::Atomic => "atomic",
            UnitKind::Chunk => "chunk",
            UnitKind::FullStripe => "full-stripe",
            UnitKind::Discard => "discard",
        }
    }
}

/// One unit from one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitFact {
    /// What it is for.
    pub kind: UnitKind,
    /// Its length in bytes, or why that is unknown.
    pub bytes: Known<u64>,
    /// The address of its first boundary in bytes.
    pub origin_bytes: u64,
    /// True if verdicts use it; at most one of a kind.
    pub used: bool,
    /// Place where exactly it comes from (`physical_block_size`), or why it is not used.
    pub note: String,
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

    /// As [`Units::put_used`], with the first boundary at `origin_bytes`.
    pub fn put_used_from(
        &mut self,
        kind: UnitKind,
        bytes: u64,
        origin_bytes: u64,
        source: Source,
        note: &str,
    ) {
        // Nothing is assumed of what is known.
        self.facts.retain(|fact| fact.kind != kind || fact.bytes.source() != Some(Source::Assumed));
        for fact in self.facts.iter_mut().filter(|fact| fact.kind == kind) {
            fact.used = false;
        }
        let bytes = Known::yes(bytes, source);
        self.facts.push(UnitFact { kind, bytes, origin_bytes, used: true, note: note.to_owned() });
    }

    /// Adds a fact that is shown but not used, and why.
    pub fn put_unused(&mut self, kind: UnitKind, bytes: Known<u64>, note: &str) {
        self.put_unused_from(kind, bytes, 0, note);
    }

    /// As [`Units::put_unused`], with the first boundary at `origin_bytes`.
    pub fn put_unused_from(
        &mut self,
        kind: UnitKind,
        bytes: Known<u64>,
        origin_bytes: u64,
        note: &str,
    ) {
        self.facts.push(UnitFact { kind, bytes, origin_bytes, used: false, note: note.to_owned() });
    }

    /// The unit of `kind` that verdicts use, with its source; `None` when there is none.
    #[must_use]
    pub fn used(&self, kind: UnitKind) -> Option<(Unit, Source)> {
        let fact = self.facts.iter().find(|fact| fact.kind == kind && fact.used)?;
        let unit = Unit::with_origin(*fact.bytes.value()?, fact.origin_bytes)?;
        Some((unit, fact.bytes.source()?))
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
