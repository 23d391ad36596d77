//! From text to a profile: the form by `serde`, then every value.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{DriveProfile, DriveProfileProblem, Form, Kind, Label, PROFILE_BYTES_MAX, Value};

/// A problem with its line, from 1.
type Refused = (usize, DriveProfileProblem);

/// The longest text behind a key, in bytes.
const TEXT_BYTES_MAX: usize = 1000;
/// The most notes.
const NOTES_MAX: usize = 32;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProfile {
    name: Spanned<String>,
    /// A built-in profile, which gives everything that this file leaves out.
    #[serde(default)]
    base: Option<Spanned<String>>,
    #[serde(default)]
    title: Option<Spanned<String>>,
    #[serde(default)]
    kind: Option<Spanned<String>>,
    #[serde(default)]
    member: Option<Spanned<String>>,
    #[serde(default)]
    notes: Vec<Spanned<String>>,
    #[serde(default)]
    values: BTreeMap<Spanned<String>, RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(expecting = "{ value = \"...\", label = \"predicted\", source = \"...\" }")]
struct RawValue {
    value: Spanned<String>,
    label: Spanned<String>,
    #[serde(default)]
    by: Option<Spanned<String>>,
    source: Spanned<String>,
}

/// The profile that `text` holds.
pub(super) fn profile(text: &str) -> Result<DriveProfile, Refused> {
    if text.len() > PROFILE_BYTES_MAX {
        return Err((1, DriveProfileProblem::TooLong { bytes: text.len() }));
    }
    let raw: RawProfile = toml::from_str(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        (line(text, at), DriveProfileProblem::Form { message: error.message().to_owned() })
    })?;
    Values { text }.profile(&raw)
}

/// The line, from 1, of the value called `name`.
pub(super) fn line_of(text: &str, name: &str) -> usize {
    let is_key = |line: &str| line.split('=').next().is_some_and(|key| key.trim() == name);
    text.lines().position(is_key).map_or(1, |place| place + 1)
}

/// The number, from 1, of the line that holds the byte `at`.
fn line(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// The values of a profile, with the text in which their lines are counted.
struct Values<'a> {
    text: &'a str,
}

impl Values<'_> {
    fn profile(&self, raw: &RawProfile) -> Result<DriveProfile, Refused> {
        let base = raw.base.as_ref().map(|name| self.base(name)).transpose()?;
        let kind = self.kind(raw, base.as_ref())?;
        let forms = kind.forms();
        if let Some(key) = raw.values.keys().find(|key| !has(&forms, key.get_ref())) {
            let keys: Vec<&str> = forms.iter().map(|form| form.key).collect();
            let (key_text, keys) = (clipped(key.get_ref()), keys.join(", "));
            let kind = kind.word();
            let problem = DriveProfileProblem::NoSuchValue { kind, key: key_text, keys };
            return Err(self.refused(key, problem));
        }
        let inherited = |key| base.as_ref()?.values.iter().find(|value| value.key == key).cloned();
        let value = |form: &Form| {
            if let Some((_, own)) = raw.values.iter().find(|(key, _)| key.get_ref() == form.key) {
                return self.value(*form, own);
            }
            let missing = DriveProfileProblem::Missing { kind: kind.word(), key: form.key };
            inherited(form.key).ok_or_else(|| self.refused(&raw.name, missing))
        };
        let inherited_notes = base.as_ref().map_or_else(Vec::new, |base| base.notes.clone());
        let notes = raw.notes.iter().map(|note| self.text("notes", note));
        let notes: Vec<String> = notes.collect::<Result<_, _>>()?;
        if let Some(note) = raw.notes.get(NOTES_MAX) {
            return Err(self.unreadable("notes", note, "one of 32 notes at most"));
        }
        Ok(DriveProfile {
            name: self.name(&raw.name)?,
            title: self.title(raw, base.as_ref())?,
            kind,
            member: self.member(kind, raw, base.as_ref())?,
            notes: [inherited_notes, notes].concat(),
            values: forms.iter().map(value).collect::<Result<_, _>>()?,
        })
    }

    /// The built-in profile that `name` says.
    fn base(&self, name: &Spanned<String>) -> Result<DriveProfile, Refused> {
        super::from_built_in(name.get_ref()).ok_or_else(|| {
            let names = super::built_in_names().collect::<Vec<_>>().join(", ");
            self.unreadable("base", name, &format!("one of {names}"))
        })
    }

    fn title(&self, raw: &RawProfile, base: Option<&DriveProfile>) -> Result<String, Refused> {
        match (&raw.title, base) {
            (Some(title), _) => self.text("title", title),
            (None, Some(base)) => Ok(base.title.clone()),
            (None, None) => {
                Err(self.refused(&raw.name, DriveProfileProblem::NoKey { key: "title" }))
            }
        }
    }

    /// The kind that the file says, which is also the kind of its base.
    fn kind(&self, raw: &RawProfile, base: Option<&DriveProfile>) -> Result<Kind, Refused> {
        let Some(word) = &raw.kind else {
            let missing = DriveProfileProblem::NoKey { key: "kind" };
            return base.map(|base| base.kind).ok_or_else(|| self.refused(&raw.name, missing));
        };
        let kinds: Vec<Kind> = base.map_or(Kind::ALL.to_vec(), |base| vec![base.kind]);
        let words: Vec<&str> = kinds.iter().map(|kind| kind.word()).collect();
        let found = kinds.iter().find(|kind| kind.word() == word.get_ref());
        let expects = format!("one of {}", words.join(", "));
        found.copied().ok_or_else(|| self.unreadable("kind", word, &expects))
    }

    /// The drive that it is made of, where its kind is made of one.
    fn member(
        &self,
        kind: Kind,
        raw: &RawProfile,
        base: Option<&DriveProfile>,
    ) -> Result<Option<String>, Refused> {
        match (&raw.member, kind.has_member()) {
            (Some(member), true) => Ok(Some(self.text("member", member)?)),
            (None, true) if base.is_some() => Ok(base.and_then(|base| base.member.clone())),
            (None, true) => {
                let problem = DriveProfileProblem::NoMember { kind: kind.word() };
                Err(self.refused(&raw.name, problem))
            }
            (Some(member), false) => {
                Err(self.refused(member, DriveProfileProblem::NotMade { kind: kind.word() }))
            }
            (None, false) => Ok(None),
        }
    }

    fn value(&self, form: Form, raw: &RawValue) -> Result<Value, Refused> {
        let Form { key, quantity } = form;
        let amount = quantity.read(raw.value.get_ref());
        let unreadable = || self.unreadable(key, &raw.value, &quantity.expects());
        let amount = amount.ok_or_else(unreadable)?;
        let source = self.text("source", &raw.source)?;
        Ok(Value { key, quantity, amount, label: self.label(key, raw)?, source })
    }

    fn label(&self, key: &str, raw: &RawValue) -> Result<Label, Refused> {
        let by = raw.by.as_ref().map(|by| self.text("by", by)).transpose()?;
        let label = raw.label.get_ref();
        match (label.as_str(), by) {
            ("predicted", None) => Ok(Label::Predicted),
            ("calibrated", Some(by)) => Ok(Label::Calibrated(by)),
            ("fitted", Some(by)) => Ok(Label::Fitted(by)),
            ("calibrated" | "fitted", None) => {
                let (key, label) = (key.to_owned(), label.clone());
                Err(self.refused(&raw.label, DriveProfileProblem::NoReason { key, label }))
            }
            _ => {
                let expects = "predicted, or calibrated or fitted with `by`";
                Err(self.unreadable("label", &raw.label, expects))
            }
        }
    }

    /// Returns what people type: letters, digits and hyphens.
    fn name(&self, value: &Spanned<String>) -> Result<String, Refused> {
        let name = value.get_ref();
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if (1..=40).contains(&name.len()) && name.bytes().all(is_part) {
            return Ok(name.clone());
        }
        Err(self.unreadable("name", value, "a name of at most 40 letters, digits and hyphens"))
    }

    /// A line of text for people.
    fn text(&self, key: &str, value: &Spanned<String>) -> Result<String, Refused> {
        let text = value.get_ref().trim();
        if (1..=TEXT_BYTES_MAX).contains(&text.len()) && !text.contains(char::is_control) {
            return Ok(text.to_owned());
        }
        let expects = format!("one line of text, of 1 to {TEXT_BYTES_MAX} bytes");
        Err(self.unreadable(key, value, &expects))
    }

    fn unreadable(&self, key: &str, at: &Spanned<String>, expects: &str) -> Refused {
        let (value, expects) = (clipped(at.get_ref()), expects.to_owned());
        self.refused(at, DriveProfileProblem::Unreadable { key: key.to_owned(), value, expects })
    }

    fn refused<T>(&self, at: &Spanned<T>, problem: DriveProfileProblem) -> Refused {
        (line(self.text, at.span().start), problem)
    }
}

fn has(forms: &[Form], key: &str) -> bool {
    forms.iter().any(|form| form.key == key)
}

/// As much of `text` as an error shows.
pub(super) fn clipped(text: &str) -> String {
    text.chars().take(80).collect()
}
