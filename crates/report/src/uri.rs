//! A target's name as a URI reference: `file:///dev/sda`, `images/disk%20one.raw`.
//!
//! Source: RFC 3986, section 2 (percent-encoding), 4.2 (relative references) and RFC 8089.

use std::fmt::Write;

/// A `file` URI for an absolute path, else a relative reference. Everything but unreserved
/// characters and slashes is percent-encoded, colons too, because one in the first segment would
/// make a scheme.
pub(crate) fn uri(path: &str) -> String {
    let mut uri = String::with_capacity(path.len() + 8);
    if path.starts_with('/') {
        uri.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::uri;

    #[test]
    fn paths_become_file_uris_or_relative_references() {
        for (path, expected) in [
            ("/dev/sda", "file:///dev/sda"),
            ("images/disk one.raw", "images/disk%20one.raw"),
            ("c:disk.raw", "c%3Adisk.raw"),
            ("a#b?c%d\\xff", "a%23b%3Fc%25d%5Cxff"),
            ("/srv/é\n", "file:///srv/%C3%A9%0A"),
        ] {
            assert_eq!(uri(path), expected);
        }
    }
}
