//! Identifiers of layers.

/// A layer's number in its stack. Layers below have lower numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LayerId(pub usize);
