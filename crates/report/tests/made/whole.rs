//! Whole documents in the views that are written target by target.

use report::{
    Document, Look, Notifications, RuleInfo, ViewShape, closing, element, head, lines, sarif_head,
    sarif_results, summary_line, tail, target_line, tree,
};

/// The view for people, with colors.
pub(crate) fn people(document: &Document, shape: ViewShape, look: &Look) -> String {
    let several = document.targets.len() > 1;
    let page: String = match shape {
        ViewShape::Tree => {
            let trees = document.targets.iter().map(|target| tree(target, several, look));
            trees.map(|tree| if several { tree + "\n" } else { tree }).collect()
        }
        ViewShape::Lines => lines(&document.targets, look),
    };
    let shown = u64::try_from(document.targets.len()).expect("a number of targets");
    page + &closing(&document.summary, shown, &[], shape, look)
}

/// The document as it grows.
pub(crate) fn json(document: &Document) -> String {
    let mut text = head(&document.envelope);
    for (number, target) in document.targets.iter().enumerate() {
        text += if number == 0 { "\n" } else { ",\n" };
        text += &element(target).to_string();
    }
    text + &tail(&document.envelope, &document.summary, document.targets.is_empty())
}

/// A line for each target and one for the summary.
pub(crate) fn jsonl(document: &Document) -> String {
    let lines: String =
        document.targets.iter().map(|target| target_line(target).to_string()).collect();
    lines + &summary_line(&document.envelope.version, &document.summary)
}

/// A log with one run.
pub(crate) fn sarif(document: &Document, rules: &[RuleInfo<'_>]) -> String {
    let mut text = sarif_head(&document.envelope.version, rules);
    let mut notifications = Notifications::default();
    let mut is_empty = true;
    for target in &document.targets {
        notifications.take(target);
        let results = sarif_results(target, rules);
        if !results.is_empty() {
            text += if is_empty { "\n" } else { ",\n" };
            text += &results.to_string();
            is_empty = false;
        }
    }
    text + &notifications.sarif_tail(is_empty)
}
