//! A granule that was measured on this very drive and kept, or on others of its model.
//!
//! The first outranks the unit that the user names and the one that the drive reports; the second
//! outranks only the one that the drive reports. Both are printed: the unit's source is `measured`
//! or `drive-table`, and its note says when and by what program. What was measured in another state
//! of the drive (its firmware, its sector format) is not used, and the note says so.

use units::{Known, Source};

use crate::unit::{UnitKind, Units};

/// Measurements of a drive that were kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptMeasurement {
    /// Its granule.
    Granule(MeasuredGranule),
    /// Something that is not used, and why.
    NotUsed(String),
}

/// A granule that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasuredGranule {
    /// Place where writes must start: every so many bytes.
    pub alignment_bytes: u64,
    /// The drive's address of the first such place.
    pub origin_bytes: u64,
    /// Of what their lengths must be multiples, where that was found.
    pub size_bytes: Option<u64>,
    /// The day it was measured: `2026-01-02`. Harmless to print.
    pub date: String,
    /// When and by what: `straddle 0.1.0 probe, 2026-01-02`. Harmless to print.
    pub note: String,
}

/// Adds what was measured, as the granule that is used. `source` is [`Source::Measured`] or
/// [`Source::DriveTable`].
pub(super) fn put(measured: &KeptMeasurement, source: Source, units: &mut Units) {
    const KIND: UnitKind = UnitKind::Granule;
    match measured {
        KeptMeasurement::NotUsed(reason) => {
            units.put_unused(KIND, Known::no(reason), source.word())
        }
        KeptMeasurement::Granule(found) => {
            let MeasuredGranule { alignment_bytes, origin_bytes, size_bytes, note, .. } = found;
            if let Some(size) = size_bytes.filter(|size| size != alignment_bytes) {
                let text = format!("size, by {note}: lengths should be multiples of it");
                units.put_unused(KIND, Known::yes(size, source), &text);
            }
            units.put_used_from(KIND, *alignment_bytes, *origin_bytes, source, note);
        }
    }
}
