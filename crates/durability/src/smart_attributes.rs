//! SMART attributes of ATA drives: the test of the power-loss capacitors, and the life that is
//! used.
//!
//! They are each maker's own. Which mean what is a table by model, after smartmontools'
//! `drivedb.h`; of other models nothing is taken.

use format::identify::ata_health::{self, Attribute};
use units::{Known, Source};

use super::evidence::{DriveWord, Protection};

/// Meaning of one maker's attributes.
struct Maker {
    /// Starts of model names.
    models: &'static [&'static str],
    /// The attribute whose value is below its threshold, 10, when the last test of the capacitors
    /// failed.
    protection: Option<u8>,
    /// The attribute whose value falls from 100 with the life that is left.
    life: u8,
}

/// A value at or below this is a failed test; a good one is 100.
const TEST_THRESHOLD: u8 = 10;
/// The value of a test that was put off, since the drive was too hot.
const TEST_TOO_HOT: u8 = 11;

/// Source: smartmontools `drivedb.h`: the entries of Intel's and Solidigm's data center drives
/// (175 `Power_Loss_Cap_Test`, 233 `Media_Wearout_Indicator`), Samsung's (177
/// `Wear_Leveling_Count`), Crucial's and Micron's (202 `Percent_Lifetime_Remain`), Kingston's and
/// SandForce's (231 `SSD_Life_Left`).
const MAKERS: &[Maker] = &[
    Maker { models: &["INTEL SSDSC2", "SSDSC2", "SOLIDIGM"], protection: Some(175), life: 233 },
    Maker { models: &["SAMSUNG", "Samsung"], protection: None, life: 177 },
    Maker { models: &["Crucial", "CT", "Micron", "MICRON", "MTFD"], protection: None, life: 202 },
    Maker { models: &["KINGSTON", "OCZ", "Corsair"], protection: None, life: 231 },
];

/// Takes into `word` what the attributes of a drive of this `model` say, or why none do.
pub(super) fn of_ata(
    word: &mut DriveWord,
    model: &str,
    health: Result<ata_health::Health, String>,
) {
    let health = match health {
        Ok(health) => health,
        Err(reason) => {
            word.protection_source = reason.clone();
            word.life_used_percent = Known::no(reason);
            return;
        }
    };
    let begins = |maker: &&Maker| maker.models.iter().any(|start| model.starts_with(start));
    let Some(maker) = MAKERS.iter().find(begins) else {
        let reason = "what the SMART attributes of this model mean is not known here";
        word.protection_source = reason.to_owned();
        word.life_used_percent = Known::no(reason);
        return;
    };
    let test = maker.protection.and_then(|number| health.attribute(number));
    (word.protection, word.protection_source) = tested(test);
    word.life_used_percent = match health.attribute(maker.life) {
        Some(life) if life.value <= 100 => Known::yes(100 - life.value, Source::Identify),
        Some(life) => Known::no(format!("attribute {} is {}", maker.life, life.value)),
        None => Known::no(format!("the drive has no attribute {}", maker.life)),
    };
}

/// Returns the result of the test of the capacitors.
fn tested(test: Option<Attribute>) -> (Protection, String) {
    let Some(test) = test else {
        return (Protection::Unknown, "this model reports no test of it".to_owned());
    };
    let named = format!("ATA attribute {} is {}", test.number, test.value);
    match test.value {
        ..=TEST_THRESHOLD => (Protection::Failed, named),
        TEST_TOO_HOT => (Protection::Unknown, format!("{named}: too hot to test")),
        _ => (Protection::Good, named),
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;

    use super::*;
    use crate::drive_protection::drive_word;

    fn word() -> DriveWord {
        drive_word(&MemoryTree::new(), "sda")
    }

    fn attribute(number: u8, value: u8) -> ata_health::Health {
        let attribute = Attribute { number, value, worst: value, raw: 0 };
        ata_health::Health { attributes: vec![attribute] }
    }

    #[test]
    fn the_test_of_capacitors_is_good_failed_or_unknown() {
        let found = |model: &str, number, value| {
            let mut word = word();
            of_ata(&mut word, model, Ok(attribute(number, value)));
            word
        };
        assert_eq!(found("INTEL SSDSC2BB480G4", 175, 100).protection, Protection::Good);
        assert_eq!(found("INTEL SSDSC2BB480G4", 175, 1).protection, Protection::Failed);
        assert_eq!(found("INTEL SSDSC2BB480G4", 175, 11).protection, Protection::Unknown);
        // The same number counts failed programs elsewhere.
        assert_eq!(found("Samsung SSD 860", 175, 1).protection, Protection::Unknown);
        assert_eq!(found("WDC WD20EFRX", 175, 1).protection, Protection::Unknown);
    }

    #[test]
    fn life_is_taken_from_the_makers_own_attribute_only() {
        let used = |model: &str, number, value| {
            let mut word = word();
            of_ata(&mut word, model, Ok(attribute(number, value)));
            word.life_used_percent.value().copied()
        };
        assert_eq!(used("INTEL SSDSC2BB480G4", 233, 97), Some(3));
        assert_eq!(used("Samsung SSD 860", 177, 40), Some(60));
        assert_eq!(used("Samsung SSD 860", 233, 40), None);
        assert_eq!(used("Micron_5200", 202, 200), None);
        assert_eq!(used("WDC WD20EFRX", 231, 40), None);
    }
}
