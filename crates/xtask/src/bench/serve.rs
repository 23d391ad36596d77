//! `cargo xtask bench serve`: served drives without timing, next to servers that only keep bytes:
//! nbdkit's memory plugin, and a file of FUSE that passes everything through to a tmpfs.
//!
//! Each pair runs fio on both, in random order, for the same time. Ratios are rates over the
//! peer's, so that above 1 is faster.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::Value;
use testkit::Loop;
use testkit::running_program::until;
use units::random::Random;

use super::goals::{SERVED_LOOP_LEAST, SERVED_NBD_LEAST};
use super::ratio::Spread;
use super::rounds::rounds;
use super::tools;
use crate::cargo;
use crate::options::Options;

/// Name of the profile that is served.
const PROFILE: &str = "m4-256";
/// Length that the load touches, and that the peers have.
const BYTES: &str = "256M";
/// Access pattern and depth.
const LOADS: [(&str, u32); 4] =
    [("randread", 1), ("randread", 32), ("randwrite", 1), ("randwrite", 32)];

/// A server, ended when dropped.
struct Server {
    child: Child,
    device: Option<Loop>,
    /// Words that tell fio about it.
    words: Vec<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.device = None;
        testkit::running_program::signal(self.child.id(), "INT");
        let _ = self.child.wait();
    }
}

/// Runs the pairs and prints the ratios. `words` may be `--pairs N`, `--seconds N` and `--program
/// PATH`. Always `true`: a missed target is said, and is no failure.
///
/// # Errors
/// When something cannot be built, started or run.
pub(super) fn run(words: &[&str]) -> anyhow::Result<bool> {
    let options = Options::parse(words, &["--pairs", "--seconds", "--program"])?;
    let (pairs, seconds) = (options.count("--pairs", 7)?, options.count("--seconds", 3)?);
    let program = cargo::program(&options)?;
    let room = tempfile::tempdir()?;
    tools::print_load();
    let mut random = testkit::random(1);
    println!("NBD on a Unix socket, rate over that of nbdkit's memory plugin:");
    let ours = nbd(&program, &room.path().join("straddle"))?;
    let peer = nbdkit(&room.path().join("nbdkit"))?;
    contest(&[ours, peer], SERVED_NBD_LEAST, (pairs, seconds), &mut random)?;
    if host::is_root() {
        println!("loop device, rate over that of one over a passthrough to a tmpfs:");
        let ours = looped(&program)?;
        let peer = passthrough(&room.path().join("point"))?;
        contest(&[ours, peer], SERVED_LOOP_LEAST, (pairs, seconds), &mut random)?;
    } else {
        println!("loop device: not measured: only root may attach one");
    }
    Ok(true)
}

fn contest(
    servers: &[Server; 2],
    least: f64,
    (pairs, seconds): (u64, u64),
    random: &mut Random,
) -> anyhow::Result<()> {
    for (pattern, depth) in LOADS {
        let rates: [Vec<f64>; 2] =
            rounds(pairs, random, |place| rate(&servers[place], pattern, depth, seconds))?;
        let both = rates[0].iter().zip(&rates[1]);
        let ratios: Vec<f64> = both.map(|(ours, peers)| ours / peers.max(1e-9)).collect();
        let (ratio, own) = (Spread::of(&ratios), Spread::of(&rates[0]));
        let missed = if ratio.median() < least { "   missed" } else { "" };
        println!("  {pattern:<9} depth {depth:<2}  {ratio}; {own} a second{missed}");
    }
    Ok(())
}

/// Returns how many operations of 4 KiB fio does in a second.
fn rate(server: &Server, pattern: &str, depth: u32, seconds: u64) -> anyhow::Result<f64> {
    let mut fio = Command::new(tools::find("fio")?);
    fio.args(["--name=load", "--bs=4k", "--time_based", "--output-format=json"]);
    fio.arg(format!("--size={BYTES}")).arg(format!("--rw={pattern}"));
    fio.arg(format!("--iodepth={depth}")).arg(format!("--runtime={seconds}"));
    let output = fio.args(&server.words).output().context("cannot start fio")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.find('{').map(|start| &text[start..]).context("fio answered no JSON")?;
    let shown: Value = serde_json::from_str(text).context("fio's JSON cannot be read")?;
    let job = &shown["jobs"][0];
    ensure!(output.status.success() && job["error"] == 0, "fio failed: {}", job["error"]);
    let rate = |way: &str| job[way]["iops"].as_f64().unwrap_or(0.0);
    Ok(rate("read") + rate("write"))
}

fn fio_nbd(socket: &Path) -> Vec<String> {
    let uri = format!("--uri=nbd+unix:///?socket={}", socket.display());
    vec!["--ioengine=nbd".to_owned(), uri]
}

fn fio_device(node: &Path) -> Vec<String> {
    let file = format!("--filename={}", node.display());
    vec!["--ioengine=io_uring".to_owned(), "--direct=1".to_owned(), file]
}

fn nbd(program: &Path, socket: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(program);
    command.args(["drive", "serve", "--profile", PROFILE, "--as", "nbd", "--timing", "off"]);
    let child = command.arg("--socket").arg(socket).stdout(Stdio::null()).spawn()?;
    until("straddle listens", || socket.exists());
    Ok(Server { child, device: None, words: fio_nbd(socket) })
}

fn nbdkit(socket: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(tools::find("nbdkit")?);
    command.args(["--foreground", "--unix"]).arg(socket).args(["memory", BYTES]);
    let child = command.spawn().context("cannot start nbdkit")?;
    until("nbdkit listens", || socket.exists());
    Ok(Server { child, device: None, words: fio_nbd(socket) })
}

fn looped(program: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(program);
    command.args(["drive", "serve", "--profile", PROFILE, "--as", "loop", "--timing", "off"]);
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().context("it has an output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let node = PathBuf::from(line.trim());
    let words = fio_device(&node);
    Ok(Server { child, device: None, words })
}

fn passthrough(point: &Path) -> anyhow::Result<Server> {
    std::fs::create_dir(point)?;
    let child = Command::new(std::env::current_exe()?).arg("passthrough").arg(point).spawn()?;
    let disk = point.join("disk");
    until("the passthrough is mounted", || disk.exists());
    let device = Loop::attach_direct(&disk, 512);
    let words = fio_device(device.path());
    Ok(Server { child, device: Some(device), words })
}
