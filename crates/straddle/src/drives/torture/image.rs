//! `drive cut`: what a recorded drive holds after a power cut, as an image.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use anyhow::anyhow;
use drive::Model as _;
use drive::power::SectorContent;
use units::number::real;

use super::super::cut_policy;
use super::cut_plan::{CutPlan, after};
use super::not_cut;
use crate::arguments::CutImage;
use crate::drives::recorded_drive::RecordedDrive;
use crate::exit::CommandOutcome;
use crate::shared::printer::{self, shown};

/// Writes the image.
pub(in super::super) fn write(asked: &CutImage) -> anyhow::Result<CommandOutcome> {
    let recorded = RecordedDrive::load(&asked.recording, asked.memory)?;
    let model = recorded.replayed()?;
    let plan = CutPlan::new(&asked.policy, &recorded.recording, &recorded.settings.lies);
    let cut = plan.cut(asked.cut);
    let (after, judged) = after(&model, &cut).map_err(|fault| not_cut(&recorded, fault))?;
    let medium = recorded.medium(&model, &after, asked.memory)?;
    let path = shown(&asked.output);
    let failed = |error: io::Error| {
        anyhow!("cannot write the image {path}: {error}\nhint: name a new file: -o disk.img")
    };
    let file = File::create_new(&asked.output).map_err(failed)?;
    file.set_len(model.capacity_bytes()).map_err(failed)?;
    for store in [&recorded.base, &medium] {
        store.each_piece(|at, bytes| file.write_all_at(bytes, at)).map_err(failed)?;
    }
    let unreadable = after.changed().filter(|(_, held)| *held == SectorContent::Unreadable).count();
    let mut text = format!(
        "{path}: {} cut at {:.6} s, survivors {}\n",
        recorded.settings.profile,
        real(cut.at_ns) / 1e9,
        cut_policy::words(cut.survivors),
    );
    text += &match judged.missing {
        0 => "  the drive kept its promises\n".to_owned(),
        missing => format!("  the drive lost {missing} sectors that it had promised to keep\n"),
    };
    if unreadable > 0 {
        text += &format!("  {unreadable} sectors are unreadable on the drive, old in the image\n");
    }
    printer::print(&text)?;
    Ok(CommandOutcome::Done)
}
