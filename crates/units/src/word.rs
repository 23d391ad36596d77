//! Words of enums, taken from serde so that each is written once.

use serde::Serialize;

/// Gives an enum without content `word()`: the word that serde writes for a variant.
#[macro_export]
macro_rules! words {
    ($kind:ty) => {
        impl $kind {
            /// The word for it in documents and in text.
            #[must_use]
            pub fn word(self) -> &'static str {
                $crate::word::of(&self)
            }
        }
    };
}

/// Returns the word that serde writes for `variant`.
///
/// # Panics
/// When it is no variant without content.
pub fn of(variant: &impl Serialize) -> &'static str {
    serde_variant::to_variant_name(variant).expect("enums of words have no content")
}
