//! Slots that are free, pushed or in flight: the promises of `Queue::push`, checked.

use device::{Action, Operation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    Free,
    Taken,
}

#[derive(Debug)]
pub(super) struct Slots {
    states: Vec<SlotState>,
    files: usize,
    slot_bytes: usize,
}

impl Slots {
    pub(super) fn new(slots: u16, files: usize, slot_bytes: usize) -> Slots {
        Slots { states: vec![SlotState::Free; slots.into()], files, slot_bytes }
    }

    /// Takes the slot of `operation`.
    ///
    /// # Panics
    /// When the slot has an operation already, when there is no such slot or file, or when the
    /// operation is longer than the buffer or lies where no file has bytes.
    #[inline]
    pub(super) fn take(&mut self, operation: &Operation) {
        let Operation { action, file, slot, offset_bytes, length_bytes } = *operation;
        assert!(usize::from(file) < self.files, "there is no file {file}");
        let moves = !matches!(action, Action::Sync(_));
        let fits = usize::try_from(length_bytes).is_ok_and(|length| length <= self.slot_bytes);
        assert!(fits || !moves, "{length_bytes} bytes are longer than the buffer");
        // pwritev2(2) takes -1 for "where the file stands", which is nowhere here.
        assert!(i64::try_from(offset_bytes).is_ok(), "no file has a byte {offset_bytes}");
        let state = self.states.get_mut(usize::from(slot));
        let state = state.unwrap_or_else(|| panic!("there is no slot {slot}"));
        assert_eq!(*state, SlotState::Free, "slot {slot} has an operation");
        *state = SlotState::Taken;
    }

    /// Frees `slot`, whose operation was reaped.
    #[inline]
    pub(super) fn free(&mut self, slot: u16) {
        self.states[usize::from(slot)] = SlotState::Free;
    }

    /// Returns whether `slot` has no operation.
    pub(super) fn is_free(&self, slot: u16) -> bool {
        self.states.get(usize::from(slot)) != Some(&SlotState::Taken)
    }
}
