//! Namespaces of processes, mounts, names and networks. With the last process go its mounts and
//! networks, and every process goes with the first, which goes with this one, however that ends.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::bench::tools;

/// The directory of a run within the sandbox: memory of its own, as all of `/run`.
const ROOM: &str = "/run/fleet";

/// Prepares the sandbox, then runs the arguments. `sshd` wants its directory and its user, and root
/// has its home in the room: this machine's own files stay as they are. The shell stays, and reaps
/// what other processes leave behind.
const ENTER: &str = "set -e; mount -t tmpfs -o mode=755 tmpfs /run; mkdir /run/fleet /run/sshd; \
    cd /run/fleet; \
    printf 'root:x:0:0::/run/fleet:/bin/sh\\nsshd:x:100:65534::/run/sshd:/bin/false\\n' >passwd; \
    printf 'root:*:1::::::\\nsshd:*:1::::::\\n' >shadow; \
    mount --bind passwd /etc/passwd; mount --bind shadow /etc/shadow; \
    ! command -v ip >/dev/null || ip link set lo up; \
    env HOME=/run/fleet \"$@\"; exit";

/// Acts all scenes in a sandbox; true if none failed. Fails when the sandbox cannot be made.
pub(super) fn run(program: &Path, hosts: u64) -> anyhow::Result<bool> {
    let mut command = Command::new(tools::find("setpriv")?);
    command.args(["--pdeathsig", "KILL"]).arg(tools::find("unshare")?);
    command.args(["--mount", "--net", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc"]);
    command.args(["sh", "-c", ENTER, "sh"]).arg(std::env::current_exe()?);
    command.args(["act", ROOM]).arg(program).arg(hosts.to_string());
    let status = command.status().context("cannot start setpriv")?;
    match status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => anyhow::bail!("cannot act in a sandbox: {status}"),
    }
}
