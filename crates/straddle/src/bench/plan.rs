//! Plan of what will be compared, before anything is opened: workloads, arms, bounds. Pure.

use std::collections::BTreeSet;

use measure::Role;
use stack::UnitKind;
use units::Unit;

use crate::arguments;

/// Time that a block of operations is to take, in nanoseconds, where depth makes single ones mean
/// little.
pub(crate) const BLOCK_NS: u64 = 25_000_000;
/// Returns the kind of the stack's unit that operations must fit.
pub(crate) fn unit_kind(unit: arguments::Unit) -> UnitKind {
    match unit {
        arguments::Unit::Granule => UnitKind::Granule,
        arguments::Unit::Chunk => UnitKind::Chunk,
    }
}

/// The probability that an interval ever misses the truth.
pub(crate) const ALPHA: f64 = 0.05;

/// A shift that is none: the arm is like the baseline, so that whatever is found is an error.
const SAME: u64 = 0;

/// One of the things compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedArm {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) shift_bytes: u64,
}

/// The bytes of an operation: as specified, else 4 KiB or a whole unit of the drive.
pub(crate) fn operation_bytes(told: Option<u64>, granule: Unit) -> Result<u32, String> {
    let bytes = told.unwrap_or(granule.length_bytes().max(4096));
    match u32::try_from(bytes) {
        Ok(bytes) if bytes <= 16 << 20 => Ok(bytes),
        _ => {
            Err(format!("cannot measure operations of {bytes} bytes: at most 16 MiB are possible"))
        }
    }
}

/// The arms: aligned, each shift, and aligned again. Without shifts one of `step_bytes` (the
/// smallest that can be addressed), and half a unit where `full`. A shifted operation that still
/// fits its unit is [`Role::Inside`]; there is always one that crosses, or an error.
pub(crate) fn arms(
    shifts: &[u64],
    full: bool,
    step_bytes: u64,
    operation_bytes: u64,
    unit: Unit,
) -> Result<Vec<PlannedArm>, String> {
    let unit_bytes = unit.length_bytes();
    let step = step_bytes.max(1);
    whole_length(operation_bytes, step)?;
    if step.is_multiple_of(unit_bytes) && shifts.iter().all(|&shift| shift != SAME) {
        return Err(format!(
            "cannot misalign anything: operations start on multiples of {step} bytes, and the unit \
             is {unit_bytes} bytes long"
        ));
    }
    let mut shifts = match shifts {
        [] => usual(full, step, operation_bytes, unit_bytes),
        told => told.to_vec(),
    };
    let mut seen = BTreeSet::new();
    shifts.retain(|&shift| seen.insert(shift));
    for &shift in shifts.iter().filter(|&&shift| shift != SAME) {
        possible(shift, step, unit_bytes)?;
    }
    let aligned = |name: &str, role| PlannedArm { name: name.to_owned(), role, shift_bytes: 0 };
    let is_judged = |shift| shift == SAME || crosses(shift, operation_bytes, unit_bytes);
    if !shifts.iter().any(|&shift| is_judged(shift)) {
        return Err(format!(
            "cannot misalign operations of {operation_bytes} bytes so: none crosses a boundary of \
             {unit_bytes} bytes; choose a larger --size, or another --shift"
        ));
    }
    let shifted = shifts.into_iter().map(|shift| PlannedArm {
        name: match shift {
            SAME => "second aligned arm".to_owned(),
            shift => format!("shifted {}", units::prefix::Size(shift)),
        },
        role: if is_judged(shift) { Role::Shifted } else { Role::Inside },
        shift_bytes: shift,
    });
    let ends = (aligned("aligned", Role::Baseline), aligned("control", Role::Control));
    Ok(std::iter::once(ends.0).chain(shifted).chain([ends.1]).collect())
}

/// The shifts where none is specified.
fn usual(full: bool, step: u64, operation_bytes: u64, unit_bytes: u64) -> Vec<u64> {
    let mut shifts = vec![step];
    if full {
        shifts.push(unit_bytes.div_euclid(2).next_multiple_of(step));
    }
    if !shifts.iter().any(|&shift| crosses(shift, operation_bytes, unit_bytes)) {
        // Half of it on either side of the boundary.
        let half = operation_bytes.div_euclid(2);
        let half = half - half % step;
        shifts.insert(0, unit_bytes.saturating_sub(half) % unit_bytes);
    }
    shifts.retain(|shift| shift % unit_bytes != 0);
    shifts
}

/// Refuses what no drive can address, before anything is announced or written.
///
/// # Errors
/// When a shift or a length is no multiple of 512 bytes, the smallest logical sector there is.
pub(crate) fn addressable(shifts: &[u64], operation_bytes: Option<u64>) -> Result<(), String> {
    operation_bytes.map_or(Ok(()), |bytes| whole_length(bytes, 512))?;
    shifts.iter().try_for_each(|&shift| whole_shift(shift, 512))
}

fn whole_length(bytes: u64, step: u64) -> Result<(), String> {
    if bytes.is_multiple_of(step) && bytes > 0 {
        return Ok(());
    }
    Err(format!(
        "cannot measure operations of {bytes} bytes: the length must be a multiple of {step} \
         bytes, such as --size {}",
        nearest(bytes, step).max(step)
    ))
}

fn whole_shift(bytes: u64, step: u64) -> Result<(), String> {
    if bytes.is_multiple_of(step) {
        return Ok(());
    }
    Err(format!(
        "cannot shift by {bytes} bytes: operations must start on multiples of {step} bytes, such \
         as --shift {}",
        nearest(bytes, step).max(step)
    ))
}

/// The multiple of `step` at or below `bytes`.
fn nearest(bytes: u64, step: u64) -> u64 {
    bytes - bytes % step
}

/// Returns whether arms can be that far off.
fn possible(shift: u64, step: u64, unit_bytes: u64) -> Result<(), String> {
    whole_shift(shift, step)?;
    if shift.is_multiple_of(unit_bytes) {
        return Err(format!(
            "cannot shift by {shift} bytes: that is a multiple of the unit ({unit_bytes} bytes), \
             so nothing is misaligned"
        ));
    }
    Ok(())
}

/// One question for each arm that is judged: it with the baseline and the control; what is inside
/// its unit goes with the first.
pub(crate) fn questions(arms: &[PlannedArm]) -> Vec<Vec<PlannedArm>> {
    let judged: Vec<&PlannedArm> = arms.iter().filter(|arm| arm.role == Role::Shifted).collect();
    let question = |(number, judged): (usize, &&PlannedArm)| {
        let belongs = |arm: &&PlannedArm| match arm.role {
            Role::Shifted => arm.shift_bytes == judged.shift_bytes,
            Role::Inside => number == 0,
            Role::Baseline | Role::Control => true,
        };
        arms.iter().filter(belongs).cloned().collect()
    };
    judged.iter().enumerate().map(question).collect()
}

/// Returns whether an operation that is `shift` bytes off touches more units than an aligned one,
/// or only parts of some.
fn crosses(shift: u64, operation_bytes: u64, unit_bytes: u64) -> bool {
    let within = shift % unit_bytes;
    within != 0 && within.saturating_add(operation_bytes) > unit_bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifts(shifts: &[u64], full: bool, step: u64, size: u64, unit: u64) -> Vec<(u64, Role)> {
        let unit = Unit::new(unit).unwrap();
        let arms = arms(shifts, full, step, size, unit).unwrap();
        arms.iter().map(|arm| (arm.shift_bytes, arm.role)).collect()
    }

    #[test]
    fn one_logical_sector_is_the_shift_and_half_a_granule_the_second() {
        let (base, again) = ((0, Role::Baseline), (0, Role::Control));
        assert_eq!(shifts(&[], false, 512, 4096, 4096), [base, (512, Role::Shifted), again]);
        let both = [base, (512, Role::Shifted), (2048, Role::Shifted), again];
        assert_eq!(shifts(&[], true, 512, 4096, 4096), both);
        assert_eq!(shifts(&[512, 512], false, 512, 4096, 4096).len(), 3);
    }

    #[test]
    fn what_fits_its_unit_is_inside_and_one_arm_crosses() {
        let found = shifts(&[], false, 4096, 16384, 65536);
        assert_eq!(found[1], (65536 - 8192, Role::Shifted));
        assert_eq!(found[2], (4096, Role::Inside));
    }

    #[test]
    fn what_can_never_cross_is_refused_and_each_judged_arm_is_a_question() {
        let unit = Unit::new(4096).unwrap();
        for (size, told) in [(512, &[][..]), (512, &[512]), (2048, &[512])] {
            let refused = arms(told, false, 512, size, unit).unwrap_err();
            assert!(refused.contains("larger --size"), "{size}: {refused}");
        }
        for size in [1, 1000, 4097] {
            assert!(arms(&[], false, 512, size, unit).unwrap_err().contains("multiple of 512"));
        }
        assert_eq!(shifts(&[], false, 512, 1024, 4096)[1], (4096 - 512, Role::Shifted));
        let both = arms(&[0, 512], false, 512, 4096, unit).unwrap();
        let asked = questions(&both);
        assert_eq!(asked.len(), 2);
        assert!(asked.iter().all(|arms| arms.len() == 3));
        assert_eq!((asked[0][1].shift_bytes, asked[1][1].shift_bytes), (0, 512));
    }

    #[test]
    fn a_shift_that_is_none_or_cannot_be_addressed_is_refused() {
        let unit = Unit::new(4096).unwrap();
        let refused = |shifts: &[u64], step| arms(shifts, false, step, 4096, unit).unwrap_err();
        assert!(refused(&[4096], 512).contains("cannot shift by 4096"));
        assert!(refused(&[], 4096).contains("cannot misalign anything"));
        assert!(refused(&[100], 512).contains("multiples of 512"));
    }
}
