//! Stacks of known truth, walked, fitted and paid for.

use units::{Source, Unit};

use super::alignment::offset;
use super::*;
use crate::layer::{Layer, LayerKind};
use crate::unit::UnitKind;
use units::Known;
use units::stripe::Stripe;

fn range(start: u64, length: u64) -> ByteRange {
    ByteRange::new(start, length).unwrap()
}

fn add(stack: &mut Stack, mapping: Mapping) -> LayerId {
    let length = Known::yes(1 << 40, Source::OnDisk);
    stack.add(Layer::new(LayerKind::File, "x".into(), length, mapping))
}

fn leaf(stack: &mut Stack) -> LayerId {
    let id = add(stack, Mapping::Leaf);
    stack.layer_mut(id).units.put_used(UnitKind::Granule, 4096, Source::Told, "");
    id
}

fn below(layer: LayerId, offset_bytes: u64) -> Below {
    Below { layer, offset_bytes }
}

/// A file whose first MiB lies at 1 GiB of a disk, and whose second 512 bytes behind a
/// boundary.
fn file(stack: &mut Stack, on: LayerId) -> LayerId {
    let segment =
        |at, to| Segment { range: range(at, 1 << 20), mapping: Mapping::Linear(below(on, to)) };
    let segments = vec![segment(0, 1 << 30), segment(1 << 20, (2 << 30) + 512)];
    add(stack, Mapping::Segments(segments))
}

fn alignment(stack: &Stack, id: LayerId, range: ByteRange) -> Alignment {
    let mut found = Alignment::default();
    walk(stack, id, range, &mut |piece| {
        found.take(stack, piece);
        true
    });
    found
}

#[test]
fn half_of_a_file_with_one_shifted_extent_is_off_the_granule_by_its_shift() {
    let mut stack = Stack::new();
    let disk = leaf(&mut stack);
    let file = file(&mut stack, disk);
    let found = alignment(&stack, file, range(0, 2 << 20));
    let fit = Fit { kind: UnitKind::Granule, owner: disk, unit_bytes: 4096 };
    let share = &found.shares[&fit];
    assert_eq!((share.aligned_bytes, share.misaligned_bytes), (1 << 20, 1 << 20));
    assert_eq!(share.offsets_bytes, [512]);
    assert_eq!(found.placed_bytes, 2 << 20);
    let cost = cost(&stack, file, range(0, 2 << 20), 16384);
    assert_eq!((cost.ios, cost.counted, cost.writes_with_rmw), (128, 128, 64));
    assert_eq!(cost.write.writes, 64 * 4 + 64 * 5);
    assert_eq!(cost.write.rmws, 64 * 2);
    assert_eq!(cost.read.reads, 64 * 4 + 64 * 5);
}

#[test]
fn every_copy_on_a_mirror_of_stripes_has_its_way_with_the_byte_on_each_layer() {
    let mut stack = Stack::new();
    let disks: Vec<LayerId> = (0..4).map(|_| leaf(&mut stack)).collect();
    let stripe = Stripe::new(65536, 2).unwrap();
    let members = disks.iter().map(|&disk| Some(below(disk, 1 << 20))).collect();
    let copies = Copies::Neighbors(2);
    let array = add(&mut stack, Mapping::Striped { stripe, copies, members });
    let file = add(&mut stack, Mapping::Linear(below(array, 65536)));
    let mut pieces = Vec::new();
    let end = walk(&stack, file, range(4096, 65536), &mut |piece| {
        pieces.push(piece.clone());
        true
    });
    assert_eq!(end, 4096 + 65536);
    assert_eq!(pieces.len(), 2);
    let to = (1 << 20) + 4096;
    let way = |disk: usize| WayDown {
        steps: vec![(file, 4096), (array, 65536 + 4096), (disks[disk], to)],
        end: On::Leaf(disks[disk], to),
    };
    assert_eq!(pieces[0].ways, [way(2), way(3)]);
    assert_eq!(pieces[0].length_bytes, 65536 - 4096);
    assert_eq!(pieces[1].ways[0].end, On::Leaf(disks[0], (1 << 20) + 65536));
    let found = alignment(&stack, file, range(0, 1 << 20));
    let off =
        |kind, unit_bytes| found.shares[&Fit { kind, owner: array, unit_bytes }].misaligned_bytes;
    assert_eq!((off(UnitKind::Chunk, 65536), off(UnitKind::FullStripe, 131_072)), (0, 1 << 20));
}

#[test]
fn holes_are_nowhere_and_writes_into_them_cannot_be_told() {
    let mut stack = Stack::new();
    let file = add(&mut stack, Mapping::Zeros);
    assert_eq!(alignment(&stack, file, range(0, 8192)).nowhere_bytes, 8192);
    let cost = cost(&stack, file, range(0, 8192), 4096);
    assert_eq!((cost.told(true), cost.untold_writes.len()), (0, 1));
}

#[test]
fn an_io_partly_in_a_hole_is_read_where_it_has_data_and_named_apart_as_a_write() {
    let mut stack = Stack::new();
    let disk = leaf(&mut stack);
    let segment = |start, length, mapping| Segment { range: range(start, length), mapping };
    let file = add(
        &mut stack,
        Mapping::Segments(vec![
            segment(0, 12288, Mapping::Zeros),
            segment(12288, 4096, Mapping::Linear(below(disk, 1 << 20))),
            segment(16384, 16384, Mapping::Zeros),
        ]),
    );
    let cost = cost(&stack, file, range(0, 32768), 16384);
    assert_eq!((cost.told(false), cost.read.reads), (1, 1));
    let reads: Vec<&str> = cost.untold_reads.keys().map(String::as_str).collect();
    assert_eq!(reads, ["in a hole, which reads as zeros without the drive"]);
    let writes: Vec<&str> = cost.untold_writes.keys().map(String::as_str).collect();
    assert_eq!(
        writes,
        [
            "in a hole, which has no place on the drive before its first write",
            "partly in a hole, which has no place on the drive before its first write",
        ]
    );
}

#[test]
fn boundaries_count_from_where_stripes_begin() {
    let unit = Unit::new(4096).unwrap();
    assert_eq!(offset(unit, 512 + 8192, 512, 4096), 0);
    assert_eq!(offset(unit, 8192, 512, 4096), 4096 - 512);
    assert_eq!(offset(unit, 512, 8192, 0), 512);
    let shifted = Unit::with_origin(4096, 3584).unwrap();
    assert_eq!(offset(shifted, 3584, 0, 0), 0);
    assert_eq!(offset(shifted, 0, 0, 0), 512);
}
