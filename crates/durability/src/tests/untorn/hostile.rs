//! Answers that make no sense never lead to a false yes, nor to a no without a torn write.

use units::random::Random;

use super::made::{Answers, Made};
use crate::untorn::UntornAnswer;

/// Number of cases of everyday runs; with `STRADDLE_SOAK` set, four times as many.
const CASES: u32 = 1000;

/// Any number, the usual ones more often.
fn number(random: &mut Random) -> String {
    let usual = ["0", "1", "2", "4", "8", "16", "32", "128", "512", "4096", "16384", "65536"];
    match random.below(8) {
        0 => random.next_u64().to_string(),
        1 => u64::MAX.to_string(),
        2 => "-1".to_owned(),
        3 => String::new(),
        _ => (*random.choose(&usual)).to_owned(),
    }
}

fn any(random: &mut Random) -> Answers {
    let mut answers = Answers::plain();
    if random.below(3) == 0 {
        answers = answers.amazon(32, 8, 0);
    }
    let namespace = answers.namespace.as_mut().expect("it was asked");
    if random.below(2) == 0 {
        namespace[24] = 2;
        namespace[36] = 63;
    }
    let fields = [24, 25, 26, 36, 37, 42, 44, 45, 130, 134, 640, 641, 642, 643, 644, 645, 647];
    for _ in 0..random.below(5) {
        let value = u8::try_from(random.below(256)).expect("a byte");
        namespace[*random.choose(&fields)] = *random.choose(&[value, 0, 7, 15, 31, 63, 255]);
    }
    match random.below(16) {
        0 => namespace.fill(0xff),
        1 => answers.namespace = None,
        _ => {}
    }
    if random.below(4) == 0 {
        answers.controller[528] = u8::try_from(random.below(256)).expect("a byte");
    }
    let files = [
        "nomerges",
        "max_sectors_kb",
        "max_segments",
        "chunk_sectors",
        "logical_block_size",
        "atomic_write_unit_max_bytes",
        "atomic_write_unit_min_bytes",
        "atomic_write_boundary_bytes",
    ];
    for _ in 0..random.below(4) {
        let file: &&'static str = random.choose(&files);
        answers = answers.queue(file, &number(random));
    }
    answers
}

#[test]
fn hostile_answers_never_lead_to_a_false_yes_or_a_false_no() {
    let mut random = testkit::random(20_261_125);
    let mut count = [0; 3];
    let cases = if std::env::var_os("STRADDLE_SOAK").is_some() { 4 * CASES } else { CASES };
    for case in 0..cases {
        let made = Made {
            start: 4096 * random.below(5),
            volume: 4096 * random.below(5),
            unit: *random.choose(&[4096, 16384, 65536]),
            page: *random.choose(&[4096, 8192, 16384]),
            drive: any(&mut random),
        };
        let verdict = made.verdict();
        let because = &verdict.because;
        match verdict.answer {
            UntornAnswer::Yes => assert!(made.is_whole(), "case {case}: {}", made.short()),
            UntornAnswer::No => {
                assert!(!made.is_whole(), "case {case}: {because}: {}", made.short())
            }
            UntornAnswer::Unknown => {}
        }
        count[verdict.answer as usize] += 1;
    }
    assert!(count.iter().all(|&number| number > 25), "{count:?}");
}

#[test]
fn all_ones_and_all_zeros_are_no_promise() {
    for byte in [0xff, 0] {
        for model in ["Drive", "Amazon Elastic Block Store"] {
            let mut drive = Answers::plain();
            drive.namespace = Some(vec![byte; 4096]);
            drive.controller = vec![byte; 4096];
            drive.model = model.to_owned();
            let verdict = Made::on(drive).verdict();
            assert_ne!(verdict.answer, UntornAnswer::Yes, "{byte} {model}");
        }
    }
}
