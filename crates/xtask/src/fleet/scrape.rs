//! Three node_exporters and a Prometheus with the rules of `fleet/`.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use anyhow::{Context as _, ensure};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use testkit::running_program::Going;
use testkit::scratch::text;
use testkit::tool;

use super::room::{ALIGNED, MISALIGNED, Room, awaited, image};
use crate::bench::tools;
use crate::cargo;

/// Hosts: name, port, first sector of the partition, age of the check in days.
const HOSTS: [(&str, u16, u32, i64); 3] =
    [("good", 9101, ALIGNED, 0), ("shifted", 9102, MISALIGNED, 0), ("stale", 9103, ALIGNED, 15)];
/// Alerts that must fire, and no other may.
const ALERTS: [(&str, &str); 2] = [("StraddleMisaligned", "shifted"), ("StraddleStale", "stale")];
/// Prometheus, in the sandbox's own network.
const SERVER: &str = "127.0.0.1:9090";

/// Acts the scene. Fails when other alerts fire than should.
pub(super) fn act(room: &Room) -> anyhow::Result<String> {
    let place = room.place("scrape")?;
    let mut exporters = Vec::new();
    for (name, port, sector, days) in HOSTS {
        let directory = room.place(&format!("scrape/{name}"))?;
        export(room, &directory, sector, days)?;
        let mut exporter = tool::command("prometheus-node-exporter");
        exporter.args(["--collector.disable-defaults", "--collector.textfile"]);
        exporter.arg(format!("--collector.textfile.directory={}", text(&directory)));
        exporter.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        exporters.push(Going::with(&mut exporter));
    }
    let mut prometheus = started(&place)?;
    let mut look = |what: &str, found: &mut dyn FnMut() -> Option<()>| {
        awaited(what, || (found().is_some() || !prometheus.is_going()).then_some(()))?;
        ensure!(prometheus.is_going(), "prometheus ended");
        Ok(())
    };
    let query = "/api/v1/query?query=count(straddle_last_run_timestamp_seconds)";
    look("samples of three hosts", &mut || {
        let answer = ask(query).ok()?;
        (answer["data"]["result"][0]["value"][1] == "3").then_some(())
    })?;
    let seen = Timestamp::now();
    look("rules that saw them", &mut || {
        let answer = ask("/api/v1/rules").ok()?;
        let last = answer["data"]["groups"][0]["lastEvaluation"].as_str()?.parse::<Timestamp>();
        (last.ok()? > seen).then_some(())
    })?;
    let firing = firing(&ask("/api/v1/alerts")?);
    let expected = ALERTS.map(|(alert, host)| (alert.to_owned(), host.to_owned()));
    ensure!(firing == BTreeSet::from(expected), "these fire: {firing:?}");
    Ok("misaligned for one host, stale for another, nothing for the third".to_owned())
}

/// Writes the metrics of a check that was `days` ago into `directory`.
fn export(room: &Room, directory: &Path, sector: u32, days: i64) -> anyhow::Result<()> {
    let (disk, kept) = (directory.join("disk.raw"), directory.join("check.json"));
    image(&disk, sector)?;
    let mut check = room.straddle(directory, &["check", "--json", text(&disk)]);
    let mut result: Value = serde_json::from_slice(&tools::output(&mut check)?.stdout)?;
    let started = Timestamp::now() - SignedDuration::from_hours(24 * days);
    result["started"] = json!(started.to_string());
    std::fs::write(&kept, result.to_string())?;
    let words = ["export", "--textfile", text(directory), text(&kept)];
    tools::answer(&mut room.straddle(directory, &words))?;
    Ok(())
}

/// Starts a Prometheus that scrapes and judges every second.
fn started(place: &Path) -> anyhow::Result<Going> {
    let targets = HOSTS.map(|(name, port, ..)| {
        json!({"targets": [format!("127.0.0.1:{port}")], "labels": {"instance": name}})
    });
    std::fs::write(place.join("targets.json"), Value::from(targets.to_vec()).to_string())?;
    let settings = json!({
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [cargo::root().join("fleet/prometheus/straddle.rules.yml")],
        "scrape_configs": [{
            "job_name": "node",
            "file_sd_configs": [{"files": [place.join("targets.json")]}],
        }],
    });
    // JSON is YAML.
    let path = place.join("prometheus.yml");
    std::fs::write(&path, settings.to_string())?;
    let mut server = tool::command("prometheus");
    server.arg(format!("--config.file={}", text(&path)));
    server.arg(format!("--storage.tsdb.path={}", text(&place.join("data"))));
    server.args([&format!("--web.listen-address={SERVER}"), "--log.level=warn"]);
    Ok(Going::with(&mut server))
}

/// Returns what Prometheus answers.
fn ask(path: &str) -> anyhow::Result<Value> {
    let mut stream = TcpStream::connect(SERVER)?;
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {SERVER}\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (_, body) = answer.split_once("\r\n\r\n").context("no answer of HTTP")?;
    Ok(serde_json::from_str(body)?)
}

/// Returns the alerts that fire in an answer of Prometheus, each with its host.
pub(super) fn firing(answer: &Value) -> BTreeSet<(String, String)> {
    let alerts = answer["data"]["alerts"].as_array().into_iter().flatten();
    let alerts = alerts.filter(|alert| alert["state"] == "firing");
    let label = |alert: &Value, name: &str| alert["labels"][name].as_str().map(str::to_owned);
    alerts
        .filter_map(|alert| Some((label(alert, "alertname")?, label(alert, "instance")?)))
        .collect()
}
