//! Warnings of an NVMe drive, beside its power-loss protection.
//!
//! Source: NVM Express Base Specification 2.1, "SMART / Health Information (Log Page Identifier
//! 02h)", byte 0, "Critical Warning".

use format::identify::nvme_health::Health;

use super::evidence::Warning;

/// Returns the meaning of each bit that is set.
pub(super) fn warnings(health: &Health) -> Vec<Warning> {
    let all = [
        (
            health.spare_low,
            Warning {
                says: "its spare blocks are below their threshold",
                source: "NVMe log page 02h, critical warning bit 0",
                change: "plan to replace the drive",
            },
        ),
        (
            health.temperature_off,
            Warning {
                says: "its temperature is beyond the thresholds that are set for it",
                source: "NVMe log page 02h, critical warning bit 1",
                change: "see to the drive's cooling",
            },
        ),
        (
            health.degraded,
            Warning {
                says: "it is less reliable, by errors of its media or within",
                source: "NVMe log page 02h, critical warning bit 2",
                change: "keep a copy elsewhere, and replace the drive",
            },
        ),
        (
            health.read_only,
            Warning {
                says: "its media take no more writes",
                source: "NVMe log page 02h, critical warning bit 3",
                change: "replace the drive",
            },
        ),
    ];
    all.into_iter().filter(|(is_set, _)| *is_set).map(|(_, warning)| warning).collect()
}

#[cfg(test)]
mod tests {
    use format::identify::nvme_health;

    use super::*;

    #[test]
    fn each_critical_warning_is_told_with_its_bit() {
        let warned = |warning: u8| {
            let mut page = [0; nvme_health::ANSWER_BYTES];
            (page[0], page[3]) = (warning, 100);
            warnings(&nvme_health::health(&page).unwrap().value)
        };
        for bit in 0..4_u8 {
            let [found] = warned(1 << bit)[..] else { panic!("one warning for bit {bit}") };
            assert!(found.source.ends_with(&format!("bit {bit}")), "{found:?}");
        }
        assert_eq!(warned(0b1111).len(), 4);
        assert_eq!(warned(0b1111_0000), [], "of protection, and of what no sync needs");
    }
}
