//! Members of arrays and containers: what straddle reads against bytes made here, against what real
//! kernels wrote, and under attack.

pub(crate) mod encode;
mod hostile;
mod integrity;
mod luks;
mod md;
