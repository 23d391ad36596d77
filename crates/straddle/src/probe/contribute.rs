//! `probe --contribute`: the file of a measured drive for the folder `drives/`, without anything
//! that tells one drive or host from another.

use std::path::Path;

use anyhow::bail;
use measure::probe::{Granule, WriteAnswers};
use report::probe::{
    DriveClaims, MEASURED_DRIVE_LICENSE, MEASURED_DRIVE_SCHEMA, MeasuredDrive, MeasuredUnit,
    Probe as Document,
};
use report::{Envelope, Refusal};
use stack::drive::KernelDrive;

use super::measuring::ProbeResults;
use super::open_target::OpenTarget;
use super::preview;
use super::session::Session;
use crate::arguments::is_standard_output;
use crate::shared::destination::{Destination, MEASURED_DRIVE};
use crate::shared::drive_table::model_state;
use crate::shared::measure_target::MeasureTarget;
use crate::world::ScratchSpace;

/// The file that `--contribute` names; `None` where it names none. Nothing is written yet.
///
/// # Errors
/// When no measured drive can be written there.
pub(super) fn destination(path: Option<&Path>) -> anyhow::Result<Option<Destination>> {
    if path.is_some_and(is_standard_output) {
        bail!(
            "cannot contribute to standard output: the result is printed there\n\
             hint: name a file: --contribute drive.toml"
        );
    }
    path.map(|path| Destination::new(MEASURED_DRIVE, path)).transpose()
}

/// Refuses to begin where the drive of `target` has nothing that could be contributed. Where the
/// drive is not known before the run, [`text`] says so after it.
///
/// # Errors
/// With the reason.
pub(super) fn preflight(run: &Session<'_>, target: &MeasureTarget) -> Result<(), Refusal> {
    let is_wanted = run.probe.contribute.is_some();
    let Some(place) = is_wanted.then(|| preview::glance(run, target)).flatten() else {
        return Ok(());
    };
    let named = match (&place.cached, &place.drive) {
        (Some(name), _) => Err(format!("the page cache below {name} lies above the drive")),
        (None, Some(drive)) => model_state(&KernelDrive::read(run.inspected.tree(), &drive.name)),
        (None, None) => Err("the target lies on several drives".to_owned()),
    };
    named.map(drop).map_err(|reason| {
        let path = units::text::shell_word(&run.probe.target.to_string_lossy());
        let hint = format!("for this machine alone: straddle probe {path}");
        Refusal::hinted(format!("cannot contribute a measurement: {reason}"), hint)
    })
}

/// Returns the file's text.
///
/// # Errors
/// With the reason why there is nothing to contribute.
pub(super) fn text(
    opened: &OpenTarget<impl ScratchSpace>,
    found: &ProbeResults,
    document: &Document,
) -> Result<String, String> {
    let drive = opened.drive.as_ref().map_err(Clone::clone)?;
    let Some(WriteAnswers { granule, .. }) = &found.written else {
        return Err("reads do not show what writes cost".to_owned());
    };
    of_granule(drive, granule, opened.sector_bytes, &document.envelope)
}

fn of_granule(
    drive: &KernelDrive,
    granule: &Granule,
    step_bytes: u64,
    Envelope { version, run, .. }: &Envelope,
) -> Result<String, String> {
    if granule.alignment.value().is_none() {
        return Err("no granule was found".to_owned());
    }
    let (model, firmware, format) = model_state(drive)?;
    let drive = MeasuredDrive {
        schema: MEASURED_DRIVE_SCHEMA.to_owned(),
        license: MEASURED_DRIVE_LICENSE.to_owned(),
        version: version.clone(),
        date: run.started.chars().take_while(|letter| *letter != 'T').collect(),
        model,
        firmware,
        step_bytes,
        format,
        claims: claims(drive),
        unit: MeasuredUnit::of(&granule.evidence, step_bytes)?,
        starts: granule.evidence.starts.clone(),
        lengths: granule.evidence.lengths.clone(),
    };
    let text = drive.toml()?;
    // Whoever reads it checks the same.
    MeasuredDrive::parse(&text).map(|_| text)
}

fn claims(drive: &KernelDrive) -> DriveClaims {
    let namespace = drive.said.namespace.value();
    DriveClaims {
        minimum_io_bytes: drive.minimum_io_bytes.value().copied(),
        optimal_io_bytes: drive.optimal_io_bytes.value().copied(),
        write_granularity_bytes: namespace.and_then(|it| it.write_granularity_bytes),
        write_alignment_bytes: namespace.and_then(|it| it.write_alignment_bytes),
    }
}

#[cfg(test)]
mod tests {
    use device::MemoryTree;
    use drive::{HostRules, ModelQueue, profile};
    use measure::MappedRun;
    use measure::probe::{Ask, ProbeBudget, ProbedQueue, Spending};
    use report::Run;

    use super::*;

    const START_BYTES: u64 = 1 << 30;

    /// The granule that a probe finds of the built-in drive `name`.
    fn probed(name: &str) -> Granule {
        let model = profile::called(name).unwrap().model().unwrap();
        let host = HostRules {
            depth: 1,
            buffer_bytes: 64 << 10,
            start_bytes: START_BYTES,
            turnaround_ns: 4_000,
            has_cache: model.has_write_cache(),
            has_fua: false,
        };
        let run = MappedRun {
            offset_bytes: 0,
            length_bytes: 64 << 20,
            leaf: 0,
            address_bytes: START_BYTES,
        };
        let budget = ProbeBudget {
            written_bytes: 512 << 20,
            operations: 4_000_000,
            nanoseconds: 120_000_000_000,
        };
        let ask = Ask { runs: &[run], sector_bytes: 512, alpha: 0.02, seed: 7 };
        let mut probed = ProbedQueue {
            queue: &mut ModelQueue::new(model, host),
            ask: &ask,
            spending: &mut Spending::new(budget, 0),
            pause: &mut |_| true,
        };
        WriteAnswers::ask(&mut probed).unwrap().granule
    }

    fn contributed(files: &[(&str, &str)], granule: &Granule) -> Result<String, String> {
        let known = [
            ("queue/logical_block_size", "512"),
            ("queue/physical_block_size", "4096"),
            ("serial", "SECRET-SERIAL"),
            ("wwid", "naa.SECRET"),
        ];
        let tree = known.iter().chain(files).fold(MemoryTree::new(), |tree, (file, value)| {
            tree.with_file(&format!("/sys/block/sda/{file}"), value)
        });
        let run = Run {
            command: vec!["straddle".to_owned(), "probe".to_owned(), "/SECRET".to_owned()],
            started: "2026-01-02T03:04:05Z".to_owned(),
            kernel: None,
            host: Some("SECRET-host".to_owned()),
            machine: Some("SECRET-machine".to_owned()),
        };
        let envelope = Envelope::new(report::probe::PROBE_SCHEMA, run);
        of_granule(&KernelDrive::read(&tree, "sda"), granule, 512, &envelope)
    }

    #[test]
    fn a_probe_of_a_simulated_disk_becomes_a_file_that_its_own_comparisons_support() {
        let granule = probed("hdd-7200-512e");
        let files = [("device/model", "MADE UP 2T  "), ("device/rev", "XC31")];
        let text = contributed(&files, &granule).unwrap();
        let drive = MeasuredDrive::parse(&text).unwrap();
        assert_eq!((drive.unit.alignment_bytes, drive.unit.size_bytes), (4096, Some(4096)));
        assert_eq!(
            (&*drive.model, &*drive.firmware, &*drive.date),
            ("MADE UP 2T", "XC31", "2026-01-02")
        );
        assert!(!text.contains("SECRET"), "no serial number, host or path: {text}");
        assert!(text.starts_with(report::probe::MEASURED_DRIVE_MARK));
        // What the probe did not measure is not believed.
        let other = text.replacen("alignment_bytes = 4096", "alignment_bytes = 8192", 1);
        assert!(MeasuredDrive::parse(&other).unwrap_err().contains("another unit: 4096 bytes"));
    }

    #[test]
    fn a_drive_without_a_name_or_a_granule_has_nothing_to_contribute() {
        let granule = probed("hdd-7200-512e");
        let (model, firmware) = (("device/model", "MADE UP 2T"), ("device/rev", "XC31"));
        let refused = |files: &[(&str, &str)], granule| contributed(files, granule).unwrap_err();
        assert_eq!(refused(&[firmware], &granule), "sda reports no model");
        assert_eq!(refused(&[model], &granule), "sda reports no firmware version");
        let emulated = [("device/model", "QEMU HARDDISK"), firmware];
        assert!(refused(&emulated, &granule).contains("sda is a virtual disk"));
        let none = probed("hdd-7200-512n");
        assert_eq!(refused(&[model, firmware], &none), "no granule was found");
    }
}
