//! Results on their way out: each format takes one target after the other and keeps as few as it
//! can.

use std::io::Write;

use report::{Document, Look, Shape, Summary, Target};

use crate::arguments::{Check, Format};
use crate::printer;

/// Takes results in order.
pub(crate) trait Show {
    /// Before the first target.
    fn begin(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// One target.
    fn target(&mut self, target: &Target) -> anyhow::Result<()>;

    /// After the last target.
    fn end(&mut self, summary: &Summary) -> anyhow::Result<()>;
}

/// What shows results as `check` asks, onto `output`.
pub(crate) fn shower<'a>(
    check: &Check,
    many: bool,
    output: &'a mut dyn Write,
) -> Box<dyn Show + 'a> {
    match check.chosen() {
        Format::Table => {
            let look = Look {
                width: Some(printer::width()),
                ascii: printer::is_ascii(),
                bytes: check.bytes,
                explain: check.explain,
            };
            let shape = if many && !check.explain { Shape::Lines } else { Shape::Tree };
            Box::new(People { output, look, shape, many, held: Vec::new(), shown: 0 })
        }
        Format::Json => Box::new(Json { output, first: true }),
        Format::Jsonl => Box::new(Jsonl { output }),
        format @ (Format::Junit | Format::Sarif) => {
            // Where nothing fails the command, the worst still fails its case.
            let severity = check.fail_on.severity().unwrap_or(report::Severity::Error);
            Box::new(Whole { output, format, severity, targets: Vec::new() })
        }
    }
}

/// How many lines are put into columns together.
const BATCH: usize = 256;

/// A tree for each target, or lines in columns.
struct People<'a> {
    output: &'a mut dyn Write,
    look: Look,
    shape: Shape,
    many: bool,
    held: Vec<Target>,
    shown: u64,
}

impl People<'_> {
    fn flush(&mut self) -> anyhow::Result<()> {
        let lines = report::lines(&self.held, &self.look);
        self.held.clear();
        Ok(self.output.write_all(lines.as_bytes())?)
    }
}

impl Show for People<'_> {
    fn target(&mut self, target: &Target) -> anyhow::Result<()> {
        self.shown += 1;
        match self.shape {
            Shape::Tree => {
                if self.shown > 1 {
                    self.output.write_all(b"\n")?;
                }
                let tree = report::tree(target, self.many, &self.look);
                self.output.write_all(tree.as_bytes())?;
            }
            Shape::Lines => {
                self.held.push(target.clone());
                if self.held.len() >= BATCH {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> anyhow::Result<()> {
        self.flush()?;
        if self.many && self.shape == Shape::Tree && self.shown > 0 {
            self.output.write_all(b"\n")?;
        }
        let closing = report::closing(summary, self.shown, self.shape, &self.look);
        Ok(self.output.write_all(closing.as_bytes())?)
    }
}

/// One document, written as it grows.
struct Json<'a> {
    output: &'a mut dyn Write,
    first: bool,
}

impl Show for Json<'_> {
    fn begin(&mut self) -> anyhow::Result<()> {
        let head = report::head(env!("CARGO_PKG_VERSION"));
        Ok(self.output.write_all(head.as_bytes())?)
    }

    fn target(&mut self, target: &Target) -> anyhow::Result<()> {
        let element = report::element(target, self.first);
        self.first = false;
        Ok(self.output.write_all(element.as_bytes())?)
    }

    fn end(&mut self, summary: &Summary) -> anyhow::Result<()> {
        Ok(self.output.write_all(report::tail(summary, self.first).as_bytes())?)
    }
}

/// One line for each target, and one for the summary.
struct Jsonl<'a> {
    output: &'a mut dyn Write,
}

impl Show for Jsonl<'_> {
    fn target(&mut self, target: &Target) -> anyhow::Result<()> {
        Ok(self.output.write_all(report::target_line(target).as_bytes())?)
    }

    fn end(&mut self, summary: &Summary) -> anyhow::Result<()> {
        Ok(self
            .output
            .write_all(report::summary_line(env!("CARGO_PKG_VERSION"), summary).as_bytes())?)
    }
}

/// Formats that count before they list: everything is kept until the end.
struct Whole<'a> {
    output: &'a mut dyn Write,
    format: Format,
    severity: report::Severity,
    targets: Vec<Target>,
}

impl Show for Whole<'_> {
    fn target(&mut self, target: &Target) -> anyhow::Result<()> {
        self.targets.push(target.clone());
        Ok(())
    }

    fn end(&mut self, summary: &Summary) -> anyhow::Result<()> {
        let document = Document {
            schema: report::document::SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            targets: std::mem::take(&mut self.targets),
            summary: summary.clone(),
        };
        let text = match self.format {
            Format::Junit => report::junit(&document, self.severity),
            _ => {
                let rules: Vec<report::RuleInfo<'_>> = stack::rule::RULES
                    .iter()
                    .map(|rule| report::RuleInfo {
                        code: rule.code,
                        title: rule.title,
                        why: rule.why,
                        help_uri: None,
                    })
                    .collect();
                report::sarif(&document, &rules)
            }
        };
        Ok(self.output.write_all(text.as_bytes())?)
    }
}
