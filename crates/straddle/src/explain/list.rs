//! Lists what can be explained, group by group.

use stack::rule::RULES;
use workload::Engines;

use super::page::wrap;
use crate::lexicon::{GROUPS, PageGroup, pages};

/// The word for the codes, which have their own table.
const RULES_WORD: &str = "rules";
const RULES_TITLE: &str = "Rules: codes in the output of straddle check";
/// The word for engines, which are read from their profiles.
const ENGINES_WORD: &str = "engines";
const ENGINES_TITLE: &str = "Engines: what each writes, and how long it can wait";
/// The column in which titles begin, where a name is not longer.
const NAME_WIDTH: usize = 22;

pub(super) fn all() -> String {
    let mut out = rules();
    for group in GROUPS {
        out.push('\n');
        out += &of_group(group);
    }
    out.push('\n');
    out += &engines();
    out + "\nHistory  (straddle explain history)\n  what each partitioner did by default\n"
}

/// The list of one group, by its word.
pub(super) fn group(word: &str) -> Option<String> {
    if word.eq_ignore_ascii_case(RULES_WORD) {
        return Some(rules());
    }
    if word.eq_ignore_ascii_case(ENGINES_WORD) {
        return Some(engines());
    }
    GROUPS.iter().find(|group| group.word.eq_ignore_ascii_case(word)).map(of_group)
}

fn rules() -> String {
    let mut out = head(RULES_TITLE, RULES_WORD);
    for rule in RULES {
        out += &line(rule.code, rule.code.len(), rule.title);
    }
    out
}

fn engines() -> String {
    let mut out = head(ENGINES_TITLE, ENGINES_WORD);
    for profile in Engines::built_in().iter() {
        out += &line(&profile.name, NAME_WIDTH, &profile.title);
    }
    out + "A profile to copy for an engine of your own: straddle explain engine profile\n"
}

fn of_group(group: &'static PageGroup) -> String {
    let mut out = head(group.title, group.word);
    for page in pages().iter().filter(|page| page.group == group) {
        out += &line(page.name, NAME_WIDTH, page.title);
    }
    out
}

/// `title` beside `name`, which takes `columns`; a longer name stands on a line of its own.
fn line(name: &str, columns: usize, title: &str) -> String {
    let indent = " ".repeat(columns + 4);
    let (mut out, first) = match name.chars().count() > columns {
        true => (format!("  {name}\n"), indent.clone()),
        false => (String::new(), format!("  {name:<columns$}  ")),
    };
    wrap(&mut out, title, &first, &indent);
    out
}

fn head(title: &str, word: &str) -> String {
    format!("{title}  (straddle explain {word})\n")
}

#[cfg(test)]
mod tests {
    use durability::Grade;
    use measure::engine_verdict::Fitness;
    use measure::probe::Unidentified;

    use super::*;
    use crate::lexicon;

    #[test]
    fn no_group_hides_a_page() {
        for group in GROUPS {
            assert!(pages().iter().all(|page| page.words().all(|word| word != group.word)));
        }
    }

    #[test]
    fn every_word_that_fsync_and_probe_answer_with_has_a_page() {
        let fitness = [Fitness::Pass, Fitness::Warn, Fitness::Fail, Fitness::NotEnough];
        let grades =
            [Grade::Consistent, Grade::Unproven, Grade::Opaque, Grade::Suspect, Grade::NotDurable];
        let unidentified = [
            Unidentified::NoSignal,
            Unidentified::Noise,
            Unidentified::Contradiction,
            Unidentified::NotTried,
        ];
        let words = (fitness.map(Fitness::word).into_iter())
            .chain(grades.map(Grade::word))
            .chain(unidentified.map(Unidentified::word))
            // What stands before a line of a table, or in a sentence.
            .chain([
                "rare stalls",
                "void",
                "ceiling",
                "sustained",
                "cannot tell",
                "chunk",
                "members",
            ])
            .chain([
                "rotation",
                "RMW cost",
                "granule",
                "p99",
                "power-loss protection",
                "write cache",
            ]);
        for word in words {
            assert!(lexicon::find(word).is_some(), "{word}");
        }
    }

    #[test]
    fn no_engine_hides_a_page_or_a_rule() {
        for profile in Engines::built_in().iter() {
            let hides = |word: &str| word.eq_ignore_ascii_case(&profile.name);
            assert!(!pages().iter().any(|page| page.words().any(hides)), "{}", profile.name);
            assert!(!GROUPS.iter().any(|group| hides(group.word)), "{}", profile.name);
        }
    }
}
