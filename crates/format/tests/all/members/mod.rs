//! Members of arrays and containers: what straddle reads against bytes made here, against what real
//! kernels wrote, against what the real tools print, and under attack.

mod agree_luks;
mod agree_md;
mod agree_others;
pub(crate) mod encode;
mod hostile;
mod integrity;
mod luks;
mod md;
