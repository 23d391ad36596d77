//! The rows of hosts on the page: how many are shown, and how they are named.

/// The most groups, and the most hosts of a group, that are shown.
pub(super) const GROUPS_MAX: usize = 24;
pub(super) const HOSTS_MAX: usize = 200;
/// The section as links name it.
pub(super) const ID: &str = "peers";

/// Returns where the row of a host is; the section where that row is not shown.
pub(super) fn row_id(group: usize, place: usize) -> String {
    match group < GROUPS_MAX && place < HOSTS_MAX {
        true => format!("{ID}-{group}-{}", place + 1),
        false => ID.to_owned(),
    }
}
