//! Labels of a node, as a file in `features.d` of Kubernetes' node-feature-discovery. Sources: its
//! "Customization guide", section "Feature files"; Kubernetes, "Labels and Selectors".

use super::{comment, granule, heading};
use crate::device_facts::DeviceFacts;

/// Longest name of a label.
const NAME_MAX: usize = 63;

pub(super) fn lines(device: &DeviceFacts) -> String {
    let name = |key: &str| {
        let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
        let device: String = device.name.trim_matches('/').chars().map(plain).collect();
        let room = NAME_MAX - "straddle-.".len() - key.len();
        let device = device.get(..room).unwrap_or(&device).trim_matches('-');
        format!("straddle-{key}.{device}")
    };
    let granule = match granule(device) {
        Ok(granule) => format!(
            "{}{}={}\n",
            comment("granule", Some(granule)),
            name("granule-bytes"),
            granule.number
        ),
        Err(unknown) => unknown,
    };
    let durable = match device.grade {
        Some(grade) => format!(
            "# durable writes: {}, by straddle fsync\n{}={}\n",
            grade.word(),
            name("durable-writes"),
            grade.word()
        ),
        None => "# durable writes: unknown: no result of straddle fsync was given\n".to_owned(),
    };
    format!("{}{granule}{durable}", heading(device))
}
