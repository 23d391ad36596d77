//! Results whose numbers are all as large as their files may hold: sums and products of them are
//! answered too.

use std::panic::{AssertUnwindSafe, catch_unwind};

use report::html::{Report, ResultFile, page, read};
use report::{Consumer, emitted, results_textfile};
use serde_json::Value;

use crate::made::pages::texts;

/// Numbers to try, the largest first.
const LARGEST: [u64; 6] =
    [u64::MAX, i64::MAX.unsigned_abs(), (1 << 32) - 1, (1 << 31) - 1, 65535, 255];

/// The places of all whole numbers in `value`.
fn find_numbers(value: &Value, at: &str, pointers: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.is_u64() => pointers.push(at.to_owned()),
        Value::Array(list) => {
            for (index, one) in list.iter().enumerate() {
                find_numbers(one, &format!("{at}/{index}"), pointers);
            }
        }
        Value::Object(fields) => {
            for (name, one) in fields {
                find_numbers(one, &format!("{at}/{name}"), pointers);
            }
        }
        _ => {}
    }
}

/// The same place in any element of its lists.
fn field(pointer: &str) -> String {
    pointer.split('/').filter(|part| part.parse::<usize>().is_err()).collect::<Vec<_>>().join("/")
}

/// The result of `text` with the largest numbers that it can have, of every field.
fn largest(name: &str, text: &str) -> ResultFile {
    let mut document: Value = serde_json::from_str(text).expect("it is JSON");
    let mut pointers = Vec::new();
    find_numbers(&document, "", &mut pointers);
    let mut fields: Vec<String> = pointers.iter().map(|pointer| field(pointer)).collect();
    fields.sort();
    fields.dedup();
    for one in fields {
        for number in LARGEST {
            let mut changed = document.clone();
            for pointer in pointers.iter().filter(|pointer| field(pointer) == one) {
                *changed.pointer_mut(pointer).expect("it was found there") = number.into();
            }
            if read(name, &changed.to_string()).is_ok() {
                document = changed;
                break;
            }
        }
    }
    read(name, &document.to_string()).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[test]
fn a_result_with_the_largest_numbers_in_every_field_is_shown() {
    let mut failed = Vec::new();
    for (name, text) in texts() {
        let sources = vec![largest(name, &text)];
        let mut shows = |what: &str, show: &dyn Fn() -> usize| {
            if catch_unwind(AssertUnwindSafe(show)).is_err() {
                failed.push(format!("{name}: {what}"));
            }
        };
        shows("metrics", &|| results_textfile(&sources).len());
        for consumer in [
            Consumer::Seastar,
            Consumer::Ceph,
            Consumer::Libvirt,
            Consumer::Qemu,
            Consumer::Nfd,
            Consumer::Mkfs,
        ] {
            shows(&format!("{consumer:?}"), &|| emitted(consumer, &sources).len());
        }
        shows("page", &|| page(&Report { sources: sources.clone(), unread: Vec::new() }).len());
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
