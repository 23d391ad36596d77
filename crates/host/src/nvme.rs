//! NVMe Identify and logs of health by the kernel's passthrough.
//!
//! Source: Linux `include/uapi/linux/nvme_ioctl.h`, `drivers/nvme/host/ioctl.c`. Since Linux 6.2
//! whoever may open the node may also send Identify; before, it takes root.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::ioctl::{self, Opcode};

use crate::ocp_log;
use crate::passthrough::{BareIoctl, StructIoctl};

/// `_IO('N', 0x40)`: the ioctl's own result is the namespace's number.
const NVME_IOCTL_ID: Opcode = ioctl::opcode::none(b'N', 0x40);
/// `_IOWR('N', 0x41, struct nvme_admin_cmd)`.
const NVME_IOCTL_ADMIN_CMD: Opcode = ioctl::opcode::read_write::<NvmePassthru>(b'N', 0x41);

/// The Identify command, and what it asks for: its CNS.
const IDENTIFY: u8 = 6;
const CNS_NAMESPACE: u32 = 0;
const CNS_CONTROLLER: u32 = 1;
const CNS_UUID_LIST: u32 = 0x17;
/// CSI, the upper byte of word 11, stays 0: the NVM command set.
const CNS_COMMAND_SET_NAMESPACE: u32 = 5;
/// Every answer to Identify is this long.
const ANSWER_BYTES: usize = 4096;
/// The Get Log Page command; the pages about health, and how long each is.
const GET_LOG_PAGE: u8 = 2;
const HEALTH_PAGE: u32 = 2;
const HEALTH_BYTES: usize = 512;
/// The page that lists the pages, one word of 32 bits for each.
const SUPPORTED_PAGES: u32 = 0;
const SUPPORTED_PAGES_BYTES: usize = 1024;
/// The whole controller, not one namespace.
const ALL_NAMESPACES: u32 = u32::MAX;
const TIMEOUT_MS: u32 = 5000;

/// `struct nvme_passthru_cmd`.
#[repr(C)]
#[derive(Default)]
struct NvmePassthru {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    word2: u32,
    word3: u32,
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    word10: u32,
    words_11_to_15: [u32; 5],
    timeout_ms: u32,
    result: u32,
}

const _: () = assert!(size_of::<NvmePassthru>() == 72, "the layout of nvme_ioctl.h");

/// Identify Namespace of the namespace whose node is `device`.
///
/// # Errors
/// When the kernel or the drive refuses; the text says why.
pub(crate) fn identify_namespace(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    let namespace = number(device).map_err(|error| explained("NVME_IOCTL_ID", error))?;
    identify(device, CNS_NAMESPACE, namespace)
}

/// Identify Namespace of the NVM command set, of the namespace whose node is `device`. Drives
/// before NVMe 2.0 refuse it.
///
/// # Errors
/// Same as [`identify_namespace`].
pub(crate) fn identify_nvm_namespace(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    let namespace = number(device).map_err(|error| explained("NVME_IOCTL_ID", error))?;
    identify(device, CNS_COMMAND_SET_NAMESPACE, namespace)
}

/// Identify Controller of the controller behind `device`.
///
/// # Errors
/// Same as [`identify_namespace`].
pub(crate) fn identify_controller(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    identify(device, CNS_CONTROLLER, 0)
}

/// The log page about the health of the controller behind `device`.
///
/// # Errors
/// Same as [`identify_namespace`].
pub(crate) fn health_log(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    log_page(device, HEALTH_PAGE, 0, HEALTH_BYTES)
}

/// OCP's log page C0h of the controller behind `device`.
///
/// # Errors
/// Same as [`identify_namespace`]; and where nothing says that the drive has the page, which it is
/// then not asked for: drives keep a refused log page as an error of theirs.
pub(crate) fn ocp_health_log(device: BorrowedFd<'_>) -> Result<Vec<u8>, String> {
    let controller = identify_controller(device)?;
    let uuids = ocp_log::has_uuid_list(&controller)
        .then(|| identify(device, CNS_UUID_LIST, 0))
        .transpose()?;
    let index = match uuids.as_deref().and_then(ocp_log::uuid_index) {
        Some(index) => index,
        None => {
            let pages = ocp_log::has_page_list(&controller)
                .then(|| log_page(device, SUPPORTED_PAGES, 0, SUPPORTED_PAGES_BYTES))
                .transpose()?;
            ocp_log::may_be_asked(&controller, pages.as_deref())?;
            0
        }
    };
    log_page(device, ocp_log::PAGE, index, HEALTH_BYTES)
}

/// The first `length` bytes of the log page `page`, of the vendor with `uuid_index`; 0 is none.
fn log_page(
    device: BorrowedFd<'_>,
    page: u32,
    uuid_index: u8,
    length: usize,
) -> Result<Vec<u8>, String> {
    // Number of 32-bit words, less one, in the upper half: NUMDL.
    let words = u32::try_from(length.div_euclid(4) - 1).map_err(|error| error.to_string())?;
    let mut command = NvmePassthru {
        opcode: GET_LOG_PAGE,
        namespace: ALL_NAMESPACES,
        word10: words << 16 | page,
        // Word 14 has the index in its lowest bits.
        words_11_to_15: [0, 0, 0, u32::from(uuid_index), 0],
        ..NvmePassthru::default()
    };
    asked(device, "Get Log Page", &mut command, length)
}

#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel does")]
fn number(device: BorrowedFd<'_>) -> Result<u32, Errno> {
    // SAFETY: the kernel takes no argument for NVME_IOCTL_ID and writes nothing; it returns the
    // number.
    let number = unsafe { ioctl::ioctl(device, BareIoctl::<NVME_IOCTL_ID>) }?;
    u32::try_from(number).map_err(|_| Errno::RANGE)
}

fn identify(device: BorrowedFd<'_>, what: u32, namespace: u32) -> Result<Vec<u8>, String> {
    let mut command =
        NvmePassthru { opcode: IDENTIFY, namespace, word10: what, ..NvmePassthru::default() };
    asked(device, "Identify", &mut command, ANSWER_BYTES)
}

/// Returns the drive's answer to `command`: `length` bytes.
#[expect(unsafe_code, reason = "an ioctl's opcode decides what the kernel writes")]
fn asked(
    device: BorrowedFd<'_>,
    name: &str,
    command: &mut NvmePassthru,
    length: usize,
) -> Result<Vec<u8>, String> {
    let mut answer = vec![0_u8; length];
    command.address = u64::try_from(answer.as_mut_ptr().expose_provenance())
        .map_err(|error| error.to_string())?;
    command.data_bytes = u32::try_from(answer.len()).map_err(|error| error.to_string())?;
    command.timeout_ms = TIMEOUT_MS;
    // SAFETY: the kernel reads and writes one struct nvme_admin_cmd, which `Command` is, and writes
    // at most `data_bytes` bytes at `address`, which `answer` has and outlives the call.
    let passed =
        unsafe { ioctl::ioctl(device, StructIoctl::<NVME_IOCTL_ADMIN_CMD, NvmePassthru>(command)) };
    match passed {
        Ok(0) => Ok(answer),
        Ok(status) => Err(format!("the drive refuses {name} with status {status:#06x}")),
        Err(error) => Err(explained("NVME_IOCTL_ADMIN_CMD", error)),
    }
}

fn explained(name: &str, error: Errno) -> String {
    match error {
        Errno::ACCESS | Errno::PERM => format!("{name} needs root: {error}"),
        Errno::NOTTY => format!("{name} is not known to this device: {error}"),
        _ => format!("{name} failed: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    #[test]
    fn opcodes_are_the_numbers_that_the_kernel_compiles() {
        assert_eq!(NVME_IOCTL_ID, 0x4e40);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(NVME_IOCTL_ADMIN_CMD, 0xc048_4e41);
        }
    }

    #[test]
    fn what_is_no_nvme_says_that_it_does_not_know_the_ioctl() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let error = identify_namespace(file.as_fd()).unwrap_err();
        assert!(error.starts_with("NVME_IOCTL_ID is not known to this device"), "{error}");
        for ask in [identify_controller, health_log, ocp_health_log] {
            let error = ask(file.as_fd()).unwrap_err();
            assert!(error.starts_with("NVME_IOCTL_ADMIN_CMD is not known"), "{error}");
        }
    }
}
