//! The grammar of LVM's text: sections, and keys with numbers, strings and lists.
//!
//! `section = key "{" (section | key "=" value)* "}"`, `value = number | string | "[" list "]"`,
//! and comments from `#` to the line's end. LVM's own reader allows more (unquoted strings, paths
//! as keys, a key given twice); LVM writes none of that, so it is refused here. Sections are kept
//! open on a stack of bounded height; nothing recurses by what the text says.
//!
//! Source: lvm2 `libdm/libdm-config.c`.

use std::borrow::Cow;

use super::notes::Position;

/// LVM nests 5 deep.
const DEPTH_MAX: usize = 16;
/// Sections, values and members of lists: about 20 for a logical volume.
const NODES_MAX: usize = 150_000;
/// The longest name of a group, a volume or a type, in bytes (`NAME_LEN` in
/// `lib/metadata/metadata-exported.h`, without its NUL). Longer ones could neither be told apart by
/// their start nor be kept whole for each volume.
pub(super) const NAME_BYTES_MAX: usize = 127;

/// A section, or the whole text.
#[derive(Debug, Default)]
pub(super) struct Section<'t> {
    entries: Vec<KeyValue<'t>>,
}

/// A key and what it has.
#[derive(Debug)]
pub(super) struct KeyValue<'t> {
    /// The key.
    pub(super) key: &'t [u8],
    /// Place where the key stands.
    pub(super) at: Position,
    item: Item<'t>,
}

#[derive(Debug)]
enum Item<'t> {
    Section(Section<'t>),
    Value(Value<'t>),
}

/// A value: the text behind `=`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value<'t> {
    /// A number that is not negative.
    Number(u64),
    /// A string, without its quotes and escapes.
    Text(Cow<'t, [u8]>),
    /// A list of numbers and strings.
    List(Vec<Value<'t>>),
    /// A negative number or one with a fraction: nothing that is asked for here has those.
    Odd,
}

/// Why a text is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed {
    /// Place where.
    pub(super) at: Position,
    /// The text that was expected, or the limit that was exceeded.
    pub(super) reason: &'static str,
}

/// The sections and values of `text`, up to its end or its first NUL.
pub(super) fn parse(text: &[u8]) -> Result<Section<'_>, Malformed> {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let mut reader = LvmTextReader { text: &text[..end], at: 0, nodes: 0 };
    // The innermost open section is `open`; those around it wait on the stack with its name.
    let mut open = Section::default();
    let mut around: Vec<(Section<'_>, &[u8], Position)> = Vec::new();
    loop {
        reader.skip_blanks();
        let at = reader.at;
        match reader.peek() {
            None if around.is_empty() => break,
            None => return Err(reader.malformed("a section does not end")),
            Some(b'}') => {
                reader.at += 1;
                let (outer, key, at) = around.pop().ok_or(Malformed { at, reason: "a stray }" })?;
                let section = std::mem::replace(&mut open, outer);
                section.check()?;
                open.entries.push(KeyValue { key, at, item: Item::Section(section) });
            }
            Some(_) => {
                let key = reader.key()?;
                reader.skip_blanks();
                match reader.next() {
                    Some(b'{') if around.len() == DEPTH_MAX => {
                        return Err(Malformed { at, reason: "sections nest too deep" });
                    }
                    Some(b'{') => around.push((std::mem::take(&mut open), key, at)),
                    Some(b'=') => {
                        let item = Item::Value(reader.value()?);
                        open.entries.push(KeyValue { key, at, item });
                    }
                    _ => return Err(Malformed { at, reason: "a key without = or {" }),
                }
            }
        }
    }
    open.check()?;
    Ok(open)
}

impl<'t> Section<'t> {
    /// The section called `key`.
    pub(super) fn section(&self, key: &[u8]) -> Option<&Section<'t>> {
        self.sections().find(|(entry, _)| entry.key == key).map(|(_, section)| section)
    }

    /// All sections, in the text's order.
    pub(super) fn sections(&self) -> impl Iterator<Item = (&KeyValue<'t>, &Section<'t>)> {
        self.entries.iter().filter_map(|entry| match &entry.item {
            Item::Section(section) => Some((entry, section)),
            Item::Value(_) => None,
        })
    }

    /// The value called `key`.
    fn value(&self, key: &[u8]) -> Option<&Value<'t>> {
        self.entries.iter().find_map(|entry| match &entry.item {
            Item::Value(value) if entry.key == key => Some(value),
            _ => None,
        })
    }

    /// Returns whether anything is called `key`.
    pub(super) fn has(&self, key: &[u8]) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// The number called `key`.
    pub(super) fn number(&self, key: &[u8]) -> Option<u64> {
        match self.value(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The string called `key`.
    pub(super) fn text(&self, key: &[u8]) -> Option<&[u8]> {
        self.value(key)?.as_text()
    }

    /// The list called `key`; a single value is a list of one, as it is for LVM.
    pub(super) fn list(&self, key: &[u8]) -> Option<&[Value<'t>]> {
        match self.value(key)? {
            Value::List(list) => Some(list),
            value => Some(std::slice::from_ref(value)),
        }
    }

    /// Refuses a key that is given twice: LVM would take the later value and merge sections.
    fn check(&self) -> Result<(), Malformed> {
        let mut keys: Vec<(&[u8], Position)> =
            self.entries.iter().map(|entry| (entry.key, entry.at)).collect();
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(Malformed { at: pair[1].1, reason: "a key is given twice" }),
            None => Ok(()),
        }
    }
}

impl Value<'_> {
    /// The string, where it is one.
    pub(super) fn as_text(&self) -> Option<&[u8]> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

struct LvmTextReader<'t> {
    text: &'t [u8],
    at: Position,
    nodes: usize,
}

impl<'t> LvmTextReader<'t> {
    fn malformed(&self, reason: &'static str) -> Malformed {
        Malformed { at: self.at, reason }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    /// The bytes from here on for which `belongs` holds.
    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'t [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| !belongs(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(|byte| byte.is_ascii_whitespace() || byte == 0x0b);
            if self.peek() != Some(b'#') {
                return;
            }
            self.take_while(|byte| byte != b'\n');
        }
    }

    fn count(&mut self) -> Result<(), Malformed> {
        self.nodes += 1;
        if self.nodes > NODES_MAX { Err(self.malformed("too many entries")) } else { Ok(()) }
    }

    fn key(&mut self) -> Result<&'t [u8], Malformed> {
        self.count()?;
        let key = self.take_while(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte));
        match key.len() {
            0 => Err(self.malformed("a key is expected")),
            1..=NAME_BYTES_MAX => Ok(key),
            _ => Err(self.malformed("a name is longer than the 127 bytes that LVM allows")),
        }
    }

    /// A value, with the blanks before it.
    fn value(&mut self) -> Result<Value<'t>, Malformed> {
        self.skip_blanks();
        if self.peek() != Some(b'[') {
            return self.single();
        }
        self.at += 1;
        let mut list = Vec::new();
        self.skip_blanks();
        while self.peek() != Some(b']') {
            self.count()?;
            list.push(self.single()?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => break,
                _ => return Err(self.malformed("a list does not go on with , or ]")),
            }
            self.skip_blanks();
        }
        self.at += 1;
        Ok(Value::List(list))
    }

    /// A number or a string.
    fn single(&mut self) -> Result<Value<'t>, Malformed> {
        match self.peek() {
            Some(b'"') => self.quoted(),
            Some(b'0'..=b'9' | b'+' | b'-' | b'.') => self.number(),
            _ => Err(self.malformed("a number, a string or a list is expected")),
        }
    }

    /// A number as LVM writes it: decimal. Others (octal, hexadecimal) LVM's reader would
    /// understand in its own way, so they are refused.
    fn number(&mut self) -> Result<Value<'t>, Malformed> {
        let malformed = self.malformed("this is no decimal number");
        let digits = self.take_while(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        let odd = digits.iter().all(|byte| byte.is_ascii_digit() || b"+-.".contains(byte));
        let plain = digits.iter().all(u8::is_ascii_digit);
        let octal = digits.len() > 1 && digits[0] == b'0';
        if !plain {
            return if odd { Ok(Value::Odd) } else { Err(malformed) };
        }
        let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        number.filter(|_| !octal).map(Value::Number).ok_or(malformed)
    }

    /// A string in double quotes, in which `\"` and `\\` are escapes.
    fn quoted(&mut self) -> Result<Value<'t>, Malformed> {
        let malformed = self.malformed("a string does not end");
        self.at += 1;
        let mut text = Cow::Borrowed(&b""[..]);
        loop {
            let run = self.take_while(|byte| byte != b'"' && byte != b'\\');
            append(&mut text, run);
            match self.next() {
                Some(b'"') => return Ok(Value::Text(text)),
                Some(_) if matches!(self.peek(), Some(b'"' | b'\\')) => {
                    let escaped = &self.text[self.at..=self.at];
                    self.at += 1;
                    append(&mut text, escaped);
                }
                Some(_) => append(&mut text, b"\\"),
                None => return Err(malformed),
            }
        }
    }
}

/// Adds `run`; copies only from the second one on.
fn append<'t>(text: &mut Cow<'t, [u8]>, run: &'t [u8]) {
    if text.is_empty() {
        *text = Cow::Borrowed(run);
    } else if !run.is_empty() {
        text.to_mut().extend_from_slice(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> &'static str {
        parse(text.as_bytes()).expect_err(text).reason
    }

    #[test]
    fn sections_values_lists_comments_and_escapes_are_read() {
        let text = br#"# head
            vg { id = "a\"b\\c" # here
            n=12 empty=[] one="x" l = [ "a", 3,
            # in a list
            "b#" ]
            inner{deep = -1 } }"#;
        let root = parse(text).unwrap();
        let vg = root.section(b"vg").unwrap();
        assert_eq!(vg.text(b"id").unwrap(), b"a\"b\\c");
        assert_eq!(vg.number(b"n"), Some(12));
        assert_eq!(vg.list(b"empty").unwrap(), []);
        assert_eq!(vg.list(b"one").unwrap()[0].as_text().unwrap(), b"x");
        let list = vg.list(b"l").unwrap();
        assert_eq!(list[1], Value::Number(3));
        assert_eq!(list[2].as_text().unwrap(), b"b#");
        assert_eq!(vg.section(b"inner").unwrap().number(b"deep"), None);
        assert!(vg.section(b"inner").unwrap().has(b"deep"));
    }

    #[test]
    fn what_lvm_never_writes_is_refused() {
        assert_eq!(refused("a = 1 a = 2"), "a key is given twice");
        assert_eq!(refused("a { } a { }"), "a key is given twice");
        assert_eq!(refused("a = 010"), "this is no decimal number");
        assert_eq!(refused("a = 0x10"), "this is no decimal number");
        assert_eq!(refused("a = 99999999999999999999"), "this is no decimal number");
        assert_eq!(refused("a = bare"), "a number, a string or a list is expected");
        assert_eq!(refused("a = [1 2]"), "a list does not go on with , or ]");
        assert_eq!(refused("a = [[1]]"), "a number, a string or a list is expected");
        assert_eq!(refused("a/b = 1"), "a key without = or {");
    }

    #[test]
    fn a_text_cut_short_is_refused() {
        assert_eq!(refused("a {"), "a section does not end");
        assert_eq!(refused("a = \"x"), "a string does not end");
        assert_eq!(refused("a = \"x\\"), "a string does not end");
        assert_eq!(refused("a = ["), "a number, a string or a list is expected");
        assert_eq!(refused("a"), "a key without = or {");
        assert_eq!(refused("}"), "a stray }");
        assert_eq!(refused("a { \0 }"), "a section does not end");
    }

    #[test]
    fn depth_and_count_are_bounded() {
        assert_eq!(refused(&"a{".repeat(100_000)), "sections nest too deep");
        let many = format!("a = [{}]", "1,".repeat(NODES_MAX));
        assert_eq!(refused(&many), "too many entries");
        let name = "n".repeat(NAME_BYTES_MAX);
        assert_eq!(
            parse(format!("{name} = 1").as_bytes()).unwrap().number(name.as_bytes()),
            Some(1)
        );
        let long = "a name is longer than the 127 bytes that LVM allows";
        assert_eq!(refused(&format!("{name}n = 1")), long);
    }
}
