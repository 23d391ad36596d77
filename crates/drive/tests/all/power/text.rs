//! The log as text: the same log comes back, and no text does harm.

use drive::power::{HostLog, HostTextError, HostTextProblem};

use super::logged::{any_plan, disk, drive};

#[test]
fn a_log_that_is_written_and_read_is_the_same_and_judges_the_same() {
    let mut random = testkit::random(13);
    for _ in 0..50 {
        let mut model = disk(any_plan(&mut random));
        drive(&mut model, 40, &mut random);
        let text = model.log().to_string();
        let read: HostLog = text.parse().expect("it was written by the same");
        assert_eq!(read.writes(), model.log().writes());
        assert_eq!(read.flushes(), model.log().flushes());
        assert_eq!(read.discards(), model.log().discards());
        assert_eq!(read.told(), model.log().told());
        assert_eq!(read.to_string(), text);
        assert!(read.writes().iter().any(|write| write.done.is_some()));
    }
}

#[test]
fn damaged_text_is_refused_with_its_line_or_read_as_another_log_and_never_panics() {
    let mut random = testkit::random(14);
    let mut model = disk(any_plan(&mut random));
    drive(&mut model, 30, &mut random);
    let text = model.log().to_string().into_bytes();
    let lines = text.iter().filter(|byte| **byte == b'\n').count();
    let (mut refused, mut taken) = (0, 0);
    for _ in 0..5000 {
        let mut damaged = text.clone();
        for _ in 0..=random.below(3) {
            let place = usize::try_from(random.below(text.len() as u64)).expect("small");
            damaged[place] = *random.choose(b"0123456789+ =\nawfdh-\xff\0");
        }
        drive::power::hostile(&damaged);
        match String::from_utf8_lossy(&damaged).parse::<HostLog>() {
            Ok(log) => {
                taken += 1;
                assert_eq!(log.to_string().parse(), Ok(log));
            }
            Err(error) => {
                refused += 1;
                assert!(error.line >= 1 && error.line <= lines + 4, "{error}");
                assert!(!error.to_string().contains(|sign: char| sign.is_control()), "{error}");
            }
        }
    }
    println!("{refused} refused, {taken} taken");
    assert!(refused > 1000 && taken > 10);
}

/// Returns what is wrong with a log whose third line is this.
fn check(line: &str, problem: HostTextProblem) {
    let head = "straddle host log 1\ntold logical=512 physical=4096 origin=0 cache=none\n";
    let found = format!("{head}{line}\n").parse::<HostLog>();
    assert_eq!(found, Err(HostTextError { line: 3, problem }), "{line}");
}

#[test]
fn what_is_wrong_with_a_line_is_said() {
    let event = |line: &str| HostTextProblem::Event { line: line.to_owned() };
    for line in
        ["", "x", "1", "1 write", "1 write 0", "1 write 0 0+512", "01 flush 0", "1 flush 0 0"]
    {
        check(line, event(line));
    }
    check("1 write 0 0+512 tag=0 epoch=00", event("1 write 0 0+512 tag=0 epoch=00"));
    check("1 done read 0", event("1 done read 0"));
    check("1 flush 1", HostTextProblem::Number { number: 1, next: 0 });
    check("1 done flush 0", HostTextProblem::NotInFlight { number: 0 });
    check("1 write 0 1+512 tag=0 epoch=0", HostTextProblem::Range { start: 1, length: 512 });
    check("1 write 0 512+0 tag=0 epoch=0", HostTextProblem::Range { start: 512, length: 0 });
    let (start, length) = (u64::MAX - 511, 512);
    let line = format!("1 write 0 {start}+{length} tag=0 epoch=0");
    check(&line, HostTextProblem::Range { start, length });
    check("1 write 0 0+512 tag=0 epoch=1", HostTextProblem::Epoch { epoch: 1, found: 0 });
    check("1 write 0 0+72057594037927936 tag=0 epoch=0", HostTextProblem::Full);
}

#[test]
fn sectors_that_no_drive_has_are_refused() {
    for told in [
        "logical=0 physical=4096 origin=0",
        "logical=512 physical=0 origin=0",
        "logical=512 physical=768 origin=0",
        "logical=512 physical=4096 origin=4096",
        "logical=3 physical=3 origin=0",
        "logical=512 physical=2147483648 origin=0",
    ] {
        let text = format!("straddle host log 1\ntold {told} cache=none\n");
        let error = text.parse::<HostLog>().expect_err(told);
        assert!(matches!(error.problem, HostTextProblem::Sectors { .. }), "{told}: {error}");
        assert_eq!(error.line, 2);
    }
    assert!("".parse::<HostLog>().is_err());
}
