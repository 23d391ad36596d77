//! The check that `/proc` shows every process of this machine.

use device::mountinfo;

pub(super) const FIRST: u32 = 1;
/// The inode of the machine's own process namespace: `PID_NS_INIT_INO` of Linux
/// `include/uapi/linux/nsfs.h`, `PROC_PID_INIT_INO` before.
const MACHINE: &str = "pid:[4026531836]";

/// Rejects a `/proc` that hides some.
///
/// # Errors
/// With the reason.
pub(super) fn check() -> Result<(), String> {
    let own = std::fs::read_link("/proc/self/ns/pid")
        .map_err(|error| format!("/proc does not show this process: {error}"))?;
    if own.as_os_str() != MACHINE {
        let reason = "this is a container: processes outside of it are not seen from here";
        return Err(reason.to_owned());
    }
    let mounts = std::fs::read("/proc/self/mountinfo")
        .map_err(|error| format!("/proc/self/mountinfo cannot be read: {error}"))?;
    match hides(&mounts) {
        true => Err("/proc hides the processes of others (hidepid)".to_owned()),
        false => Ok(()),
    }
}

/// True if a `/proc` among these mounts hides processes.
fn hides(mounts: &[u8]) -> bool {
    mountinfo::lines(mounts).any(|mount| {
        let hidden = mount.option("hidepid");
        let is_proc = mount.kind == "proc" && mount.point.raw() == b"/proc";
        is_proc && hidden.is_some_and(|value| value != b"0" && value != b"off")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proc_that_hides_processes_is_known_by_its_options() {
        let line = |options: &str| format!("22 27 0:21 / /proc rw,relatime - proc proc {options}");
        for (options, expected) in [
            ("rw", false),
            ("rw,hidepid=off", false),
            ("rw,hidepid=0", false),
            ("rw,gid=4,hidepid=2", true),
            ("rw,hidepid=invisible", true),
            ("rw,hidepid=ptraceable,subset=pid", true),
        ] {
            assert_eq!(hides(line(options).as_bytes()), expected, "{options}");
        }
        assert!(!hides(b"22 27 0:21 / /other rw - proc proc rw,hidepid=2"));
        assert!(!hides(b""));
    }
}
