//! ATA SMART READ DATA: the attributes of a drive's health.
//!
//! The frame is that of ATA8-ACS, "SMART READ DATA"; what fills it, thirty attributes of twelve
//! bytes, is each maker's own and stands in no standard. The layout is that of smartmontools'
//! `atacmds.h` (`ata_smart_attribute`). What an attribute means is decided elsewhere.

use super::{NoAnswer, head};
use crate::{Parsed, Problem, ProblemKind};

/// The length of the answer in bytes.
pub const ANSWER_BYTES: usize = 512;
/// Number of attributes it has room for, from byte 2 on, and how long each is.
const ATTRIBUTES: usize = 30;
const ATTRIBUTE_BYTES: usize = 12;

/// One attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its number, 1 to 255.
    pub number: u8,
    /// The value by the maker's scale, where more is better; 1 to 253 are in use.
    pub value: u8,
    /// The lowest value that there was.
    pub worst: u8,
    /// The six bytes of the maker's own, as a little-endian number.
    pub raw: u64,
}

/// A drive's report of its health.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    /// The attributes in their order; numbers may occur twice.
    pub attributes: Vec<Attribute>,
}

impl Health {
    /// The first attribute with `number`.
    #[must_use]
    pub fn attribute(&self, number: u8) -> Option<Attribute> {
        self.attributes.iter().find(|attribute| attribute.number == number).copied()
    }
}

/// The facts of the answer. A wrong checksum is a problem; the attributes stand as they are.
///
/// # Errors
/// When it is shorter than 512 bytes, or all zeros.
pub fn health(bytes: &[u8]) -> Result<Parsed<Health>, NoAnswer> {
    let block = head::<ANSWER_BYTES>("ATA SMART READ DATA", bytes)?;
    let mut problems = Vec::new();
    let sum = block.0.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
    if sum != 0 {
        let detail = format!("the bytes add up to {sum}, and should to 0");
        problems.push(Problem::new(ProblemKind::Checksum, 511, detail));
    }
    let rows = block.0[2..].chunks_exact(ATTRIBUTE_BYTES).take(ATTRIBUTES);
    let attributes = rows.filter(|row| row[0] != 0).map(|row| Attribute {
        number: row[0],
        value: row[3],
        worst: row[4],
        raw: row[5..11].iter().rev().fold(0, |raw, &byte| raw << 8 | u64::from(byte)),
    });
    Ok(Parsed { value: Health { attributes: attributes.collect() }, problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer with these attributes: number, value, raw.
    fn answer(rows: &[(u8, u8, u64)]) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        bytes[0] = 1;
        for (row, &(number, value, raw)) in bytes[2..].chunks_exact_mut(12).zip(rows) {
            row[0] = number;
            (row[3], row[4]) = (value, value);
            row[5..11].copy_from_slice(&raw.to_le_bytes()[..6]);
        }
        let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        bytes[511] = sum.wrapping_neg();
        bytes
    }

    #[test]
    fn attributes_are_found_by_number_with_value_and_raw() {
        let found = health(&answer(&[(9, 100, 4711), (175, 1, 0x0102_0304_0506)])).unwrap();
        assert_eq!(found.problems, []);
        let test = found.value.attribute(175).unwrap();
        assert_eq!((test.value, test.worst, test.raw), (1, 1, 0x0102_0304_0506));
        assert_eq!(found.value.attribute(9).unwrap().raw, 4711);
        assert_eq!(found.value.attribute(233), None);
    }

    #[test]
    fn a_wrong_checksum_is_a_problem_and_a_full_table_ends() {
        let mut bytes = answer(&[(1, 2, 3); 40]);
        assert_eq!(health(&bytes).unwrap().value.attributes.len(), 30);
        bytes[500] = bytes[500].wrapping_add(1);
        assert_eq!(health(&bytes).unwrap().problems[0].kind, ProblemKind::Checksum);
    }

    #[test]
    fn an_answer_that_is_short_or_empty_says_nothing() {
        assert!(matches!(health(&[1; 100]), Err(NoAnswer::Short { .. })));
        assert!(matches!(health(&[0; 512]), Err(NoAnswer::Zeros { .. })));
    }
}
