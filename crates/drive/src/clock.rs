//! Time of a model, from one event to the next.

/// The earliest of some times; `None` where there is none.
///
/// It is asked for after every event, and quicker than to go through an iterator.
#[inline]
pub(crate) fn earliest<const COUNT: usize>(times: [Option<u64>; COUNT]) -> Option<u64> {
    let mut least = None;
    for time in times {
        least = match (least, time) {
            (Some(one), Some(other)) => Some(u64::min(one, other)),
            (one, other) => one.or(other),
        };
    }
    least
}

/// Advances `now_ns` to `next_ns` if that is at or before `to_ns`, else to `to_ns`; whether
/// something happens.
///
/// # Panics
/// When `to_ns` is before `now_ns`.
pub(crate) fn goes_on(next_ns: Option<u64>, to_ns: u64, now_ns: &mut u64) -> bool {
    assert!(to_ns >= *now_ns, "time does not run backward");
    let next_ns = next_ns.filter(|next_ns| *next_ns <= to_ns);
    *now_ns = next_ns.unwrap_or(to_ns);
    next_ns.is_some()
}
