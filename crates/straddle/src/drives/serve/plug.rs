//! A way for clients to use a served drive.

/// A drive that clients can use, until it is pulled. Dropped, it is pulled too.
pub(in super::super) trait Plug {
    /// Place where clients find the drive.
    fn address(&self) -> &str;

    /// Returns whether nobody can use it any more.
    fn is_gone(&self) -> bool;

    /// Does what is due from time to time.
    fn look(&mut self) {}

    /// Takes it away from clients.
    ///
    /// # Errors
    /// When something stays.
    fn pull(&mut self) -> anyhow::Result<()>;
}
