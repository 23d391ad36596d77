//! Limits of this process's view of others, and advice.

use std::fmt;
use std::io::{self, ErrorKind};

use rustix::io::Errno;

use super::procfs::{is_filtered, own_mask, read};

/// `CAP_SYS_PTRACE`, as needed to look into processes of others (ptrace(2)).
const TRACE: u64 = 1 << 19;
/// `CAP_SYS_ADMIN`, as needed for filters.
const ADMINISTER: u64 = 1 << 21;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rights {
    is_root: bool,
    /// Its effective capabilities.
    capabilities: u64,
    /// True if its user namespace is the machine's own, so that they reach everywhere.
    is_initial: bool,
    /// The security modules in force, where they are told.
    modules: String,
}

/// Advice where a process cannot be seen, in lower case and without a full stop.
pub(super) fn advice() -> String {
    Rights::own().advice(TRACE)
}

/// Advice where just root is led to what is in memory.
pub(super) fn advice_on_memory() -> String {
    Rights::own().advice(ADMINISTER)
}

/// Advice where its filters are not given.
pub(super) fn advice_on_filters() -> String {
    match is_filtered() {
        true => "straddle itself runs under a seccomp filter, and who does is given none of \
                 others: run it outside of the container"
            .to_owned(),
        false => Rights::own().advice(ADMINISTER),
    }
}

/// Says that `what` cannot be read, why, and what may help.
pub(super) fn told(what: impl fmt::Display, error: &io::Error) -> String {
    match is_refusal(error) {
        true => format!("{what} cannot be read: {error}; {}", advice()),
        false => format!("{what} cannot be read: {error}"),
    }
}

/// Returns whether somebody said no.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
        || matches!(Errno::from_io_error(error), Some(Errno::PERM | Errno::ACCESS))
}

/// Returns whether `/proc` numbers processes as the kernel does for this one: it may be that of
/// another PID namespace.
pub(super) fn is_own_proc() -> bool {
    let own = std::fs::read_link("/proc/self");
    own.is_ok_and(|own| own.to_str() == Some(&std::process::id().to_string()))
}

impl Rights {
    fn own() -> Rights {
        let map = read("/proc/self/uid_map").unwrap_or_default();
        let map = String::from_utf8_lossy(&map);
        let modules = read("/sys/kernel/security/lsm").unwrap_or_default();
        Rights {
            is_root: crate::is_root(),
            capabilities: own_mask(b"CapEff:"),
            is_initial: map.split_ascii_whitespace().eq(["0", "0", "4294967295"]),
            modules: units::text::escape(modules.trim_ascii()),
        }
    }

    fn advice(&self, needed: u64) -> String {
        let name = if needed == TRACE { "CAP_SYS_PTRACE" } else { "CAP_SYS_ADMIN" };
        if self.capabilities & needed == 0 {
            return match self.is_root {
                false => "try sudo".to_owned(),
                true => format!(
                    "this root has no {name}, as in a container: run straddle outside of it"
                ),
            };
        }
        if !self.is_initial {
            return format!(
                "{name} of this user namespace does not reach it: run straddle outside of the \
                 container"
            );
        }
        let modules = match self.modules.is_empty() {
            true => String::new(),
            false => format!(" (in force: {})", self.modules),
        };
        format!(
            "a security module{modules} or the kernel itself protects that process, also from \
             {name}; see the kernel's log"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudo_is_advised_to_those_whom_it_helps() {
        let rights = |is_root, capabilities, is_initial| Rights {
            is_root,
            capabilities,
            is_initial,
            modules: "yama,selinux".to_owned(),
        };
        assert_eq!(rights(false, 0, true).advice(TRACE), "try sudo");
        let bare = rights(true, ADMINISTER, true).advice(TRACE);
        assert!(bare.contains("no CAP_SYS_PTRACE"), "{bare}");
        let nested = rights(true, !0, false).advice(TRACE);
        assert!(nested.contains("user namespace"), "{nested}");
        let whole = rights(true, !0, true).advice(TRACE);
        assert!(whole.contains("security module") && whole.contains("yama,selinux"), "{whole}");
        for advice in [bare, nested, whole] {
            assert!(!advice.contains("sudo"), "{advice}");
        }
    }

    #[test]
    fn this_process_is_numbered_as_proc_says() {
        assert!(is_own_proc());
    }
}
