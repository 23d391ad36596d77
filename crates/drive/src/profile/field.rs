//! A row in the table of a kind's values: its name, how it is written, and where in the plan it
//! goes.

use super::quantity::Quantity;
use super::value::Value;

/// Name of a value, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Name in profiles.
    pub(super) key: &'static str,
    /// Form in which it is written.
    pub(super) quantity: Quantity,
    /// Its amount where a profile leaves it out; `None` where no profile may.
    pub(super) otherwise: Option<u64>,
}

/// A value of a kind's plan: how it is written, and where it goes.
pub(super) struct Field<P> {
    pub(super) form: Form,
    set: fn(&mut P, u64),
}

impl<P> Field<P> {
    pub(super) const fn new(
        key: &'static str,
        quantity: Quantity,
        set: fn(&mut P, u64),
    ) -> Field<P> {
        Field { form: Form { key, quantity, otherwise: None }, set }
    }

    /// One that is 0 where a profile leaves it out.
    pub(super) const fn or_zero(
        key: &'static str,
        quantity: Quantity,
        set: fn(&mut P, u64),
    ) -> Field<P> {
        Field { form: Form { key, quantity, otherwise: Some(0) }, set }
    }
}

/// The plan with all `values` where `fields` put them.
pub(super) fn filled<P: Default>(fields: &[Field<P>], values: &[Value]) -> P {
    let mut plan = P::default();
    for field in fields {
        if let Some(value) = values.iter().find(|value| value.key == field.form.key) {
            (field.set)(&mut plan, value.amount);
        }
    }
    plan
}

/// A count; where it does not fit it is more than any bound.
pub(super) fn narrow(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The thing at `place`; the reader takes no place that is not there.
pub(super) fn at<T: Copy>(things: &[T], place: u64) -> T {
    let place = usize::try_from(place).unwrap_or(usize::MAX);
    things[place.min(things.len() - 1)]
}
