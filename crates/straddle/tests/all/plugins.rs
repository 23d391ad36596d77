//! Commands that measure, as plugins of Nagios where nothing can be measured.

use testkit::running_program::Ran;

use crate::check::run::straddle;

#[test]
fn every_command_of_a_monitor_is_unknown_where_nothing_can_be_measured() {
    for command in [
        &["fsync", "/no/such/place", "--for", "etcd"][..],
        &["bench", "/no/such/place"],
        &["watch", "/no/such/place", "--seconds", "1"],
        &["fsync", "/", "--such-option"],
        &["check", "/no/such/place"],
    ] {
        let words = [command, &["--format", "nagios"]].concat();
        let ran = Ran::from(straddle(&words));
        assert_eq!(ran.status, Some(3), "{words:?}: {ran:?}");
        assert!(ran.out.starts_with("STRADDLE UNKNOWN - "), "{words:?}: {ran:?}");
        assert!(!ran.errors.is_empty(), "{words:?}: {ran:?}");
    }
}
