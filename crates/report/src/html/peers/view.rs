//! The groups of peers on the page.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::rule::{Answer, DEVIATIONS, FACTOR_MIN, HOSTS_MIN};
use super::{Group, Host, Kind, Odd, Outlier, groups, real};
use crate::bench::figures::number;
use crate::html::chart::{Caption, Range, ranges};
use crate::html::phrase::{Tone, chip, head, more, time, time_or_unknown, wide};
use crate::html::source::Source;
use crate::words::count;

/// The most groups, and the most hosts of a group, that are shown.
const GROUPS_MAX: usize = 24;
const HOSTS_MAX: usize = 200;

/// The section about peers; `None` where no two hosts did the same.
pub(in crate::html) fn section(sources: &[Source]) -> Option<Markup> {
    let mut groups = groups(sources);
    if groups.is_empty() {
        return None;
    }
    // Those with something to tell first, then the larger ones.
    groups.sort_by_key(|group| {
        (std::cmp::Reverse(group.outliers().len()), std::cmp::Reverse(group.hosts.len()))
    });
    let outliers: Vec<Outlier> = groups.iter().flat_map(Group::outliers).collect();
    Some(html! {
        section id="peers" {
            h2 { "Hosts side by side" }
            (named(&outliers))
            p.quiet { (rule()) }
            @for (number, group) in groups.iter().take(GROUPS_MAX).enumerate() {
                (one(number, group))
            }
            (more(groups.len().saturating_sub(GROUPS_MAX), "groups"))
        }
    })
}

fn rule() -> String {
    format!(
        "Hosts are peers where their drives have the same model and firmware and they did the \
         same. One is named where its latency is more than {DEVIATIONS} robust standard deviations \
         (of the logarithms, from the median absolute deviation) away from the median of its \
         group and at least {FACTOR_MIN} times as long or as short, among {HOSTS_MIN} hosts or \
         more. Where all are slow, or many differ, nobody is named."
    )
}

/// Who stands out, each in a sentence: by what is the furthest away.
fn named(outliers: &[Outlier]) -> Markup {
    const NAMED_MAX: usize = 40;
    let hosts = by_host(outliers);
    html! {
        @if hosts.is_empty() {
            p { "No host stands out among its peers." }
        } @else {
            ul.notes {
                @for (outlier, others) in hosts.iter().take(NAMED_MAX) {
                    li {
                        (chip(tone(outlier.odd), &word(outlier.odd))) " " (sentence(outlier))
                        @if *others > 0 { " It stands out in " (others) " more comparisons." }
                    }
                }
            }
            (more(hosts.len().saturating_sub(NAMED_MAX), "hosts that stand out"))
        }
    }
}

/// Each host by its furthest outlier, and how many more it has; the furthest first.
fn by_host(outliers: &[Outlier]) -> Vec<(&Outlier, usize)> {
    let away = |outlier: &Outlier| outlier.times.ln().abs();
    let mut sorted: Vec<&Outlier> = outliers.iter().collect();
    sorted.sort_by(|one, other| away(other).total_cmp(&away(one)));
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hosts: Vec<(&Outlier, usize)> = Vec::new();
    for outlier in sorted {
        match places.get(outlier.host.as_str()) {
            Some(&place) => hosts[place].1 += 1,
            None => {
                places.insert(&outlier.host, hosts.len());
                hosts.push((outlier, 0));
            }
        }
    }
    hosts
}

fn tone(odd: Odd) -> Tone {
    match odd {
        Odd::Slower => Tone::Bad,
        Odd::Faster => Tone::Care,
    }
}

fn word(odd: Odd) -> String {
    match odd {
        Odd::Slower => "slow".to_owned(),
        Odd::Faster => "implausibly fast".to_owned(),
    }
}

fn sentence(outlier: &Outlier) -> Markup {
    let (times, than) = match outlier.odd {
        Odd::Slower => (outlier.times, "times as long as"),
        Odd::Faster => (1.0 / outlier.times, "times less than"),
    };
    html! {
        strong { (outlier.host) } ": " (outlier.measure) " " (time(outlier.latency_ns)) ", "
        (number(times)) " " (than) " the median of " (count_hosts(outlier.hosts))
        " (" (outlier.work) ")."
        @if outlier.odd == Odd::Faster {
            " It may be the better drive; or its writes are not as durable as those of the others."
        }
    }
}

fn count_hosts(hosts: usize) -> String {
    count(u64::try_from(hosts).unwrap_or(u64::MAX), "host")
}

fn model(kind: &Kind) -> String {
    match (&kind.model, &kind.firmware) {
        (None, _) => "Drives of unknown model".to_owned(),
        (Some(model), None) => format!("{model}, firmware not known"),
        (Some(model), Some(firmware)) => format!("{model}, firmware {firmware}"),
    }
}

fn one(number: usize, group: &Group) -> Markup {
    let odd = odd(group);
    let shown = &group.hosts[..group.hosts.len().min(HOSTS_MAX)];
    let caption = Caption {
        id: format!("peers-{number}"),
        title: format!("Latency of {}", count_hosts(group.hosts.len())),
        description:
            "A dot for each host's median, a line up to its p99; the numbers are those of \
                      the table."
                .to_owned(),
    };
    let range = |host: &Host| Range {
        median_ns: host.median_ns,
        far_ns: host.p99_ns,
        odd: odd.contains(&&*host.name),
    };
    let rows: Vec<Range> = shown.iter().map(range).collect();
    html! {
        h3 { (model(&group.kind)) ": " (group.kind.work) }
        p { (said(group)) }
        details open[!odd.is_empty() || number == 0] {
            summary { (count_hosts(group.hosts.len())) }
            (wide(
                &format!("{}, the slowest first", count_hosts(group.hosts.len())),
                &["#", "Host", "Median", "p99", "Times the group's median", "Rule"],
                &html! { @for (number, host) in shown.iter().enumerate() {
                    (row(number + 1, host, group, odd.contains(&&*host.name)))
                } },
            ))
            (more(group.hosts.len().saturating_sub(HOSTS_MAX), "hosts"))
            (ranges(&caption, &rows))
        }
    }
}

fn odd(group: &Group) -> Vec<&str> {
    let places = [&group.median, &group.p99].into_iter().filter_map(|told| match &told.answer {
        Answer::Some(places) => Some(places),
        _ => None,
    });
    places.flatten().filter_map(|&place| group.hosts.get(place)).map(|host| &*host.name).collect()
}

fn row(number: usize, host: &Host, group: &Group, odd: bool) -> Markup {
    let times = real(host.median_ns) / group.median.middle_ns.max(1.0);
    html! {
        tr {
            td { (number) }
            (head(&host.name))
            td { (time(host.median_ns)) }
            td { (time_or_unknown(host.p99_ns)) }
            td { (crate::bench::figures::number(times)) }
            td { @if odd { (chip(Tone::Bad, "stands out")) } }
        }
    }
}

/// What the rule says of the group, in a sentence.
fn said(group: &Group) -> String {
    let answers = [("median", &group.median.answer), ("p99", &group.p99.answer)];
    if let Some((measure, Answer::Mixed(differ))) =
        answers.iter().find(|(_, answer)| matches!(answer, Answer::Mixed(_)))
    {
        return format!(
            "{differ} of {} differ from the others in their {measure}: too many to be exceptions. \
             Look for what they share: kernel, image, slot, link speed, controller.",
            count_hosts(group.hosts.len())
        );
    }
    let names = odd(group);
    let mut unique: Vec<&str> = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    match (&group.median.answer, unique.len()) {
        (Answer::TooFew, _) => format!(
            "{} are too few to name one that stands out; it takes {HOSTS_MIN}.",
            count_hosts(group.hosts.len())
        ),
        (_, 0) => "Nobody stands out.".to_owned(),
        (_, _) => format!("Stands out: {}.", unique.join(", ")),
    }
}
