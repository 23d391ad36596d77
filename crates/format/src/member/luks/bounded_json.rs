//! Pieces of JSON that stay small whatever stands there: at most [`ENTRIES`] of a kind, and no text
//! above [`TEXT_BYTES`]. A hostile header of 4 MiB so costs no more memory than itself; serde_json
//! bounds the depth.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use units::DiskText;

/// cryptsetup allows 32 segments.
const ENTRIES: usize = 32;
/// Longer than any name or number that cryptsetup writes.
const TEXT_BYTES: usize = 255;

/// The members of an object, at most [`ENTRIES`].
pub(super) struct Few<T>(pub(super) Vec<(Short, T)>);

/// The texts of an array, at most [`ENTRIES`].
#[derive(Default)]
pub(super) struct Names(pub(super) Vec<Short>);

/// A text of at most [`TEXT_BYTES`].
pub(super) struct Short(pub(super) String);

impl Short {
    pub(super) fn text(&self) -> DiskText {
        DiskText::from(self.0.as_str())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Few<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Few<T>, D::Error> {
        from.deserialize_map(FewVisitor(PhantomData))
    }
}

struct FewVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
    type Value = Few<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object of at most {ENTRIES} members")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Few<T>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            if members.len() == ENTRIES {
                return Err(de::Error::custom(format!("more than {ENTRIES} members")));
            }
            members.push(member);
        }
        Ok(Few(members))
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Names, D::Error> {
        from.deserialize_seq(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an array of at most {ENTRIES} texts")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = sequence.next_element()? {
            if names.len() == ENTRIES {
                return Err(de::Error::custom(format!("more than {ENTRIES} texts")));
            }
            names.push(name);
        }
        Ok(Names(names))
    }
}

impl<'de> Deserialize<'de> for Short {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Short, D::Error> {
        from.deserialize_str(ShortVisitor)
    }
}

struct ShortVisitor;

impl Visitor<'_> for ShortVisitor {
    type Value = Short;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text of at most {TEXT_BYTES} bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Short, E> {
        if text.len() > TEXT_BYTES {
            return Err(E::custom(format!("a text of {} bytes", text.len())));
        }
        Ok(Short(text.to_owned()))
    }
}
