//! `cargo xtask soak probe`: the probe on drives of known truth; a slice of it is among the tests.

use std::thread;

use anyhow::{Context as _, bail};
use measure::model::probing::{MODELS, Model, Score};

/// Number of seeds named of those that were not right.
const SEEDS_NAMED: usize = 8;

/// What came out of one model.
#[derive(Clone, Debug, Default)]
struct Tally {
    right: u64,
    short: Vec<u64>,
    wrong: Vec<u64>,
    written_bytes_max: u64,
}

/// Probes every model with seeds 1 to `seeds`; whether none was wrong and enough were right.
///
/// # Errors
/// When the chores cannot be built for release, or a probe fails.
pub(super) fn run(seeds: u64) -> anyhow::Result<bool> {
    if cfg!(debug_assertions) {
        return super::models::released(&["soak", "probe", "--seeds", &seeds.to_string()]);
    }
    let mut is_held = true;
    println!(
        "The probe on drives of known truth: seeds 1 to {seeds}. Right: all that can be found, \
         and nothing\nelse. Short: less than that, and nothing that is not so. Wrong: none may be. \
         Least: how many\nmust be right; 0 where it is hard to tell.\n"
    );
    println!(
        "{:<26} {:>6} {:>6} {:>6} {:>6} {:>14}",
        "model", "right", "least", "short", "wrong", "written, MiB"
    );
    for model in MODELS {
        let tally = tally(model, seeds)?;
        let enough = tally.right >= model.right_least(seeds);
        is_held &= enough && tally.wrong.is_empty();
        println!(
            "{:<26} {:>6} {:>6} {:>6} {:>6} {:>14}",
            model.name,
            tally.right,
            model.right_least(seeds),
            tally.short.len(),
            tally.wrong.len(),
            tally.written_bytes_max.div_euclid(1 << 20),
        );
        for (what, seeds) in [("WRONG", &tally.wrong), ("short", &tally.short)] {
            if !seeds.is_empty() {
                let first: Vec<u64> = seeds.iter().copied().take(SEEDS_NAMED).collect();
                println!("    {what}: {} seeds, as {first:?}; the first:", seeds.len());
                println!("{}", told(model, seeds[0])?);
            }
        }
    }
    println!("\nsoak probe: {} models, {}", MODELS.len(), if is_held { "held" } else { "MISSED" });
    Ok(is_held)
}

/// Returns what the probe of a model with this seed found, a line each.
fn told(model: &Model, seed: u64) -> anyhow::Result<String> {
    let found = model.probe(seed)?;
    let compared = found.granule.compared.iter().chain(&found.stripe.compared);
    let lines = compared.map(|one| {
        let (low, high) = (one.ratio.low, one.ratio.high);
        let (panel, arm, against, reading) =
            (one.panel, &one.arm, &one.against, one.reading.name());
        format!("      {panel}: {arm} / {against}: {low:.3} to {high:.3} {reading} {}", one.blocks)
    });
    let answers = [
        format!("      {:?}", found.granule.alignment),
        format!("      {:?}", found.granule.size),
        format!("      {:?}", found.stripe.chunk),
        format!("      {:?}", found.depth.depth),
        format!("      {:?}", found.turn),
        format!("      {:?}", found.turns),
    ];
    Ok(lines.chain(answers).collect::<Vec<_>>().join("\n"))
}

/// The seeds shared out among the processors.
fn tally(model: &'static Model, seeds: u64) -> anyhow::Result<Tally> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let started: Vec<_> = (0..workers)
            .map(|worker| {
                scope.spawn(move || {
                    let own = (1..=seeds).skip(worker).step_by(workers);
                    own.map(|seed| Ok((seed, model.probe(seed)?))).collect::<Result<Vec<_>, _>>()
                })
            })
            .collect();
        let mut tally = Tally::default();
        for worker in started {
            let Ok(found) = worker.join() else { bail!("a probe panicked") };
            let found: Result<_, measure::Fault> = found;
            for (seed, found) in found.context(model.name)? {
                let most = tally.written_bytes_max.max(found.written_bytes);
                tally.written_bytes_max = most;
                match model.score(&found) {
                    Score::Right => tally.right += 1,
                    Score::Short => tally.short.push(seed),
                    Score::Wrong => tally.wrong.push(seed),
                }
            }
        }
        tally.short.sort_unstable();
        tally.wrong.sort_unstable();
        Ok(tally)
    })
}
