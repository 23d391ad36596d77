//! Lines of `durability`: what makes a sync durable, and a page whole.

use crate::mutants::mutation::{KillingTest, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "missed-flushes-are-unclear",
        file: "flush_reach.rs",
        line: "it.flushes.saturating_mul(2) < it.syncs",
        becomes: "it.flushes.saturating_mul(4) < it.syncs",
        test: KillingTest::Unit(
            "flush_reach::tests::\
             one_window_with_too_few_flushes_shows_that_none_are_sent_whatever_others_do",
        ),
    },
    Mutation {
        name: "flushes-of-others-count",
        file: "flush_reach.rs",
        line: "window.idle_flushes.saturating_mul(2) <= window.syncs",
        becomes: "window.idle_flushes <= window.syncs",
        test: KillingTest::Unit(
            "flush_reach::tests::enough_flushes_count_only_where_others_were_quiet",
        ),
    },
    Mutation {
        name: "best-reason-decides",
        file: "lib.rs",
        line: "reasons.iter().map(|reason| reason.at_best).max()",
        becomes: "reasons.iter().map(|reason| reason.at_best).min()",
        test: KillingTest::Unit(
            "tests::barriers_that_are_off_are_seen_in_the_mount_and_by_the_counter",
        ),
    },
    Mutation {
        name: "volatile-cache-negated",
        file: "drive_protection.rs",
        line: "Known::yes(controller.volatile_cache, Source::Identify)",
        becomes: "Known::yes(!controller.volatile_cache, Source::Identify)",
        test: KillingTest::Unit(
            "drive_protection::tests::a_drive_is_asked_for_its_health_in_its_own_language",
        ),
    },
    Mutation {
        name: "dropped-flushes-are-fine",
        file: "rules/cache.rs",
        line: "let wants = |layer: &&&PathLayer| layer.write_back.value() == Some(&true);",
        becomes: "let wants = |layer: &&&PathLayer| layer.write_back.value() == Some(&false);",
        test: KillingTest::Unit("tests::write_through_is_believed_as_far_as_the_drive_says_so"),
    },
    Mutation {
        name: "volatile-overlay-of-new-kernels",
        file: "rules/mount_options.rs",
        line: r#"["volatile", "fsync=volatile"]"#,
        becomes: r#"["volatile", "volatile"]"#,
        test: KillingTest::Unit("tests::what_hides_the_layers_below_is_opaque"),
    },
    Mutation {
        name: "pages-cross-boundaries",
        file: "untorn/volume.rs",
        line: "!distance_bytes.is_multiple_of(page) || shift % page",
        becomes: "!distance_bytes.is_multiple_of(page) && shift % page",
        test: KillingTest::Unit(
            "tests::untorn::matrix::every_made_stack_is_judged_as_the_oracle_says",
        ),
    },
    Mutation {
        name: "suppressing-filter-only-refuses",
        file: "filtered_calls.rs",
        line: "Some(FilterAction::Error(0)) => Fate::Suppressed,",
        becomes: "Some(FilterAction::Error(0)) => Fate::Refused,",
        test: KillingTest::Unit(
            "filtered_calls::tests::\
             what_systemd_suppresses_is_suppressed_on_every_kind_of_machine",
        ),
    },
    Mutation {
        name: "limit-of-the-best-path",
        file: "untorn/promise.rs",
        line: "told.min()",
        becomes: "told.max()",
        test: KillingTest::Unit(
            "untorn::promise::tests::the_kernels_limit_is_that_of_the_path_with_the_least",
        ),
    },
    Mutation {
        name: "one-cache-of-two-is-enough",
        file: "rules/mount_options.rs",
        line: "&& devices.all(",
        becomes: "&& devices.any(",
        test: KillingTest::Unit(
            "tests::barriers_are_needed_where_one_of_two_drives_has_a_volatile_cache",
        ),
    },
];
