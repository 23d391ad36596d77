//! The claim on a raw device, taken only where `--write-device` says so, `--confirm` names the
//! device, and nothing on it was recognized.

use host::Pinned;
use host::claim::{Claim, ClaimPlan, ClaimRefusal};
use report::{Refusal, RefusalKind};

use crate::arguments::RawDevice;
use crate::shared::existing_data::contents;

/// Takes the exclusive claim, and looks at what the bytes say through it: at all that may be known
/// by its marks, and at the first `length_bytes`, which are going to be overwritten.
pub(crate) fn claimed(
    asked: &RawDevice,
    node: &Pinned,
    length_bytes: u64,
) -> Result<Claim, Refusal> {
    with_plan(asked, node, length_bytes, Claim::take)
}

/// Refuses what [`claimed`] would refuse, and opens nothing for writing.
pub(crate) fn rehearse(asked: &RawDevice, node: &Pinned, length_bytes: u64) -> Result<(), Refusal> {
    with_plan(asked, node, length_bytes, Claim::rehearse)
}

fn with_plan<Done>(
    asked: &RawDevice,
    node: &Pinned,
    length_bytes: u64,
    ask: impl Fn(ClaimPlan<'_>) -> Result<Done, ClaimRefusal>,
) -> Result<Done, Refusal> {
    let contents = |disk| contents(disk, length_bytes);
    let confirm = asked.confirm.as_deref();
    let plan =
        ClaimPlan { node, confirm, overwrites_data: asked.overwrite_data, contents: &contents };
    ask(plan).map_err(|error| Refusal {
        kind: RefusalKind::Safety,
        ..Refusal::new(error.to_string(), error.hint())
    })
}
