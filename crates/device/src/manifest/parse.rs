//! Reading a manifest that anybody may have written.
//!
//! Every line is looked at once. Values are checked and not copied; only names and targets that
//! are written with escapes are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::AtomicU32;

use thiserror::Error;
use units::text;

use super::escape;
use crate::tree_nodes::{self, Directory, NodeKind, Nodes, TextSpan, TreeNode, UNKNOWN};

/// The first line of every manifest of this version.
pub const FIRST_LINE: &str = "straddle.sysroot/1";

/// Start of the first line in all versions.
const FAMILY: &str = "straddle.sysroot/";

/// The longest text that is read, in bytes.
pub const TEXT_BYTES_MAX: usize = 64 << 20;
/// The most names that a tree may have: a text can state many directories in one line.
pub const NODES_MAX: usize = 1 << 21;
/// The most parts of a path.
pub(super) const PATH_PARTS_MAX: usize = 64;

/// Why a text is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {reason}")]
pub struct ManifestError {
    /// The line, from 1.
    pub line: usize,
    /// The fault, in lower case and without a full stop.
    pub reason: String,
}

/// True if `bytes` start as a manifest of any version.
#[must_use]
pub fn is_manifest(bytes: &[u8]) -> bool {
    bytes.starts_with(FAMILY.as_bytes())
}

/// Reads `text`.
///
/// # Errors
/// At the first line that means nothing, states something twice, or goes over a bound.
pub(crate) fn read(text: String) -> Result<Nodes, ManifestError> {
    let mut parser = ManifestParser::new(&text)?;
    parser.lines().map_err(|reason| ManifestError { line: parser.number, reason })?;
    let ManifestParser { decoded, nodes, directories, links, .. } = parser;
    let links = (0..links).map(|_| AtomicU32::new(UNKNOWN)).collect();
    let mut arena = Nodes { text, decoded, nodes, directories, links };
    sort(&mut arena);
    unique(&mut arena)?;
    Ok(arena)
}

struct ManifestParser<'a> {
    text: &'a str,
    /// True if anything in the text is escaped: where nothing is, nothing is looked at for that.
    has_escapes: bool,
    /// Start of the next line.
    at: usize,
    /// The number of the line that was taken last.
    number: usize,
    decoded: Vec<u8>,
    nodes: Vec<TreeNode>,
    directories: Vec<Directory>,
    /// Directories by the one that they are in and their name.
    known: HashMap<(u32, Cow<'a, [u8]>), u32>,
    /// True for each directory that a line stated.
    stated: Vec<bool>,
    /// The last directory's path, and the directories on it with their ends in that path.
    path: &'a str,
    way: Vec<(usize, u32)>,
    current: Option<u32>,
    /// Number of links.
    links: u32,
    /// The number of the last line, where the text says how many there are.
    end: Option<usize>,
}

impl<'a> ManifestParser<'a> {
    fn new(text: &'a str) -> Result<ManifestParser<'a>, ManifestError> {
        let wrong = |reason: &str| ManifestError { line: 1, reason: reason.to_owned() };
        if text.len() > TEXT_BYTES_MAX {
            return Err(wrong("the text is longer than 64 MiB"));
        }
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        let has_escapes = memchr::memchr(b'\\', text.as_bytes()).is_some();
        Ok(ManifestParser {
            text,
            has_escapes,
            at: 0,
            number: 0,
            decoded: Vec::new(),
            nodes: Vec::with_capacity(lines.min(NODES_MAX)),
            directories: vec![Directory::default()],
            known: HashMap::with_capacity(lines.min(NODES_MAX).div_euclid(8)),
            stated: vec![false],
            path: "",
            way: Vec::new(),
            current: None,
            links: 0,
            end: None,
        })
    }

    fn lines(&mut self) -> Result<(), String> {
        match self.line() {
            Some(FIRST_LINE) => {}
            Some(line) if line.starts_with(FAMILY) => {
                let line = text::escape(line.as_bytes());
                return Err(format!("`{line}` is not `{FIRST_LINE}`: a newer straddle wrote it"));
            }
            _ => {
                self.number = 1;
                return Err(format!("a captured tree starts with the line `{FIRST_LINE}`"));
            }
        }
        while let Some(line) = self.line() {
            if line.ends_with('\r') {
                return Err(
                    "it ends in a carriage return; save the text with Unix line ends".into()
                );
            }
            self.take(line)?;
            if self.nodes.len() > NODES_MAX {
                return Err("there are more than 2097152 names".to_owned());
            }
        }
        match self.end {
            Some(end) if end != self.number || !self.text.ends_with('\n') => Err(format!(
                "the text says that it has {end} lines and ends here: a part of it was cut or added"
            )),
            _ => Ok(()),
        }
    }

    /// The line that says how many follow.
    fn count(&mut self, written: &str) -> Result<(), String> {
        let wrong = || format!("`{}` is no count of lines", text::escape(written.as_bytes()));
        let count: usize = written.parse().map_err(|_| wrong())?;
        let end = self.number.checked_add(count).ok_or_else(wrong)?;
        match self.end.replace(end) {
            Some(_) => Err("how many lines follow was said before".to_owned()),
            None => Ok(()),
        }
    }

    /// The next line without its end.
    fn line(&mut self) -> Option<&'a str> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        self.number += 1;
        Some(&rest[..end])
    }

    fn take(&mut self, line: &'a str) -> Result<(), String> {
        let unknown = || {
            let shown: String = line.chars().take(40).collect();
            let shown = text::escape(shown.as_bytes());
            format!("`{shown}` is no line that starts with n, d, f, b, m, l, x or # and a blank")
        };
        if line.is_empty() || line == "#" {
            return Ok(());
        }
        let rest = line.get(2..).unwrap_or_default();
        match line.as_bytes() {
            [b'#', b' ', ..] => Ok(()),
            [b'n', b' ', ..] => self.count(rest),
            [b'd', b' ', ..] => self.directory(rest),
            [b'f', b' ', ..] => self.file(rest, NodeKind::Line),
            [b'b', b' ', ..] => self.file(rest, NodeKind::Bytes),
            [b'x', b' ', ..] => self.file(rest, NodeKind::Unreadable),
            [b'm', b' ', ..] => self.file_of_lines(rest),
            [b'l', b' ', ..] => self.link(rest),
            _ => Err(unknown()),
        }
    }

    fn file(&mut self, rest: &'a str, kind: NodeKind) -> Result<(), String> {
        let (name, value) = named(rest)?;
        if self.has_escapes {
            check(value)?;
        }
        let value = self.span(value)?;
        self.node(name, value, kind)
    }

    fn file_of_lines(&mut self, rest: &'a str) -> Result<(), String> {
        let (name, count) = named(rest)?;
        let wrong = || format!("`{}` is no count of lines", text::escape(count.as_bytes()));
        let count: usize = count.parse().map_err(|_| wrong())?;
        let stated = self.number;
        let start = self.at;
        let mut end = start;
        for _ in 0..count {
            let line = self.line().filter(|line| line.starts_with('|'));
            let Some(line) = line else {
                self.number = stated;
                return Err(format!("fewer than the {count} lines that it counts start with `|`"));
            };
            check(line)?;
            end = self.at;
        }
        if count == 0 {
            return Err("a file without a line is stated by `b NAME:`".to_owned());
        }
        let written = self.text[start..end].strip_suffix('\n');
        let value = self.span(written.unwrap_or(&self.text[start..end]))?;
        let line = std::mem::replace(&mut self.number, stated);
        self.node(name, value, NodeKind::Lines)?;
        self.number = line;
        Ok(())
    }

    fn link(&mut self, rest: &'a str) -> Result<(), String> {
        let ends = |at: &usize| rest.as_bytes()[*at..].starts_with(b" -> ");
        let at = (0..rest.len()).find(ends).ok_or("a link is written NAME -> TARGET")?;
        let (name, target) = (&rest[..at], &rest[at + 4..]);
        let target = self.plain(target)?;
        if target.length == 0 {
            return Err("the link leads nowhere".to_owned());
        }
        let kind = NodeKind::Link(self.links);
        self.links += 1;
        self.node(name, target, kind)
    }

    fn node(&mut self, name: &'a str, value: TextSpan, kind: NodeKind) -> Result<(), String> {
        let parent = self.current.ok_or("no line before it states a directory")?;
        let span = self.plain(name)?;
        let name = self.bytes(span);
        check_name(name)?;
        let prefix = tree_nodes::prefix(name);
        let line = number(self.number)?;
        self.nodes.push(TreeNode { prefix, name: span, value, parent, line, kind });
        Ok(())
    }

    /// Goes to the directory at `path`, and makes those that are missing on the way.
    fn directory(&mut self, path: &'a str) -> Result<(), String> {
        if !path.starts_with('/') {
            return Err("a directory's path starts with a slash".to_owned());
        }
        let path = if path == "/" { "" } else { path };
        let mut at = self.shared(path);
        let mut here = self.way.last().map_or(0, |&(_, directory)| directory);
        while at < path.len() {
            let part = path[at + 1..].split('/').next().unwrap_or_default();
            at += 1 + part.len();
            here = self.inner(here, part)?;
            self.way.push((at, here));
            if self.way.len() > PATH_PARTS_MAX {
                return Err(format!("the path has more than {PATH_PARTS_MAX} parts"));
            }
        }
        self.path = path;
        self.current = Some(here);
        if std::mem::replace(&mut self.stated[tree_nodes::index(here)], true) {
            return Err("the directory was stated before".to_owned());
        }
        Ok(())
    }

    /// Returns how much of `path` the way already goes; what leads elsewhere is taken off it.
    fn shared(&mut self, path: &str) -> usize {
        while let Some(&(end, _)) = self.way.last() {
            let parted = end == path.len() || path.as_bytes().get(end) == Some(&b'/');
            if parted && path.as_bytes()[..end] == self.path.as_bytes()[..end] {
                return end;
            }
            self.way.pop();
        }
        0
    }

    /// The directory called `part` in the directory `parent`, made where it is missing.
    fn inner(&mut self, parent: u32, part: &'a str) -> Result<u32, String> {
        let name = escape::read(part.as_bytes()).ok_or_else(|| meaningless(part))?;
        if let Some(&known) = self.known.get(&(parent, Cow::Borrowed(&name))) {
            return Ok(known);
        }
        check_name(&name)?;
        let made = number(self.directories.len())?;
        let span = self.plain(part)?;
        let (prefix, line) = (tree_nodes::prefix(&name), number(self.number)?);
        let (value, kind) = (TextSpan::default(), NodeKind::Directory(made));
        self.nodes.push(TreeNode { prefix, name: span, value, parent, line, kind });
        self.directories.push(Directory { parent, name: span, first: 0, end: 0 });
        self.stated.push(false);
        self.known.insert((parent, name), made);
        Ok(made)
    }

    /// The place of `part`, which is a piece of the text.
    fn span(&self, part: &str) -> Result<TextSpan, String> {
        let start = part.as_ptr().addr().checked_sub(self.text.as_ptr().addr());
        let start = start.filter(|&start| start <= self.text.len()).unwrap_or(0);
        Ok(TextSpan { start: number(start)?, length: number(part.len())? })
    }

    /// The place of what `written` stands for.
    fn plain(&mut self, written: &str) -> Result<TextSpan, String> {
        if !self.has_escapes {
            return self.span(written);
        }
        match escape::read(written.as_bytes()) {
            None => Err(meaningless(written)),
            Some(Cow::Borrowed(_)) => self.span(written),
            Some(Cow::Owned(bytes)) => {
                let start = number(self.text.len() + self.decoded.len())?;
                self.decoded.extend_from_slice(&bytes);
                Ok(TextSpan { start, length: number(bytes.len())? })
            }
        }
    }

    fn bytes(&self, span: TextSpan) -> &[u8] {
        let (start, length) = (tree_nodes::index(span.start), tree_nodes::index(span.length));
        match start.checked_sub(self.text.len()) {
            None => &self.text.as_bytes()[start..start + length],
            Some(start) => &self.decoded[start..start + length],
        }
    }
}

/// A name and a value: the name ends at the first colon that a blank or nothing follows.
fn named(rest: &str) -> Result<(&str, &str), String> {
    // Names are short: looking at each byte is quicker than preparing a search.
    let bytes = rest.as_bytes();
    let ends = |at: &usize| bytes[*at] == b':' && matches!(bytes.get(at + 1), None | Some(b' '));
    let at = (0..bytes.len()).find(ends).ok_or("a file is written NAME: VALUE")?;
    Ok((&rest[..at], rest.get(at + 2..).unwrap_or_default()))
}

fn check(written: &str) -> Result<(), String> {
    if !written.as_bytes().contains(&b'\\') || escape::read(written.as_bytes()).is_some() {
        return Ok(());
    }
    Err(meaningless(written))
}

fn check_name(name: &[u8]) -> Result<(), String> {
    let odd =
        matches!(name, b"" | b"." | b"..") || name.iter().any(|byte| matches!(byte, 0 | b'/'));
    if odd {
        return Err(format!("`{}` is no name of a file", text::escape(name)));
    }
    Ok(())
}

fn meaningless(written: &str) -> String {
    let at = written.find('\\').unwrap_or(0);
    let shown: String = written[at..].chars().take(20).collect();
    let shown = text::escape(shown.as_bytes());
    format!("an escape at or behind `{shown}` is none of \\\\, \\n, \\t and \\xNN")
}

fn number(value: usize) -> Result<u32, String> {
    u32::try_from(value).map_err(|_| "the text is too long".to_owned())
}

/// Puts the nodes of each directory side by side, in the order of their names.
fn sort(arena: &mut Nodes) {
    let Nodes { nodes, directories, .. } = arena;
    for node in nodes.iter() {
        directories[tree_nodes::index(node.parent)].end += 1;
    }
    let mut next = 0;
    for directory in directories.iter_mut() {
        let count = directory.end;
        (directory.first, directory.end) = (next, next);
        next += count;
    }
    let mut sorted = nodes.clone();
    for node in nodes.iter() {
        let end = &mut directories[tree_nodes::index(node.parent)].end;
        sorted[tree_nodes::index(*end)] = *node;
        *end += 1;
    }
    *nodes = sorted;
    for directory in 0..arena.directories.len() {
        let Directory { first, end, .. } = arena.directories[directory];
        let range = tree_nodes::index(first)..tree_nodes::index(end);
        let children = &arena.nodes[range.clone()];
        if !children.is_sorted_by(|one, other| arena.order(one, other).is_lt()) {
            let mut children = children.to_vec();
            // Stable: of two of one name, the later one is found second.
            children.sort_by(|one, other| arena.order(one, other));
            arena.nodes[range].copy_from_slice(&children);
        }
    }
}

/// Rejects a tree in which a name stands twice in a directory, with the first line that says so.
fn unique(arena: &mut Nodes) -> Result<(), ManifestError> {
    let mut twice: Option<&TreeNode> = None;
    for pair in arena.nodes.windows(2) {
        let [one, other] = pair else { continue };
        if one.parent == other.parent && one.prefix == other.prefix {
            let same = arena.order(one, other).is_eq();
            let line = one.line.max(other.line);
            if same && twice.is_none_or(|found| line < found.line) {
                twice = Some(if one.line < other.line { other } else { one });
            }
        }
    }
    let Some(node) = twice else { return Ok(()) };
    let name = text::escape(arena.bytes(node.name));
    let reason = format!("`{name}` stands in this directory before");
    Err(ManifestError { line: tree_nodes::index(node.line), reason })
}
