//! From a flash drive's sheet to its values.
//!
//! Each solution is the model's own time, turned round: a read at depth 1 is the command, the cells
//! and two wires; so many reads a second are a command one behind the other; writes in order keep
//! all dies busy; random ones share them with the garbage.

use units::number::real;

use super::data_sheet::SheetLine;
use super::fitted_value::Fit;
use crate::flash::amplification;
use crate::server::transfer_ns;

/// Bytes of the reads and writes that sheets count.
const PIECE_BYTES: u64 = 4096;
const SECOND_NS: u64 = 1_000_000_000;
/// Capacity of a die that is usual, in bytes of data: 512 Gbit and 1 Tbit.
const DIE_BYTES: [u64; 2] = [64 << 30, 128 << 30];
/// The most dies of a drive.
const DIES_MAX: u64 = 4096;
/// From here on dies are those of 1 Tbit.
const LARGE_BYTES: u64 = 2_000_000_000_000;

/// Decides what the sheet of a flash drive decides.
pub(super) fn fit(fit: &mut Fit<'_>) {
    fit.said("capacity", "capacity");
    fit.said("unit", "unit");
    fit.said("link", "read_rate");
    if let (Some(read), Some(write)) = (fit.sheet.amount("read_rate"), fastest(fit))
        && write > read
    {
        fit.values.retain(|value| value.key != "link");
        let line = fit.sheet.line("burst_rate").or(fit.sheet.line("write_rate"));
        line.into_iter().for_each(|line| fit.solved("link", write, line));
    }
    attachment(fit);
    let alone = |name: &str, rate: &str| {
        let line = fit.sheet.line(name).or(fit.sheet.line(rate))?;
        let is_rate = line.key == rate;
        Some((line.clone(), if is_rate { SECOND_NS / line.amount } else { line.amount }))
    };
    let (read, write) =
        (alone("read_latency", "read_iops_1"), alone("write_latency", "write_iops_1"));
    commands(fit);
    latencies(fit, read, write);
    dies(fit);
    programs(fit);
    garbage(fit);
    content(fit);
}

/// Content of the drive at first.
fn content(fit: &mut Fit<'_>) {
    let capacity = fit.amount("capacity");
    if fit.sheet.line("write_iops").is_some() {
        return fit.assumed("used", capacity, "full: the sheet gives the steady state");
    }
    fit.assumed("used", capacity / 4, "a quarter: the sheet gives the rates of a new drive");
    fit.assumed("erased", capacity / 2, "half: a new drive has flash that was never written");
}

fn fastest(fit: &Fit<'_>) -> Option<u64> {
    fit.sheet.amount("burst_rate").max(fit.sheet.amount("write_rate"))
}

/// Values that follow from the wire, and from power-loss protection.
fn attachment(fit: &mut Fit<'_>) {
    let Some(line) = fit.sheet.line("plp") else { return };
    let is_volatile = line.amount == 0;
    fit.meant("volatile", u64::from(is_volatile), line);
    let is_sata = fit.sheet.amount("interface") == Some(0);
    fit.assumed(
        "flush_alone",
        u64::from(is_sata),
        "on SATA a flush holds other commands (ATA), on NVMe it does not",
    );
    let tells = u64::from(is_sata || is_volatile);
    fit.assumed(
        "tells_cache",
        tells,
        "SATA drives report a write cache even with PLP, NVMe drives only without",
    );
    if is_volatile {
        fit.assumed("rmw_queue", 0, "a volatile buffer acknowledges what a slot has taken");
    }
}

/// So many commands a second, one behind the other.
fn commands(fit: &mut Fit<'_>) {
    if let Some(line) = fit.sheet.line("read_iops") {
        let host_ns = SECOND_NS / line.amount;
        fit.solved("host", host_ns, line);
        let unit_ns = fit.amount("unit_time").min(host_ns / 2);
        fit.assumed("unit_time", unit_ns, "at most half the time of a command");
    }
}

/// A read and a write at depth 1.
fn latencies(fit: &mut Fit<'_>, read: Option<(SheetLine, u64)>, write: Option<(SheetLine, u64)>) {
    let (host_ns, unit_ns) = (fit.amount("host"), fit.amount("unit_time"));
    let wire_ns = transfer_ns(PIECE_BYTES, fit.amount("link"));
    if let Some((line, latency_ns)) = write {
        let rest_ns = host_ns.saturating_add(wire_ns.max(unit_ns));
        fit.solved("command", latency_ns.saturating_sub(rest_ns), &line);
    }
    channels(fit);
    if let Some((line, latency_ns)) = read {
        let moving_ns = transfer_ns(fit.amount("unit"), fit.amount("channel"));
        let rest_ns = (host_ns + unit_ns).saturating_add(wire_ns);
        let rest_ns = rest_ns.saturating_add(moving_ns).saturating_add(fit.amount("command"));
        fit.solved("read", latency_ns.saturating_sub(rest_ns).max(10_000), &line);
    }
}

/// Channels that are no bottleneck: what is collected as garbage passes them twice.
fn channels(fit: &mut Fit<'_>) {
    let amount = |name: &str| fit.sheet.amount(name).unwrap_or(0);
    let random = amount("read_iops").saturating_mul(fit.amount("unit")).saturating_mul(2);
    let ordered = amount("read_rate").saturating_mul(5) / 4;
    let written = fastest(fit).unwrap_or(0).saturating_mul(5) / 2;
    let least = random.max(ordered).max(written) / fit.amount("channels").max(1);
    if least > fit.amount("channel") {
        let reason = "wide enough for the rates of its sheet, and for garbage collection";
        fit.assumed("channel", least, reason);
    }
}

/// Dies: as many as the capacity needs, and as the random reads keep busy.
fn dies(fit: &mut Fit<'_>) {
    let capacity = fit.amount("capacity");
    let die_bytes = DIE_BYTES[usize::from(capacity >= LARGE_BYTES)];
    let all = capacity.div_ceil(die_bytes).next_power_of_two();
    let moving_ns = transfer_ns(fit.amount("unit"), fit.amount("channel"));
    let read_ns = fit.amount("read").saturating_add(moving_ns);
    let per_second = fit.sheet.amount("read_iops").unwrap_or(0);
    let busy = per_second.saturating_mul(read_ns) / SECOND_NS;
    // At depth 256, some are idle while others have a queue.
    let needed = (busy.min(DIES_MAX) * 5 / 2).next_power_of_two();
    let channels = fit.amount("channels");
    if needed > all {
        let reason = "as many as its random reads need at once, each plane counted as a die";
        fit.assumed("dies", needed.clamp(channels, DIES_MAX), reason);
        fit.assumed("planes", 1, "each counted as a die");
    } else {
        fit.assumed(
            "dies",
            all.clamp(channels, DIES_MAX),
            "its capacity in dies of 512 Gbit or 1 Tbit",
        );
    }
}

/// Bytes that all dies program together.
fn stripe_bytes(fit: &Fit<'_>) -> u64 {
    fit.amount("dies") * fit.amount("planes").max(1) * fit.amount("page")
}

/// Writes in order, into cells of one bit and into the others.
fn programs(fit: &mut Fit<'_>) {
    let erase_ns = fit.amount("erase") / fit.amount("pages_per_block").max(1);
    let bytes = stripe_bytes(fit);
    let lines = (fit.sheet.line("write_rate"), fit.sheet.line("burst_rate"));
    if let Some(line) = lines.0.or(lines.1) {
        let program_ns = transfer_ns(bytes, line.amount).saturating_sub(erase_ns);
        fit.solved("program", program_ns.max(1000), line);
    }
    let (Some(line), Some(_)) = (lines.1, fit.sheet.line("burst")) else {
        fit.assumed("slc", 0, "the sheet names no pSLC cache");
        return;
    };
    fit.said("slc", "burst");
    // The host's side may be the limit: cells do not slow it down.
    let program_ns = transfer_ns(bytes, line.amount).saturating_sub(erase_ns);
    fit.solved("slc_program", program_ns.max(1000), line);
    fit.assumed("slc_idle", SECOND_NS, "not published");
}

/// The spare flash, by what its garbage costs random writes.
fn garbage(fit: &mut Fit<'_>) {
    let capacity = fit.amount("capacity");
    let Some(line) = fit.sheet.line("write_iops") else {
        fit.assumed("spare", capacity / 14, "7 %: GiB of flash, sold as GB");
        fit.assumed("kept_back", capacity / 50, "2 %: bad blocks and firmware");
        return;
    };
    let unit = fit.amount("unit").max(1);
    let piece = fit.sheet.amount("write_size").unwrap_or(PIECE_BYTES).max(unit);
    let all = real(stripe_bytes(fit));
    let erase_ns = real(fit.amount("erase")) / real(fit.amount("pages_per_block").max(1));
    let (program_ns, read_ns) = (real(fit.amount("program")) + erase_ns, real(fit.amount("read")));
    // All dies program pieces, and read and program what moves.
    let work_ns = all / real(piece) / real(line.amount) * 1e9;
    let factor = ((work_ns + read_ns) / (program_ns + read_ns)).max(1.0);
    let pieces = all * real(fit.amount("pages_per_block")) / real(piece);
    let (mut low, mut high) = (1.01, 16.0);
    for _ in 0..48 {
        let middle = f64::midpoint(low, high);
        match amplification(middle, pieces) > factor {
            true => low = middle,
            false => high = middle,
        }
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from a hundredth of the capacity to fifteen of them"
    )]
    let spare = ((high - 1.0) * real(capacity)) as u64;
    fit.solved("spare", spare, line);
    fit.assumed("kept_back", 0, "included in `spare`");
}
