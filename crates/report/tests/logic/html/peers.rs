//! Hosts side by side: who is named, and who is not.

use crate::made::peers::{fleet, one};
use report::bench::OperationDirection;
use report::html::{FileContent, Odd, Outlier, Report, ResultFile, outliers, page};

fn names(sources: &[ResultFile]) -> Vec<String> {
    outliers(sources).into_iter().map(|outlier| outlier.host).collect()
}

#[test]
fn of_twenty_hosts_exactly_the_slow_one_is_named() {
    // Its peers differ by a few percent each.
    let peers = |host: u64| 2_000_000 + 30_000 * (host * 7 % 20);
    let sources = fleet(20, |host| if host == 7 { 200_000_000 } else { peers(host) });
    let found = outliers(&sources);
    let [Outlier { host, measure, latency_ns, hosts, odd, times, .. }] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(
        (host.as_str(), *measure, *latency_ns, *hosts),
        ("db-07", "median", 200_000_000, 20)
    );
    assert_eq!(*odd, Odd::Slower);
    assert!((70.0..100.0).contains(times), "{times}");
    let page = page(&Report { sources, unread: Vec::new() });
    let (short, rest) = page.split_once("<h2>Hosts side by side</h2>").expect("the map is there");
    assert!(
        short.contains("<a href=\"#peers-0-1\">db-07</a>: <strong>Its median is 200 ms"),
        "{short}"
    );
    assert!(rest.contains("<tr id=\"peers-0-1\">"), "the link leads to its row");
    assert!(rest.contains("<td class=\"s3\">200 ms · ▲ "), "the map marks it by a sign");
    assert_eq!(rest.matches("<span class=\"chip bad\">slow</span>").count(), 1, "and by a word");
    assert!(page.contains("<h1><span class=\"verdict bad\">1 host standing out</span>"));
}

#[test]
fn hosts_whose_drives_are_not_known_are_nobodys_peers() {
    for (model, firmware) in
        [(None, None), (Some("SSD 960"), None), (None, Some("XCV1")), (Some(" "), Some("1"))]
    {
        let mut sources = fleet(12, |host| if host == 3 { 200_000_000 } else { 2_000_000 });
        for source in &mut sources {
            let FileContent::Bench(bench) = &mut source.content else { continue };
            bench.target.model = model.map(str::to_owned);
            bench.target.firmware = firmware.map(str::to_owned);
        }
        assert_eq!(names(&sources), Vec::<String>::new(), "{model:?} {firmware:?}");
        let page = page(&Report { sources, unread: Vec::new() });
        assert!(page.contains("Not compared: drive unknown"), "{model:?} {firmware:?}");
        assert!(page.contains("<li>db-03, ") && !page.contains("No host stands out"));
    }
    // Those that are known are compared all the same.
    let mut sources = fleet(12, |host| if host == 3 { 200_000_000 } else { 2_000_000 });
    let FileContent::Bench(bench) = &mut sources[5].content else { panic!("a bench") };
    bench.target.model = None;
    assert_eq!(names(&sources), ["db-03"]);
    let page = page(&Report { sources, unread: Vec::new() });
    assert!(page.contains("<li>db-05, ") && !page.contains("<li>db-04, "));
}

#[test]
fn nobody_is_named_where_every_host_is_slow() {
    let sources = fleet(20, |host| 200_000_000 + host * 1_000_000);
    assert_eq!(names(&sources), Vec::<String>::new());
    let page = page(&Report { sources, unread: Vec::new() });
    assert!(page.contains("No host stands out among its peers."));
}

#[test]
fn nobody_is_named_among_too_few_or_where_two_kinds_meet() {
    assert!(names(&fleet(4, |host| if host == 0 { 200_000_000 } else { 2_000_000 })).is_empty());
    let one = names(&fleet(5, |host| if host == 0 { 200_000_000 } else { 2_000_000 }));
    assert_eq!(one, ["db-00"], "four peers are enough");
    assert!(names(&fleet(20, |host| if host < 8 { 200_000_000 } else { 2_000_000 })).is_empty());
}

#[test]
fn where_two_kinds_meet_those_that_differ_are_named_and_no_sign_is_promised() {
    let sources = fleet(14, |host| if host < 4 { 200_000 } else { 2_000_000 });
    let page = page(&Report { sources, unread: Vec::new() });
    let body = page.split_once("Hosts side by side").expect("a section").1;
    let said = "4 of 14 hosts have a faster median than the rest: db-00, db-01, db-02, db-03.";
    assert!(body.contains(said) && !body.contains("No host stands out"), "{body}");
    let map = &body[..body.find("When a host stands out").expect("the rule")];
    assert!(!map.contains("Verdict") && !map.contains('▲'), "nobody has a word or a sign: {map}");
    assert!(map.contains("<span class=\"f3\">0.2×</span>"), "the shades have a key: {map}");
}

#[test]
fn a_host_that_is_too_fast_to_believe_is_doubted_also_where_many_differ() {
    // Six are slow, too many to be exceptions; one is far faster than all.
    let fast = |host: u64| if host == 9 { 20_000 } else { 2_000_000 };
    let sources = fleet(20, |host| if host < 6 { 200_000_000 } else { fast(host) });
    assert_eq!(names(&sources), ["db-09"]);
    let page = page(&Report { sources, unread: Vec::new() });
    assert!(
        page.contains("implausibly fast") && page.contains("6 of 20 hosts have a slower median"),
        "{page}"
    );
    assert!(page.contains("<h1><span class=\"verdict bad\">6 hosts slower than the others</span>"));
    // Six that are fast may be the better half.
    let halves = fleet(20, |host| if host < 6 { 20_000 } else { 2_000_000 });
    assert_eq!(names(&halves), Vec::<String>::new());
}

#[test]
fn a_slow_model_accuses_none_of_its_hosts() {
    let model = |host: u64| if host < 10 { ("HDD 4T", 90_000_000) } else { ("SSD 960", 2_000_000) };
    let sources: Vec<ResultFile> =
        (0..20).map(|host| one(host, model(host).0, "1", model(host).1)).collect();
    assert!(names(&sources).is_empty());
    let firmware = |host: u64| if host < 3 { ("old", 90_000_000) } else { ("new", 2_000_000) };
    let sources: Vec<ResultFile> =
        (0..20).map(|host| one(host, "SSD", firmware(host).0, firmware(host).1)).collect();
    assert!(names(&sources).is_empty(), "three with the same firmware are no exceptions");
}

#[test]
fn a_host_that_is_too_fast_to_be_true_is_named_too() {
    let found = outliers(&fleet(12, |host| if host == 3 { 20_000 } else { 2_000_000 }));
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].host.as_str(), found[0].odd), ("db-03", Odd::Faster));
}

#[test]
fn a_fast_host_is_implausible_where_two_durable_methods_would_be_too_far_apart() {
    let limit = u64::from(units::durable_ratio::DURABLE_APART);
    let said = |times: u64, read: bool| {
        let mut sources = fleet(12, |host| if host == 3 { 6_000_000 / times } else { 6_000_000 });
        for source in &mut sources {
            let FileContent::Bench(bench) = &mut source.content else { continue };
            if read {
                bench.experiments[0].workload.action = OperationDirection::Read;
            }
        }
        let found = outliers(&sources);
        assert_eq!((found.len(), found[0].odd), (1, Odd::Faster), "{found:?}");
        let page = page(&Report { sources, unread: Vec::new() });
        assert_eq!(page.contains("implausibly fast"), found[0].is_implausible, "{times}");
        assert_eq!(page.contains("not as durable"), found[0].is_implausible, "{times}");
        found[0].is_implausible
    };
    assert!(!said(3, false) && !said(limit, false), "it may be a better drive");
    assert!(said(limit + 1, false));
    assert!(!said(limit * 10, true), "what only reads makes nothing durable");
}

#[test]
fn a_host_that_stands_out_in_many_ways_is_named_once() {
    let mut sources = fleet(20, |host| if host == 7 { 200_000_000 } else { 2_000_000 });
    for source in &mut sources {
        let FileContent::Bench(bench) = &mut source.content else { continue };
        for number in 1..12 {
            let mut other = bench.experiments[0].clone();
            other.title = format!("experiment {number}");
            bench.experiments.push(other);
        }
    }
    let page = page(&Report { sources, unread: Vec::new() });
    let (short, below) = page.split_once("Hosts side by side").expect("a section");
    assert_eq!(short.matches(">slow</span>").count(), 1);
    assert_eq!(below.matches(">slow</span>").count(), 1);
    assert!(page.contains("It stands out in 11 more comparisons."));
}

#[test]
fn several_runs_of_one_host_are_one_peer() {
    // Four runs of each of two hosts are not eight peers.
    let sources: Vec<ResultFile> = (0..8)
        .map(|run| one(run % 2, "SSD", "1", if run == 0 { 200_000_000 } else { 2_000_000 }))
        .collect();
    assert!(names(&sources).is_empty());
    let page = page(&Report { sources, unread: Vec::new() });
    assert!(page.contains("(the middle one of 4 runs)"), "it is said");
}

#[test]
fn a_host_without_a_name_of_its_own_is_called_by_its_file() {
    let mut sources = fleet(12, |host| if host == 3 { 200_000_000 } else { 2_000_000 });
    for source in &mut sources {
        let FileContent::Bench(bench) = &mut source.content else { continue };
        bench.envelope.run.host = Some("localhost".to_owned());
    }
    assert_eq!(names(&sources), ["results/3.json"]);
}

#[test]
fn files_of_one_name_in_many_directories_are_many_hosts() {
    let mut sources = fleet(12, |host| if host == 3 { 200_000_000 } else { 2_000_000 });
    for (number, source) in sources.iter_mut().enumerate() {
        source.name = format!("node{number}/bench.json");
        let FileContent::Bench(bench) = &mut source.content else { continue };
        bench.envelope.run.host = None;
    }
    assert_eq!(names(&sources), ["node3/bench.json"]);
}

#[test]
fn a_page_of_a_hundred_hosts_is_light_and_shows_the_bad_ones_in_full() {
    let mut sources = fleet(100, |host| 2_000_000 + 30_000 * (host * 7 % 20));
    for source in &mut sources {
        let FileContent::Bench(bench) = &mut source.content else { continue };
        let other = |number: u64| {
            let mut other = bench.experiments[0].clone();
            other.title = format!("experiment {number}");
            for arm in &mut other.arms {
                arm.histogram = (0..200).map(|at| (1_000_000 + at * 50_000, 1 + at % 9)).collect();
            }
            other
        };
        bench.experiments = (0..12).map(other).collect();
        for experiment in &mut bench.experiments {
            let is_bad = source.name == "results/63.json";
            experiment.verdict = if is_bad {
                measure::CostVerdict::Penalty
            } else {
                measure::CostVerdict::NoPenalty
            };
        }
    }
    let page = page(&Report { sources, unread: Vec::new() });
    assert!(page.len() < 500_000, "{} bytes", page.len());
    assert!(page.contains("<section class=\"file\" id=\"file-64\">"), "the bad one is there");
    let shown = page.matches("<section class=\"file\"").count();
    assert!((1..100).contains(&shown), "{shown}");
    assert!(page.contains(&format!("shows {shown} results in full, those that need")));
    assert_eq!(page.matches("<th scope=\"row\">db-").count(), 100, "all are in the map");
}

#[test]
fn virtual_disks_of_one_kind_and_size_are_peers() {
    let virtio = |median_ns: &dyn Fn(u64) -> u64| {
        let mut sources = fleet(12, median_ns);
        for (number, source) in sources.iter_mut().enumerate() {
            let FileContent::Bench(bench) = &mut source.content else { continue };
            bench.target.drive = Some("vda".to_owned());
            (bench.target.model, bench.target.firmware) = (None, None);
            bench.target.capacity_bytes = Some(if number < 6 { 100 << 30 } else { 500 << 30 });
        }
        sources
    };
    // The larger disks are all slower: that is their size, and no host's fault.
    let usual = |host: u64| if host < 6 { 2_000_000 } else { 20_000_000 };
    let one_slow = virtio(&|host| if host == 3 { 200_000_000 } else { usual(host) });
    assert_eq!(names(&one_slow), ["db-03"]);
    let page = page(&Report { sources: one_slow, unread: Vec::new() });
    assert!(page.contains("virtio disks of 100 GiB<") && page.contains("virtio disks of 500 GiB<"));
    assert!(!page.contains("Not compared: drive unknown"));
    assert!(names(&virtio(&|_| 200_000_000)).is_empty(), "all are slow");
    assert!(names(&virtio(&usual)).is_empty(), "one size is slow");
}
