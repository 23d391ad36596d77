//! `cargo xtask bench serve`: served drives without timing, next to servers that only keep bytes:
//! nbdkit's memory plugin, and a file of FUSE that passes everything through to a tmpfs. And one
//! turn of a served disk, next to the turn of its profile.
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

use super::goals::{SERVED_LOOP_LEAST, SERVED_NBD_LEAST, TURN_MEDIAN_MOST, TURN_TAIL_MOST};
use super::ratio::Spread;
use super::rounds::rounds;
use super::tools;
use crate::cargo;
use crate::options::Options;

/// Name of the profile that is served without timing.
const PROFILE: &str = "m4-256";
/// Name of the disk that is served with timing, and the time of one turn of it: 7200 a minute.
const DISK: &str = "hdd-7200-512e";
const TURN_NS: f64 = 60e9 / 7200.0;
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
        let ours = looped(&program, &["--profile", PROFILE, "--timing", "off"])?;
        let peer = passthrough(&room.path().join("point"))?;
        contest(&[ours, peer], SERVED_LOOP_LEAST, (pairs, seconds), &mut random)?;
        turn(&program, room.path(), pairs * seconds)?;
    } else {
        println!("loop device: not measured: only root may attach one");
    }
    Ok(true)
}

/// Prints how long a synced write to one place of a disk takes, over one turn: the head is back
/// there after a turn, so that each write waits for it. The times are fio's own log, in `room`: its
/// percentiles are of buckets that are 1.6 % wide.
fn turn(program: &Path, room: &Path, seconds: u64) -> anyhow::Result<()> {
    let mut disk = looped(program, &["--profile", DISK])?;
    disk.words.retain(|word| !word.starts_with("--ioengine"));
    let log = format!("--write_lat_log={}", room.join("turn").display());
    let words = ["--ioengine=psync", "--sync=dsync", "--size=4k", "--rw=randwrite", &log];
    fio(&disk, &[&words[..], &[&format!("--runtime={seconds}")]].concat())?;
    let log = std::fs::read_to_string(room.join("turn_lat.1.log")).context("fio left no log")?;
    let time_ns = |line: &str| line.split(',').nth(1)?.trim().parse().ok();
    let mut turns: Vec<f64> = log.lines().filter_map(time_ns).collect();
    ensure!(!turns.is_empty(), "fio logged no times");
    turns.sort_by(f64::total_cmp);
    let over = |percent: usize| turns[(turns.len() * percent / 100).min(turns.len() - 1)] / TURN_NS;
    let (median, tail) = (over(50), over(99));
    let is_missed = (median - 1.0).abs() > TURN_MEDIAN_MOST || tail - 1.0 > TURN_TAIL_MOST;
    let missed = if is_missed { "   missed" } else { "" };
    println!("one turn of a disk on a loop device, over that of its profile:");
    let count = turns.len();
    println!("  {count} synced writes to one place: median {median:.3}, p99 {tail:.3}{missed}");
    Ok(())
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
    let job = fio(
        server,
        &[
            &format!("--rw={pattern}"),
            &format!("--iodepth={depth}"),
            &format!("--size={BYTES}"),
            &format!("--runtime={seconds}"),
        ],
    )?;
    let rate = |way: &str| job[way]["iops"].as_f64().unwrap_or(0.0);
    Ok(rate("read") + rate("write"))
}

/// Returns what fio says of a job of 4 KiB with these `words` on `server`.
fn fio(server: &Server, words: &[&str]) -> anyhow::Result<Value> {
    let mut fio = Command::new(tools::find("fio")?);
    fio.args(["--name=load", "--bs=4k", "--time_based", "--output-format=json"]).args(words);
    let output = fio.args(&server.words).output().context("cannot start fio")?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.find('{').map(|start| &text[start..]).context("fio answered no JSON")?;
    let mut shown: Value = serde_json::from_str(text).context("fio's JSON cannot be read")?;
    let job = shown["jobs"][0].take();
    ensure!(output.status.success() && job["error"] == 0, "fio failed: {}", job["error"]);
    Ok(job)
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

fn looped(program: &Path, words: &[&str]) -> anyhow::Result<Server> {
    let mut command = Command::new(program);
    command.args(["drive", "serve", "--as", "loop"]).args(words);
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
