//! Volume groups that no tool would write.

use std::fmt::Write as _;
use std::rc::Rc;

use device::MemoryDisk;
use format::ProblemKind;

use super::made::{group, id, put_lvm, volume};
use super::watched::{Bytes, about, answer, told};

/// A disk of 1 TiB that is the only physical volume of a group with `volumes`.
fn disk(volumes: &str) -> MemoryDisk {
    let mut disk = MemoryDisk::new(1 << 40);
    put_lvm(&mut disk, 0, &id(1), &group(&id(2), &[id(1)], volumes));
    disk
}

/// The segment of a linear volume on `on` from `extent` on.
fn linear(on: &str, extent: u64) -> String {
    format!("type=\"striped\" stripe_count=1 stripes=[\"{on}\",{extent}]")
}

#[test]
fn volumes_that_lie_on_each_other_in_a_circle_lie_nowhere() {
    let circle: String = (0..1000)
        .map(|number| {
            volume(&format!("lv{number}"), 1, &linear(&format!("lv{}", (number + 1) % 1000), 0))
        })
        .collect();
    let answer = about(disk(&circle));
    assert!(told(&answer, ProblemKind::Chain, "lies on"));
}

#[test]
fn a_volume_that_lies_on_itself_lies_nowhere() {
    let answer = about(disk(&volume("lv", 1, &linear("lv", 0))));
    assert!(told(&answer, ProblemKind::Chain, "lies on itself"));
}

#[test]
fn five_thousand_volumes_are_as_many_layers_as_there_may_be() {
    let many: String = (0..5000)
        .map(|number| volume(&format!("lv{number}"), 1, &linear("pv0", number + 40)))
        .collect();
    let answer = about(disk(&many));
    assert!(told(&answer, ProblemKind::Unsupported, "the rest is left out"));
}

#[test]
fn a_volume_of_thousands_of_pieces_is_answered() {
    let pieces = 10_000;
    let mut segments = String::new();
    for number in 0..pieces {
        let on = linear("pv0", (number * 7919) % 1_000_000 + 40);
        let _ = writeln!(segments, "s{number}{{ start_extent={number} extent_count=1 {on} }}");
    }
    let volume =
        format!("lv{{ id=\"{}\" status=[\"VISIBLE\"] segment_count={pieces} {segments} }}", id(3));
    let answer = about(disk(&volume));
    assert_eq!(answer.assembled.stack.len(), 3);
}

#[test]
fn hundreds_of_volumes_over_thousands_of_pieces_are_answered() {
    let pieces = 2000;
    let mut segments = String::new();
    for number in 0..pieces {
        let on = linear("pv0", (number * 7919) % 1_000_000 + 40);
        let _ = writeln!(segments, "s{number}{{ start_extent={number} extent_count=1 {on} }}");
    }
    let mut volumes = format!("lv{{ id=\"{}\" segment_count={pieces} {segments} }}\n", id(3));
    for number in 0..pieces {
        volumes += &volume(&format!("top{number}"), 1, &linear("lv", number));
    }
    about(disk(&volumes));
}

#[test]
fn mirrors_of_mirrors_have_more_paths_than_are_followed() {
    // Two sides of each mirror are one volume below: 2 to the 30 paths, were they all walked.
    let mut volumes = volume("lv0", 1 << 30, &linear("pv0", 40));
    for number in 1..30 {
        let below = format!("lv{}", number - 1);
        let extents = 1_u64 << (30 - number);
        let sides =
            format!("type=\"mirror\" mirror_count=2 mirrors=[\"{below}\",0,\"{below}\",{extents}]");
        volumes += &volume(&format!("lv{number}"), extents, &sides);
    }
    about(disk(&volumes));
}

#[test]
fn a_physical_volume_that_lies_in_its_own_volume_is_told_once() {
    // Each volume starts where the physical volume does, so that each holds all of it again.
    let volumes: String =
        (0..1000).map(|number| volume(&format!("lv{number}"), 100, &linear("pv0", 0))).collect();
    let answer = about(disk(&volumes));
    assert!(told(&answer, ProblemKind::Chain, "lies within itself"));
    assert!(told(&answer, ProblemKind::Unsupported, "what is inside was not looked at"));
}

#[test]
fn groups_within_groups_are_looked_into_as_deep_as_layers_go() {
    let mut disk = MemoryDisk::new(1 << 40);
    for level in 0..40 {
        let text =
            group(&id(100 + level), &[id(level)], &volume("lv", 1 << 30, &linear("pv0", 32)));
        let at = u64::try_from(level).unwrap() * (32 << 20);
        put_lvm(&mut disk, at, &id(level), &text);
    }
    let answer = about(disk);
    assert!(told(&answer, ProblemKind::Unsupported, "nested"));
}

#[test]
fn a_text_of_eight_mib_is_answered() {
    let many: String = (0..120_000).map(|number| format!("lv{number}{{ }}\n")).collect();
    about(disk(&(many + &"#".repeat(6 << 20) + "\n")));
    let names: String = (0..49_000).map(|number| format!("lv{number}{{ a=1 b=2 }}\n")).collect();
    about(disk(&names));
}

#[test]
fn a_group_of_thousands_of_physical_volumes_is_answered() {
    let members: Vec<String> = (0..37_000).map(id).collect();
    let mut disk = MemoryDisk::new(1 << 40);
    put_lvm(&mut disk, 0, &id(1), &group(&id(7), &members, ""));
    about(disk);
}

#[test]
fn a_stripe_over_seventy_thousand_areas_is_answered() {
    let areas: Vec<String> = (0..74_000).map(|number| format!("\"pv0\",{}", number + 40)).collect();
    let stripes = format!(
        "type=\"striped\" stripe_count={} stripe_size=128 stripes=[{}]",
        areas.len(),
        areas.join(",")
    );
    about(disk(&volume("lv", 74_000, &stripes)));
}

#[test]
fn two_disks_that_claim_to_be_one_physical_volume_are_told() {
    let text = group(&id(2), &[id(1)], &volume("lv", 1, &linear("pv0", 40)));
    let disks: Vec<Bytes> = (0..2)
        .map(|_| {
            let mut disk = MemoryDisk::new(1 << 40);
            put_lvm(&mut disk, 0, &id(1), &text);
            Rc::new(disk) as Bytes
        })
        .collect();
    let answer = answer(&disks, || "twins".to_owned());
    assert!(told(&answer, ProblemKind::Copies, "the same UUID"));
}

#[test]
fn a_text_of_nothing_but_names_is_answered() {
    let names: String = (0..149_000).map(|number| format!("l{number}{{}}")).collect();
    about(disk(&names));
    let members: String =
        (0..49_000).map(|number| format!("p{number}{{pe_start=0 pe_count=1}}")).collect();
    let text = format!(
        "vg{{id=\"{}\" seqno=1 extent_size=1 physical_volumes{{{members}}}}} \
         contents=\"Text Format Volume Group\" version=1",
        id(1)
    );
    let mut disk = MemoryDisk::new(1 << 40);
    put_lvm(&mut disk, 0, &id(1), &text);
    about(disk);
}

#[test]
fn thousands_of_pieces_under_thousands_of_volumes_on_a_shared_chain_are_answered() {
    // Each of many small volumes lies on a chain of volumes in pieces.
    let mut volumes = String::new();
    let mut below = "pv0".to_owned();
    for level in 0..20 {
        let mut segments = String::new();
        for number in 0..800_u64 {
            let at =
                if level == 0 { (number * 7919) % 1_000_000 + 40 } else { (number + 13) % 800 };
            let on = linear(&below, at);
            let _ = writeln!(segments, "s{number}{{start_extent={number} extent_count=1 {on}}}");
        }
        below = format!("lv{level}");
        volumes += &format!("{below}{{ id=\"{}\" segment_count=800 {segments} }}\n", id(3));
    }
    for number in 0..800 {
        volumes += &volume(&format!("top{number}"), 1, &linear(&below, number));
    }
    about(disk(&volumes));
}

#[test]
fn mirrors_of_a_thousand_sides_under_a_thousand_volumes_are_answered() {
    // 27 sides of 27 sides of 27 sides; each side is elsewhere.
    let mut length = 27_u64.pow(3) << 13;
    let mut volumes = volume("lv0", length, &linear("pv0", 40));
    for number in 1..4 {
        length /= 27;
        let side = |side: u64| format!("\"lv{}\",{}", number - 1, side * length);
        let sides: Vec<String> = (0..27).map(side).collect();
        let mirror = format!("type=\"mirror\" mirror_count=27 mirrors=[{}]", sides.join(","));
        volumes += &volume(&format!("lv{number}"), length, &mirror);
    }
    // Extents are single sectors, so that each volume begins off the granule, and is off by itself.
    for number in 0..length / 201 {
        volumes += &volume(&format!("top{number}"), 200, &linear("lv3", number * 201 + 1));
    }
    let text = group(&id(2), &[id(1)], &volumes).replace("extent_size=2048", "extent_size=1");
    let mut disk = MemoryDisk::new(1 << 40);
    put_lvm(&mut disk, 0, &id(1), &text);
    about(disk);
}

#[test]
fn stripes_over_stripes_under_thousands_of_volumes_are_answered() {
    let mut volumes = String::new();
    let (legs, extents) = (300_u64, 3000_u64);
    for leg in 0..legs {
        let area = |side: u64| format!("\"pv0\",{}", 40 + (leg * 2 + side) * extents);
        let on = format!(
            "type=\"striped\" stripe_count=2 stripe_size={} stripes=[{},{}]",
            8 + leg,
            area(0),
            area(1)
        );
        volumes += &volume(&format!("leg{leg}"), extents * 2, &on);
    }
    let mut segments = String::new();
    for leg in 0..legs {
        let on = linear(&format!("leg{leg}"), 0);
        let start = leg * extents * 2;
        let _ =
            writeln!(segments, "s{leg}{{start_extent={start} extent_count={} {on}}}", extents * 2);
    }
    volumes += &format!("joined{{ id=\"{}\" segment_count={legs} {segments} }}\n", id(3));
    volumes += &volume("whole", extents * 2 * legs, &linear("joined", 0));
    for top in 0..20 {
        let below = if top == 0 { "whole".to_owned() } else { format!("whole{}", top - 1) };
        volumes += &volume(&format!("whole{top}"), extents * 2 * legs, &linear(&below, 0));
    }
    for top in 0..3000 {
        volumes += &volume(&format!("top{top}"), 400, &linear("whole19", top * 500));
    }
    about(disk(&volumes));
}

#[test]
fn stripes_with_chunks_at_the_end_of_all_addresses_are_answered() {
    for stripe_sectors in [0, 1, 7, 128, 1_u64 << 32, 1 << 53, 1 << 54, (1 << 55) - 1, u64::MAX] {
        for kind in ["striped", "raid0", "raid1", "raid4", "raid5_ls", "raid6_zr", "raid10"] {
            for extent_sectors in [1, 2048, 1_u64 << 32, 1 << 54] {
                let text = striped(kind, stripe_sectors);
                let text =
                    text.replace("extent_size=2048", &format!("extent_size={extent_sectors}"));
                let mut disk = MemoryDisk::new(u64::MAX);
                put_lvm(&mut disk, 0, &id(1), &text);
                let answer = about(disk);
                let mut layers = answer.assembled.stack.iter();
                let laid = layers.any(|(_, layer)| !layer.mapping.stripes().is_empty());
                let plain = (stripe_sectors, extent_sectors) == (128, 2048);
                assert!(laid || kind == "raid1" || !plain, "{kind}");
            }
        }
    }
}

/// A group with a volume of `kind` over four legs in stripes of `stripe_sectors`, which several other
/// volumes lie on, thin ones among them.
fn striped(kind: &str, stripe_sectors: u64) -> String {
    let mut volumes = String::new();
    let legs: Vec<String> = (0..4).map(|leg| format!("leg{leg}_rimage_{leg}")).collect();
    for (leg, start) in legs.iter().zip((1..).map(|number| number * 1_000_001)) {
        volumes += &volume(leg, 1_000_000, &linear("pv0", start));
    }
    let quoted: Vec<String> = legs.iter().map(|leg| format!("\"{leg}\"")).collect();
    let on = match kind {
        "striped" => format!("stripes=[{},0]", quoted.join(",0,")),
        "raid0" => format!("raid0_lvs=[{}]", quoted.join(",")),
        _ => format!("raids=[{}]", quoted.join(",")),
    };
    let count = if kind == "raid1" { "device_count" } else { "stripe_count" };
    let on = format!("type=\"{kind}\" {count}=4 stripe_size={stripe_sectors} {on}");
    volumes += &volume("array", 2_000_000, &on);
    for (number, start) in [0, 1, 3, 7, 999].into_iter().enumerate() {
        volumes += &volume(&format!("top{number}"), 1, &linear("array", start));
    }
    volumes += &volume("whole", 1_999_000, &linear("array", 1000));
    let pool = format!(
        "type=\"thin-pool\" metadata=\"top0\" pool=\"whole\" chunk_size={stripe_sectors} \
         transaction_id=0"
    );
    volumes += &volume("pool", 1_999_000, &pool);
    volumes += &volume("thin", u64::from(u32::MAX), "type=\"thin\" thin_pool=\"pool\" device_id=1");
    group(&id(2), &[id(1)], &volumes)
}
