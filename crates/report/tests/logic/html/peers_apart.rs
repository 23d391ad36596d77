//! Hosts whose latency has a reason besides the host: the work of its drive, its kernel, its type
//! of machine.

use report::bench::Bench;
use report::html::{Draft, FileContent, ResultFile, outliers};

use crate::made::peers::fleet;

/// The results of twenty hosts, each with a median and changed by `change`.
fn twenty(median_ns: impl Fn(u64) -> u64, change: impl Fn(u64, &mut Bench)) -> Vec<ResultFile> {
    let mut sources = fleet(20, median_ns);
    for (host, source) in (0..).zip(&mut sources) {
        let FileContent::Bench(bench) = &mut source.content else { continue };
        change(host, bench);
    }
    sources
}

fn names(sources: &[ResultFile]) -> Vec<String> {
    outliers(sources).into_iter().map(|outlier| outlier.host).collect()
}

/// Names of what slow hosts share, and the page.
fn causes(sources: &[ResultFile]) -> (Vec<String>, String) {
    let mut draft = Draft::default();
    sources.iter().for_each(|source| draft.add(source));
    (draft.causes().into_iter().map(|cause| cause.what).collect(), draft.page())
}

#[test]
fn a_busy_host_whose_latency_fits_its_throughput_is_not_named() {
    // Four busy hosts of twenty take ten times as long.
    let is_busy = |host: u64| host.is_multiple_of(5);
    let others = |host: u64| if is_busy(host) { 100 << 20 } else { host << 10 };
    let busy = |host: u64| if is_busy(host) { 20_000_000 } else { 2_000_000 };
    let loaded = |host: u64, bench: &mut Bench| {
        bench.target.others_bytes_per_second = Some(others(host));
    };
    assert_eq!(names(&twenty(busy, |_, _| {})), ["db-00", "db-05", "db-10", "db-15"]);
    assert_eq!(names(&twenty(busy, loaded)), Vec::<String>::new());
    // Among them, one that is slow for its throughput, idle or not.
    for slow in [7, 10] {
        let one_slow = |host: u64| if host == slow { 400_000_000 } else { busy(host) };
        assert_eq!(names(&twenty(one_slow, loaded)), [format!("db-{slow:02}")]);
    }
}

#[test]
fn a_host_that_is_far_busier_than_all_its_peers_is_said_to_be_busy_and_not_slow() {
    let sources = twenty(
        |host| if host == 7 { 200_000_000 } else { 2_000_000 },
        |host, bench| {
            bench.target.others_bytes_per_second = Some(if host == 7 { 300 << 20 } else { 0 });
        },
    );
    let found = outliers(&sources);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].busier, Some((300 << 20, 0)));
    let (_, page) = causes(&sources);
    assert!(page.contains("its drive did 300 MiB/s of other work just before"));
    assert!(page.contains(">busy</span>") && !page.contains(">slow</span>"));
}

#[test]
fn a_kernel_that_all_slow_hosts_run_is_named_and_none_of_them() {
    let is_old = |host: u64| host % 3 == 1;
    let kernel = |host: u64, bench: &mut Bench| {
        let kernel = if is_old(host) { "6.1.0-13" } else { "6.1.0-18" };
        bench.envelope.run.kernel = Some(kernel.to_owned());
    };
    let slow = |host: u64| if is_old(host) { 200_000_000 } else { 2_000_000 + host * 10_000 };
    let sources = twenty(slow, kernel);
    let (found, page) = causes(&sources);
    assert_eq!((names(&sources), found), (Vec::new(), vec!["kernel 6.1.0-13".to_owned()]));
    assert!(page.contains("All 7 hosts with it are slow"), "{page}");
    assert!(page.contains("1 common cause to slow hosts"));
    assert!(!page.contains("No host stands out") && !page.contains(">slow</span>"));
    // A host that is slow among those with its kernel is named as well.
    for (odd, its_ns) in [(2, 80_000_000), (4, 9_000_000_000)] {
        let sources = twenty(|host| if host == odd { its_ns } else { slow(host) }, kernel);
        assert_eq!(names(&sources), [format!("db-{odd:02}")]);
        assert_eq!(causes(&sources).0, ["kernel 6.1.0-13"]);
    }
    // Where those with another kernel are as slow, it explains nothing.
    let sources = twenty(|_| 200_000_000, kernel);
    assert_eq!((names(&sources), causes(&sources).0), (Vec::new(), Vec::new()));
}

#[test]
fn a_type_of_machine_that_all_slow_hosts_are_is_named() {
    let sources = twenty(
        |host| if host < 5 { 200_000_000 } else { 2_000_000 },
        |host, bench| {
            let size = if host < 5 { "large" } else { "4xlarge" };
            bench.envelope.run.machine = Some(format!("Amazon EC2 m5.{size}"));
        },
    );
    assert_eq!(names(&sources), Vec::<String>::new());
    assert_eq!(causes(&sources).0, ["machine type Amazon EC2 m5.large"]);
}

#[test]
fn one_slow_host_with_a_kernel_of_its_own_is_named_itself() {
    let sources = twenty(
        |host| if host == 7 { 200_000_000 } else { 2_000_000 },
        |host, bench| bench.envelope.run.kernel = Some(format!("6.1.{}", u64::from(host == 7))),
    );
    assert_eq!((names(&sources), causes(&sources).0), (vec!["db-07".to_owned()], Vec::new()));
}
