//! fio's engines, and what runs in their place.

use units::text::escape;

use crate::InputError;

/// Way in which operations are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One after the other: `pread`, `pwrite`.
    Sync,
    /// Up to a depth at once: `io_uring`.
    Async,
}

/// Treatment of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineUse {
    /// It runs as [`Engine`], which does the same to the disk.
    As(Engine),
    /// It runs as [`Engine`], which does something else: the words say what is lost.
    Instead(Engine, &'static str),
    /// It is refused: the words say why.
    Never(&'static str),
}

/// One of fio's engines.
#[derive(Clone, Copy, Debug)]
pub struct EngineRow {
    /// Its name.
    pub name: &'static str,
    /// Treatment.
    pub becomes: EngineUse,
}

const MMAP: &str = "psync runs instead: no page is mapped";
const NO_DATA: &str = "psync runs instead: fio would move no data";
const SPLICE: &str = "psync runs instead: nothing is spliced";
const PASSTHROUGH: &str = "io_uring runs instead: no raw command is sent";
const NETWORK: &str = "works on a network or a cluster, not on a disk";
const NOT_DISK: &str = "does not read or write a disk";
const SPECIAL: &str = "needs memory or a library that is not used here";

const fn row(name: &'static str, becomes: EngineUse) -> EngineRow {
    EngineRow { name, becomes }
}

/// Every engine of fio 3.33 (`HOWTO`, "I/O engine").
pub const ENGINES: &[EngineRow] = &[
    row("psync", EngineUse::As(Engine::Sync)),
    row("sync", EngineUse::As(Engine::Sync)),
    row("vsync", EngineUse::As(Engine::Sync)),
    row("pvsync", EngineUse::As(Engine::Sync)),
    row("pvsync2", EngineUse::As(Engine::Sync)),
    row("io_uring", EngineUse::As(Engine::Async)),
    row("libaio", EngineUse::As(Engine::Async)),
    row("posixaio", EngineUse::As(Engine::Async)),
    row("io_uring_cmd", EngineUse::Instead(Engine::Async, PASSTHROUGH)),
    row("sg", EngineUse::Instead(Engine::Sync, "psync runs instead: no raw command is sent")),
    row("mmap", EngineUse::Instead(Engine::Sync, MMAP)),
    row("splice", EngineUse::Instead(Engine::Sync, SPLICE)),
    row("null", EngineUse::Instead(Engine::Sync, NO_DATA)),
    row("rbd", EngineUse::Never(NETWORK)),
    row("rados", EngineUse::Never(NETWORK)),
    row("http", EngineUse::Never(NETWORK)),
    row("nbd", EngineUse::Never(NETWORK)),
    row("net", EngineUse::Never(NETWORK)),
    row("netsplice", EngineUse::Never(NETWORK)),
    row("rdma", EngineUse::Never(NETWORK)),
    row("librpma_apm_client", EngineUse::Never(NETWORK)),
    row("librpma_apm_server", EngineUse::Never(NETWORK)),
    row("librpma_gpspm_client", EngineUse::Never(NETWORK)),
    row("librpma_gpspm_server", EngineUse::Never(NETWORK)),
    row("gfapi", EngineUse::Never(NETWORK)),
    row("gfapi_async", EngineUse::Never(NETWORK)),
    row("libhdfs", EngineUse::Never(NETWORK)),
    row("libiscsi", EngineUse::Never(NETWORK)),
    row("nfs", EngineUse::Never(NETWORK)),
    row("cpuio", EngineUse::Never(NOT_DISK)),
    row("filecreate", EngineUse::Never(NOT_DISK)),
    row("filestat", EngineUse::Never(NOT_DISK)),
    row("filedelete", EngineUse::Never(NOT_DISK)),
    row("falloc", EngineUse::Never(NOT_DISK)),
    row("ftruncate", EngineUse::Never(NOT_DISK)),
    row("e4defrag", EngineUse::Never(NOT_DISK)),
    row("exec", EngineUse::Never(NOT_DISK)),
    row("dev-dax", EngineUse::Never(SPECIAL)),
    row("libpmem", EngineUse::Never(SPECIAL)),
    row("pmemblk", EngineUse::Never(SPECIAL)),
    row("mtd", EngineUse::Never(SPECIAL)),
    row("libcufile", EngineUse::Never(SPECIAL)),
    row("dfs", EngineUse::Never(SPECIAL)),
    row("libzbc", EngineUse::Never(SPECIAL)),
    row("libblkio", EngineUse::Never(SPECIAL)),
    row("xnvme", EngineUse::Never(SPECIAL)),
    row("external", EngineUse::Never(SPECIAL)),
];

/// Returns what runs for the engine called `name`, and what is lost by that.
pub(crate) fn engine(name: &str) -> Result<(Engine, Option<&'static str>), InputError> {
    let fail = |why| {
        let hint = "choose psync or io_uring, or override it: --set ioengine=psync";
        InputError::new(format!("engine `{}` {why}", escape(name.as_bytes())), hint)
    };
    // `external:PATH` names a library.
    let head = name.split(':').next().unwrap_or_default();
    let row = ENGINES.iter().find(|row| row.name == head);
    match row.ok_or_else(|| fail("is not an engine of fio"))?.becomes {
        EngineUse::As(engine) => Ok((engine, None)),
        EngineUse::Instead(engine, lost) => Ok((engine, Some(lost))),
        EngineUse::Never(why) => Err(fail(why)),
    }
}
