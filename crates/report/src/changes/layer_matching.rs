//! Layers of one look found again in the other.

use std::collections::HashMap;

use stack::LayerType;

use crate::check_document::LayerReport;
use crate::text::one_line;

/// The parts of a path that are shown; a hostile document may have any number.
const PARTS: usize = 16;

/// Identity of a layer: the place of the layer that it lies on, its kind, its name, and
/// its number among those of which all that is the same. A layer on several others begins a path
/// of its own, so that an array with one member less is still that array.
type Key = (Option<Place>, LayerType, String, usize);

/// A layer's number, the same in both looks.
pub(super) type Place = usize;

/// The places of all layers of both looks.
#[derive(Debug, Default)]
pub(super) struct Paths {
    places: HashMap<Key, Place>,
    /// The place beneath each, and its name.
    names: Vec<(Option<Place>, String)>,
}

impl Paths {
    /// The place of each layer of one look, in their order.
    pub(super) fn places(&mut self, layers: &[LayerReport]) -> Vec<Place> {
        let mut of_id: HashMap<u32, Place> = HashMap::new();
        let mut counts: HashMap<(Option<Place>, LayerType, &str), usize> = HashMap::new();
        let mut places = Vec::with_capacity(layers.len());
        for layer in layers {
            // Only layers before it count, so that there are no circles, whatever a file says.
            let under = match layer.below.as_slice() {
                [below] => of_id.get(below).copied(),
                _ => None,
            };
            let count = counts.entry((under, layer.kind, &*layer.name)).or_default();
            let key = (under, layer.kind, layer.name.clone(), *count);
            *count += 1;
            let next = self.names.len();
            let place = *self.places.entry(key).or_insert(next);
            if place == next {
                self.names.push((under, layer.name.clone()));
            }
            of_id.insert(layer.id, place);
            places.push(place);
        }
        places
    }

    /// The names on the way to a place: `sda/sda1`. Where there are too many, the last ones.
    pub(super) fn name(&self, place: Place) -> String {
        let mut names = Vec::new();
        let mut next = Some(place);
        while let Some((under, name)) = next.and_then(|place| self.names.get(place)) {
            if names.len() == PARTS {
                names.push("...".to_owned());
                break;
            }
            names.push(one_line(name));
            next = *under;
        }
        names.reverse();
        names.join("/")
    }
}
