//! Makes a BSD disklabel.

/// One slot: length, start, type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    pub(crate) length: u64,
    pub(crate) start: u64,
    pub(crate) code: u8,
}

/// A label.
#[derive(Clone, Debug)]
pub(crate) struct Label {
    pub(crate) sector: u32,
    /// True if it has OpenBSD's version and 48-bit addresses.
    pub(crate) is_openbsd: bool,
    pub(crate) slots: Vec<Slot>,
}

pub(crate) fn slot(start: u64, length: u64, code: u8) -> Slot {
    Slot { length, start, code }
}

impl Label {
    /// The label's bytes.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![0; 148 + 16 * self.slots.len()];
        let magic = 0x8256_4557_u32.to_le_bytes();
        bytes[..4].copy_from_slice(&magic);
        bytes[132..136].copy_from_slice(&magic);
        bytes[40..44].copy_from_slice(&self.sector.to_le_bytes());
        let count = u16::try_from(self.slots.len()).expect("a made number fits");
        bytes[138..140].copy_from_slice(&count.to_le_bytes());
        bytes[114] = u8::from(self.is_openbsd);
        for (place, slot) in self.slots.iter().enumerate() {
            let at = 148 + 16 * place;
            let (length, start) = (slot.length.to_le_bytes(), slot.start.to_le_bytes());
            bytes[at..at + 4].copy_from_slice(&length[..4]);
            bytes[at + 4..at + 8].copy_from_slice(&start[..4]);
            if self.is_openbsd {
                bytes[at + 8..at + 10].copy_from_slice(&start[4..6]);
                bytes[at + 10..at + 12].copy_from_slice(&length[4..6]);
            }
            bytes[at + 12] = slot.code;
        }
        let words = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
        let sum = words.fold(0, |sum, word| sum ^ word);
        bytes[136..138].copy_from_slice(&sum.to_le_bytes());
        bytes
    }
}
