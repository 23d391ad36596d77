//! Values that this machine measured, and that may miss their tolerance by chance.

/// Beginning of the message of a panic that says so. `cargo xtask test` runs such a test of the
/// machine lane again, and no other.
pub const MISSED: &str = "missed tolerance: ";

/// Panics with the message that follows, marked as a missed tolerance, unless the condition on
/// measured values holds. Assert everything else with `assert!`, which gives no second try.
#[macro_export]
macro_rules! assert_tolerance {
    ($holds:expr, $($words:tt)+) => {
        assert!($holds, "{}{}", $crate::tolerance::MISSED, format_args!($($words)+))
    };
}

#[cfg(test)]
mod tests {
    use super::MISSED;

    #[test]
    fn a_missed_tolerance_is_marked() {
        assert_tolerance!(1 < 2, "{} of 2", 1);
        let panic = std::panic::catch_unwind(|| assert_tolerance!(2 < 1, "{} of {}", 5, 6));
        let words = panic.expect_err("it panics").downcast::<String>().expect("it is text");
        assert_eq!(*words, format!("{MISSED}5 of 6"));
    }
}
