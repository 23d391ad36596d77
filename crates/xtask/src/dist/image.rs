//! An image for containers: an OCI layout in a tar archive, of one layer.
//!
//! Source: OCI Image Format Specification 1.0, "Image Layout", "Manifest", "Configuration".

use serde_json::{Value, json};

use super::architecture::Architecture;
use super::packaged_file::{PackagedFile, compressed};
use super::{archive, project, sum};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Returns the archive of an image that runs the first program of `files`, for `architecture`, as
/// `version`; `time` in seconds since 1970.
///
/// # Errors
/// When an archive cannot be made.
pub(super) fn package(
    files: &[PackagedFile],
    architecture: Architecture,
    version: &str,
    time: u64,
) -> anyhow::Result<Vec<u8>> {
    let layer = archive::of(&content(files), time)?;
    let created = jiff::Timestamp::from_second(i64::try_from(time)?)?.to_string();
    let config = config(architecture, version, &created, &sum(&layer));
    let mut blobs = Vec::new();
    let layer = blob(&mut blobs, LAYER, compressed(&layer)?);
    let config = blob(&mut blobs, CONFIG, serde_json::to_vec(&config)?);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": config,
        "layers": [layer],
    });
    let mut manifest = blob(&mut blobs, MANIFEST, serde_json::to_vec(&manifest)?);
    manifest["platform"] = json!({ "architecture": architecture.debian, "os": "linux" });
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": version });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    blobs.push(PackagedFile::data("index.json", serde_json::to_vec(&index)?));
    let layout = json!({ "imageLayoutVersion": "1.0.0" });
    blobs.push(PackagedFile::data("oci-layout", serde_json::to_vec(&layout)?));
    Ok(archive::of(&blobs, time)?)
}

/// The program and its licenses, and a place for scratch files.
fn content(files: &[PackagedFile]) -> Vec<PackagedFile> {
    let wanted = ["usr/bin/", "usr/share/licenses/"];
    let is_wanted = |file: &&PackagedFile| wanted.iter().any(|begin| file.path.starts_with(begin));
    let mut content: Vec<PackagedFile> = files.iter().filter(is_wanted).cloned().collect();
    content.push(PackagedFile::directory("tmp/", 0o1777));
    content
}

fn config(architecture: Architecture, version: &str, created: &str, layer: &str) -> Value {
    let name = |key: &str| format!("org.opencontainers.image.{key}");
    json!({
        "created": created,
        "architecture": architecture.debian,
        "os": "linux",
        "config": {
            "Env": ["PATH=/usr/bin"],
            "Entrypoint": ["/usr/bin/straddle"],
            "Cmd": ["check"],
            "Labels": {
                name("title"): "straddle",
                name("description"): project::SUMMARY,
                name("version"): version,
                name("licenses"): project::LICENSE,
                name("source"): project::HOMEPAGE,
                name("created"): created,
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer}")] },
        "history": [{ "created": created, "created_by": "cargo xtask dist" }],
    })
}

/// Adds a blob of `bytes`; its descriptor.
fn blob(blobs: &mut Vec<PackagedFile>, kind: &str, bytes: Vec<u8>) -> Value {
    let sum = sum(&bytes);
    let descriptor =
        json!({ "mediaType": kind, "digest": format!("sha256:{sum}"), "size": bytes.len() });
    blobs.push(PackagedFile::data(format!("blobs/sha256/{sum}"), bytes));
    descriptor
}
