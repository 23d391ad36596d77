//! Things that come and go, each at a place of its own while it is there.

/// Things by their places. It is as large as the most things that were there at once.
#[derive(Clone, Debug)]
pub(crate) struct Slab<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slab<T> {
    /// Nothing yet.
    pub(crate) fn new() -> Slab<T> {
        Slab { places: Vec::new(), free: Vec::new() }
    }

    /// Keeps `thing`; its place.
    pub(crate) fn insert(&mut self, thing: T) -> usize {
        let Some(place) = self.free.pop() else {
            self.places.push(Some(thing));
            return self.places.len() - 1;
        };
        self.places[place] = Some(thing);
        place
    }

    /// Takes out what is at `place`.
    ///
    /// # Panics
    /// When nothing is there.
    pub(crate) fn remove(&mut self, place: usize) -> T {
        let thing = self.places[place].take().expect("it is there");
        self.free.push(place);
        thing
    }

    /// Returns what is at `place`.
    ///
    /// # Panics
    /// When nothing is there.
    pub(crate) fn at(&mut self, place: usize) -> &mut T {
        self.places[place].as_mut().expect("it is there")
    }

    /// Returns how many things were there at once, at most.
    #[cfg(test)]
    pub(crate) fn most(&self) -> usize {
        self.places.len()
    }
}
