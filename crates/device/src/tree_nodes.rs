//! Directories, files and links of a tree as an arena over one text.
//!
//! The children of a directory stand side by side, sorted, so a name is found by halving; the first
//! bytes of each name stand in its node, so hardly any text is touched on the way.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::manifest::escape;

/// The most links on one way, as the kernel allows (`MAXSYMLINKS` in `include/linux/namei.h`).
const LINKS_MAX: usize = 40;

/// A run of bytes: of the text, or after its end, of the bytes that had to be decoded.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextSpan {
    pub(crate) start: u32,
    pub(crate) length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// The value is a number: which directory it is.
    Directory(u32),
    /// One line, escaped, without its end.
    Line,
    /// Everything, escaped.
    Bytes,
    /// Lines, each after a bar and escaped.
    Lines,
    /// The target, not escaped; the number of the link.
    Link(u32),
    /// The reason, escaped.
    Unreadable,
}

/// A name in a directory, and what it stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeNode {
    /// The first bytes of the name, so that numbers compare as the names do.
    pub(crate) prefix: u64,
    pub(crate) name: TextSpan,
    pub(crate) value: TextSpan,
    pub(crate) parent: u32,
    /// The line that states it.
    pub(crate) line: u32,
    pub(crate) kind: NodeKind,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Directory {
    pub(crate) parent: u32,
    pub(crate) name: TextSpan,
    /// Its nodes.
    pub(crate) first: u32,
    pub(crate) end: u32,
}

/// The arena. Directory 0 is the root.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub(crate) text: String,
    /// Names and targets that the text holds escaped.
    pub(crate) decoded: Vec<u8>,
    pub(crate) nodes: Vec<TreeNode>,
    pub(crate) directories: Vec<Directory>,
    /// The directory that each link leads to, once that is [`known`](Nodes::leads).
    pub(crate) links: Arc<[AtomicU32]>,
}

/// Nobody has followed the link yet.
pub(crate) const UNKNOWN: u32 = u32::MAX;
/// It does not lead straight to a directory.
const NOT_STRAIGHT: u32 = u32::MAX - 1;

/// The end of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PathEnd<'a> {
    Directory(u32),
    Node(&'a TreeNode),
}

/// Why a path leads to nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WalkStop<'a> {
    /// Nothing is called so in this directory.
    Missing(u32, &'a [u8]),
    /// A file that lies on the way, or something that could not be read, and what was looked for
    /// below it.
    NoDirectory(&'a TreeNode, &'a [u8]),
    Out,
    Turns,
    /// A link on the way is not UTF-8.
    NotText,
}

pub(crate) fn index(number: u32) -> usize {
    usize::try_from(number).expect("32 bits fit in a usize")
}

/// The first bytes of `name` as a number that sorts as they do.
pub(crate) fn prefix(name: &[u8]) -> u64 {
    let mut first = [0; 8];
    let length = name.len().min(8);
    first[..length].copy_from_slice(&name[..length]);
    u64::from_be_bytes(first)
}

impl Nodes {
    pub(crate) fn bytes(&self, span: TextSpan) -> &[u8] {
        let (start, length) = (index(span.start), index(span.length));
        match start.checked_sub(self.text.len()) {
            None => &self.text.as_bytes()[start..start + length],
            Some(start) => &self.decoded[start..start + length],
        }
    }

    pub(crate) fn children(&self, directory: u32) -> &[TreeNode] {
        let directory = &self.directories[index(directory)];
        &self.nodes[index(directory.first)..index(directory.end)]
    }

    /// Returns how the names of two nodes compare.
    pub(crate) fn order(&self, one: &TreeNode, other: &TreeNode) -> Ordering {
        one.prefix.cmp(&other.prefix).then_with(|| self.bytes(one.name).cmp(self.bytes(other.name)))
    }

    pub(crate) fn find(&self, directory: u32, name: &[u8]) -> Option<&TreeNode> {
        let children = self.children(directory);
        let first = prefix(name);
        let found = children.binary_search_by(|node| {
            node.prefix.cmp(&first).then_with(|| self.bytes(node.name).cmp(name))
        });
        found.ok().map(|at| &children[at])
    }

    /// The directory that a link in `directory` leads to, when no other link is on the way: so it
    /// counts as one link however it is found. That is remembered.
    fn leads(&self, link: u32, target: TextSpan, directory: u32) -> Option<u32> {
        let known = &self.links[index(link)];
        let leads = match known.load(Relaxed) {
            UNKNOWN => {
                let leads = self.straight(self.bytes(target), directory);
                let leads = leads.unwrap_or(NOT_STRAIGHT);
                known.store(leads, Relaxed);
                leads
            }
            leads => leads,
        };
        (leads != NOT_STRAIGHT).then_some(leads)
    }

    fn straight(&self, target: &[u8], directory: u32) -> Option<u32> {
        std::str::from_utf8(target).ok()?;
        let mut here = if target.first() == Some(&b'/') { 0 } else { directory };
        for part in target.split(|&byte| byte == b'/') {
            here = match part {
                b"" | b"." => here,
                b".." if here == 0 => return None,
                b".." => self.directories[index(here)].parent,
                part => match self.find(here, part)?.kind {
                    NodeKind::Directory(inner) => inner,
                    _ => return None,
                },
            };
        }
        Some(here)
    }

    /// Follows `path` and its links to the end.
    pub(crate) fn walk<'a>(&'a self, path: &'a str) -> Result<PathEnd<'a>, WalkStop<'a>> {
        FollowedPath::new(self, path).go()
    }

    /// Follows `path` and its links as far as there is something, and returns an absolute path.
    pub(crate) fn resolve<'a>(&'a self, path: &'a str) -> Result<String, WalkStop<'a>> {
        let mut way = FollowedPath::new(self, path);
        let mut parts: Vec<&[u8]> = Vec::new();
        let file = |parts: &mut Vec<&'a [u8]>, node: &TreeNode| {
            self.parts_of(node.parent, parts);
            parts.push(self.bytes(node.name));
        };
        let ahead = match way.go() {
            Ok(PathEnd::Directory(directory)) => {
                self.parts_of(directory, &mut parts);
                None
            }
            Ok(PathEnd::Node(node)) => {
                file(&mut parts, node);
                None
            }
            Err(WalkStop::Missing(directory, part)) => {
                self.parts_of(directory, &mut parts);
                Some(part)
            }
            Err(WalkStop::NoDirectory(node, part)) => {
                file(&mut parts, node);
                Some(part)
            }
            Err(stop) => return Err(stop),
        };
        // What follows the last thing that is there is taken by its words.
        for part in ahead.into_iter().chain(std::iter::from_fn(|| way.next())) {
            match part {
                b".." => drop(parts.pop().ok_or(WalkStop::Out)?),
                part => parts.push(part),
            }
        }
        let parts = parts.into_iter().map(|part| format!("/{}", String::from_utf8_lossy(part)));
        let path: String = parts.collect();
        Ok(if path.is_empty() { "/".to_owned() } else { path })
    }

    fn parts_of<'a>(&'a self, mut directory: u32, parts: &mut Vec<&'a [u8]>) {
        while directory != 0 {
            let here = &self.directories[index(directory)];
            parts.push(self.bytes(here.name));
            directory = here.parent;
        }
        parts.reverse();
    }

    /// The content of a file; the reason of what could not be read.
    pub(crate) fn value(&self, node: &TreeNode) -> Cow<'_, [u8]> {
        let written = self.bytes(node.value);
        // The parser decoded everything once, or it would not have taken the text.
        let plain = |written| escape::read(written).unwrap_or_default();
        match node.kind {
            NodeKind::Line => {
                let mut content = Vec::with_capacity(written.len() + 1);
                content.extend_from_slice(&plain(written));
                content.push(b'\n');
                Cow::Owned(content)
            }
            NodeKind::Lines => {
                let mut content = Vec::with_capacity(written.len());
                for line in written.split(|&byte| byte == b'\n') {
                    content.extend_from_slice(&plain(behind_bar(line)));
                    content.push(b'\n');
                }
                Cow::Owned(content)
            }
            NodeKind::Bytes | NodeKind::Unreadable => plain(written),
            NodeKind::Link(_) | NodeKind::Directory(_) => Cow::Borrowed(&[]),
        }
    }
}

/// Returns the content of a line of a file of many: without its bar and one blank.
pub(crate) fn behind_bar(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"|").unwrap_or(line);
    line.strip_prefix(b" ").unwrap_or(line)
}

/// A path being followed. Where a link is met, its target is put before what is left.
struct FollowedPath<'a> {
    nodes: &'a Nodes,
    /// The parts ahead: the last is next. It grows by one with each link, and nothing is allocated.
    ahead: [&'a [u8]; LINKS_MAX + 1],
    depth: usize,
    links: usize,
}

impl<'a> FollowedPath<'a> {
    fn new(nodes: &'a Nodes, path: &'a str) -> FollowedPath<'a> {
        let mut ahead: [&[u8]; LINKS_MAX + 1] = [&[]; LINKS_MAX + 1];
        ahead[0] = path.as_bytes();
        FollowedPath { nodes, ahead, depth: 0, links: 0 }
    }

    /// The next part; a `.` is none.
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = self.ahead[self.depth];
            let Some(start) = rest.iter().position(|&byte| byte != b'/') else {
                self.depth = self.depth.checked_sub(1)?;
                continue;
            };
            let rest = &rest[start..];
            let end = rest.iter().position(|&byte| byte == b'/').unwrap_or(rest.len());
            self.ahead[self.depth] = &rest[end..];
            if &rest[..end] != b"." {
                return Some(&rest[..end]);
            }
        }
    }

    fn go(&mut self) -> Result<PathEnd<'a>, WalkStop<'a>> {
        let mut here = PathEnd::Directory(0);
        while let Some(part) = self.next() {
            let directory = match here {
                PathEnd::Directory(directory) => directory,
                PathEnd::Node(node) => return Err(WalkStop::NoDirectory(node, part)),
            };
            if part == b".." {
                if directory == 0 {
                    return Err(WalkStop::Out);
                }
                here = PathEnd::Directory(self.nodes.directories[index(directory)].parent);
                continue;
            }
            let found = self.nodes.find(directory, part);
            let node = found.ok_or(WalkStop::Missing(directory, part))?;
            here = match node.kind {
                NodeKind::Directory(directory) => PathEnd::Directory(directory),
                NodeKind::Link(link) => PathEnd::Directory(self.turn(node, link, directory)?),
                _ => PathEnd::Node(node),
            };
        }
        Ok(here)
    }

    /// Returns the end of a link, or, after its target was put ahead, the start of that.
    fn turn(&mut self, node: &TreeNode, link: u32, directory: u32) -> Result<u32, WalkStop<'a>> {
        let target = self.nodes.bytes(node.value);
        if self.links == LINKS_MAX {
            return Err(WalkStop::Turns);
        }
        self.links += 1;
        if let Some(leads) = self.nodes.leads(link, node.value, directory) {
            return Ok(leads);
        }
        if std::str::from_utf8(target).is_err() {
            return Err(WalkStop::NotText);
        }
        // What is empty needs no room: a chain of links at paths' ends stays flat.
        if !self.ahead[self.depth].is_empty() {
            self.depth += 1;
        }
        self.ahead[self.depth] = target;
        Ok(if target.first() == Some(&b'/') { 0 } else { directory })
    }
}
