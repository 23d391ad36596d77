//! Watch for others who use the drive. If they do, measuring keeps to depth 1 and to a quarter of
//! the time: an idle I/O class would falsify latencies, and many schedulers ignore it.

use super::session::Session;
use crate::shared::busy::{BUSY_PERCENT, SHARE_PERCENT, WATCH, busy_percent};
use crate::shared::place::Place;

/// Watches the drive, and holds back where it is busy and the user named no share.
pub(crate) fn settle(session: &mut Session<'_>, place: &Place) {
    if session.bench.share.is_some() {
        return;
    }
    let Some(percent) = busy_percent(place) else { return };
    if percent >= BUSY_PERCENT {
        session.share_percent = SHARE_PERCENT;
        session.is_busy = true;
        session.note(format!(
            "the drive is busy with others' work ({percent} % of {} ms): depth 1 and \
             {SHARE_PERCENT} % of its time are used; --share takes more",
            WATCH.as_millis()
        ));
    }
}
