//! Real numbers in JSON, which has no word for some of them: those that are not finite are `null`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes `value`, or `null` where it is not finite.
///
/// # Errors
/// When `to` fails.
pub fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(to)
}

/// Reads a number; `null` is not a number.
///
/// # Errors
/// When there is neither.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::NAN))
}

/// The same of numbers that are infinite where they are not known.
pub mod or_infinite {
    use serde::{Deserialize, Deserializer};

    pub use super::serialize;

    /// Reads a number; `null` is infinite.
    ///
    /// # Errors
    /// When there is neither.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(from)?.unwrap_or(f64::INFINITY))
    }
}
