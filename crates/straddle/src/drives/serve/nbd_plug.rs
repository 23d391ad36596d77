//! A served drive as an export of NBD.

use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use anyhow::{anyhow, bail};
use serve::ServedDrive;
use serve::nbd::{NbdExport, NbdListener, NbdServer};

use super::plug::Plug;
use super::runtime_directory;
use crate::arguments::Serve;
use crate::shared::printer::shown;

/// A server, and its socket's path.
pub(super) struct NbdPlug {
    server: Arc<NbdServer>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
    socket: Option<PathBuf>,
    address: String,
}

impl NbdPlug {
    /// Serves `drive` at the address or socket that is `asked`.
    ///
    /// # Errors
    /// When nobody can listen there.
    pub(super) fn insert(asked: &Serve, drive: &Arc<ServedDrive>) -> anyhow::Result<NbdPlug> {
        let (listener, socket, address) = match asked.listen {
            Some(address) => {
                let listener = TcpListener::bind(address).map_err(|error| {
                    anyhow!("cannot listen at {address}: {error}\nhint: choose another port")
                })?;
                let address = listener.local_addr()?;
                (NbdListener::Tcp(listener), None, format!("nbd://{address}"))
            }
            None => {
                let path = match &asked.socket {
                    Some(path) => std::path::absolute(path)?,
                    None => {
                        let directory = runtime_directory::made()?;
                        directory.join(format!("{}.sock", std::process::id()))
                    }
                };
                let listener = bound(&path)?;
                let address = format!("nbd+unix:///?socket={}", shown(&path));
                (NbdListener::Unix(listener), Some(path), address)
            }
        };
        let export = NbdExport { drive: Arc::clone(drive), name: "disk".to_owned() };
        let server = Arc::new(NbdServer::new(export));
        let run = Arc::clone(&server);
        let thread = Some(std::thread::spawn(move || run.run(&listener)));
        Ok(NbdPlug { server, thread, socket, address })
    }

    fn close(&mut self) {
        if let Some(path) = self.socket.take() {
            // Nobody finds it any more; where it is gone already that is as well.
            let _ = std::fs::remove_file(path);
        }
        self.server.stop();
    }
}

impl Plug for NbdPlug {
    fn address(&self) -> &str {
        &self.address
    }

    fn is_gone(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Hangs up on all clients and removes the socket.
    fn pull(&mut self) -> anyhow::Result<()> {
        self.close();
        Ok(())
    }
}

impl Drop for NbdPlug {
    fn drop(&mut self) {
        self.close();
        // The thread has nothing to tell: each connection failed for itself.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A socket at `path`. One that nobody listens to any more is replaced.
fn bound(path: &Path) -> anyhow::Result<UnixListener> {
    use std::io::ErrorKind;
    let failed = |error: std::io::Error| {
        anyhow!("cannot listen at {}: {error}\nhint: name another path: --socket", shown(path))
    };
    match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {}
        done => return done.map_err(failed),
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == ErrorKind::ConnectionRefused && is_socket(path) => {}
        _ => bail!(
            "cannot listen at {}: it is in use\nhint: name another path: --socket",
            shown(path)
        ),
    }
    std::fs::remove_file(path).map_err(failed)?;
    UnixListener::bind(path).map_err(failed)
}

fn is_socket(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::symlink_metadata(path).is_ok_and(|data| data.file_type().is_socket())
}
