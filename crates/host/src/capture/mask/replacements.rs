//! Identifiers and what stands in their place.

use std::collections::HashMap;

use super::identifier_files::KINDS;

/// The least letters and digits of an identifier that is looked for in other files: shorter ones
/// would be found in words that are none.
const FOUND_MIN: usize = 6;
/// The least of one that is looked for in names of files.
const NAMED_MIN: usize = 12;
/// Number of bytes that tell if an identifier may start here.
const START: usize = 4;

/// The identifiers that are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Secrets {
    masks: HashMap<String, String>,
    /// By their first bytes, the longest first.
    starts: HashMap<[u8; START], Vec<String>>,
    count: usize,
}

impl Secrets {
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Takes note of an identifier, which the name of its kind may precede.
    pub(super) fn learn(&mut self, text: &str) {
        let (_, secret) = of_kind(text);
        let _ = self.mask(&joined(secret).unwrap_or_else(|| secret.to_owned()));
    }

    /// Takes note of every long part of a text that dashes part: `LVM-…`, `CRYPT-LUKS2-…-name`.
    pub(super) fn learn_parts(&mut self, text: &str) {
        for part in text.split('-').filter(|part| weight(part) >= NAMED_MIN) {
            let _ = self.mask(part);
        }
    }

    /// `text`, which is one identifier, masked. Blanks around it stay.
    pub(super) fn whole(&mut self, text: &str) -> String {
        let inner = text.trim();
        let (kind, secret) = of_kind(inner);
        if secret.is_empty() {
            return text.to_owned();
        }
        let masked = match joined(secret) {
            Some(digits) => parted(&self.mask(&digits)),
            None => self.mask(secret),
        };
        text.replacen(inner, &format!("{kind}{masked}"), 1)
    }

    /// Returns the replacement of `secret`: its shape, with a number.
    pub(super) fn mask(&mut self, secret: &str) -> String {
        if let Some(mask) = self.masks.get(secret) {
            return mask.clone();
        }
        if weight(secret) == 0 || secret.chars().all(|each| !each.is_alphanumeric() || each == '0')
        {
            return secret.to_owned();
        }
        self.count += 1;
        // A UUID is written with dashes and without, and hexadecimal digits in either case.
        for spelling in [secret.to_owned(), dashed(secret), secret.replace('-', "")] {
            let mask = shaped(&spelling, self.count);
            for spelling in [spelling.to_lowercase(), spelling.to_uppercase(), spelling] {
                self.remember(spelling, mask.clone());
            }
        }
        shaped(secret, self.count)
    }

    fn remember(&mut self, spelling: String, mask: String) {
        if self.masks.contains_key(&spelling) {
            return;
        }
        let has_digit = spelling.bytes().any(|byte| byte.is_ascii_digit());
        let start = spelling.as_bytes().first_chunk::<START>();
        if let Some(start) = start.filter(|_| has_digit && weight(&spelling) >= FOUND_MIN) {
            let found = self.starts.entry(*start).or_default();
            let at = found.partition_point(|other| other.len() >= spelling.len());
            found.insert(at, spelling.clone());
        }
        self.masks.insert(spelling, mask);
    }

    /// `text` with every identifier in it masked: those that are known, and all UUIDs.
    pub(super) fn in_text(&mut self, text: &str) -> String {
        self.replaced(text, FOUND_MIN)
    }

    /// Same as [`Secrets::in_text`] of a path of the kernel's tree, where only long ones are.
    pub(super) fn in_path(&mut self, path: &str) -> String {
        self.replaced(path, NAMED_MIN)
    }

    fn replaced(&mut self, text: &str, weight_min: usize) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        let mut inside = false;
        while let Some(character) = rest.chars().next() {
            let found = if inside || !character.is_alphanumeric() {
                None
            } else {
                uuid(rest).or_else(|| self.known(rest, weight_min))
            };
            let length = if let Some(secret) = found {
                out.push_str(&self.mask(secret));
                secret.len()
            } else {
                out.push(character);
                character.len_utf8()
            };
            inside = found.is_some() || character.is_alphanumeric();
            rest = &rest[length..];
        }
        out
    }

    /// The longest known identifier at the start of `text` that is no part of a longer word.
    fn known<'a>(&self, text: &'a str, weight_min: usize) -> Option<&'a str> {
        let found = self.starts.get(text.as_bytes().first_chunk::<START>()?)?;
        let fits = |secret: &&String| {
            let ends = |rest: &str| !rest.chars().next().is_some_and(char::is_alphanumeric);
            weight(secret) >= weight_min && text.strip_prefix(secret.as_str()).is_some_and(ends)
        };
        found.iter().find(fits).map(|secret| &text[..secret.len()])
    }
}

/// The name of an identifier's kind, and the identifier.
fn of_kind(text: &str) -> (&str, &str) {
    if let Some(at) = text.find(':').filter(|_| text.starts_with("nqn.")) {
        return text.split_at(at + 1);
    }
    let kind = KINDS.iter().find(|kind| text.starts_with(**kind));
    text.split_at(kind.map_or(0, |kind| kind.len()))
}

/// The UUID whose digits `text` is, with its dashes; any other text as it is.
fn dashed(text: &str) -> String {
    if text.len() != 32 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return text.to_owned();
    }
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &text[part]);
    parts.join("-")
}

/// The digits of bytes that are written with blanks between them, as NVMe's `eui` is.
fn joined(text: &str) -> Option<String> {
    let pair = |word: &str| word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    (text.contains(' ') && text.split(' ').all(pair)).then(|| text.replace(' ', ""))
}

/// `digits` with a blank between every two.
fn parted(digits: &str) -> String {
    let pairs: Vec<&str> =
        digits.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).unwrap_or_default()).collect();
    pairs.join(" ")
}

/// Returns how many letters and digits `text` has.
fn weight(text: &str) -> usize {
    text.chars().filter(|each| each.is_alphanumeric()).count()
}

/// `secret` with zeros for its letters and digits, of which the last are `number`.
fn shaped(secret: &str, number: usize) -> String {
    let mut number = number;
    let mut reversed: Vec<char> = Vec::with_capacity(secret.len());
    for character in secret.chars().rev() {
        if !character.is_alphanumeric() {
            reversed.push(character);
            continue;
        }
        let digit = u32::try_from(number % 10).unwrap_or(0);
        reversed.push(char::from_digit(digit, 10).unwrap_or('0'));
        // A letter of another script takes as many bytes as its mask, so lengths stay.
        reversed.extend(std::iter::repeat_n('0', character.len_utf8() - 1));
        number = number.div_euclid(10);
    }
    reversed.into_iter().rev().collect()
}

/// The UUID at the start of `text`, if that is one and not the start of a longer word.
fn uuid(text: &str) -> Option<&str> {
    let candidate = text.get(..36)?;
    let fits = candidate.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let ends = !text[36..].chars().next().is_some_and(char::is_alphanumeric);
    (fits && ends).then_some(candidate)
}

/// Tables of device-mapper with zeros for every long run of hexadecimal digits: keys, salts,
/// hashes.
pub(super) fn without_keys(tables: &str) -> String {
    const KEY_MIN: usize = 32;
    let mut out = String::with_capacity(tables.len());
    for word in tables.split_inclusive(|each: char| !each.is_ascii_alphanumeric()) {
        let end =
            word.len() - usize::from(word.ends_with(|each: char| !each.is_ascii_alphanumeric()));
        let end = if word.is_char_boundary(end) { end } else { word.len() };
        let (run, behind) = word.split_at(end);
        if run.len() >= KEY_MIN && run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            out.extend(std::iter::repeat_n('0', run.len()));
        } else {
            out.push_str(run);
        }
        out.push_str(behind);
    }
    out
}
