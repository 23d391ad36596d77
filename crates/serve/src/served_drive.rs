//! A model with a clock, a store and counters: the one core under all protocols.
//!
//! A write reaches the store when it is submitted, a read leaves it when it is answered, so that no
//! request keeps its bytes while it waits. What of that is durable is the model's business: its
//! commands carry the times of submission that a log of `drive::power` needs.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drive::{CommandKind, DriveCommand, DriveCompletion, DriveTally, Model, RequestCounts};

use crate::counts::Counters;
use crate::pace::DriveClock;
use crate::recording::PrintedLines;
use crate::{Pace, Recording, ServeFault, Store, TraceLog};

/// Time before an answer that is waited for by asking for the time: sleeping threads wake up late.
const SPIN: Duration = Duration::from_micros(80);

/// Called with the outcome of a request.
type Answer = Box<dyn FnOnce(Result<(), ServeFault>) + Send>;

/// A drive that is served. Its methods may be called by any number of threads.
pub struct ServedDrive {
    state: Mutex<State>,
    /// The next event came nearer, or the drive stops.
    nearer: Condvar,
    has_failed: AtomicBool,
    store: Arc<Store>,
    clock: Option<DriveClock>,
    counters: Counters,
    capacity_bytes: u64,
    logical_bytes: u64,
    physical_bytes: u64,
    has_write_cache: bool,
    rotates: bool,
    is_recorded: bool,
    spins: bool,
}

struct State {
    model: Box<dyn Model>,
    /// Time of the last call.
    now_ns: u64,
    next_id: u64,
    waiting: HashMap<u64, Answer>,
    done: Vec<DriveCompletion>,
    trace: Option<TraceLog>,
    recording: Option<(Recording, PrintedLines)>,
    is_stopped: bool,
}

impl fmt::Debug for ServedDrive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("ServedDrive");
        shown.field("capacity_bytes", &self.capacity_bytes).finish_non_exhaustive()
    }
}

impl ServedDrive {
    /// `model`, which did nothing yet, with the bytes of `store`. Its time begins now. `rotates`
    /// says whether its medium turns.
    #[must_use]
    pub fn new(
        model: Box<dyn Model>,
        store: impl Into<Arc<Store>>,
        rotates: bool,
        pace: Pace,
        trace: Option<TraceLog>,
    ) -> ServedDrive {
        let sectors = model.told().sectors;
        ServedDrive {
            capacity_bytes: model.capacity_bytes(),
            logical_bytes: model.logical_bytes(),
            physical_bytes: sectors.physical_bytes,
            has_write_cache: model.has_write_cache(),
            rotates,
            is_recorded: false,
            state: Mutex::new(State {
                model,
                now_ns: 0,
                next_id: 0,
                waiting: HashMap::new(),
                done: Vec::new(),
                trace,
                recording: None,
                is_stopped: false,
            }),
            nearer: Condvar::new(),
            has_failed: AtomicBool::new(false),
            store: store.into(),
            clock: DriveClock::begin(pace),
            counters: Counters::default(),
            // A lone processor has no time to waste.
            spins: std::thread::available_parallelism().is_ok_and(|count| count.get() > 1),
        }
    }

    /// The same drive, of which everything is taken down in `recording` until it stops, and the
    /// lines that come out of `printed`, which fails rather than waits: before each command, so
    /// that a line which was printed before a command was sent comes before it. It takes no
    /// discards: a client that wants zeros has to write them, and so knows when they are durable.
    #[must_use]
    pub fn recorded(mut self, recording: Recording, printed: Box<dyn Read + Send>) -> ServedDrive {
        let recording = Some((recording, PrintedLines::new(printed)));
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).recording = recording;
        self.is_recorded = true;
        self
    }

    /// Returns whether clients may discard.
    #[must_use]
    pub fn takes_discards(&self) -> bool {
        !self.is_recorded
    }

    /// Returns whether a request or its model panicked. The drive is stopped then: every request
    /// fails.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::SeqCst)
    }

    /// Takes down the lines that are printed by now, if anything is recorded.
    pub fn listen(&self) {
        let mut state = self.state();
        let at_ns = state.at(self.clock.as_ref());
        state.listen(at_ns);
    }

    /// Stops as [`ServedDrive::stop`] does, at once as when the power goes; the recording.
    pub fn cut(&self) -> Option<Recording> {
        let mut state = self.state();
        let at_ns = state.at(self.clock.as_ref());
        state.listen(at_ns);
        let recording = state.recording.take();
        state.is_stopped = true;
        drop(state);
        self.stop();
        recording.map(|(mut recording, _)| {
            recording.end(at_ns);
            recording
        })
    }

    /// Bytes that it holds, a multiple of its logical sector.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes - self.capacity_bytes % self.logical_bytes
    }

    /// The logical sector in bytes.
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        self.logical_bytes
    }

    /// The physical sector that it reports, in bytes.
    #[must_use]
    pub fn physical_bytes(&self) -> u64 {
        self.physical_bytes
    }

    /// Returns whether it reports a volatile write cache. One that does not is sent no flush.
    #[must_use]
    pub fn has_write_cache(&self) -> bool {
        self.has_write_cache
    }

    /// Returns whether its medium turns.
    #[must_use]
    pub fn rotates(&self) -> bool {
        self.rotates
    }

    /// Returns whether answers wait for the drive: [`ServedDrive::submit`] then calls back later.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.clock.is_some()
    }

    /// Its bytes.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Requests so far.
    #[must_use]
    pub fn counts(&self) -> RequestCounts {
        self.counters.counts()
    }

    /// The model's own account.
    #[must_use]
    pub fn tally(&self) -> DriveTally {
        self.state().model.tally()
    }

    /// Number of requests that wait for the drive.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.state().waiting.len()
    }

    /// Counts a request that was refused before it came here.
    pub fn count_refused(&self) {
        self.counters.count_error();
    }

    /// Checks a range of whole logical sectors.
    ///
    /// # Errors
    /// When it is empty, ends past the drive, or has parts of sectors.
    pub fn check(&self, offset_bytes: u64, length_bytes: u64) -> Result<(), ServeFault> {
        let action = CommandKind::Read;
        let command = DriveCommand { id: 0, action, offset_bytes, length_bytes };
        Ok(command.checked(self.capacity_bytes(), self.logical_bytes)?)
    }

    /// Tells the model of a request, whose bytes are in the store already where it writes. `answer`
    /// is called with the outcome: before this returns where the drive is not timed, and else when
    /// the drive has done it, by the thread that runs [`ServedDrive::run`] or one that submits.
    pub fn submit(
        &self,
        action: CommandKind,
        offset_bytes: u64,
        length_bytes: u64,
        answer: impl FnOnce(Result<(), ServeFault>) + Send + 'static,
    ) {
        self.counters.count(action, length_bytes);
        let Some(action) = self.as_sent(action) else { return answer(Ok(())) };
        let Some(clock) = &self.clock else {
            return answer(self.done_at_once(action, offset_bytes, length_bytes));
        };
        let _stops = StopOnPanic(self);
        let mut state = self.state();
        if state.is_stopped {
            drop(state);
            return answer(Err(ServeFault::Store));
        }
        let before = state.model.next_ns();
        let now_ns = clock.now_ns();
        let asked = (action, offset_bytes, length_bytes);
        state.send(asked, now_ns, &self.store, Some(Box::new(answer)));
        let ended = state.ended();
        let is_nearer = match (before, state.model.next_ns()) {
            (Some(before), Some(after)) => after < before,
            (None, after) => after.is_some(),
            (Some(_), None) => false,
        };
        drop(state);
        if is_nearer {
            self.nearer.notify_one();
        }
        self.answer(ended);
    }

    /// Tells the model of a request, and returns its outcome when the drive has done it: at once
    /// where it is not timed.
    ///
    /// # Errors
    /// When the drive refuses it, or is stopped.
    pub fn perform(
        &self,
        action: CommandKind,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<(), ServeFault> {
        if !self.is_timed() {
            self.counters.count(action, length_bytes);
            return match self.as_sent(action) {
                Some(action) => self.done_at_once(action, offset_bytes, length_bytes),
                None => Ok(()),
            };
        }
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        self.submit(action, offset_bytes, length_bytes, move |outcome| {
            // Nobody may wait any more.
            let _ = sender.send(outcome);
        });
        receiver.recv().unwrap_or(Err(ServeFault::Store))
    }

    /// Returns what Linux sends of `action`: a drive without a volatile cache gets no flush and no
    /// FUA.
    fn as_sent(&self, action: CommandKind) -> Option<CommandKind> {
        match action {
            CommandKind::Flush if !self.has_write_cache => None,
            CommandKind::Write { fua } => {
                Some(CommandKind::Write { fua: fua && self.has_write_cache })
            }
            action => Some(action),
        }
    }

    /// The outcome of a command that takes no real time.
    fn done_at_once(
        &self,
        action: CommandKind,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> Result<(), ServeFault> {
        let _stops = StopOnPanic(self);
        let mut state = self.state();
        if state.is_stopped {
            return Err(ServeFault::Store);
        }
        let now_ns = state.now_ns;
        let id = state.send((action, offset_bytes, length_bytes), now_ns, &self.store, None);
        loop {
            if let Some(place) = state.done.iter().position(|done| done.id == id) {
                let outcome = state.done[place].outcome;
                state.done.clear();
                drop(state);
                if outcome.is_err() {
                    self.counters.count_error();
                }
                return Ok(outcome?);
            }
            let Some(next_ns) = state.model.next_ns() else { return Err(ServeFault::Store) };
            state.advance(next_ns);
        }
    }

    /// Ends what the model has done when its time has come, until [`ServedDrive::stop`]. Returns at
    /// once where the drive is not timed.
    pub fn run(&self) {
        let Some(clock) = &self.clock else { return };
        let _stops = StopOnPanic(self);
        let mut state = self.state();
        while !state.is_stopped {
            let Some(moment) = state.model.next_ns().and_then(|next_ns| clock.moment(next_ns))
            else {
                state = self.nearer.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = moment.saturating_duration_since(Instant::now());
            let spin = if self.spins { SPIN } else { Duration::ZERO };
            if left > spin {
                let waited = self.nearer.wait_timeout(state, left - spin);
                (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            if !left.is_zero() {
                drop(state);
                while Instant::now() < moment {
                    std::hint::spin_loop();
                }
                state = self.state();
            }
            state.advance(clock.now_ns());
            let ended = state.ended();
            drop(state);
            self.answer(ended);
            state = self.state();
        }
    }

    /// Fails every request that waits, and all that come from now on; ends [`ServedDrive::run`].
    /// Returns the trace.
    pub fn stop(&self) -> Option<TraceLog> {
        let mut state = self.state();
        state.is_stopped = true;
        let waiting = std::mem::take(&mut state.waiting);
        let trace = state.trace.take();
        drop(state);
        self.nearer.notify_all();
        waiting.into_values().for_each(|answer| answer(Err(ServeFault::Store)));
        trace
    }

    fn answer(&self, ended: Vec<(Answer, DriveCompletion)>) {
        for (answer, done) in ended {
            if done.outcome.is_err() {
                self.counters.count_error();
            }
            if let Some(moment) = self.clock.and_then(|clock| clock.moment(done.at_ns)) {
                let late = Instant::now().saturating_duration_since(moment);
                self.counters.count_late(u64::try_from(late.as_nanos()).unwrap_or(u64::MAX));
            }
            // Last, so that whoever has the answer finds it counted.
            answer(done.outcome.map_err(ServeFault::from));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stops its drive where the thread panics: nobody else would answer what waits.
struct StopOnPanic<'a>(&'a ServedDrive);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.has_failed.store(true, Ordering::SeqCst);
            let _ = self.0.stop();
        }
    }
}

impl State {
    /// Sends a command; its number.
    fn send(
        &mut self,
        (action, offset_bytes, length_bytes): (CommandKind, u64, u64),
        now_ns: u64,
        store: &Store,
        answer: Option<Answer>,
    ) -> u64 {
        self.now_ns = self.now_ns.max(now_ns);
        let id = self.next_id;
        self.next_id += 1;
        let length_bytes = if action == CommandKind::Flush { 0 } else { length_bytes };
        let command = DriveCommand { id, action, offset_bytes, length_bytes };
        if let Some(trace) = &mut self.trace {
            trace.note(&command, self.now_ns);
        }
        self.listen(self.now_ns);
        if let Some((recording, _)) = &mut self.recording {
            recording.note(&command, self.now_ns, store);
        }
        if let Some(answer) = answer {
            self.waiting.insert(id, answer);
        }
        self.model.submit(command, self.now_ns, &mut self.done);
        id
    }

    /// The drive's time now.
    fn at(&self, clock: Option<&DriveClock>) -> u64 {
        clock.map_or(self.now_ns, |clock| clock.now_ns().max(self.now_ns))
    }

    fn listen(&mut self, at_ns: u64) {
        if let Some((recording, lines)) = &mut self.recording {
            lines.take(recording, at_ns);
        }
    }

    fn advance(&mut self, to_ns: u64) {
        self.now_ns = self.now_ns.max(to_ns);
        self.model.advance(self.now_ns, &mut self.done);
    }

    /// Takes what has ended.
    fn ended(&mut self) -> Vec<(Answer, DriveCompletion)> {
        let waiting = &mut self.waiting;
        let ended = self.done.drain(..);
        ended.filter_map(|done| Some((waiting.remove(&done.id)?, done))).collect()
    }
}
