//! Our reading of RAID, thin and md metadata that a real kernel wrote, against what its tools
//! said.
//!
//! A sample of such a run is in `heads/guest`; `tests/guest` reads another one, made by
//! `guest/run WORKDIR lvm`. Volumes and arrays carry stamps that say where they are, so a mapping
//! is right exactly when it finds them.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

mod hostile;
mod lvm;
mod md;
#[expect(dead_code, reason = "the tests of the guest use the rest")]
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
