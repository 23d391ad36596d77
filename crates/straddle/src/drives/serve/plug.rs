//! A way for clients to use a served drive.

use std::sync::Arc;

use serve::ServedDrive;

use super::nbd_plug::NbdPlug;
use crate::arguments::{Protocol, Serve};

/// A drive that clients can use, until it is pulled. Dropped, it is pulled too.
pub(super) enum Plug {
    /// By NBD.
    Nbd(NbdPlug),
}

impl Plug {
    /// Makes `drive`, called `name`, usable as `asked`.
    ///
    /// # Errors
    /// When that is not possible here; nothing is left then.
    pub(super) fn insert(
        asked: &Serve,
        drive: &Arc<ServedDrive>,
        name: &str,
    ) -> anyhow::Result<Plug> {
        match asked.protocol {
            Protocol::Nbd => Ok(Plug::Nbd(NbdPlug::insert(asked, drive, name)?)),
        }
    }

    /// Place where clients find the drive.
    pub(super) fn address(&self) -> &str {
        match self {
            Plug::Nbd(plug) => plug.address(),
        }
    }

    /// Returns whether nobody can use it any more.
    pub(super) fn is_gone(&self) -> bool {
        match self {
            Plug::Nbd(plug) => plug.is_gone(),
        }
    }

    /// Does what is due from time to time.
    pub(super) fn look(&mut self) {
        match self {
            Plug::Nbd(_) => {}
        }
    }

    /// Takes it away from clients.
    ///
    /// # Errors
    /// When something stays.
    pub(super) fn pull(&mut self) -> anyhow::Result<()> {
        match self {
            Plug::Nbd(plug) => {
                plug.pull();
                Ok(())
            }
        }
    }
}
