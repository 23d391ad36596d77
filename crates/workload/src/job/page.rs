//! The tables of `docs/jobs.md`, made from the tables that the reader uses.

use std::fmt::Write as _;

use super::Engine;
use super::engine::{ENGINES, EngineUse};
use super::not_honored::NAMED;
use super::option::OPTIONS;

/// The options that are honored, those that are named and not honored, and the engines, as tables
/// in Markdown.
#[must_use]
pub fn tables() -> String {
    let mut page = String::new();
    honored(&mut page)
        .and_then(|()| named(&mut page))
        .and_then(|()| engines(&mut page))
        .expect("a string takes any text");
    page
}

fn honored(page: &mut String) -> std::fmt::Result {
    page.push_str("## Honored\n\n| option | takes | does |\n|---|---|---|\n");
    for row in OPTIONS {
        let names: Vec<String> = row.names().map(|name| format!("`{name}`")).collect();
        writeln!(page, "| {} | {} | {} |", names.join(", "), row.kind.name(), row.meaning)?;
    }
    Ok(())
}

fn named(page: &mut String) -> std::fmt::Result {
    page.push_str("\n## Named and not honored\n\n| options | why |\n|---|---|\n");
    for group in NAMED {
        let names: Vec<String> = group.names().map(|name| format!("`{name}`")).collect();
        writeln!(page, "| {} | {} |", names.join(", "), group.why)?;
    }
    Ok(())
}

fn engines(page: &mut String) -> std::fmt::Result {
    page.push_str("\n## Engines\n\n| `ioengine` | runs as |\n|---|---|\n");
    for row in ENGINES {
        let runs = match row.becomes {
            EngineUse::As(engine) => as_words(engine).to_owned(),
            EngineUse::Instead(engine, lost) => format!("{}; {lost}", as_words(engine)),
            EngineUse::Never(why) => format!("refused: {why}"),
        };
        writeln!(page, "| `{}` | {runs} |", row.name)?;
    }
    Ok(())
}

fn as_words(engine: Engine) -> &'static str {
    match engine {
        Engine::Sync => "pread, pwrite",
        Engine::Async => "io_uring",
    }
}
