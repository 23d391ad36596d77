"""Kernel, modules and programs as what QEMU boots: an ELF kernel and an initramfs.

The initramfs (cpio, "newc") is written here, so that neither root nor device nodes are needed. It is not
compressed, and neither are its modules: the guest would take longer to unpack them. The kernel's ELF form
lets QEMU enter it directly (PVH), which spares the guest the kernel's own unpacking.
"""
import os
import re
import shutil
import subprocess

BASE_MODULES = ["virtio_pci", "virtio_scsi", "virtio_console", "sd_mod"]
BASE_PROGRAMS = ["lsblk", "blockdev"]
PATHS = ["sbin", "usr/sbin", "bin", "usr/bin"]
LIBRARIES = ["lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/ceph"]
# How a kernel may be compressed: the first bytes, and what unpacks them.
PACKINGS = [(b"\xfd7zXZ\0", ["xz", "-dc"]), (b"\x28\xb5\x2f\xfd", ["zstd", "-dcq"]), (b"\x1f\x8b\x08", ["gzip", "-dc"])]


class Image:
    def __init__(self, kernel, archive):
        self.kernel, self.archive = kernel, archive


class Archive:
    """A cpio archive under construction."""

    def __init__(self, path):
        self.file, self.number, self.names = open(path, "wb"), 1, set()

    def entry(self, name, mode, data=b""):
        encoded = name.encode() + b"\0"
        fields = (self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(encoded), 0)
        self.number += 1
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
        self.file.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))

    def directory(self, name):
        name = name.strip("/")
        if name and name not in self.names:
            self.directory(os.path.dirname(name))
            self.names.add(name)
            self.entry(name, 0o40755)

    def add(self, name, mode, data):
        name = name.strip("/")
        if name not in self.names:
            self.directory(os.path.dirname(name))
            self.names.add(name)
            self.entry(name, mode, data)

    def copy(self, name, path):
        with open(path, "rb") as file:
            self.add(name, 0o100755, file.read())

    def link(self, name, target):
        self.add(name, 0o120777, target.encode())

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.file.close()


def pack(work, tree, scenario, here, own):
    """The kernel and the initramfs for a scenario; `own` are paths of programs of this machine."""
    root, version, compressed = kernel(tree.kernel)
    image = Image(f"{work}/vmlinux", f"{work}/{scenario.name}.cpio")
    unpack_kernel(compressed, image.kernel)
    archive = Archive(image.archive)
    for name in "dev proc sys run tmp mnt out etc var/lib usr/lib".split():
        archive.directory(name)
    add_modules(archive, work, root, version, BASE_MODULES + scenario.modules)
    own = {os.path.basename(path): path for path in own if os.path.basename(path) in scenario.programs}
    for name, path in own.items():
        add_own(archive, name, path)
    add_programs(archive, tree.tools, [name for name in BASE_PROGRAMS + scenario.programs if name not in own])
    for name in sorted(os.listdir(f"{here}/inside")):
        archive.copy(name, f"{here}/inside/{name}")
    archive.add("seconds", 0o100644, b"%d\n" % scenario.seconds)
    archive.copy("scenario.sh", scenario.script)
    archive.close()
    return image


def kernel(directory):
    for prefix in ("", "/usr"):
        modules = f"{directory}{prefix}/lib/modules"
        if os.path.isdir(modules):
            version = os.listdir(modules)[0]
            return f"{directory}{prefix}", version, f"{directory}/boot/vmlinuz-{version}"
    raise SystemExit(f"there is no kernel in {directory}")


def unpack_kernel(compressed, path):
    with open(compressed, "rb") as file:
        content = file.read()
    for magic, command in PACKINGS:
        for place in re.finditer(re.escape(magic), content):
            done = subprocess.run(command, input=content[place.start():], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, timeout=120)
            if done.stdout[:4] == b"\x7fELF":
                with open(path, "wb") as file:
                    file.write(done.stdout)
                return
    shutil.copy(compressed, path)


def add_modules(archive, work, root, version, names):
    """The modules with all that they need, unpacked, and a new index of them."""
    if not os.path.exists(f"{root}/lib/modules/{version}/modules.dep"):
        subprocess.run(["/sbin/depmod", "-b", root, version], check=True, timeout=120)
    stage = f"{work}/stage"
    shutil.rmtree(stage, ignore_errors=True)
    for name in names:
        shown = subprocess.run(["/sbin/modprobe", "-d", root, "-S", version, "--show-depends", name],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
        if shown.returncode:
            raise SystemExit(f"kernel {version} has no module {name}")
        for path in re.findall(r"^insmod (\S+)", shown.stdout, re.M):
            stage_module(path, f"{stage}/{os.path.relpath(path, root)}")
    for name in ("modules.order", "modules.builtin", "modules.builtin.modinfo"):
        shutil.copy(f"{root}/lib/modules/{version}/{name}", f"{stage}/lib/modules/{version}/{name}")
    subprocess.run(["/sbin/depmod", "-b", stage, version], check=True, timeout=120)
    for directory, _, files in os.walk(stage):
        for name in sorted(files):
            path = f"{directory}/{name}"
            archive.copy(os.path.relpath(path, stage), path)
    shutil.rmtree(stage)


def stage_module(path, target):
    plain = re.sub(r"\.(xz|zst|gz)$", "", target)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if plain == target:
        shutil.copy(path, target)
        return
    tool = {".xz": "xz", ".zst": "zstd", ".gz": "gzip"}[target[len(plain):]]
    done = subprocess.run([tool, "-dcq", path], check=True, stdout=subprocess.PIPE, timeout=60)
    with open(plain, "wb") as file:
        file.write(done.stdout)


def add_own(archive, name, path):
    """A program of this machine under /own, with the libraries that this machine's loader finds for it.

    The guest's may be older than what it was linked with; a static program needs none.
    """
    archive.copy(f"own/{name}", path)
    listed = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
    for library in re.findall(r"(/\S+) \(0x", listed.stdout):
        archive.copy(f"own/lib/{os.path.basename(library)}", os.path.realpath(library))
    loader = re.search(r"^\s*(/\S+) \(0x", listed.stdout, re.M)
    through = f"/own/lib/{os.path.basename(loader.group(1))} --library-path /own/lib " if loader else ""
    archive.add(f"sbin/{name}", 0o100755, f'#!/bin/sh\nexec {through}/own/{name} "$@"\n'.encode())


def add_programs(archive, tools, names):
    """The programs, and the libraries that their own loader finds for them among the unpacked packages."""
    loader = f"{tools}/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"
    path = ":".join(f"{tools}/{directory}" for directory in LIBRARIES)
    libraries = set()
    for name in names:
        found = [f"{tools}/{place}/{name}" for place in PATHS if os.path.exists(f"{tools}/{place}/{name}")]
        if not found:
            raise SystemExit(f"no unpacked package has the program {name}; name it with --program PATH")
        archive.copy(f"sbin/{name}", os.path.realpath(found[0]))
        listed = subprocess.run([loader, "--library-path", path, "--list", found[0]],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=60)
        libraries |= {place for place in re.findall(r"=> (\S+)", listed.stdout) if place.startswith(tools)}
    # Opened by name at run time, when a thread ends.
    libraries |= {place for place in (f"{tools}/{d}/libgcc_s.so.1" for d in LIBRARIES) if os.path.exists(place)}
    for library in sorted(libraries):
        archive.copy(f"usr/lib/{os.path.basename(library)}", library)
    archive.copy("lib64/ld-linux-x86-64.so.2", loader)
    busybox = f"{tools}/bin/busybox"
    archive.copy("bin/busybox", busybox)
    listed = subprocess.run([busybox, "--list"], check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    for applet in listed.stdout.split():
        if f"sbin/{applet}" not in archive.names:
            archive.link(f"bin/{applet}", "busybox")
    archive.link("sbin/modprobe", "../bin/busybox")
