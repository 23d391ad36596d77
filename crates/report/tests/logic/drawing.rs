//! Pictures: what they say, and that nothing in them overlaps or leaves its room.

use report::drawing::{Frame, Label, SVG_MARK, Sheet, drawing, svg, text};
use report::{LayerReport, Look, Target};
use stack::{LayerType, UnitKind, Verdict};
use testkit::Xml;
use units::random::Random;

use crate::made::sample::{
    MIB, array, broken, drive, hostile, image, layer, off_granule, old_image, plain, same,
    shifted_disk, target, unknowns,
};

const NARROW: Look = Look { width: Some(80), ascii: false, bytes: false, explain: false };

fn drawn(target: &Target, look: &Look) -> String {
    plain(&text(&drawing(target, look), look))
}

#[test]
fn a_shifted_partition_stands_between_the_marks_of_its_drive_and_is_magnified() {
    let found = drawn(&shifted_disk(), &NARROW);
    same(
        &found,
        r#"/dev/sda:  misaligned by 1.5 KiB at sda1
  ┌────────────────────────────────────────────────────────────────────────────┐
  │ ext4  4 KiB blocks, /data  2.73 TiB                                        │
  │ inherits it                                                                │
  ├────────────────────────────────────────────────────────────────────────────┤
  │ sda1  gpt "data"  at sector 256003 (~125 MiB)  2.73 TiB                    │
  │ misaligned by 1.5 KiB  ◀ first bad layer                                   │
┌─┴─┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬───┬──┤
│ sda  WDC WD60EFRX, hard disk 7200 rpm  5.46 TiB                              │
│ 512e: 512 B logical, 4 KiB granule (sysfs, identify agree)                   │
│ aligned                                                                      │
└──────────────────────────────────────────────────────────────────────────────┘
seen  sda1 starts at 131073536 B
cost  a 4 KiB write reads 2 and writes 2 sectors instead of writing 1: about
      3 turns instead of 1

First bad boundary, to scale
sector 256000           sector 256008           sector 256016
┌───────────────────────┬───────────────────────┬───────────────────────┐
│     4 KiB granule     │     4 KiB granule     │     4 KiB granule     │
└────────┬──────────────┴───────────────────────┴───────────────────────┤
 1.5 KiB │                             sda1                             │
         ├───────────────────────┬──────────────────────────────────────┘
         │      4 KiB write      │ touches 2 granules
         └───────────────────────┘
"#,
    );
}

#[test]
fn ascii_draws_the_same_boxes_without_another_character() {
    let look = Look { ascii: true, ..NARROW };
    for target in [shifted_disk(), array(), hostile(), unknowns()] {
        let (ascii, unicode) = (drawn(&target, &look), drawn(&target, &NARROW));
        assert!(ascii.is_ascii(), "{ascii}");
        assert!(ascii.contains("+---") && unicode.contains("┌──"), "{ascii}");
    }
}

#[test]
fn an_array_spans_its_members_and_each_drive_has_a_box() {
    let found = drawn(&array(), &NARROW);
    let array = array();
    let name = |kind| {
        let layers = array.layers.iter().filter(move |layer| layer.kind == kind);
        layers.map(|layer| layer.name.clone()).collect::<Vec<String>>()
    };
    for drive in name(LayerType::Drive) {
        assert!(found.contains(&format!("│ {drive} ")), "{drive}:\n{found}");
    }
    assert_eq!(found.matches("holds data of").count(), 0, "{found}");
}

/// Two volumes over the same two drives: neither can stand across both.
#[test]
fn a_layer_on_drives_that_others_use_too_is_named_above_each() {
    let layers = vec![
        drive(0, "sda", "disk", MIB),
        drive(1, "sdb", "disk", MIB),
        layer(2, &[0, 1], LayerType::LvmLv, "vg/one", "linear"),
        layer(3, &[0, 1], LayerType::LvmLv, "vg/two", "linear"),
    ];
    let found = drawn(&target("m", Verdict::Aligned, layers), &NARROW);
    assert_eq!(found.matches("holds data of").count(), 2, "{found}");
    assert_eq!(found.matches("vg/one").count(), 2, "{found}");
}

#[test]
fn nothing_bad_is_said_and_nothing_is_magnified() {
    let found = drawn(&image("disk.raw"), &NARROW);
    assert!(found.contains("No bad boundary: nothing to magnify."), "{found}");
    assert!(!found.contains("to scale") && !found.contains("write"), "{found}");
    let unknown = drawn(&unknowns(), &NARROW);
    assert!(
        unknown.contains("No bad boundary was found; not all were judged.\nwhy   "),
        "{unknown}"
    );
    let refused = drawing(&broken(), &NARROW);
    assert!(refused.frames.is_empty() && !refused.about.is_empty(), "{refused:?}");
}

#[test]
fn a_distance_that_differs_or_is_too_small_to_draw_is_never_called_exact() {
    let mut differing = shifted_disk();
    let small = differing.layers.iter().position(|layer| layer.first_bad).expect("one is bad");
    let mut by = off_granule(1);
    by.unit_bytes = 1 << 20;
    by.unit = UnitKind::Chunk;
    differing.layers[small].misalignment = Some(by);
    let found = drawn(&differing, &NARROW);
    assert!(found.contains("First bad boundary, to scale, rounded to one column"), "{found}");
    assert!(found.contains("+1 MiB") && found.contains("touches 2 chunks"), "{found}");
    by.offset_bytes = None;
    differing.layers[small].misalignment = Some(by);
    let found = drawn(&differing, &NARROW);
    assert!(found.contains("Not magnified: the distance from the boundaries differs."), "{found}");
}

#[test]
fn too_many_layers_are_counted_with_those_that_are_misaligned() {
    let mut layers = vec![drive(0, "sda", "disk", MIB)];
    for id in 1..=40 {
        layers.push(layer(id, &[0], LayerType::Partition, &format!("sda{id}"), "gpt"));
    }
    layers[40].verdict = Verdict::Misaligned;
    let found = drawn(&target("sda", Verdict::Misaligned, layers), &NARROW);
    assert!(found.contains("16 more layers not drawn, 1 of them misaligned"), "{found}");
    assert!(found.contains("continued"), "the drive goes on in the next part: {found}");
}

#[test]
fn labels_are_text_in_svg_whatever_they_hold() {
    let look = Look::default();
    let sheets = [hostile(), shifted_disk(), broken()].map(|it| drawing(&it, &look));
    let image = svg(&sheets);
    assert!(image.starts_with(SVG_MARK), "{image}");
    let illegal = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{fffe}' | '\u{ffff}');
    assert!(!image.chars().any(illegal), "{image:?}");
    let xml = Xml::parse(&image);
    let known = ["svg", "title", "desc", "style", "rect", "g", "path", "text"];
    assert!(xml.0.iter().all(|(name, _)| known.contains(&name.as_str())), "{xml:?}");
    assert_eq!((xml.count("title"), xml.count("desc"), xml.count("rect")), (1, 1, 1));
    assert_eq!(xml.count("g"), sheets.len());
}

/// A stack of random layers, each on some of the earlier ones.
fn stack(random: &mut Random) -> Target {
    let names = ["a", "sda1", "vg0-home", "名前の長いボリューム", &"x".repeat(90), "e\u{301}"];
    let verdicts = Verdict::ALL;
    let count = 1 + u32::try_from(random.below(60)).expect("it is small");
    let mut layers: Vec<LayerReport> = Vec::new();
    for id in 0..count {
        let below: Vec<u32> = match random.below(4) {
            0 => Vec::new(),
            1 => (0..random.below(6)).filter_map(|_| earlier(random, id)).collect(),
            _ => earlier(random, id).into_iter().collect(),
        };
        let name = *random.choose(&names);
        let mut one = match below.is_empty() {
            true => drive(id, name, "some words about this drive", MIB << random.below(30)),
            false => layer(id, &below, LayerType::Dm, name, "some words, and more of them"),
        };
        one.verdict = *random.choose(&verdicts);
        one.first_bad = random.below(8) == 0;
        one.misalignment = (random.below(3) > 0).then(|| off_granule(random.below(4097)));
        layers.push(one);
    }
    let name = *random.choose(&names);
    target(name, *random.choose(&verdicts), layers)
}

fn earlier(random: &mut Random, id: u32) -> Option<u32> {
    (id > 0).then(|| u32::try_from(random.below(u64::from(id))).expect("it is small"))
}

fn is_sound(sheet: &Sheet) -> Result<(), String> {
    let width = |label: &Label| plain(&label.text).chars().map(cells).sum::<usize>();
    for (at, label) in sheet.labels.iter().enumerate() {
        let end = label.column + width(label);
        if end > sheet.columns || label.row >= sheet.rows {
            return Err(format!("{label:?} leaves {} x {}", sheet.columns, sheet.rows));
        }
        let meets = |other: &&Label| {
            other.row == label.row
                && other.column < end
                && label.column < other.column + width(other)
        };
        if let Some(other) = sheet.labels[at + 1..].iter().find(meets) {
            return Err(format!("{label:?} on {other:?}"));
        }
        let cuts = |frame: &&Frame| {
            let rows = frame.top..=frame.bottom;
            let is_line = [frame.top, frame.bottom].contains(&label.row);
            let columns = [frame.left, frame.right];
            rows.contains(&label.row)
                && (is_line && frame.left < end && label.column <= frame.right
                    || columns.iter().any(|column| (label.column..end).contains(column)))
        };
        if let Some(frame) = sheet.frames.iter().find(cuts) {
            return Err(format!("{label:?} on the lines of {frame:?}"));
        }
    }
    for (at, frame) in sheet.frames.iter().enumerate() {
        if frame.right >= sheet.columns || frame.bottom >= sheet.rows || frame.left >= frame.right {
            return Err(format!("{frame:?} leaves {} x {}", sheet.columns, sheet.rows));
        }
        let meets = |other: &&Frame| {
            frame.left < other.right
                && other.left < frame.right
                && frame.top < other.bottom
                && other.top < frame.bottom
        };
        if let Some(other) = sheet.frames[at + 1..].iter().find(meets) {
            return Err(format!("{frame:?} on {other:?}"));
        }
    }
    Ok(())
}

/// Cells of a character of the names above, counted apart from the code under test.
fn cells(letter: char) -> usize {
    match letter {
        '\u{301}' => 0,
        '\u{3000}'..='\u{9fff}' => 2,
        _ => 1,
    }
}

#[test]
fn nothing_overlaps_or_leaves_the_picture_whatever_the_stack() {
    let mut random = testkit::random(17);
    let known =
        [shifted_disk(), array(), broken(), image("a.raw"), old_image("b"), unknowns(), hostile()];
    // More of them where all is to be tried.
    let many = if std::env::var_os("STRADDLE_SOAK").is_some() { 400 } else { 100 };
    let stacks = known.into_iter().chain((0..many).map(|_| stack(&mut random)));
    for target in stacks {
        for columns in [40, 54, 80, 100] {
            let look = Look { width: Some(columns), ..NARROW };
            let sheet = drawing(&target, &look);
            if let Err(why) = is_sound(&sheet) {
                panic!("{why} at {columns} columns");
            }
            let shown = plain(&text(&sheet, &look));
            let longest = shown.lines().map(|line| line.chars().map(cells).sum::<usize>()).max();
            assert!(longest.is_some_and(|longest| longest <= columns), "{shown}");
            assert_eq!(Xml::parse(&svg(&[sheet])).count("svg"), 1);
        }
    }
}
