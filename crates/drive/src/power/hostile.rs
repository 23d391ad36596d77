//! The reader of logs as a function of raw bytes, shared by the fuzz target and the plain tests.

use std::collections::BTreeMap;

use super::{Aftermath, Held, HostLog, judge};

/// The most sectors of a log that is judged here, so that a fuzzer stays quick.
const SECTORS_JUDGED: u64 = 4096;

/// Reads `bytes` as a host's log, writes it, reads it again, and judges two aftermaths of it.
///
/// # Panics
/// When what is read is not what was written, an error is not one harmless line, or a judgment
/// does not add up.
pub fn hostile(bytes: &[u8]) {
    let log: HostLog = match String::from_utf8_lossy(bytes).parse() {
        Ok(log) => log,
        Err(error) => {
            let said = format!("{error}");
            assert!(!said.contains(char::is_control), "an error is one harmless line: {said:?}");
            return;
        }
    };
    assert!(log.to_string().parse().as_ref() == Ok(&log), "what is written is read as the same");
    if log.sectors() > SECTORS_JUDGED {
        return;
    }
    let last_ns = log.writes().last().map_or(0, |write| write.sent.at_ns);
    for at_ns in [0, last_ns / 2, last_ns, u64::MAX] {
        let dead = judge(&log, &Aftermath::dead(at_ns)).expect("what is read is not full");
        assert_eq!(dead.torn + dead.missing + dead.collateral, dead.sectors, "{dead}");
        let newest = judge(&log, &newest(&log, at_ns)).expect("what is read is not full");
        assert!(newest.is_kept(), "what was sent last may be there: {newest}");
        let _ = (dead.to_string(), newest.to_string());
    }
}

/// A drive on which everything is that was sent until `at_ns`.
fn newest(log: &HostLog, at_ns: u64) -> Aftermath {
    let mut sectors = BTreeMap::new();
    for (number, write) in log.writes().iter().enumerate() {
        if write.sent.at_ns <= at_ns {
            let lbas = log.told().sectors.lbas(write.range);
            sectors.extend(lbas.map(|lba| (lba, Held::Write(number))));
        }
    }
    Aftermath::new(at_ns, sectors)
}
