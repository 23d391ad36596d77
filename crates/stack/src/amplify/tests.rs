//! Amplification of one I/O, by hand.

use units::stripe::{Rotation, Stripe};
use units::{Known, Source};

use super::*;
use crate::layer::{Layer, LayerKind};
use crate::mapping::{Below, Copies, Mapping, Segment};

fn leaf(stack: &mut Stack, granule: u64) -> LayerId {
    let length = Known::yes(1 << 40, Source::OnDisk);
    let id = stack.add(Layer::new(LayerKind::ImageFile, "x".into(), length, Mapping::Leaf));
    stack.layer_mut(id).units.put_used(UnitKind::Granule, granule, Source::Told, "");
    id
}

fn linear(stack: &mut Stack, layer: LayerId, offset_bytes: u64) -> LayerId {
    let mapping = Mapping::Linear(Below { layer, offset_bytes });
    let length = Known::yes(1 << 30, Source::OnDisk);
    stack.add(Layer::new(LayerKind::ImageFile, "x".into(), length, mapping))
}

fn write(stack: &Stack, id: LayerId, start: u64, length: u64) -> Effort {
    let range = ByteRange::new(start, length).unwrap();
    amplify(stack, id, Io { write: true, range }).unwrap()
}

fn raid5(stack: &mut Stack, members: usize, chunk: u64) -> LayerId {
    parity_array(stack, members, 1, chunk)
}

fn parity_array(stack: &mut Stack, members: usize, parity: u64, chunk: u64) -> LayerId {
    let members: Vec<_> = (0..members)
        .map(|_| Some(Below { layer: leaf(stack, 4096), offset_bytes: 1 << 20 }))
        .collect();
    let data = u64::try_from(members.len()).unwrap() - parity;
    let mapping = Mapping::Parity {
        stripe: Stripe::new(chunk, data).unwrap(),
        parity,
        rotation: Some(Rotation::LeftSymmetric),
        members,
    };
    let length = Known::yes(1 << 40, Source::OnDisk);
    stack.add(Layer::new(LayerKind::ImageFile, "x".into(), length, mapping))
}

#[test]
fn a_4k_write_one_and_a_half_kib_off_reads_two_sectors_and_writes_two() {
    let mut stack = Stack::new();
    let drive = leaf(&mut stack, 4096);
    let partition = linear(&mut stack, drive, 125 * (1 << 20) + 1536);
    let effort = write(&stack, partition, 8192, 4096);
    assert_eq!((effort.reads, effort.writes, effort.rmws), (2, 2, 2));
    let aligned = write(&stack, drive, 8192, 4096);
    assert_eq!((aligned.reads, aligned.writes, aligned.rmws), (0, 1, 0));
}

#[test]
fn a_write_to_a_hole_costs_what_its_place_within_a_block_costs() {
    let mut stack = Stack::new();
    let below = Below { layer: leaf(&mut stack, 4096), offset_bytes: 0 };
    let mapping = Mapping::Scattered { below, chunk_bytes: 4096, reason: "a hole".to_owned() };
    let range = ByteRange::new(8192, 1 << 20).unwrap();
    let segments = Mapping::Segments(vec![Segment { range, mapping }]);
    let length = Known::yes(1 << 30, Source::OnDisk);
    let file = stack.add(Layer::new(LayerKind::File, "x".into(), length, segments));
    let effort = write(&stack, file, 8192 + 512, 4096);
    assert_eq!((effort.reads, effort.writes, effort.rmws), (2, 2, 2));
}

#[test]
fn a_full_stripe_of_raid5_reads_nothing_and_a_shifted_one_updates_parity_twice() {
    let mut stack = Stack::new();
    let array = raid5(&mut stack, 4, 65536);
    let full = write(&stack, array, 3 * 65536 * 7, 3 * 65536);
    assert_eq!((full.reads, full.parity_updates, full.parity_rmws), (0, 1, 0));
    assert_eq!(full.writes, 4 * 16);
    let shifted = write(&stack, array, 65536, 3 * 65536);
    assert_eq!((shifted.parity_updates, shifted.parity_rmws), (2, 2));
    assert!(shifted.reads > 0);
}

#[test]
fn a_write_over_a_chunks_end_updates_the_parity_of_its_own_bytes_alone() {
    let mut stack = Stack::new();
    let array = raid5(&mut stack, 4, 65536);
    let effort = write(&stack, array, 65536 - 4096, 8192);
    assert_eq!((effort.reads, effort.writes, effort.parity_updates), (4, 4, 1));
}

#[test]
fn rows_that_are_written_whole_are_not_read() {
    let mut stack = Stack::new();
    let array = raid5(&mut stack, 4, 65536);
    // All but the first granule: of its row alone something is read, which is that granule.
    let effort = write(&stack, array, 4096, 3 * 65536 - 4096);
    assert_eq!((effort.reads, effort.writes, effort.parity_rmws), (1, 63, 1));
}

/// Counts on md, in pages.
#[test]
fn parity_reads_the_old_or_the_rest_of_a_row_whichever_is_less() {
    for (members, parity, chunk, start, length, reads, writes) in [
        (4, 1, 64, 64, 192, 48, 48 + 32),
        (5, 2, 32, 64, 96, 24, 24 + 32),
        (8, 1, 64, 0, 4, 2, 2),
        (8, 1, 64, 0, 4 * 64, 3 * 16, 5 * 16),
    ] {
        let mut stack = Stack::new();
        let array = parity_array(&mut stack, members, parity, chunk << 10);
        let effort = write(&stack, array, start << 10, length << 10);
        assert_eq!((effort.reads, effort.writes), (reads, writes), "{members} x {chunk} KiB");
    }
}

#[test]
fn a_small_write_to_raid5_is_two_reads_and_two_writes() {
    let mut stack = Stack::new();
    let array = raid5(&mut stack, 4, 65536);
    // Of four members the rest is as much as what is old, so that all take part.
    let effort = write(&stack, array, 0, 4096);
    assert_eq!((effort.reads, effort.writes, effort.rmws, effort.leaves), (2, 2, 0, 4));
}

#[test]
fn copies_and_parity_within_a_segment_count_as_they_do_without_one() {
    for (parity, copies) in [(1, 1), (2, 1), (0, 2), (0, 1)] {
        let mut stack = Stack::new();
        let members: Vec<_> = (0..4)
            .map(|_| Some(Below { layer: leaf(&mut stack, 4096), offset_bytes: 512 }))
            .collect();
        let stripe = Stripe::new(65536, if parity > 0 { 4 - parity } else { 4 / copies });
        let stripe = stripe.unwrap();
        let mapping = match parity {
            0 => Mapping::Striped { stripe, copies: Copies::Neighbors(copies), members },
            _ => {
                let rotation = Some(Rotation::LeftSymmetric);
                Mapping::Parity { stripe, parity, rotation, members }
            }
        };
        let length = || Known::yes(1 << 30, Source::OnDisk);
        let mut add = |mapping| {
            let kind = LayerKind::ImageFile;
            stack.add(Layer::new(kind, "x".into(), length(), mapping))
        };
        let segment = |start, mapping| {
            let range = ByteRange::new(start, 1 << 20).unwrap();
            Segment { range, mapping }
        };
        let whole = add(mapping.clone());
        let segments = vec![segment(0, mapping.clone()), segment(1 << 20, mapping)];
        let parts = add(Mapping::Segments(segments));
        for (start, length) in [(0, 4096), (65536 - 512, 4096), (512, 500_000)] {
            let said = write(&stack, whole, start, length);
            assert_eq!(write(&stack, parts, start, length), said, "{parity} {copies}");
            assert_eq!(write(&stack, parts, start + (1 << 20), length), said);
        }
        // Over the end of the first segment, both do their part.
        let over = write(&stack, parts, (1 << 20) - 4096, 8192);
        let (before, behind) =
            (write(&stack, whole, (1 << 20) - 4096, 4096), write(&stack, whole, 0, 4096));
        assert_eq!(over.parity_updates, before.parity_updates + behind.parity_updates);
    }
}

#[test]
fn a_mirror_writes_everywhere_and_reads_once() {
    let mut stack = Stack::new();
    let members = (0..3).map(|_| leaf(&mut stack, 4096)).collect::<Vec<_>>();
    let members = members.iter().map(|&layer| Some(Below { layer, offset_bytes: 0 })).collect();
    let length = Known::yes(1 << 30, Source::OnDisk);
    let mirror = Mapping::Mirrored { members };
    let array = stack.add(Layer::new(LayerKind::ImageFile, "x".into(), length, mirror));
    assert_eq!(write(&stack, array, 0, 4096).writes, 3);
    let range = ByteRange::new(0, 4096).unwrap();
    assert_eq!(amplify(&stack, array, Io { write: false, range }).unwrap().reads, 1);
}
