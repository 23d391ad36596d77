//! Lines of `stack`: what is misaligned, what it costs, and which source is believed.

use crate::mutants::mutation::{KillingTest, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "origin-left-out",
        file: "judge.rs",
        line: "let off = |shift| !unit.aligns(shift);",
        becomes: "let off = |shift: u64| shift % unit.length_bytes() != 0;",
        test: KillingTest::Logic(
            "drives::where_lba_7_is_the_first_aligned_block_63_is_aligned_and_2048_is_not",
        ),
    },
    Mutation {
        name: "chunk-taken-for-full-stripe",
        file: "judge.rs",
        line: "if off_chunk > 0.0 {",
        becomes: "if off_chunk < 0.0 {",
        test: KillingTest::Unit(
            "judge::tests::\
             a_start_off_the_chunk_is_misaligned_and_off_the_full_stripe_alone_is_not",
        ),
    },
    Mutation {
        name: "data-looked-for-on-parity",
        file: "resolve.rs",
        line: "let (_, member) = rotation.members(",
        becomes: "let (member, _) = rotation.members(",
        test: KillingTest::Unit(
            "resolve::tests::resolved_pieces_cover_the_range_without_gap_on_every_layout",
        ),
    },
    Mutation {
        name: "whole-granules-are-rmws",
        file: "amplify/mod.rs",
        line: "effort.rmws += partial;",
        becomes: "effort.rmws += touched;",
        test: KillingTest::Unit(
            "amplify::tests::\
             a_4k_write_one_and_a_half_kib_off_reads_two_sectors_and_writes_two",
        ),
    },
    Mutation {
        name: "two-rmws-are-no-error",
        file: "rule/severity.rs",
        line: "cost.excess_rmws() >= 2",
        becomes: "cost.excess_rmws() >= 3",
        test: KillingTest::Logic(
            "drives::two_extra_rmws_are_an_error_on_rotating_media_and_a_warning_elsewhere",
        ),
    },
    Mutation {
        name: "assumed-granule-is-an-error",
        file: "rule/severity.rs",
        line: "if !assumed && cost",
        becomes: "if cost",
        test: KillingTest::Logic(
            "drives::a_drive_that_says_512_is_judged_at_4_kib_and_never_an_error",
        ),
    },
    Mutation {
        name: "smallest-granule-counts",
        file: "drive/granule.rs",
        line: "claims.iter().map(|claim| claim.bytes).max()",
        becomes: "claims.iter().map(|claim| claim.bytes).min()",
        test: KillingTest::Unit(
            "drive::tests::drive_answers::\
             a_bridge_that_hides_the_drives_sectors_is_told_and_the_larger_is_used",
        ),
    },
    Mutation {
        name: "hidden-shift-is-believed",
        file: "drive/granule.rs",
        line: "best.min_by_key(|(_, claim)|",
        becomes: "best.max_by_key(|(_, claim)|",
        test: KillingTest::Unit(
            "drive::tests::drive_answers::\
             a_lowest_aligned_block_that_the_kernel_hides_gives_the_origin",
        ),
    },
    Mutation {
        name: "report-outranks-measurement",
        file: "unit.rs",
        line: "fact.used = false;",
        becomes: "fact.used = true;",
        test: KillingTest::Unit(
            "drive::tests::\
             what_was_measured_outranks_what_is_told_and_reported_and_says_when",
        ),
    },
    Mutation {
        name: "extents-shifted-forward",
        file: "placement.rs",
        line: "let back = self.unit_bytes - bytes % self.unit_bytes;",
        becomes: "let back = bytes % self.unit_bytes;",
        test: KillingTest::Unit(
            "placement::tests::\
             an_extent_that_begins_off_the_unit_in_its_file_is_shifted_back_by_that",
        ),
    },
    Mutation {
        name: "stripes-begin-elsewhere",
        file: "judge.rs",
        line: "(shift + back) % full;",
        becomes: "(shift + rows.start_bytes) % full;",
        test: KillingTest::Unit("judge::tests::stripes_count_from_where_they_begin"),
    },
    Mutation {
        name: "parity-stripe-is-no-warning",
        file: "rule/severity.rs",
        line: "if parity { Severity::Warning }",
        becomes: "if !parity { Severity::Warning }",
        test: KillingTest::Unit(
            "rule::severity::tests::\
             a_stripe_missed_is_a_warning_where_parity_makes_a_write_read",
        ),
    },
    Mutation {
        name: "loop-shifts-the-other-way",
        file: "drive/mod.rs",
        line: "unit - offset_bytes % unit)",
        becomes: "offset_bytes % unit)",
        test: KillingTest::Unit(
            "drive::tests::\
             the_units_of_a_disk_count_from_where_a_loop_begins_in_its_file",
        ),
    },
];
