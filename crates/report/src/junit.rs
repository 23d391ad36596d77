//! Targets as JUnit XML, which every CI server shows: a suite for each target, a case for each
//! layer.
//!
//! A layer fails by findings at or above a severity. A layer whose verdict is not known is skipped,
//! so that unknown never looks like success. A target that could not be judged is an error.
//! Written as targets are judged; the counts, which readers may leave to themselves, stand at each
//! suite and not at the document's head. Sources: the schema that Jenkins validates with
//! (`junit-10.xsd`: elements, attributes and their order); Ant's `junitreport`, whose stricter
//! readers want every attribute of a suite, its properties and both of its outputs, and no output
//! of a case; and for the characters that may occur XML 1.0, section 2.2.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesStart, BytesText, Event};

use crate::check_document::{Finding, LayerReport, Target};
use crate::run::Run;
use crate::text::{one_line, xml_characters};
use crate::text_blocks::Blocks;
use stack::{Severity, Verdict};

type Xml = Writer<Blocks>;

/// The beginning of a document; [`junit_suite`] for each target and [`JUNIT_TAIL`] follow.
pub const JUNIT_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>";
/// The beginning of a suite, before its number.
const SUITE_HEAD: &str = "\n  <testsuite";
/// Package of all suites.
const PACKAGE: &str = "straddle.check";
/// Time of a suite and of a case: layers are judged, not run.
const TIME: (&str, &str) = ("time", "0");
/// The end of a document.
pub const JUNIT_TAIL: &str = "\n</testsuites>\n";

/// Text before [`junit_suite`] of the target with this number, from 0: a line feed, and the
/// beginning of the suite.
#[must_use]
pub fn junit_open(number: u64) -> String {
    format!("{SUITE_HEAD} id=\"{number}\"")
}

/// The suite of one target in a document of this `run`, after [`junit_open`]. Findings below
/// `fail_on` are mentioned, but fail nothing.
#[must_use]
pub fn junit_suite(target: &Target, fail_on: Severity, run: &Run) -> Blocks {
    let mut xml = Writer::new_with_indent(Blocks::default(), b' ', 2);
    suite(&mut xml, target, fail_on, run).expect("writing to memory does not fail");
    let mut suite = xml.into_inner();
    suite.cut(SUITE_HEAD.len());
    suite
}

/// The suite as within an element, so that it is indented.
fn suite(xml: &mut Xml, target: &Target, fail_on: Severity, run: &Run) -> io::Result<()> {
    xml.write_event(Event::Start(BytesStart::new("testsuites")))?;
    xml.get_mut().clear();
    Suite::of(target, fail_on).write(xml, run)
}

/// When a run started, to the second and without a zone.
fn timestamp(run: &Run) -> String {
    let to_second = run.started.get(..19).filter(|_| run.started.ends_with('Z'));
    xml_text(to_second.unwrap_or("1970-01-01T00:00:00"))
}

/// One target.
struct Suite<'a> {
    name: String,
    cases: Vec<TestCase<'a>>,
}

impl<'a> Suite<'a> {
    fn of(target: &'a Target, fail_on: Severity) -> Suite<'a> {
        let mut cases = Vec::new();
        if let Some(refusal) = &target.refusal {
            let outcome = CaseOutcome::Broken(&refusal.message, refusal.hint.as_deref());
            cases.push(TestCase { name: "target".to_owned(), outcome, notes: Vec::new() });
        }
        cases.extend(target.layers.iter().map(|layer| TestCase::of(layer, target, fail_on)));
        Suite { name: xml_text(&target.target), cases }
    }

    fn count(&self, is: fn(&CaseOutcome<'_>) -> bool) -> usize {
        self.cases.iter().filter(|case| is(&case.outcome)).count()
    }

    fn write(&self, xml: &mut Xml, run: &Run) -> io::Result<()> {
        let count = |is| self.count(is).to_string();
        let attributes = [
            ("package", PACKAGE.to_owned()),
            ("name", self.name.clone()),
            ("timestamp", timestamp(run)),
            ("hostname", xml_text(run.host.as_deref().unwrap_or("unknown"))),
            ("tests", self.cases.len().to_string()),
            ("failures", count(|outcome| matches!(outcome, CaseOutcome::Failed(_)))),
            ("errors", count(|outcome| matches!(outcome, CaseOutcome::Broken(..)))),
            ("skipped", count(|outcome| matches!(outcome, CaseOutcome::NotKnown(_)))),
            (TIME.0, TIME.1.to_owned()),
        ];
        element(xml, "testsuite", &attributes, |xml| {
            empty(xml, "properties", &[])?;
            self.cases.iter().try_for_each(|case| case.write(&self.name, xml))?;
            match self.mentioned() {
                notes if notes.is_empty() => empty(xml, "system-out", &[])?,
                notes => element(xml, "system-out", &[], |xml| text(xml, &notes))?,
            }
            empty(xml, "system-err", &[])
        })
    }

    /// Findings that fail nothing, each after the name of its case.
    fn mentioned(&self) -> String {
        let noted = self.cases.iter().filter(|case| !case.notes.is_empty());
        let noted = noted.map(|case| format!("{}:\n{}", case.name, paragraphs(&case.notes)));
        noted.collect::<Vec<_>>().join("\n")
    }
}

/// One layer, or a target that has none.
struct TestCase<'a> {
    name: String,
    outcome: CaseOutcome<'a>,
    /// Findings that fail nothing.
    notes: Vec<&'a Finding>,
}

enum CaseOutcome<'a> {
    Passed,
    Failed(Vec<&'a Finding>),
    NotKnown(&'a LayerReport),
    Broken(&'a str, Option<&'a str>),
}

impl<'a> TestCase<'a> {
    fn of(layer: &'a LayerReport, target: &'a Target, fail_on: Severity) -> TestCase<'a> {
        let findings = target.findings.iter().filter(|finding| finding.layer == layer.id);
        let (failures, notes): (Vec<_>, Vec<_>) =
            findings.partition(|finding| finding.severity >= fail_on);
        let outcome = match layer.verdict {
            _ if !failures.is_empty() => CaseOutcome::Failed(failures),
            Verdict::Unknown | Verdict::NotExpressible | Verdict::Undefined => {
                CaseOutcome::NotKnown(layer)
            }
            Verdict::Empty | Verdict::Aligned | Verdict::ChunkOnly | Verdict::Misaligned => {
                CaseOutcome::Passed
            }
        };
        let name = xml_text(&format!("{} ({})", layer.name, layer.kind.word()));
        TestCase { name, outcome, notes }
    }

    fn write(&self, suite: &str, xml: &mut Xml) -> io::Result<()> {
        let attributes = [
            ("classname", suite.to_owned()),
            ("name", self.name.clone()),
            (TIME.0, TIME.1.to_owned()),
        ];
        match self.outcome {
            CaseOutcome::Passed => empty(xml, "testcase", &attributes),
            _ => element(xml, "testcase", &attributes, |xml| self.outcome.write(xml)),
        }
    }
}

impl CaseOutcome<'_> {
    fn write(&self, xml: &mut Xml) -> io::Result<()> {
        match self {
            CaseOutcome::Passed => Ok(()),
            CaseOutcome::Failed(findings) => {
                let attributes = [("message", headline(findings)), ("type", codes(findings))];
                element(xml, "failure", &attributes, |xml| text(xml, &paragraphs(findings)))
            }
            CaseOutcome::NotKnown(layer) => {
                let reason = xml_text(&layer.reason);
                let words = layer.words();
                let message = match reason.is_empty() {
                    true => words.to_owned(),
                    false => format!("{words}: {reason}"),
                };
                empty(xml, "skipped", &[("message", message)])
            }
            CaseOutcome::Broken(message, hint) => {
                let attributes =
                    [("message", xml_text(message)), ("type", "not-judged".to_owned())];
                match hint {
                    Some(hint) => element(xml, "error", &attributes, |xml| {
                        text(xml, &format!("hint: {}", xml_text(hint)))
                    }),
                    None => empty(xml, "error", &attributes),
                }
            }
        }
    }
}

/// The first finding, and how many there are besides.
fn headline(findings: &[&Finding]) -> String {
    let first = findings.first().map_or_else(String::new, |finding| xml_text(&finding.title));
    match findings.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

fn codes(findings: &[&Finding]) -> String {
    findings.iter().map(|finding| xml_text(&finding.code)).collect::<Vec<_>>().join(" ")
}

/// Everything that findings say, a paragraph for each.
fn paragraphs(findings: &[&Finding]) -> String {
    let mut lines = Vec::new();
    for finding in findings {
        let Finding { code, severity, title, evidence, cost, remedies, .. } = finding;
        lines.push(xml_text(&format!("{code} {}: {title}", severity.word())));
        lines.extend(evidence.iter().map(|seen| xml_text(&format!("seen: {seen}"))));
        lines.extend(cost.iter().map(|cost| xml_text(&format!("cost: {}", cost.sentence))));
        lines.extend(remedies.iter().map(|fix| xml_text(&format!("fix: {fix}"))));
    }
    lines.join("\n")
}

/// One line of characters that XML may hold; all others as escapes. The writer sees to `<`, `&` and
/// quotes.
fn xml_text(text: &str) -> String {
    xml_characters(&one_line(text))
}

fn element(
    xml: &mut Xml,
    name: &str,
    attributes: &[(&str, String)],
    content: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let pairs = attributes.iter().map(|(key, value)| (*key, value.as_str()));
    xml.create_element(name).with_attributes(pairs).write_inner_content(content)?;
    Ok(())
}

fn empty(xml: &mut Xml, name: &str, attributes: &[(&str, String)]) -> io::Result<()> {
    let pairs = attributes.iter().map(|(key, value)| (*key, value.as_str()));
    xml.create_element(name).with_attributes(pairs).write_empty()?;
    Ok(())
}

fn text(xml: &mut Xml, text: &str) -> io::Result<()> {
    xml.write_event(Event::Text(BytesText::new(text)))
}
