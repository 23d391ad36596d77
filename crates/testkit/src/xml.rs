//! XML, read back with a parser.

use quick_xml::Reader;
use quick_xml::events::Event;

/// The elements of an XML document in their order, each with its attributes.
#[derive(Debug)]
pub struct Xml(pub Vec<(String, Vec<(String, String)>)>);

impl Xml {
    /// Parses `text`.
    ///
    /// # Panics
    /// When it is not well-formed.
    #[must_use]
    #[track_caller]
    pub fn parse(text: &str) -> Xml {
        let mut reader = Reader::from_str(text);
        let mut elements = Vec::new();
        loop {
            match reader.read_event().expect("well-formed") {
                Event::Start(start) | Event::Empty(start) => {
                    let attributes = start.attributes().map(|attribute| {
                        let attribute = attribute.expect("a well-formed attribute");
                        let value = quick_xml::escape::unescape(&attribute.value).expect("escaped");
                        (attribute.key.as_ref().to_owned(), value.into_owned())
                    });
                    elements.push((start.name().as_ref().to_owned(), attributes.collect()));
                }
                Event::Eof => return Xml(elements),
                _ => {}
            }
        }
    }

    /// Returns the number of elements of that name.
    #[must_use]
    pub fn count(&self, name: &str) -> usize {
        self.0.iter().filter(|(element, _)| element == name).count()
    }

    /// An attribute of the first element of that name.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    #[track_caller]
    pub fn attribute(&self, name: &str, key: &str) -> &str {
        let (_, attributes) = self.0.iter().find(|(element, _)| element == name).expect("there");
        &attributes.iter().find(|(found, _)| found == key).expect("there").1
    }
}
