//! Readers of files, on damaged ones: it answers, without a panic and soon.

use std::fs;
use std::path::Path;

use report::hostile;
use report::probe::saved_parse;

fn seed() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds/measured/drive.json");
    fs::read(path).expect("the seed is there")
}

#[test]
fn the_seed_is_what_a_probe_keeps() {
    assert_eq!(saved_parse(&seed()).expect("it is read").granule.alignment_bytes, 4096);
}

#[test]
fn every_byte_of_what_was_kept_may_be_anything() {
    let seed = seed();
    for at in 0..seed.len() {
        for byte in [0, b'\n', b'"', b'9', b'-', b'e', b'{', 0x1b, 0xff] {
            let mut damaged = seed.clone();
            damaged[at] = byte;
            hostile::measured(&damaged);
        }
        hostile::measured(&seed[..at]);
        hostile::measured(&seed[at..]);
    }
}

#[test]
fn numbers_of_any_size_in_any_place_are_answered() {
    let text = String::from_utf8(seed()).expect("it is text");
    let numbers = ["0", "3", "-1", "9223372036854775808", "18446744073709551616", "1e999", "null"];
    let fields = text.lines().filter(|line| line.trim_end_matches(',').ends_with(char::is_numeric));
    let fields: Vec<&str> = fields.collect();
    assert!(fields.len() >= 8, "{fields:?}");
    for field in fields {
        let (name, _) = field.split_once(": ").expect("a field");
        let comma = if field.ends_with(',') { "," } else { "" };
        for number in numbers {
            hostile::measured(text.replace(field, &format!("{name}: {number}{comma}")).as_bytes());
        }
    }
}
