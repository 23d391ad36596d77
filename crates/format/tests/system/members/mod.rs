//! Members of arrays and containers: what straddle reads against what the real tools print.

mod agree_luks;
mod agree_md;
mod agree_others;
#[expect(dead_code, reason = "the tests of logic use the rest")]
#[path = "../../logic/members/encode.rs"]
mod encode;
