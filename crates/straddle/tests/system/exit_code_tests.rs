//! The test that ends with each exit code of each command: files below `crates/straddle`.

/// A file and a test in it, and the commands and codes that it walks.
pub(crate) type Walk = (&'static str, &'static str, &'static [(&'static str, u8)]);

/// Every code of every command.
pub(crate) const WALKS: &[Walk] = &[
    (
        "tests/system/exits.rs",
        "every_ending_of_check_has_its_code_and_says_why",
        &[("check", 0), ("check", 1), ("check", 2), ("check", 5)],
    ),
    (
        "tests/system/exits.rs",
        "commands_that_measure_nothing_have_their_codes_and_say_why",
        &[
            ("explain", 0),
            ("explain", 2),
            ("explain", 5),
            ("plan", 0),
            ("plan", 2),
            ("plan", 5),
            ("report", 0),
            ("report", 2),
            ("draw", 0),
            ("draw", 2),
            ("export", 0),
            ("export", 2),
            ("emit", 0),
            ("emit", 2),
            ("drive", 0),
            ("drive", 2),
            ("drive simulate", 0),
            ("drive simulate", 2),
            ("generate", 0),
            ("generate", 2),
            ("version", 0),
        ],
    ),
    (
        "tests/system/exits.rs",
        "a_file_of_another_kind_is_kept_and_the_command_ends_with_3",
        &[
            ("check", 3),
            ("draw", 3),
            ("plan", 3),
            ("report", 3),
            ("drive torture", 3),
            ("drive serve", 3),
        ],
    ),
    (
        "tests/system/serve/reproduce.rs",
        "a_dry_run_prints_a_shell_script_and_serves_nothing",
        &[("drive reproduce", 0), ("drive reproduce", 2)],
    ),
    (
        "tests/system/serve/reproduce.rs",
        "a_number_outside_its_bound_and_a_step_that_fails_have_their_codes",
        &[("drive reproduce", 1), ("drive reproduce", 5)],
    ),
    (
        "tests/system/serve/reproduce.rs",
        "an_interrupted_or_killed_run_leaves_nothing_mounted_and_no_program",
        &[("drive reproduce", 130)],
    ),
    (
        "tests/system/exits.rs",
        "every_ending_of_demo_has_its_code_and_leaves_nothing",
        &[("demo", 0), ("demo", 2), ("demo", 130)],
    ),
    (
        "tests/system/exits.rs",
        "every_ending_of_trace_has_its_code_and_says_why",
        &[("trace", 0), ("trace", 2), ("trace", 5)],
    ),
    (
        "tests/system/exits.rs",
        "every_ending_of_atomic_has_its_code_and_says_why",
        &[("atomic", 0), ("atomic", 1), ("atomic", 2), ("atomic", 5)],
    ),
    (
        "tests/system/apply.rs",
        "what_was_applied_is_accepted_by_every_tool_and_undone_to_the_byte",
        &[("apply", 0)],
    ),
    (
        "tests/system/apply/refused.rs",
        "random_edited_foreign_and_old_plans_are_refused_and_nothing_is_written",
        &[("apply", 2), ("apply", 3)],
    ),
    (
        "tests/system/apply.rs",
        "a_write_that_fails_ends_with_4_and_the_same_command_goes_on",
        &[("apply", 4)],
    ),
    (
        "tests/system/convert.rs",
        "disks_of_every_kind_are_converted_and_back_with_equal_bytes_and_files",
        &[("convert", 0)],
    ),
    (
        "tests/system/convert/refused.rs",
        "a_loader_in_the_place_of_the_new_table_and_a_file_that_exists_are_refused",
        &[("convert", 2), ("convert", 3)],
    ),
    (
        "tests/system/convert/refused.rs",
        "a_signal_ends_a_conversion_with_its_code_and_leaves_no_file",
        &[("convert", 130)],
    ),
    (
        "src/bench/verdict_tests.rs",
        "a_ratio_of_every_size_has_its_verdict_its_code_and_an_interval_around_it",
        &[("bench", 0), ("bench", 1)],
    ),
    (
        "src/bench/verdict_tests.rs",
        "a_drive_that_fails_at_any_operation_is_no_verdict_and_named_in_the_kernels_words",
        &[("bench", 2), ("bench", 5)],
    ),
    (
        "src/bench/verdict_tests.rs",
        "a_signal_at_any_operation_ends_it_with_its_code_and_keeps_what_was_measured",
        &[("bench", 130)],
    ),
    ("tests/system/bench/safety.rs", "a_device_that_somebody_holds_is_refused", &[("bench", 3)]),
    (
        "src/probe/verdict_tests.rs",
        "a_granule_that_costs_is_found_with_its_length_and_a_drive_without_one_is_no_verdict",
        &[("probe", 0), ("probe", 5)],
    ),
    (
        "src/probe/verdict_tests.rs",
        "a_drive_that_fails_at_any_operation_is_named_and_no_granule_comes_of_it",
        &[("probe", 2)],
    ),
    (
        "src/probe/verdict_tests.rs",
        "a_signal_at_any_operation_ends_it_with_its_code",
        &[("probe", 130)],
    ),
    (
        "tests/system/probe/mod.rs",
        "a_raw_device_is_read_and_not_written_and_without_the_right_word_refused",
        &[("probe", 3)],
    ),
    (
        "tests/system/exits.rs",
        "every_ending_of_compare_has_its_code_and_says_why",
        &[("compare", 0), ("compare", 1), ("compare", 2), ("compare", 5)],
    ),
    (
        "src/fsync/verdict_tests.rs",
        "each_latency_has_its_verdict_its_code_and_its_quantile",
        &[("fsync", 0), ("fsync", 1), ("fsync", 5)],
    ),
    (
        "src/fsync/verdict_tests.rs",
        "what_the_words_forbid_is_refused_before_anything_is_written",
        &[("fsync", 2)],
    ),
    (
        "src/fsync/verdict_tests.rs",
        "a_signal_at_any_operation_ends_it_with_its_code",
        &[("fsync", 130)],
    ),
    (
        "tests/system/fsync/thin_layers.rs",
        "a_sparse_image_on_a_nearly_full_file_system_is_refused_and_stands",
        &[("fsync", 3)],
    ),
    (
        "tests/system/exits.rs",
        "every_ending_of_watch_has_its_code_and_says_why",
        &[("watch", 0), ("watch", 2), ("watch", 130)],
    ),
    (
        "tests/system/drive_fit.rs",
        "a_sheet_becomes_a_profile_that_is_simulated_and_says_where_its_values_are_from",
        &[("drive fit", 0)],
    ),
    (
        "tests/system/drive_fit.rs",
        "what_is_no_sheet_or_no_measurement_of_it_is_refused_with_what_to_do",
        &[("drive fit", 2)],
    ),
    (
        "tests/system/serve/nbd.rs",
        "a_drive_is_served_until_a_signal_and_leaves_no_socket",
        &[("drive serve", 0), ("drive serve", 2)],
    ),
    (
        "tests/system/serve/detach.rs",
        "detaching_has_its_codes_and_says_why",
        &[("drive detach", 0), ("drive detach", 2)],
    ),
    (
        "tests/system/torture/endings.rs",
        "every_ending_of_torture_has_its_code_and_says_why",
        &[("drive torture", 0), ("drive torture", 1), ("drive torture", 2), ("drive torture", 5)],
    ),
    (
        "tests/system/torture/endings.rs",
        "a_signal_ends_it_with_its_code_and_leaves_nothing",
        &[("drive torture", 130)],
    ),
    (
        "tests/system/torture/endings.rs",
        "every_ending_of_cut_has_its_code_and_says_why",
        &[("drive cut", 0), ("drive cut", 2)],
    ),
    (
        "src/drives/published.rs",
        "a_figure_outside_its_bounds_is_found_unless_its_reason_is_known",
        &[("drive simulate", 1)],
    ),
];
