//! The line that says how far a run is, while it goes on.

use units::prefix::Size;

use crate::bench::figure_rounding::time;
use crate::quantity_words::ViewWords;
use crate::text::shorten;
use crate::view_options::Look;

/// One line without a line feed, never wider than the look: `measuring  3.2 s of 12.0 s at most,
/// 41.0 MiB written`.
#[must_use]
pub fn measuring(spent_ns: u64, most_ns: u64, written_bytes: u64, look: &Look) -> String {
    let words = ViewWords { look };
    let (spent, most) = (time(spent_ns, words), time(most_ns, words));
    let written = Size(written_bytes);
    doing(&format!("measuring  {spent} of {most} at most, {written} written"), look)
}

/// One line without a line feed that says what is being done; never wider than the look.
#[must_use]
pub fn doing(what: &str, look: &Look) -> String {
    let words = ViewWords { look };
    shorten(&words.text(what), look.columns(), words.glyphs().ellipsis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_fits() {
        let of = |width| Look { width: Some(width), ..Look::default() };
        let line = measuring(3_200_000_000, 12_000_000_000, 41 << 20, &of(100));
        assert_eq!(line, "measuring  3.20 s of 12.0 s at most, 41 MiB written");
        let narrow = measuring(3_200_000_000, 12_000_000_000, 41 << 20, &of(40));
        assert!(narrow.chars().count() <= 40 && narrow.starts_with("measuring"), "{narrow}");
    }
}
