//! Lines of `/proc/self/mountinfo`, `/proc/mounts` and `/proc/swaps`.
//!
//! Source: proc_pid_mountinfo(5), fstab(5), proc_swaps(5). Blanks within a field are written as
//! octal digits there, so blanks part fields.

use super::personal_names::Mask;

/// File systems whose source names another machine, or may.
const REMOTE: [&str; 12] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "glusterfs",
    "lustre",
    "nfs",
    "nfs4",
    "ocfs2",
    "smb3",
    "virtiofs",
];

/// Sources of virtual file systems, besides their own type; else it is anybody's word.
const WORDS: [&str; 12] = [
    "cgroup",
    "debugfs",
    "devpts",
    "gvfsd-fuse",
    "none",
    "overlay",
    "proc",
    "shm",
    "sysfs",
    "systemd-1",
    "tmpfs",
    "udev",
];

/// Options that say who somebody is.
const PERSONAL: [&str; 12] = [
    "addr",
    "clientaddr",
    "credentials",
    "domain",
    "fsname",
    "mountaddr",
    "name",
    "pass",
    "password",
    "secret",
    "user",
    "username",
];

pub(super) fn of_mountinfo(mask: &mut Mask, line: &str) -> String {
    let Some((before, behind)) = line.split_once(" - ") else { return mask.secrets.in_text(line) };
    let mut fields: Vec<String> = before.split(' ').map(str::to_owned).collect();
    for field in fields.iter_mut().skip(3).take(2) {
        *field = mask.path(field);
    }
    let mut behind = behind.splitn(3, ' ');
    let (kind, source) = (behind.next().unwrap_or_default(), behind.next().unwrap_or_default());
    let options = options(mask, behind.next().unwrap_or_default());
    format!("{} - {kind} {} {options}", fields.join(" "), from(mask, kind, source))
}

pub(super) fn of_mounts(mask: &mut Mask, line: &str) -> String {
    let fields: Vec<&str> = line.split(' ').collect();
    let [source, point, kind, options_, rest @ ..] = fields.as_slice() else {
        return mask.secrets.in_text(line);
    };
    let source = from(mask, kind, source);
    let point = mask.path(point);
    let mut line = format!("{source} {point} {kind} {}", options(mask, options_));
    for field in rest {
        line.push(' ');
        line.push_str(field);
    }
    line
}

pub(super) fn of_swaps(mask: &mut Mask, line: &str) -> String {
    match line.split_once([' ', '\t']) {
        Some((file, _)) if file.starts_with('/') => {
            let masked = mask.path(file);
            line.replacen(file, &masked, 1)
        }
        _ => line.to_owned(),
    }
}

/// Masks the source of a file system: a device, a directory, another machine, or only a word.
fn from(mask: &mut Mask, kind: &str, source: &str) -> String {
    let remote = REMOTE.contains(&kind) || kind.starts_with("fuse") || source.starts_with("//");
    if let Some((directory, label)) = source.rsplit_once('/').filter(|_| is_label(source)) {
        return format!("{directory}/{}", mask.names.name("label", label));
    }
    if source.starts_with("/dev/") {
        return mask.secrets.in_text(source);
    }
    if source.starts_with('/') && !source.starts_with("//") {
        return mask.path(source);
    }
    if !remote && !source.contains([':', '@']) {
        // A pool keeps its name: it is found in its members.
        let Some((pool, rest)) = source.split_once('/') else {
            let kept = source == kind || WORDS.contains(&source) || kind == "zfs";
            return if kept { source.to_owned() } else { mask.names.name("source", source) };
        };
        let inner: Vec<String> = rest.split('/').map(|part| mask.names.name("d", part)).collect();
        return format!("{pool}/{}", inner.join("/"));
    }
    let host = |mask: &mut Mask, host: &str| mask.names.name("host", host);
    if let Some(share) = source.strip_prefix("//") {
        let (name, path) = share.split_once('/').unwrap_or((share, ""));
        let path: Vec<String> = path.split('/').map(|part| mask.names.name("d", part)).collect();
        return format!("//{}/{}", host(mask, name), path.join("/"));
    }
    match source.rsplit_once(":/") {
        Some((name, path)) => {
            let path: Vec<String> =
                path.split('/').map(|part| mask.names.name("d", part)).collect();
            format!("{}:/{}", host(mask, name), path.join("/"))
        }
        None => host(mask, source),
    }
}

/// Returns whether a device is named by what somebody called it.
fn is_label(source: &str) -> bool {
    ["/dev/disk/by-label/", "/dev/disk/by-partlabel/", "/dev/disk/by-id/"]
        .iter()
        .any(|start| source.starts_with(start))
}

/// Options without paths, addresses and names.
fn options(mask: &mut Mask, options: &str) -> String {
    let masked = options.split(',').map(|option| match option.split_once('=') {
        Some((key, value)) => {
            let open = value.contains(['/', '.', '@', ':', '\\']);
            let is_place = matches!(key, "lowerdir" | "upperdir" | "workdir" | "subvol");
            let masked = if open || is_place || PERSONAL.contains(&key) {
                "0".to_owned()
            } else {
                mask.secrets.in_text(value)
            };
            format!("{key}={masked}")
        }
        // Without a key, it is a word of the kernel's.
        None if option.contains(['/', '.', '@', ':']) => "0".to_owned(),
        None => option.to_owned(),
    });
    masked.collect::<Vec<_>>().join(",")
}
