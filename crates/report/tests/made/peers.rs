//! Hosts with drives of one kind, made by hand.

use crate::made::bench::disk;
use report::Run;
use report::bench::{Arm, Bench, BenchTarget};
use report::html::{FileContent, ResultFile};

/// The results of `count` hosts with drives of one model, each with a median of its own.
pub(crate) fn fleet(count: u64, median_ns: impl Fn(u64) -> u64) -> Vec<ResultFile> {
    (0..count).map(|host| one(host, "SSD 960", "XCV1", median_ns(host))).collect()
}

pub(crate) fn one(host: u64, model: &str, firmware: &str, median_ns: u64) -> ResultFile {
    let mut bench = disk();
    let arm = &mut bench.experiments[0].arms[0];
    *arm = Arm {
        median_ns,
        p99_ns: Some(median_ns * 2),
        histogram: vec![(median_ns, 139), (median_ns * 2, 2)],
        ..arm.clone()
    };
    let (model, firmware) = (Some(model.to_owned()), Some(firmware.to_owned()));
    let target = BenchTarget { model, firmware, ..bench.target.clone() };
    let run = Run { host: Some(format!("db-{host:02}")), ..bench.envelope.run.clone() };
    bench.envelope.run = run;
    let bench = Bench { target, ..bench };
    ResultFile {
        name: format!("results/{host}.json"),
        content: FileContent::Bench(Box::new(bench)),
    }
}
