//! The wires that dies share: one transfer at a time.
//!
//! A read's transfer begins when its die has read, which is known long before. So the wires have a
//! calendar, in which a transfer takes the first gap that is long enough, from when it can begin.

use std::collections::VecDeque;

/// One channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    /// When it is busy: in order, and with gaps between.
    busy: VecDeque<(u64, u64)>,
}

impl Channel {
    /// Books `work_ns` from `from_ns` on; when that is done. Nobody will ask for a time before
    /// `now_ns` any more.
    pub(super) fn serve(&mut self, now_ns: u64, from_ns: u64, work_ns: u64) -> u64 {
        while self.busy.front().is_some_and(|(_, end_ns)| *end_ns <= now_ns) {
            self.busy.pop_front();
        }
        if work_ns == 0 {
            return from_ns;
        }
        let first = self.busy.partition_point(|(_, end_ns)| *end_ns <= from_ns);
        let (mut place, mut begin_ns) = (first, from_ns);
        while let Some((busy_ns, end_ns)) = self.busy.get(place)
            && *busy_ns < begin_ns.saturating_add(work_ns)
        {
            begin_ns = *end_ns;
            place += 1;
        }
        let end_ns = begin_ns.saturating_add(work_ns);
        self.book(place, begin_ns, end_ns);
        end_ns
    }

    /// Puts in what begins before the one at `place`, joined with what it touches.
    fn book(&mut self, place: usize, begin_ns: u64, end_ns: u64) {
        let before = place.checked_sub(1).filter(|before| self.busy[*before].1 == begin_ns);
        let touches = self.busy.get(place).is_some_and(|(busy_ns, _)| *busy_ns == end_ns);
        match (before, touches) {
            (Some(before), true) => {
                self.busy[before].1 = self.busy[place].1;
                self.busy.remove(place);
            }
            (Some(before), false) => self.busy[before].1 = end_ns,
            (None, true) => self.busy[place].0 = begin_ns,
            (None, false) => self.busy.insert(place, (begin_ns, end_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Channel;

    #[test]
    fn a_transfer_takes_the_first_gap_that_is_long_enough() {
        let mut channel = Channel::default();
        assert_eq!(channel.serve(0, 100, 10), 110);
        assert_eq!(channel.serve(0, 0, 50), 50);
        assert_eq!(channel.serve(0, 20, 60), 170);
        assert_eq!(channel.serve(0, 20, 50), 100);
        assert_eq!(channel.busy.make_contiguous(), [(0, 170)]);
        assert_eq!(channel.serve(170, 300, 0), 300);
        assert!(channel.busy.is_empty());
    }
}
