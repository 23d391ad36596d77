//! Lines of `layout`: where partitions go, what must be blank, and the order of writes.

use crate::mutants::mutation::{KillingTest, Mutation};

pub(super) const MUTATIONS: &[Mutation] = &[
    Mutation {
        name: "no-flush-after-a-write",
        file: "table_writer.rs",
        line: "disk.flush().map_err(failed)?;",
        becomes: "",
        test: KillingTest::Logic(
            "crash::at_every_instant_the_old_or_the_new_table_is_read_\
             and_every_cut_is_mended_and_undone",
        ),
    },
    Mutation {
        name: "writes-in-the-order-of-undo",
        file: "table_writer.rs",
        line: "if side == Side::Old {",
        becomes: "if side == Side::New {",
        test: KillingTest::Logic(
            "crash::at_every_instant_the_old_or_the_new_table_is_read_\
             and_every_cut_is_mended_and_undone",
        ),
    },
    Mutation {
        name: "aligned-down-for-up",
        file: "grid.rs",
        line: "address.checked_add(self.unit - over)",
        becomes: "address.checked_sub(over)",
        test: KillingTest::Unit("grid::tests::neighbors_on_the_grid_enclose_an_address"),
    },
    Mutation {
        name: "origin-with-the-wrong-sign",
        file: "partition_needs.rs",
        line: "remainder: (mark.unit - over) % mark.unit };",
        becomes: "remainder: over };",
        test: KillingTest::Unit(
            "tests::a_moved_partition_starts_on_the_granule_wherever_the_first_one_begins",
        ),
    },
    Mutation {
        name: "cut-ends-need-not-be-blank",
        file: "affected_ranges.rs",
        line: "next.range.length_bytes().min(one.range.length_bytes());",
        becomes: "one.range.length_bytes();",
        test: KillingTest::Logic("checks::an_end_is_cut_only_where_nothing_is"),
    },
    Mutation {
        name: "last-sector-unseen",
        file: "in_the_way.rs",
        line: "let (mut start, mut end) = (range.start_bytes(), range.end_bytes());",
        becomes: "let (mut start, mut end) = (range.start_bytes(), range.end_bytes() - 512);",
        test: KillingTest::Unit(
            "in_the_way::tests::the_first_and_the_last_byte_of_a_range_are_in_the_way",
        ),
    },
    Mutation {
        name: "writes-over-something-unknown",
        file: "table_places.rs",
        line: "if !is_in(&old) && !is_blank(was) {",
        becomes: "if false {",
        test: KillingTest::Logic("checks::a_write_where_no_table_is_is_refused"),
    },
    Mutation {
        name: "writes-of-a-stranger",
        file: "own_writes.rs",
        line: "if !are_own {",
        becomes: "if false {",
        test: KillingTest::Logic(
            "forged::every_byte_of_a_changed_table_is_made_again_from_the_disk",
        ),
    },
    Mutation {
        name: "writes-into-partitions",
        file: "table_check.rs",
        line: "writes.iter().any(|range| range.overlaps(kept))",
        becomes: "writes.iter().any(|range| range.contains(kept))",
        test: KillingTest::Logic("checks::a_write_into_a_partition_or_off_the_sectors_is_refused"),
    },
    Mutation {
        name: "copied-over-what-is-to-be-copied",
        file: "moves.rs",
        line: "if self.to_bytes > self.from_bytes {",
        becomes: "if self.to_bytes < self.from_bytes {",
        test: KillingTest::Unit("moves::tests::nothing_is_overwritten_that_is_still_to_be_copied"),
    },
    Mutation {
        name: "fat12-with-a-cluster-more",
        file: "fat/shape.rs",
        line: "FatKind::Fat12 => 1..=4084,",
        becomes: "FatKind::Fat12 => 1..=4085,",
        test: KillingTest::Unit(
            "fat::shape::tests::the_number_of_clusters_decides_between_12_and_16_bits",
        ),
    },
    Mutation {
        name: "later-start-is-no-move",
        file: "affected_ranges.rs",
        line: "if next.range.start_bytes() != one.range.start_bytes()",
        becomes: "if next.range.start_bytes() < one.range.start_bytes()",
        test: KillingTest::Unit(
            "affected_ranges::tests::\
             all_of_a_partition_must_be_blank_that_starts_earlier_or_later",
        ),
    },
    Mutation {
        name: "table-over-data",
        file: "affected_ranges.rs",
        line: "side == Side::New && covers_data(",
        becomes: "side == Side::Old && covers_data(",
        test: KillingTest::Unit(
            "affected_ranges::tests::\
             a_table_is_written_over_zeros_of_a_partition_and_never_over_data",
        ),
    },
    Mutation {
        name: "first-partition-first",
        file: "moves.rs",
        line: "up.sort_by_key(|one| std::cmp::Reverse(one.from_bytes));",
        becomes: "up.sort_by_key(|one| one.from_bytes);",
        test: KillingTest::Unit("moves::tests::nothing_is_overwritten_that_is_still_to_be_copied"),
    },
    Mutation {
        name: "fat-clusters-from-1",
        file: "fat/shape.rs",
        line: "(u64::from(cluster) - 2)",
        becomes: "(u64::from(cluster) - 1)",
        test: KillingTest::Unit(
            "fat::tests::\
             a_fat_made_again_holds_its_file_and_the_last_byte_after_its_clusters",
        ),
    },
    Mutation {
        name: "byte-after-a-fat-lost",
        file: "fat/unused_bytes.rs",
        line: "last.at_bytes + 1 - first.at_bytes",
        becomes: "last.at_bytes - first.at_bytes",
        test: KillingTest::Unit(
            "fat::tests::\
             a_fat_made_again_holds_its_file_and_the_last_byte_after_its_clusters",
        ),
    },
];
