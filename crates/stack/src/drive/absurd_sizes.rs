//! Sizes that kernels, bridges and controllers report and that mean nothing.

use super::KernelDrive;
use super::misreporting_drives::Lie;

impl KernelDrive {
    /// Why the reported physical sector cannot be right; `None` when it can, or is unknown.
    ///
    /// Kernels and bridges have reported 0, 3, and values below the logical sector.
    #[must_use]
    pub fn absurd_physical(&self) -> Option<String> {
        let physical = *self.physical_bytes.value()?;
        let logical = self.sector().bytes();
        if !physical.is_power_of_two() {
            Some(format!("{physical} is no power of two"))
        } else if physical < logical {
            Some(format!("{physical} is below the logical sector of {logical}"))
        } else if physical > 16 << 20 {
            Some(format!("{physical} is above 16 MiB, which no drive has"))
        } else {
            None
        }
    }

    /// Why the reported optimal I/O size cannot be right; `None` when it can, or is unknown or 0.
    ///
    /// USB bridges report 65535 sectors (0xffff, "no limit"), which every partitioner then obeys:
    /// util-linux issue 1221.
    #[must_use]
    pub fn absurd_optimal(&self) -> Option<String> {
        let optimal = self.optimal_io_bytes.value().copied().filter(|&bytes| bytes > 0)?;
        let physical = self.physical_bytes.value().copied().filter(|&bytes| bytes > 0);
        let physical = physical.unwrap_or_else(|| self.sector().bytes());
        let sectors = optimal.checked_div(self.sector().bytes()).unwrap_or(0);
        if let Some(liar) = self.lies().find(|liar| matches!(liar.lie, Lie::Optimal(_))) {
            Some(liar.sentence())
        } else if sectors == 0xffff {
            Some(format!("{optimal} is 65535 sectors, a controller's way to say nothing"))
        } else if !optimal.is_multiple_of(physical) {
            Some(format!("{optimal} is not a multiple of the physical sector of {physical}"))
        } else {
            None
        }
    }
}
