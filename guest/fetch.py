"""Debian packages, downloaded with a private apt state and unpacked under the work directory.

Nothing is installed: neither /etc/apt nor /var/lib/dpkg is touched, and no privilege is needed. An empty
package status makes apt list the whole closure of what the tools need.
"""
import glob
import os
import re
import subprocess

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
RELEASE = "bookworm"
BASE = ["busybox-static", "util-linux", "mount"]


class Tree:
    """Where the unpacked kernel and the unpacked tools are."""

    def __init__(self, kernel, tools):
        self.kernel, self.tools = kernel, tools


def fetch(work, kernel_package, packages):
    """The unpacked kernel and tools; downloads only what is not there yet."""
    wanted = sorted(set(BASE + packages))
    kernel, tools = f"{work}/kernel-{kernel_package}", f"{work}/tools"
    marker = f"{tools}/.packages"
    have = open(marker).read().split() if os.path.exists(marker) else []
    need_kernel, need_tools = not os.path.exists(f"{kernel}/.complete"), not set(wanted) <= set(have)
    if need_kernel or need_tools:
        environment = configure(work)
        run(["apt-get", "-qq", "update"], environment)
    if need_kernel:
        depends = run(["apt-cache", "depends", kernel_package], environment)
        image = re.search(r"Depends: (linux-image-\S+)", depends)
        if not image:
            raise SystemExit(f"{kernel_package} depends on no kernel in {RELEASE}")
        run(["apt-get", "-qq", "download", image.group(1)], environment, directory=f"{work}/apt/kernel")
        unpack(glob.glob(f"{work}/apt/kernel/{image.group(1)}_*.deb"), kernel)
        open(f"{kernel}/.complete", "w").close()
    if need_tools:
        every = sorted(set(wanted + have))
        run(["apt-get", "-qq", "--download-only", "-y", "install", *every], environment)
        unpack(glob.glob(f"{work}/apt/cache/archives/*.deb"), tools)
        with open(marker, "w") as file:
            file.write("\n".join(every))
    return Tree(kernel, tools)


def mirror():
    """The Debian mirror that this machine's apt uses."""
    if os.environ.get("DEBIAN_MIRROR"):
        return os.environ["DEBIAN_MIRROR"].rstrip("/")
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        if not os.path.exists(path):
            continue
        for line in open(path):
            found = re.match(r"(?:URIs:|deb(?: \[[^]]*\])?)\s+(https?://\S+?/debian)/?(\s|$)", line)
            if found:
                return found.group(1)[: -len("/debian")]
    return "http://deb.debian.org"


def configure(work):
    """A configuration of apt with every path in the work directory; the environment that selects it."""
    apt = f"{work}/apt"
    for path in ("lists/partial", "cache/archives/partial", "state", "kernel"):
        os.makedirs(f"{apt}/{path}", exist_ok=True)
    open(f"{apt}/status", "w").close()
    with open(f"{apt}/sources.list", "w") as file:
        file.write(f"deb [signed-by={KEYS}] {mirror()}/debian {RELEASE} main\n")
        file.write(f"deb [signed-by={KEYS}] {mirror()}/debian-security {RELEASE}-security main\n")
    with open(f"{apt}/apt.conf", "w") as file:
        file.write(f"""
Dir::Etc "{apt}"; Dir::Etc::sourcelist "{apt}/sources.list"; Dir::Etc::sourceparts "/dev/null";
Dir::Etc::parts "/dev/null"; Dir::Etc::preferences "/dev/null"; Dir::Etc::preferencesparts "/dev/null";
Dir::State "{apt}/state"; Dir::State::lists "{apt}/lists"; Dir::State::status "{apt}/status";
Dir::Cache "{apt}/cache"; Dir::Cache::archives "{apt}/cache/archives"; Dir::Log "{apt}";
APT::Sandbox::User ""; APT::Install-Recommends "false"; APT::Architecture "amd64";
APT::Update::Post-Invoke ""; DPkg::Post-Invoke ""; Binary::apt::APT::Keep-Downloaded-Packages "1";
Acquire::Languages "none"; Acquire::Retries "3"; Acquire::http::Timeout "30"; Debug::NoLocking "1";
""")
    return {**os.environ, "APT_CONFIG": f"{apt}/apt.conf", "LC_ALL": "C"}


def unpack(packages, directory):
    os.makedirs(directory, exist_ok=True)
    for package in packages:
        run(["dpkg-deb", "-x", package, directory], None)


def run(command, environment, directory=None):
    done = subprocess.run(command, env=environment, cwd=directory, timeout=600, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} failed:\n{done.stderr[-2000:]}")
    return done.stdout
