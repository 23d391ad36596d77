//! Whole documents in the views that are written target by target.

use report::{
    Document, Look, Shape, closing, element, head, lines, summary_line, tail, target_line, tree,
};

/// The view for people, with colours.
pub(crate) fn people(document: &Document, shape: Shape, look: &Look) -> String {
    let several = document.targets.len() > 1;
    let page: String = match shape {
        Shape::Tree => {
            let trees = document.targets.iter().map(|target| tree(target, several, look));
            trees.map(|tree| if several { tree + "\n" } else { tree }).collect()
        }
        Shape::Lines => lines(&document.targets, look),
    };
    let shown = u64::try_from(document.targets.len()).expect("a number of targets");
    page + &closing(&document.summary, shown, shape, look)
}

/// The document as it grows.
pub(crate) fn json(document: &Document) -> String {
    let mut text = head(&document.version, document.run.as_ref());
    for (number, target) in document.targets.iter().enumerate() {
        text += if number == 0 { "\n" } else { ",\n" };
        text += &element(target);
    }
    text + &tail(&document.summary, document.targets.is_empty())
}

/// A line for each target and one for the summary.
pub(crate) fn jsonl(document: &Document) -> String {
    let lines: String = document.targets.iter().map(target_line).collect();
    lines + &summary_line(&document.version, &document.summary)
}
