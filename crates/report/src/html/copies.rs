//! Files with the same bytes: one is shown, the others are named. A copy is no second measurement,
//! and no second host.

use maud::{Markup, html};

use super::elements::{more, say};

/// The most copies that are named.
const NAMED_MAX: usize = 40;

/// A file that is the same as another one, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileCopy {
    /// The file as it was given.
    pub name: String,
    /// The file that it is the same as, as that was given.
    pub first: String,
}

/// The copies, in a list.
pub(super) fn section(copies: &[FileCopy]) -> Markup {
    html! {
        @if !copies.is_empty() {
            p { "Files that are the same as others, byte for byte, and are shown once:" }
            ul.notes {
                @for FileCopy { name, first } in copies.iter().take(NAMED_MAX) {
                    li {
                        (say(name))
                        @if name == first { " is named twice" } @else { " is " (say(first)) }
                    }
                }
            }
            (more(copies.len().saturating_sub(NAMED_MAX), "copies"))
        }
    }
}
