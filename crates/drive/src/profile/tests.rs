//! Built-in profiles, and such as no drive can have.

use workload::InputError;
use workload::profile_text::PROFILE_BYTES_MAX;

use super::{DriveProfile, built_in, built_in_texts, called};

const FILE: &str = "mine.toml";

fn text() -> &'static str {
    built_in_texts::text("hdd-7200-512e").expect("it is built in")
}

/// The error of the built-in disk with `from` replaced.
fn error(from: &str, to: &str) -> InputError {
    let changed = text().replacen(from, to, 1);
    assert_ne!(changed, text(), "{from} stands in it");
    DriveProfile::parse(FILE, &changed).expect_err("it is refused")
}

#[test]
fn every_built_in_profile_is_read_and_is_called_as_its_file() {
    for (profile, (file, _)) in built_in().iter().zip(built_in_texts::all()) {
        assert_eq!(profile.name, file);
        assert_eq!(profile.values.len(), profile.kind.forms().len());
        profile.model().unwrap();
    }
}

#[test]
fn a_drive_that_cannot_be_is_refused_with_its_line_and_its_bounds() {
    for (from, to, word, hint) in [
        ("7200,", "0,", "rpm is 0", "choose from 60 to 100000"),
        ("\"4 KiB\"", "\"3\"", "physical_sector is 3", "choose a sector"),
        ("7200,", "10000000000,", "rpm is 10000000000", "choose from 60"),
        ("7200,", "\"10000000000\",", "rpm is 10000000000", "choose from 60"),
        ("7200,", "-1,", "expected a whole number, got `rpm = -1`", "write a whole number"),
        (
            "7200,",
            "\"many\",",
            "expected a whole number, got `rpm = \"many\"`",
            "write a whole number",
        ),
        ("7200,", "7200.0,", "expected a number or a text in quotes", "straddle drive show"),
        (
            "\"16 ms\"",
            "16",
            "with ns, us, ms or s, such as 10 ms, got `full_stroke = 16`",
            "write a whole",
        ),
        ("\"16 ms\"", "\"1 us\"", "settle is 1200000", "choose a short stroke"),
        ("\"per-sector\"", "\"psychic\"", "expected one of buffered, batched", "write one of"),
        ("rpm = {", "speed = {", "a hard-disk has no `speed`", "choose one of capacity"),
        ("by = \"39", "buy = \"39", "unknown field", "straddle drive show"),
        ("by = \"39 writes a second, misaligned, raw\", ", "", "has no `by`", "add by"),
        ("\"hard-disk\"", "\"drum\"", "expected one of hard-disk", "write one of"),
        ("\"hard-disk\"", "7200", "integer `7200`, expected a string", "put it in quotes"),
        ("rpm = {", "rpm = 7200 #", "integer `7200`, expected { value = ", "straddle drive show"),
        (
            "kind = ",
            "member = \"m4-256\"\nkind = ",
            "a hard-disk has no `member`",
            "leave member out",
        ),
    ] {
        let error = error(from, to);
        assert!(error.to_string().contains(word), "{error}");
        assert!(error.hint().contains(hint), "{error}: {}", error.hint());
        assert!(error.to_string().starts_with("cannot read the drive's profile: mine.toml:"));
        assert!(!error.to_string().contains("mine.toml:1:"), "{error}");
    }
    let long = "#".repeat(PROFILE_BYTES_MAX + 1);
    assert!(DriveProfile::parse(FILE, &long).is_err());
    assert!(DriveProfile::parse(FILE, "\0\u{1b}[2J").is_err());
}

#[test]
fn an_array_or_a_controller_is_told_of_what_it_can_be_made_and_how_that_is_written() {
    for (name, member, first, not) in [
        ("raid5-5x64k", "member = \"hdd-7200-512e\"", "hdd-7200-512e, ", "raid0-2x16k"),
        ("raid5-bbu", "member = \"raid5-5x64k\"", "raid0-2x16k, ", "raid5-bbu"),
    ] {
        let whole = built_in_texts::text(name).expect("it is built in");
        let refused = |to: &str| {
            let changed = whole.replacen(member, to, 1);
            assert_ne!(changed, whole, "{member} stands in it");
            DriveProfile::parse(FILE, &changed).expect_err("it is refused")
        };
        let missing = refused("");
        assert!(missing.to_string().contains("needs `member`"), "{missing}");
        assert!(!missing.to_string().contains(" a array"), "{missing}");
        // What the hint says to add is all that is needed.
        let hint = missing.hint();
        let line = hint.strip_prefix("add ").and_then(|hint| hint.split_once(" above [values]"));
        let mended = whole.replacen(member, line.expect("a line").0, 1);
        DriveProfile::parse(FILE, &mended).unwrap();
        for other in ["nobody", "./mine.toml", name] {
            let error = refused(&format!("member = \"{other}\""));
            let said = error.to_string();
            assert!(said.ends_with(&format!(", got `member = \"{other}\"`")), "{said}");
            assert!(said.contains(first) && !said.contains(&format!("{not},")), "{said}");
            assert!(!said.contains("mine.toml:1:"), "{said}");
        }
    }
}

#[test]
fn a_value_that_the_user_gives_stands_in_for_the_profile_s() {
    let profile = DriveProfile::parse(FILE, text()).unwrap();
    let changed = profile.clone().with("rmw", "batched").unwrap();
    assert_ne!(changed.amount("rmw"), profile.amount("rmw"));
    assert!(profile.clone().with("rmw", "psychic").unwrap_err().contains("one of"));
    assert!(profile.with("color", "red").unwrap_err().contains("expected one of capacity"));
}

#[test]
fn a_profile_with_a_base_changes_only_the_values_that_it_names() {
    let text = "name = \"mine\"\nbase = \"hdd-7200-512e\"\nnotes = [\"slower\"]\n[values]\n\
        rpm = { value = 5400, label = \"known\", source = \"data sheet\" }\n";
    let mine = DriveProfile::parse(FILE, text).unwrap();
    let base = built_in().first().expect("there are some");
    assert_eq!((mine.amount("rpm"), mine.kind), (Some(5400), base.kind));
    assert_eq!((&mine.title, mine.notes.len()), (&base.title, base.notes.len() + 1));
    for value in mine.values.iter().filter(|value| value.key != "rpm") {
        assert_eq!(Some(value.amount), base.amount(value.key), "{}", value.key);
    }
    let array = "name = \"mine\"\nbase = \"raid5-5x64k\"\nmember = \"m4-256\"\n";
    let member = DriveProfile::parse(FILE, array).unwrap().member.expect("an array has one");
    assert_eq!(member.name, "m4-256");
}

#[test]
fn a_number_in_quotes_means_the_same_as_without() {
    let quoted = text().replacen("value = 7200", "value = \"7200\"", 1);
    assert_ne!(quoted, text());
    assert_eq!(DriveProfile::parse(FILE, &quoted), DriveProfile::parse(FILE, text()));
}

#[test]
fn a_base_that_does_not_exist_or_is_of_another_kind_is_refused_with_its_line() {
    for (line, said) in [
        ("base = \"nobody\"", ", got `base = \"nobody\"`"),
        ("base = \"m4-256\"\nkind = \"memory\"", "expected one of flash, got `kind = \"memory\"`"),
        ("title = \"a disk\"", "the profile has neither `kind` nor a `base` to take it from"),
        ("title = \"a disk\"\nkind = \"flash\"", "flash needs `capacity`"),
    ] {
        let error = DriveProfile::parse(FILE, &format!("name = \"mine\"\n{line}\n")).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn an_array_is_made_of_a_drive_of_ones_own_and_its_values_can_be_set() {
    let disk = "name = \"mine\"\nbase = \"hdd-7200-512e\"\n[values]\n\
        rpm = { value = 10000, label = \"known\", source = \"data sheet\" }\n";
    let find = |name: &str| (name == "mine.toml").then(|| DriveProfile::parse(name, disk).unwrap());
    let array = "name = \"own\"\nbase = \"raid5-5x64k\"\nmember = \"mine.toml\"\n";
    let own = DriveProfile::parse_with("own.toml", array, &find).unwrap();
    let rpm = |profile: &DriveProfile| profile.member.as_ref().and_then(|one| one.amount("rpm"));
    assert_eq!(rpm(&own), Some(10_000));
    let set = own.clone().with("member.rpm", "5400").unwrap();
    assert_eq!(rpm(&set), Some(5400));
    set.model().unwrap();
    let based = "name = \"two\"\nbase = \"mine.toml\"\n";
    let two = DriveProfile::parse_with("two.toml", based, &find).unwrap();
    assert_eq!(two.amount("rpm"), Some(10_000));
    // A controller over an array: the disk is two below.
    let bbu = called("raid5-bbu").expect("built in").clone();
    let bbu = bbu.with("member.member.cache", "0").unwrap();
    bbu.model().unwrap();
    let array = bbu.member.expect("an array");
    assert_eq!(array.member.and_then(|disk| disk.amount("cache")), Some(0));
    let said = own.with("member.color", "red").unwrap_err();
    assert!(said.contains("hard-disk has no `color`"), "{said}");
}

#[test]
fn an_array_that_lacks_no_member_says_none() {
    let array = called("raid5-5x64k").unwrap().clone();
    let shown = |array: &DriveProfile| {
        let lost = array.value("lost").unwrap();
        lost.quantity.shown(lost.amount).to_string()
    };
    assert_eq!(shown(&array), "none");
    let array = array.with("lost", "1").unwrap();
    assert_eq!(shown(&array), "1");
    assert_eq!(shown(&array.with("lost", "none").unwrap()), "none");
}
