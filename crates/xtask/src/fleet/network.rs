//! Hosts with a network namespace, a name and an sshd each, on one bridge.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::json;
use testkit::running_program::Going;
use testkit::scratch::text;
use testkit::tool;

use super::playbook::play;
use super::room::{MISALIGNED, Room, awaited, image, sound};
use crate::bench::tools;

const HOSTS: u8 = 20;

/// Starts sshd under the name of its host.
const SERVE: &str = "hostname \"$1\" && exec \"$2\" -D -e -f \"$3\"";

fn name(host: u8) -> String {
    format!("node-{host:02}")
}

fn address(host: u8) -> String {
    format!("10.77.0.{host}")
}

/// Acts the scene. All that it makes belongs to the sandbox. Fails when a host has no sound result
/// under its own name, or is not on the page.
pub(super) fn act(room: &Room) -> anyhow::Result<String> {
    let place = room.place("network")?;
    let disk = place.join("disk.raw");
    image(&disk, MISALIGNED)?;
    let login = place.join("login");
    generate(&login)?;
    connect()?;
    let mut servers = Vec::new();
    let (mut known, mut inventory) = (String::new(), Vec::new());
    for host in 1..=HOSTS {
        servers.push(serve(&place, host, &login)?);
        let key = std::fs::read_to_string(place.join(format!("{}.pub", name(host))))?;
        let _ = writeln!(known, "{} {}", address(host), key.trim());
        inventory.push(format!(
            "{} ansible_host={} ansible_user=root ansible_ssh_private_key_file={} \
             ansible_python_interpreter=/usr/bin/python3\n",
            name(host),
            address(host),
            text(&login)
        ));
    }
    std::fs::write(room.place(".ssh")?.join("known_hosts"), known)?;
    for host in 1..=HOSTS {
        let at = format!("{}:22", address(host));
        awaited(&format!("sshd of {at}"), || TcpStream::connect(&at).ok())?;
    }
    let variables = json!({"straddle_targets": [disk], "straddle_path": room.program});
    let played = play(room, "network", "straddle.storage.check", &inventory, &variables)?;
    let files = played.all(usize::from(HOSTS))?;
    let rules = room.schema("check")?;
    for (host, file) in (1..).zip(&files) {
        let found = &sound(file, &rules)?["host"];
        ensure!(*found == name(host), "{}: of host {found}", file.display());
    }
    let ran = room.report(&files)?;
    ensure!(ran.status == Some(0), "report: {:?}: {}", ran.status, ran.errors);
    let missing: Vec<String> =
        (1..=HOSTS).map(name).filter(|name| !ran.out.contains(name.as_str())).collect();
    ensure!(missing.is_empty(), "not on the page: {}", missing.join(", "));
    Ok(format!("{} results on one page, in {} s", files.len(), played.time.as_secs()))
}

/// Makes a pair of keys: `path`, and with `.pub`.
fn generate(path: &Path) -> anyhow::Result<()> {
    let mut command = tool::command("ssh-keygen");
    tools::answer(command.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(path))?;
    Ok(())
}

/// Makes the bridge, and a namespace of networks for each host.
fn connect() -> anyhow::Result<()> {
    let mut lines = "link add name fleet0 type bridge\naddress add 10.77.0.254/24 dev fleet0\n\
                     link set fleet0 up\n"
        .to_owned();
    for host in 1..=HOSTS {
        let name = name(host);
        let _ = write!(
            lines,
            "netns add {name}\nlink add name veth{host} type veth peer name eth0 netns {name}\n\
             link set veth{host} master fleet0 up\n"
        );
    }
    let ip = || tool::command("ip");
    tools::run_with_input("ip", ip().args(["-batch", "-"]), &lines)?;
    for host in 1..=HOSTS {
        let lines = format!(
            "address add {}/24 dev eth0\nlink set eth0 up\nlink set lo up\n",
            address(host)
        );
        let words = ["-netns", &name(host), "-batch", "-"];
        tools::run_with_input("ip", ip().args(words), &lines)?;
    }
    Ok(())
}

/// Starts the sshd of a host, with a key of its own, for those who have the key `login`.
fn serve(place: &Path, host: u8, login: &Path) -> anyhow::Result<Going> {
    let name = name(host);
    let (key, settings) = (place.join(&name), place.join(format!("{name}.conf")));
    generate(&key)?;
    let lines = format!(
        "ListenAddress {}\nHostKey {}\nAuthorizedKeysFile {}.pub\nStrictModes no\nUsePAM no\n\
         PasswordAuthentication no\nPidFile none\n",
        address(host),
        text(&key),
        text(login)
    );
    std::fs::write(&settings, lines)?;
    let sshd = tool::find("sshd").context("sshd is there")?;
    let mut command = tool::command("ip");
    command.args(["netns", "exec", &name, "unshare", "--uts", "sh", "-c", SERVE, "sh", &name]);
    Ok(Going::with(command.arg(sshd).arg(settings)))
}
