//! Servers whose settings decide whether they sync.

use crate::grade::Grade;
use crate::process_evidence::Process;
use crate::reason::Reason;
use crate::servers::{Confidence, ServerSetting, SyncEffect};

/// Returns whether it asks for syncs at all, as far as its settings can be read.
pub(super) fn settings(process: &Process, name: &str) -> Vec<Reason> {
    let Some(server) = &process.server else {
        let seen = format!("straddle did not check that {name} calls fsync at all");
        let change = format!(
            "watch its syncs: strace -f -e trace=fsync,fdatasync,msync,sync_file_range -p {}",
            process.pid
        );
        let reason = Reason::open("calls-unseen", Grade::Consistent).seen(seen, "straddle");
        return vec![reason.changes(change)];
    };
    let title = server.title;
    let one = |setting: &ServerSetting| {
        let (reason, seen) = meaning(setting, name, title);
        reason.seen(seen, &*setting.source).changes(in_force(&server.ask))
    };
    let mut reasons: Vec<Reason> = server.settings.iter().map(one).collect();
    let decides =
        |setting: &ServerSetting| matches!(setting.effect, SyncEffect::Never | SyncEffect::Synced);
    if !server.settings.iter().any(decides) {
        let seen = format!(
            "{name} is {title}: its settings decide whether it syncs, and they could not be read \
             from outside"
        );
        let reason = Reason::open("server-unread", Grade::Unproven).seen(seen, "/proc");
        reasons.push(reason.changes(in_force(&server.ask)));
    }
    reasons
}

fn in_force(ask: &str) -> String {
    format!("see what is in force: {ask}")
}

/// Returns the reason that follows from a setting of a server.
fn meaning(setting: &ServerSetting, name: &str, title: &str) -> (Reason, String) {
    let text = &setting.text;
    if let Confidence::Unsure(doubt) = &setting.standing {
        let reason = Reason::open("server-maybe", Grade::Unproven);
        let seen = format!(
            "the files of {name}, {title}, say `{text}`; whether that is in force is not known: \
             {doubt}"
        );
        return (reason, seen);
    }
    let since = match setting.standing {
        Confidence::AtStart => "was started as",
        _ => "is",
    };
    let with = if setting.is_absent { "without" } else { "with" };
    let is = format!("{name} {since} {title} {with} `{text}`");
    match (setting.effect, &setting.standing) {
        (SyncEffect::Never, _) => (
            Reason::against("server-never-syncs", Grade::NotDurable),
            format!("{is}: it syncs nothing"),
        ),
        (SyncEffect::Late, _) => (
            Reason::against("server-syncs-late", Grade::Suspect),
            format!("{is}: commits are acknowledged before a sync"),
        ),
        (SyncEffect::Torn, _) => (
            Reason::open("server-mends-nothing", Grade::Consistent),
            format!("{is}: torn pages stay torn after a crash"),
        ),
        (SyncEffect::Synced, Confidence::AtStart) => (
            Reason::open("server-maybe", Grade::Unproven),
            format!("{is}; that can be changed while it runs"),
        ),
        (SyncEffect::Synced, _) => (Reason::speaks_for("server-syncs"), is),
    }
}
