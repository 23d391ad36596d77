//! `straddle drive detach`.

use testkit::running_program::Ran;

use super::straddle;

#[test]
fn detaching_has_its_codes_and_says_why() {
    let ran = Ran::of(straddle(&["detach"]).arg("--stale"));
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.out.contains("detach"), "{ran:?}");
    let ran = Ran::of(&mut straddle(&["detach"]));
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.errors.contains("--stale"), "{ran:?}");
}
