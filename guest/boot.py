"""QEMU with a scenario's disks, bounded in time; what the guest sent back, unpacked.

Emulation always: where KVM is offered it may still not boot a stock kernel, and nothing here needs its
speed. One processor: with two, emulation has been seen to panic the guest now and then.
"""
import os
import shutil
import subprocess
import tarfile
import time

KERNEL_WORDS = """console=ttyS0 panic=-1 quiet loglevel=3 tsc=reliable no_timer_check audit=0 apparmor=0
cryptomgr.notests mitigations=off nokaslr random.trust_cpu=on raid=noautodetect""".split()


def boot(image, scenario, result, limit_seconds):
    """Boots once into an empty result directory; seconds taken, and whether the scenario came to its end."""
    shutil.rmtree(result, ignore_errors=True)
    for name in ("images", "disks", "out"):
        os.makedirs(f"{result}/{name}")
    started = time.monotonic()
    with open(f"{result}/qemu.txt", "w") as messages:
        process = subprocess.Popen(command(image, scenario, result), stdin=subprocess.DEVNULL,
                                   stdout=messages, stderr=subprocess.STDOUT)
        try:
            process.wait(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            process.kill()
            process.wait()
    seconds = time.monotonic() - started
    unpack(f"{result}/out.tar", f"{result}/out")
    done = os.path.exists(f"{result}/out/done")
    if done:
        os.replace(f"{result}/out/done", f"{result}/done")
    return seconds, done


def command(image, scenario, result):
    words = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
             "-vga", "none", "-nic", "none", "-machine", "q35", "-smp", "1", "-m", "1024",
             "-accel", "tcg,tb-size=256", "-cpu", "max",
             "-kernel", image.kernel, "-initrd", image.archive, "-append", " ".join(KERNEL_WORDS),
             "-serial", f"file:{result}/console.txt",
             "-device", "virtio-serial-pci", "-chardev", f"file,id=out,path={result}/out.tar",
             "-device", "virtserialport,chardev=out,name=out",
             "-device", "virtio-scsi-pci,id=bus"]
    for number, (name, size_bytes) in enumerate(scenario.disks):
        path = f"{result}/images/{name}"
        with open(path, "wb") as file:
            file.truncate(size_bytes)
        words += ["-blockdev", f"driver=file,node-name=n{number},filename={path},cache.no-flush=on,discard=unmap",
                  "-device", f"scsi-hd,bus=bus.0,scsi-id={number},drive=n{number},serial={name}"]
    return words


def unpack(archive, directory):
    """Plain files only, and none outside of the directory: a guest is not trusted with more."""
    try:
        with tarfile.open(archive, "r:") as tar:
            for member in tar:
                parts = member.name.split("/")
                if member.name.startswith("/") or ".." in parts or not (member.isfile() or member.isdir()):
                    continue
                tar.extract(member, directory)
    except (OSError, tarfile.TarError):
        return
    os.remove(archive)
