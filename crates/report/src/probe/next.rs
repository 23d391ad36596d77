//! What a person may do next.

use super::Probe;

/// What may help where something could not be told; `None` where nothing more is known to, and of a
/// dry run.
#[must_use]
pub fn next(probe: &Probe) -> Option<String> {
    if probe.dry_run || probe.refusal.is_some() || !probe.target.writes {
        return None;
    }
    let path = &probe.target.path;
    let (alignment, chunk) = (&probe.answers.alignment, &probe.answers.chunk);
    let is = |why: &str| {
        let all = [&alignment.why, &probe.answers.size.why, &chunk.why];
        all.iter().any(|one| one.as_deref() == Some(why))
    };
    match alignment.why.as_deref() {
        _ if is("noise") => Some(format!(
            "again when the drive is quiet, with more: straddle probe {path} --bytes-max 4G \
             --seconds 600"
        )),
        _ if is("contradiction") => Some(
            "--explain shows each comparison; go by what the drive's maker says meanwhile"
                .to_owned(),
        ),
        Some("no-signal") => Some(format!(
            "straddle bench {path} measures what misalignment costs small writes here; probe a \
             virtual disk on its host; meanwhile 4 KiB (ashift=12) and starts at multiples of 1 \
             MiB \
             suit nearly every drive"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Answers, FoundAlignment, ProbeTarget};
    use super::*;

    fn probe(alignment: Option<&str>, chunk: &str, writes: bool) -> Probe {
        let mut answers = Answers::not_tried("a test");
        answers.alignment.why = alignment.map(str::to_owned);
        if alignment.is_none() {
            answers.alignment.value = Some(FoundAlignment { bytes: 4096, origin_bytes: 0 });
        }
        answers.chunk.why = Some(chunk.to_owned());
        let target = ProbeTarget { path: "/data".to_owned(), writes, ..ProbeTarget::default() };
        Probe {
            schema: String::new(),
            version: String::new(),
            run: Default::default(),
            seed: 1,
            elapsed_ns: 0,
            dry_run: false,
            target,
            spent: Default::default(),
            answers,
            reported: Default::default(),
            comparisons: Vec::new(),
            tools: Vec::new(),
            kept: Default::default(),
            notes: Vec::new(),
            refusal: None,
        }
    }

    #[test]
    fn what_may_help_follows_from_why_it_cannot_be_told() {
        let said = |alignment, chunk| next(&probe(alignment, chunk, true)).unwrap_or_default();
        assert!(said(Some("noise"), "no-signal").contains("--bytes-max 4G"));
        assert!(said(None, "noise").contains("--seconds 600"));
        assert!(said(Some("contradiction"), "no-signal").contains("--explain"));
        assert!(said(Some("no-signal"), "no-signal").contains("straddle bench /data"));
        assert_eq!(said(None, "no-signal"), "");
        assert_eq!(next(&probe(Some("not-tried"), "noise", false)), None, "a note says it");
    }
}
