//! The name of a drive's file: different drives never share one.

/// The longest name that is whole, in bytes. With what stands around it while it is written, it is
/// below the 255 bytes of a name (`NAME_MAX`, limits.h(0p)).
const WHOLE_BYTES_MAX: usize = 200;
/// Bytes that are left of a drive's own name where it is too long.
const HEAD_BYTES: usize = 120;
/// Bytes that older versions left of it, before it was written with `%`.
const OLD_BYTES: usize = 60;

/// `measured-wwid-naa.5000.json`; bytes that are no letters, digits, dots or dashes as `%20`. A
/// name that is too long is cut, and tells by a hash after `+`, which stands in no other, of which
/// drive it is.
pub(super) fn file_name(kind: &str, name: &str) -> String {
    let words = encoded(name.as_bytes());
    let whole = format!("measured-{kind}-{words}.json");
    if whole.len() <= WHOLE_BYTES_MAX {
        return whole;
    }
    let head: String = words.chars().take(HEAD_BYTES).collect();
    format!("measured-{kind}-{head}+{:016x}.json", hash(name.as_bytes()))
}

/// Returns what older versions called it; `None` where that is the same. Drives could share one.
pub(super) fn old_file_name(kind: &str, name: &str) -> Option<String> {
    let bytes = name.as_bytes().get(..OLD_BYTES)?;
    (bytes.len() < name.len()).then(|| format!("measured-{kind}-{}.json", encoded(bytes)))
}

fn encoded(name: &[u8]) -> String {
    let mut text = String::new();
    for byte in name {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                text.push(char::from(*byte));
            }
            _ => text += &format!("%{byte:02x}"),
        }
    }
    text
}

/// FNV-1a of 64 bits (IETF draft-eastlake-fnv): the same in every version.
fn hash(bytes: &[u8]) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    bytes.iter().fold(BASIS, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn long_names_that_differ_at_their_ends_have_files_of_their_own() {
        for length in [61, 180, 200, 255, 512] {
            let (one, other) = ("x".repeat(length), "x".repeat(length - 1) + "y");
            let names = [file_name("wwid", &one), file_name("wwid", &other)];
            assert_ne!(names[0], names[1], "{length}");
            assert!(names.iter().all(|name| name.len() <= WHOLE_BYTES_MAX), "{names:?}");
        }
        // What is written with three bytes each is cut as well.
        let (one, other) = ("é".repeat(100) + "a", "é".repeat(100) + "b");
        assert_ne!(file_name("serial", &one), file_name("serial", &other));
        assert!(file_name("serial", &one).len() <= WHOLE_BYTES_MAX);
    }

    #[test]
    fn names_of_usual_length_are_called_as_ever() {
        assert_eq!(file_name("wwid", "naa.5000c500"), "measured-wwid-naa.5000c500.json");
        assert_eq!(old_file_name("wwid", "naa.5000c500"), None);
        assert_eq!(old_file_name("wwid", &"x".repeat(60)), None);
        let old = old_file_name("wwid", &"x".repeat(61)).unwrap();
        assert_eq!(old, format!("measured-wwid-{}.json", "x".repeat(60)));
    }
}
