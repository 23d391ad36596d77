//! Decides whether a drive may be asked for OCP's log page C0h, and with which UUID index.
//!
//! Source: NVM Express Base Specification 2.1, "Identify Controller data structure" (CTRATT, OACS,
//! LPA), "UUID List" (CNS 17h), "Supported Log Pages (Log Page Identifier 00h)"; OCP's UUID is that
//! of nvme-cli's `plugins/ocp/ocp-utils.c`.

/// The number of the page.
pub(crate) const PAGE: u32 = 0xc0;
/// OCP among the vendors of a UUID list.
const OCP_UUID: [u8; 16] = [
    0xc1, 0x94, 0xd5, 0x5b, 0xe0, 0x94, 0x47, 0x94, 0xa2, 0x1d, 0x29, 0x99, 0x8f, 0x56, 0xbe, 0x6f,
];
/// The length of an entry of the list; the first is reserved.
const ENTRY_BYTES: usize = 32;

/// Returns whether an Identify Controller answer offers the list of UUIDs: CTRATT bit 9.
pub(crate) fn has_uuid_list(controller: &[u8]) -> bool {
    controller.get(97).is_some_and(|byte| byte & 2 != 0)
}

/// Returns whether an Identify Controller answer offers the list of log pages: LPA bit 5.
pub(crate) fn has_page_list(controller: &[u8]) -> bool {
    controller.get(261).is_some_and(|byte| byte & 1 << 5 != 0)
}

/// Returns the index, 1 to 127, at which a list of UUIDs names OCP; `None` where it does not.
pub(crate) fn uuid_index(list: &[u8]) -> Option<u8> {
    let mut entries = list.chunks_exact(ENTRY_BYTES).zip(0_u8..128).skip(1);
    entries.find(|(entry, _)| entry[16..] == OCP_UUID).map(|(_, index)| index)
}

/// Accepts a drive that may have the page without naming OCP: one that lists it in `pages`, or,
/// where it lists none, one that manages namespaces (OACS bit 3), as OCP asks of its drives from
/// the first version on and drives for consumers do not.
///
/// # Errors
/// When nothing says that the drive has the page; the text says what is missing.
pub(crate) fn may_be_asked(controller: &[u8], pages: Option<&[u8]>) -> Result<(), String> {
    match pages {
        Some(pages) => {
            let listed = pages.get(0xc0 * 4).is_some_and(|byte| byte & 1 != 0);
            listed.then_some(()).ok_or_else(|| "the drive lists no log page C0h".to_owned())
        }
        None if controller.get(256).is_some_and(|byte| byte & 1 << 3 != 0) => Ok(()),
        None => Err("not asked: nothing says that the drive has OCP's log page C0h".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn controller(bytes: &[(usize, u8)]) -> Vec<u8> {
        let mut controller = vec![0; 4096];
        bytes.iter().for_each(|&(at, value)| controller[at] = value);
        controller
    }

    #[test]
    fn ocp_is_found_in_a_list_of_uuids_by_its_place() {
        let mut list = vec![0; 4096];
        assert_eq!(uuid_index(&list), None);
        list[2 * 32 + 16..3 * 32].copy_from_slice(&OCP_UUID);
        assert_eq!(uuid_index(&list), Some(2));
        // The first place is reserved, and a short list has no others.
        let mut reserved = vec![0; 32];
        reserved[16..].copy_from_slice(&OCP_UUID);
        assert_eq!(uuid_index(&reserved), None);
        assert_eq!(uuid_index(&[]), None);
    }

    #[test]
    fn a_drive_that_says_nothing_is_not_asked() {
        let plain = controller(&[]);
        assert!(!has_uuid_list(&plain) && !has_page_list(&plain));
        assert!(may_be_asked(&plain, None).unwrap_err().starts_with("not asked"));
        assert!(may_be_asked(&controller(&[(256, 8)]), None).is_ok());
        assert!(has_uuid_list(&controller(&[(97, 2)])));
        assert!(has_page_list(&controller(&[(261, 0x20)])));
    }

    #[test]
    fn a_list_of_log_pages_decides_over_everything_else() {
        let manages = controller(&[(256, 8)]);
        let mut pages = vec![0; 1024];
        let error = may_be_asked(&manages, Some(&pages)).unwrap_err();
        assert_eq!(error, "the drive lists no log page C0h");
        pages[0xc0 * 4] = 1;
        assert!(may_be_asked(&controller(&[]), Some(&pages)).is_ok());
    }
}
