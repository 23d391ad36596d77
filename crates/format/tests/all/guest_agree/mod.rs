//! Our reading of RAID, thin and md metadata that a real kernel wrote, against what its tools
//! said.
//!
//! A sample of such a run is in `heads/guest`; `STRADDLE_GUEST_RESULT` names the directory of
//! another one, made by `guest/run WORKDIR lvm`. Volumes and arrays carry stamps that say where
//! they are, so a mapping is right exactly when it finds them.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

mod hostile;
mod lvm;
mod md;
mod run;

use run::Run;

#[test]
fn lvm_metadata_agrees_with_lvm_on_the_sample() {
    lvm::check(&Run::sample());
}

#[test]
fn md_superblocks_agree_with_mdadm_on_the_sample() {
    let run = Run::sample();
    if md::is_read(&run) {
        md::check(&run);
    } else {
        testkit::skip("md superblocks are not read yet");
    }
}

#[test]
fn lvm_metadata_agrees_with_lvm_on_a_new_run() {
    match Run::of_environment() {
        Some(run) => lvm::check(&run),
        None => testkit::skip("needs STRADDLE_GUEST_RESULT, a result of guest/run"),
    }
}

#[test]
fn md_superblocks_agree_with_mdadm_on_a_new_run() {
    match Run::of_environment() {
        Some(run) if md::is_read(&run) => md::check(&run),
        Some(_) => testkit::skip("md superblocks are not read yet"),
        None => testkit::skip("needs STRADDLE_GUEST_RESULT, a result of guest/run"),
    }
}
