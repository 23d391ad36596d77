//! Progress of a probe, in a line.

use crate::bench::figure_rounding::time;
use crate::quantity_words::ViewWords;
use crate::text::shorten;
use crate::view_options::Look;

/// One line without a line feed, never wider than the look: `probing  durable writes: 3.2 s of 60 s
/// at most`.
#[must_use]
pub fn probing(what: &str, spent_ns: u64, most_ns: u64, look: &Look) -> String {
    let words = ViewWords { look };
    let (spent, most) = (time(spent_ns, words), time(most_ns, words));
    let line = format!("probing  {what}: {spent} of {most} at most");
    shorten(&words.text(&line), look.columns(), words.glyphs().ellipsis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is_and_fits() {
        let of = |width| Look { width: Some(width), ..Look::default() };
        let line = probing("durable writes", 3_200_000_000, 60_000_000_000, &of(100));
        assert_eq!(line, "probing  durable writes: 3.20 s of 60.0 s at most");
        let narrow = probing("durable writes", 3_200_000_000, 60_000_000_000, &of(40));
        assert!(narrow.chars().count() <= 40 && narrow.starts_with("probing"), "{narrow}");
    }
}
