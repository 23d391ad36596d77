"""QEMU with a scenario's disks, bounded in time; what the guest sent back, unpacked.

Emulation always: where KVM is offered it may still not boot a stock kernel, and nothing here needs its
speed. One processor: with two, emulation has been seen to panic the guest now and then.
"""
import os
import shutil
import subprocess
import tarfile
import time
import urllib.parse

KERNEL_WORDS = """console=ttyS0 panic=-1 quiet loglevel=3 tsc=reliable no_timer_check audit=0 apparmor=0
cryptomgr.notests mitigations=off nokaslr random.trust_cpu=on raid=noautodetect""".split()


# Where times count. On a busy machine the kernel may take its processor for 5 times slower than it is,
# and then its clock is 5 times too fast; this one is QEMU's own.
CLOCK_WORDS = ["clocksource=hpet"]

# What a boot needs beside the scenario: to start, to send the result, to stop.
BESIDE_SECONDS = 25
# virtio and NVMe disks stand on PCI functions from this slot on, eight in a slot.
FIRST_SLOT = 8


# Longest time that a served drive may take to end.
SERVE_SECONDS = 30


# Those that run now.
PROCESSES = []


def stop(number, _frame):
    """Ends every QEMU and every served drive with this program, when it is told to end."""
    for process in PROCESSES:
        process.kill()
    os._exit(128 + number)


def boot(image, scenario, result):
    """Boots once into an empty result directory; seconds taken, and whether the scenario came to its end."""
    shutil.rmtree(result, ignore_errors=True)
    for name in ("images", "disks", "out"):
        os.makedirs(f"{result}/{name}")
    started, servers = time.monotonic(), {}
    with open(f"{result}/qemu.txt", "w") as messages:
        try:
            for name, words in scenario.served.items():
                servers[name] = serve(scenario.program, words, messages)
            sockets = {name: socket for name, (_, socket) in servers.items()}
            process = subprocess.Popen(command(image, scenario, result, sockets), stdin=subprocess.DEVNULL,
                                       stdout=messages, stderr=subprocess.STDOUT)
            PROCESSES.append(process)
            try:
                process.wait(timeout=scenario.seconds + BESIDE_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            finally:
                process.kill()
                process.wait()
        finally:
            for name, (server, _) in servers.items():
                with open(f"{result}/served-{name}.txt", "w") as counts:
                    counts.write(end(server))
    seconds = time.monotonic() - started
    unpack(f"{result}/out.tar", f"{result}/out")
    done = os.path.exists(f"{result}/out/done")
    if done:
        os.replace(f"{result}/out/done", f"{result}/done")
    return seconds, done


def serve(program, words, messages):
    """A drive that straddle serves: its process, and the path of its socket."""
    server = subprocess.Popen([program, "drive", "serve", "--as", "nbd", *words], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=messages, text=True)
    PROCESSES.append(server)
    _, found, socket = server.stdout.readline().strip().partition("socket=")
    if not found:
        end(server)
        raise SystemExit(f"straddle does not serve {' '.join(words)}")
    return server, urllib.parse.unquote(socket)


def end(server):
    """Ends a served drive, and kills it where that takes too long; what it printed at the end."""
    server.terminate()
    try:
        return server.communicate(timeout=SERVE_SECONDS)[0]
    except subprocess.TimeoutExpired:
        server.kill()
        return server.communicate()[0]


def command(image, scenario, result, sockets):
    words = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
             "-vga", "none", "-nic", "none", "-machine", "q35", "-smp", "1", "-m", str(scenario.memory),
             "-accel", "tcg,tb-size=256", "-cpu", "max",
             "-kernel", image.kernel, "-initrd", image.archive, "-append", " ".join(KERNEL_WORDS + (CLOCK_WORDS if scenario.served else [])),
             "-serial", f"file:{result}/console.txt",
             "-device", "virtio-serial-pci", "-chardev", f"file,id=out,path={result}/out.tar",
             "-device", "virtserialport,chardev=out,name=out",
             "-device", "virtio-scsi-pci,id=bus"]
    numbers = {"scsi-hd": 0, "ide-hd": 0, "pci": 0}
    for number, disk in enumerate(scenario.disks):
        path = f"{result}/images/{disk.name}"
        with open(path, "wb") as file:
            file.truncate(disk.size_bytes)
        node = f"n{number}"
        if disk.name in sockets:
            words += ["-blockdev", f"driver=nbd,node-name={node},server.type=unix,server.path={sockets[disk.name]}"]
        elif disk.name in scenario.granules:
            words += granules(node, disk.size_bytes, *scenario.granules[disk.name])
        else:
            words += ["-blockdev",
                      f"driver=file,node-name={node},filename={path},cache.no-flush=on,discard=unmap"]
        words += device(disk, node, numbers)
    return words


def granules(node, size_bytes, granule_bytes, delay_us):
    """A disk that writes by granules and says nothing of it: where it is to write part of one, it reads first.

    Each read, each write and each flush takes its time, so that a part costs what is known. It keeps nothing
    that is written, and reads as zeros.
    """
    delay_ns = delay_us * 1000
    return ["-blockdev", f"driver=null-co,node-name={node}slow,size={size_bytes},latency-ns={delay_ns},read-zeroes=on",
            "-blockdev", f"driver=blkdebug,node-name={node},align={granule_bytes},image={node}slow"]


def device(disk, node, numbers):
    """The device for a disk: its serial number is its name."""
    kind = disk.device if disk.device in numbers else "pci"
    number = numbers[kind]
    numbers[kind] += 1
    serial, drive = f"serial={disk.name}", f"drive={node}"
    place = f"addr={FIRST_SLOT + number // 8:x}.{number % 8},multifunction=on"
    if disk.device == "nvme-ns":
        return ["-device", f"nvme,id={node}bus,{place},{serial}",
                "-device", ",".join([f"nvme-ns,bus={node}bus,{drive}", *disk.options])]
    where = {"scsi-hd": f"bus=bus.0,scsi-id={number}", "ide-hd": f"bus=ide.{number}"}.get(kind, place)
    return ["-device", ",".join([disk.device, where, drive, serial, *disk.options])]


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
