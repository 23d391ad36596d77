//! Measurements made in the page by the browser. The page itself has no script; these are run in it
//! from outside.

/// Elements that stick out of the page or of its own room, and labels of charts that touch or are
/// cut.
pub(crate) const OVERFLOW: &str = include_str!("overflow.js");

/// Text that does not stand out from what is behind it by 4.5, and drawings that do not by 3 (WCAG
/// 2.2, success criteria 1.4.3 and 1.4.11).
pub(crate) const CONTRAST: &str = include_str!("contrast.js");

/// Text that those who do not see the page miss.
pub(crate) const ACCESS: &str = include_str!("access.js");

/// Cells of tables that lie off the screen, or that have lost their heads.
pub(crate) const CELLS: &str = include_str!("cells.js");
