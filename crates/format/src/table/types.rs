//! Names and purposes of partition types.
//!
//! Types that change what a rule may say (containers, boot code, reserved space) have a role; all
//! others are ordinary data, whether the tables here know their name or not.
//!
//! Source: UEFI specification 5.3.3; the UAPI group's Discoverable Partitions Specification;
//! Microsoft
//! `PARTITION_INFORMATION_GPT`; FreeBSD `sys/sys/disk/{gpt,bsd,mbr}.h`; the lists that
//! `sfdisk --list-types` prints, against which the tests hold these.

use super::PartitionRole;
use super::PartitionRole::{
    BiosBoot, BsdSlice, EfiSystem, Extended, Ordinary, Protective, Reserved,
};

/// An MBR partition's type code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MbrType(pub(super) u8);

/// The type of the entry that protects a GPT.
pub(super) const PROTECTIVE: u8 = 0xee;

impl MbrType {
    /// The code as it is printed: `0x83`.
    pub(super) fn code(self) -> String {
        format!("{:#04x}", self.0)
    }

    /// The usual name, or `None`.
    pub(super) fn name(self) -> Option<&'static str> {
        self.row().map(|row| row.1)
    }

    /// Returns what it is for.
    pub(super) fn role(self) -> PartitionRole {
        self.row().map_or(Ordinary, |row| row.2)
    }

    fn row(self) -> Option<&'static (u8, &'static str, PartitionRole)> {
        MBR_TYPES.iter().find(|row| row.0 == self.0)
    }
}

/// The name and role of a GPT partition type, by its GUID in lower case; no name for an unknown
/// one.
pub(super) fn gpt_type(guid: &str) -> (Option<&'static str>, PartitionRole) {
    let row = GPT_TYPES.iter().find(|row| row.0 == guid);
    row.map_or((None, Ordinary), |row| (Some(row.1), row.2))
}

/// The name of a BSD partition type, where FreeBSD, NetBSD and OpenBSD agree on it.
pub(super) fn bsd_name(code: u8) -> Option<&'static str> {
    BSD_TYPES.iter().find(|row| row.0 == code).map(|row| row.1)
}

/// Returns the GUIDs and the MBR codes that are known here, for tests against tools.
pub(super) fn known() -> (Vec<&'static str>, Vec<u8>) {
    let guids = GPT_TYPES.iter().map(|row| row.0).collect();
    (guids, MBR_TYPES.iter().map(|row| row.0).collect())
}

const MBR_TYPES: [(u8, &str, PartitionRole); 55] = [
    (0x00, "no type", Ordinary),
    (0x01, "FAT12", Ordinary),
    (0x04, "FAT16 below 32 MiB", Ordinary),
    (0x05, "extended", Extended),
    (0x06, "FAT16", Ordinary),
    (0x07, "NTFS, exFAT or HPFS", Ordinary),
    (0x0a, "OS/2 boot manager", Ordinary),
    (0x0b, "FAT32", Ordinary),
    (0x0c, "FAT32, LBA", Ordinary),
    (0x0e, "FAT16, LBA", Ordinary),
    (0x0f, "extended, LBA", Extended),
    (0x11, "hidden FAT12", Ordinary),
    (0x12, "diagnostics", Ordinary),
    (0x14, "hidden FAT16 below 32 MiB", Ordinary),
    (0x16, "hidden FAT16", Ordinary),
    (0x17, "hidden NTFS, exFAT or HPFS", Ordinary),
    (0x1b, "hidden FAT32", Ordinary),
    (0x1c, "hidden FAT32, LBA", Ordinary),
    (0x1e, "hidden FAT16, LBA", Ordinary),
    (0x27, "Windows recovery", Ordinary),
    (0x39, "Plan 9", Ordinary),
    (0x41, "PReP boot", Reserved),
    (0x42, "Windows dynamic disk", Ordinary),
    (0x63, "GNU Hurd or System V", Ordinary),
    (0x81, "Minix", Ordinary),
    (0x82, "Linux swap or Solaris", Ordinary),
    (0x83, "Linux", Ordinary),
    (0x84, "hibernation", Ordinary),
    (0x85, "Linux extended", Extended),
    (0x86, "NTFS volume set", Ordinary),
    (0x87, "NTFS volume set", Ordinary),
    (0x88, "Linux plain text", Ordinary),
    (0x8e, "Linux LVM", Ordinary),
    (0xa0, "hibernation", Ordinary),
    (0xa5, "FreeBSD", BsdSlice),
    (0xa6, "OpenBSD", BsdSlice),
    (0xa8, "Apple UFS", Ordinary),
    (0xa9, "NetBSD", BsdSlice),
    (0xab, "Apple boot", Ordinary),
    (0xaf, "Apple HFS or HFS+", Ordinary),
    (0xb7, "BSDI file system", Ordinary),
    (0xb8, "BSDI swap", Ordinary),
    (0xbe, "Solaris boot", Ordinary),
    (0xbf, "Solaris", Ordinary),
    (0xda, "no file system", Ordinary),
    (0xde, "Dell utility", Ordinary),
    (0xea, "Linux extended boot", Ordinary),
    (0xeb, "BeOS or Haiku", Ordinary),
    (PROTECTIVE, "GPT protective", Protective),
    (0xef, "EFI system", EfiSystem),
    (0xf0, "PA-RISC boot", Reserved),
    (0xf8, "firmware protective", Reserved),
    (0xfb, "VMware VMFS", Ordinary),
    (0xfc, "VMware core dump", Ordinary),
    (0xfd, "Linux RAID", Ordinary),
];

const GPT_TYPES: [(&str, &str, PartitionRole); 88] = [
    ("c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "EFI system", EfiSystem),
    ("21686148-6449-6e6f-744e-656564454649", "BIOS boot", BiosBoot),
    ("024dee41-33e7-11d3-9d69-0008c781f39f", "MBR within a GPT", Ordinary),
    ("9e1a2d38-c612-4316-aa26-8b49521e5a8b", "PReP boot", Reserved),
    ("bc13c2ff-59e6-4262-a352-b275fd6f7172", "Linux extended boot", Ordinary),
    // Microsoft
    ("e3c9e316-0b5c-4db8-817d-f92df00215ae", "Microsoft reserved", Reserved),
    ("ebd0a0a2-b9e5-4433-87c0-68b6b72699c7", "Windows data", Ordinary),
    ("de94bba4-06d1-4d40-a16a-bfd50179d6ac", "Windows recovery", Ordinary),
    ("5808c8aa-7e8f-42e0-85d2-e1e90434cfb3", "Windows dynamic disk database", Reserved),
    ("af9b60a0-1431-4f62-bc68-3311714a69ad", "Windows dynamic disk data", Ordinary),
    ("e75caf8f-f680-4cee-afa3-b001e56efc2d", "Windows storage spaces", Ordinary),
    // Linux
    ("0fc63daf-8483-4772-8e79-3d69d8477de4", "Linux data", Ordinary),
    ("0657fd6d-a4ab-43c4-84e5-0933c84b4f4f", "Linux swap", Ordinary),
    ("a19d880f-05fc-4d3b-a006-743f0f84911e", "Linux RAID", Ordinary),
    ("e6d6d379-f507-44c2-a23c-238f2a3df928", "Linux LVM", Ordinary),
    ("8da63339-0007-60c0-c436-083ac8230908", "Linux reserved", Reserved),
    ("933ac7e1-2eb4-4f13-b844-0e14e2aef915", "Linux home", Ordinary),
    ("773f91ef-66d4-49b5-bd83-d683bf40ad16", "Linux user home", Ordinary),
    ("3b8f8425-20e0-4f3b-907f-1a25a76f98e8", "Linux server data", Ordinary),
    ("4d21b016-b534-45c2-a9fb-5c16e091fd2d", "Linux variable data", Ordinary),
    ("7ec6f557-3bc5-4aca-b293-16ef5df639d1", "Linux temporary data", Ordinary),
    ("ca7d7ccb-63ed-4c53-861c-1742536059cc", "Linux LUKS", Ordinary),
    ("44479540-f297-41b2-9af7-d131d5f0458a", "Linux root, x86", Ordinary),
    ("4f68bce3-e8cd-4db1-96e7-fbcaf984b709", "Linux root, x86-64", Ordinary),
    ("69dad710-2ce4-4e3c-b16c-21a1d49abed3", "Linux root, Arm", Ordinary),
    ("b921b045-1df0-41c3-af44-4c6f280d3fae", "Linux root, Arm 64", Ordinary),
    ("c31c45e6-3f39-412e-80fb-4809c4980599", "Linux root, PowerPC 64 LE", Ordinary),
    ("72ec70a6-cf74-40e6-bd49-4bda08e8f224", "Linux root, RISC-V 64", Ordinary),
    ("5eead9a9-fe09-4a1e-a1d7-520d00531306", "Linux root, S390X", Ordinary),
    ("77055800-792c-4f94-b39a-98c91b762bb6", "Linux root, LoongArch 64", Ordinary),
    ("75250d76-8cc6-458e-bd66-bd47cc81a812", "Linux /usr, x86", Ordinary),
    ("8484680c-9521-48c6-9c11-b0720656f69e", "Linux /usr, x86-64", Ordinary),
    ("b0e01050-ee5f-4390-949a-9101b17104e9", "Linux /usr, Arm 64", Ordinary),
    ("2c7357ed-ebd2-46d9-aec1-23d437ec2bf5", "Linux root verity, x86-64", Ordinary),
    ("df3300ce-d69f-4c92-978c-9bfb0f38d820", "Linux root verity, Arm 64", Ordinary),
    ("77ff5f63-e7b6-4633-acf4-1565b864c0e6", "Linux /usr verity, x86-64", Ordinary),
    ("6e11a4e7-fbca-4ded-b9e9-e1a512bb664e", "Linux /usr verity, Arm 64", Ordinary),
    ("41092b05-9fc8-4523-994f-2def0408b176", "Linux root verity signature, x86-64", Ordinary),
    ("6db69de6-29f4-4758-a7a5-962190f00ce3", "Linux root verity signature, Arm 64", Ordinary),
    ("e7bb33fb-06cf-4e81-8273-e543b413e2e2", "Linux /usr verity signature, x86-64", Ordinary),
    ("c23ce4ff-44bd-4b00-b2d4-b41b3419e02a", "Linux /usr verity signature, Arm 64", Ordinary),
    // FreeBSD
    ("83bd6b9d-7f41-11dc-be0b-001560b84f0f", "FreeBSD boot", BiosBoot),
    ("516e7cb4-6ecf-11d6-8ff8-00022d09712b", "FreeBSD disklabel", BsdSlice),
    ("516e7cb5-6ecf-11d6-8ff8-00022d09712b", "FreeBSD swap", Ordinary),
    ("516e7cb6-6ecf-11d6-8ff8-00022d09712b", "FreeBSD UFS", Ordinary),
    ("516e7cb8-6ecf-11d6-8ff8-00022d09712b", "FreeBSD Vinum", Ordinary),
    ("516e7cba-6ecf-11d6-8ff8-00022d09712b", "FreeBSD ZFS", Ordinary),
    // NetBSD, OpenBSD
    ("49f48d32-b10e-11dc-b99b-0019d1879648", "NetBSD swap", Ordinary),
    ("49f48d5a-b10e-11dc-b99b-0019d1879648", "NetBSD FFS", Ordinary),
    ("49f48d82-b10e-11dc-b99b-0019d1879648", "NetBSD LFS", Ordinary),
    ("49f48daa-b10e-11dc-b99b-0019d1879648", "NetBSD RAID", Ordinary),
    ("2db519c4-b10f-11dc-b99b-0019d1879648", "NetBSD concatenated", Ordinary),
    ("2db519ec-b10f-11dc-b99b-0019d1879648", "NetBSD encrypted", Ordinary),
    ("824cc7a0-36a8-11e3-890a-952519ad3f61", "OpenBSD", BsdSlice),
    // Apple
    ("48465300-0000-11aa-aa11-00306543ecac", "Apple HFS+", Ordinary),
    ("7c3457ef-0000-11aa-aa11-00306543ecac", "Apple APFS", Ordinary),
    ("55465300-0000-11aa-aa11-00306543ecac", "Apple UFS", Ordinary),
    ("52414944-0000-11aa-aa11-00306543ecac", "Apple RAID", Ordinary),
    ("52414944-5f4f-11aa-aa11-00306543ecac", "Apple RAID, offline", Ordinary),
    ("426f6f74-0000-11aa-aa11-00306543ecac", "Apple boot", Ordinary),
    ("53746f72-6167-11aa-aa11-00306543ecac", "Apple Core Storage", Ordinary),
    ("69646961-6700-11aa-aa11-00306543ecac", "Apple Silicon boot", Ordinary),
    ("52637672-7900-11aa-aa11-00306543ecac", "Apple Silicon recovery", Ordinary),
    // Solaris, illumos, ZFS
    ("6a82cb45-1dd2-11b2-99a6-080020736631", "Solaris boot", Ordinary),
    ("6a85cf4d-1dd2-11b2-99a6-080020736631", "Solaris root", Ordinary),
    ("6a87c46f-1dd2-11b2-99a6-080020736631", "Solaris swap", Ordinary),
    ("6a898cc3-1dd2-11b2-99a6-080020736631", "ZFS or Solaris /usr", Ordinary),
    ("6a945a3b-1dd2-11b2-99a6-080020736631", "Solaris reserved", Reserved),
    // ChromeOS
    ("fe3a2a5d-4f32-41a7-b725-accc3285a309", "ChromeOS kernel", Ordinary),
    ("3cb8e202-3b7e-47dd-8a3c-7ff2a13cfcec", "ChromeOS root", Ordinary),
    ("2e0a753d-9e48-43b0-8337-b15192cb1b5e", "ChromeOS reserved", Reserved),
    // Ceph
    ("4fbd7e29-9d25-41b8-afd0-062c0ceff05d", "Ceph data", Ordinary),
    ("4fbd7e29-9d25-41b8-afd0-5ec00ceff05d", "Ceph data, dm-crypt", Ordinary),
    ("45b0969e-9b03-4f30-b4c6-b4b80ceff106", "Ceph journal", Ordinary),
    ("45b0969e-9b03-4f30-b4c6-5ec00ceff106", "Ceph journal, dm-crypt", Ordinary),
    // VMware
    ("aa31e02a-400f-11db-9590-000c2911d1b8", "VMware VMFS", Ordinary),
    ("9d275380-40ad-11db-bf97-000c2911d1b8", "VMware core dump", Ordinary),
    ("9198effc-31c0-11db-8f78-000c2911d1b8", "VMware reserved", Reserved),
    ("381cfccc-7288-11e0-92ee-000c2911d0b2", "VMware vSAN", Ordinary),
    // Others
    ("37affc90-ef7d-4e96-91c3-2d7ae055b174", "IBM Spectrum Scale", Ordinary),
    ("75894c1e-3aeb-11d3-b7c1-7b03a0000000", "HP-UX data", Ordinary),
    ("e2a1e728-32e3-11d6-a682-7b03a0000000", "HP-UX service", Ordinary),
    ("42465331-3ba3-10f1-802a-4861696b7521", "Haiku BFS", Ordinary),
    ("7412f7d5-a156-4b13-81dc-867174929325", "ONIE boot", Ordinary),
    ("d4e6e2cd-4469-46f3-b5cb-1bff57afc149", "ONIE configuration", Ordinary),
    ("5b193300-fc78-40cd-8002-e86c45580b47", "SiFive first stage boot", BiosBoot),
    ("2e54b353-1271-4842-806f-e436d6af6985", "SiFive second stage boot", BiosBoot),
    ("6828311a-ba55-42a4-bcde-a89bb5edecae", "Marvell Armada boot", BiosBoot),
];

const BSD_TYPES: [(u8, &str); 17] = [
    (0, "unused"),
    (1, "swap"),
    (2, "Version 6"),
    (3, "Version 7"),
    (4, "System V"),
    (5, "4.1BSD"),
    (6, "Eighth Edition"),
    (7, "4.2BSD FFS"),
    (8, "FAT"),
    (9, "4.4BSD LFS"),
    (10, "other"),
    (11, "HPFS"),
    (12, "ISO 9660"),
    (13, "boot"),
    (17, "ext2"),
    (18, "NTFS"),
    (20, "concatenated"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_type_stands_twice() {
        assert_eq!(
            MBR_TYPES.iter().map(|row| row.0).collect::<BTreeSet<_>>().len(),
            MBR_TYPES.len()
        );
        assert_eq!(
            GPT_TYPES.iter().map(|row| row.0).collect::<BTreeSet<_>>().len(),
            GPT_TYPES.len()
        );
        assert_eq!(
            BSD_TYPES.iter().map(|row| row.0).collect::<BTreeSet<_>>().len(),
            BSD_TYPES.len()
        );
    }

    #[test]
    fn an_unknown_type_has_no_name_and_is_ordinary() {
        assert_eq!((MbrType(0x77).name(), MbrType(0x77).role()), (None, Ordinary));
        assert_eq!(gpt_type("00000000-0000-0000-0000-000000000001"), (None, Ordinary));
        assert_eq!(MbrType(0x05).code(), "0x05");
    }

    #[test]
    fn guids_are_stored_in_the_form_in_which_they_are_looked_up() {
        for (guid, ..) in GPT_TYPES {
            let parsed = uuid::Uuid::try_parse(guid).unwrap();
            assert_eq!(parsed.hyphenated().to_string(), guid);
        }
    }
}
