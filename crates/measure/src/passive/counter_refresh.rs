//! The moments at which a drive's counter is brought up to date.

/// The age of a counter when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterRefresh {
    /// It counts as it is read.
    OnRead,
    /// It is brought up to date now and then; OCP asks for every ten minutes at least.
    InBackground,
}
