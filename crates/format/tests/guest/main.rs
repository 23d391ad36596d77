//! Our reading of RAID, thin and md metadata that a real kernel just wrote, against what its tools
//! said. `STRADDLE_GUEST_RESULT` names the result of a run of `guest/run WORKDIR lvm`; without it
//! these tests skip.

#![expect(clippy::unwrap_used, reason = "in a test, unwrap is an assertion")]

#[path = "../logic/guest_agree/lvm.rs"]
mod lvm;
#[path = "../logic/guest_agree/md.rs"]
mod md;
#[expect(dead_code, reason = "the tests of logic use the rest")]
#[path = "../logic/guest_agree/run.rs"]
mod run;

use run::Run;

const LACK: &str = "needs STRADDLE_GUEST_RESULT, a result of guest/run";

#[test]
fn lvm_metadata_agrees_with_lvm_on_a_new_run() {
    match Run::of_environment() {
        Some(run) => lvm::check(&run),
        None => testkit::skip(LACK),
    }
}

#[test]
fn md_superblocks_agree_with_mdadm_on_a_new_run() {
    match Run::of_environment() {
        Some(run) if md::is_read(&run) => md::check(&run),
        Some(_) => testkit::skip("md superblocks are not read yet"),
        None => testkit::skip(LACK),
    }
}
