//! Arrays that cannot be are refused, and the refusal says why.

use drive::array::{Array, ArrayPlan, Level, Member};
use drive::hard_disk::HardDisk;
use drive::power::{Liar, Lies, Logged};
use drive::{Cloud, CloudPlan, Model, VolumeLimits};
use units::stripe::Rotation;

use super::recorder::Recorder;
use crate::shared::{DISK, RAID5};

fn members(sizes: &[(u64, u64)]) -> Vec<Member<Recorder>> {
    let member = |&(bytes, offset_bytes): &(u64, u64)| Member {
        model: Recorder::new(bytes, 0),
        offset_bytes,
    };
    sizes.iter().map(member).collect()
}

fn check(plan: ArrayPlan, wanted: &str) {
    let fault = plan.checked().expect_err("such an array cannot be");
    assert_eq!(fault.to_string(), wanted);
}

#[test]
fn absurd_plans_are_refused_with_the_value_that_is_absurd() {
    let raid0 = ArrayPlan { level: Level::Raid0, ..RAID5 };
    let raid6 = ArrayPlan { level: Level::Raid6(Rotation::LeftSymmetric), ..RAID5 };
    let power = "a power of two from 512 to 1 GiB";
    check(
        ArrayPlan { chunk_bytes: 0, ..raid0 },
        "chunk is 0, must be a multiple of 512 from 512 bytes to 1 GiB",
    );
    check(ArrayPlan { chunk_bytes: 0, ..RAID5 }, &format!("chunk is 0, must be {power}"));
    check(ArrayPlan { chunk_bytes: 49_152, ..RAID5 }, &format!("chunk is 49152, must be {power}"));
    assert!(ArrayPlan { chunk_bytes: 49_152, ..raid0 }.checked().is_ok());
    let many = ArrayPlan { members: 1_000_000_000, ..RAID5 };
    check(many, "members is 1000000000, must be from 2 to 1920");
    check(ArrayPlan { members: 1, ..raid0 }, "members is 1, must be from 2 to 1920");
    check(ArrayPlan { members: 3, ..raid6 }, "members is 3, must be from 4 to 257");
    check(ArrayPlan { members: 258, ..raid6 }, "members is 258, must be from 4 to 257");
    let raid10 = |copies| ArrayPlan { level: Level::Raid10 { copies }, ..RAID5 };
    for copies in [0, 1, 2, u64::MAX] {
        let wanted = format!("copies is {copies}, must be 2 at least, and divide members");
        check(raid10(copies), &wanted);
    }
    let row = "must be a power of two from 512 to chunk";
    for row_bytes in [0, 3, 131_072] {
        check(ArrayPlan { row_bytes, ..RAID5 }, &format!("row is {row_bytes}, {row}"));
    }
    check(ArrayPlan { stripes: 0, ..RAID5 }, "stripes is 0, must be from 1 to 65536");
    let hold = ArrayPlan { hold_ns: u64::MAX, ..RAID5 };
    check(hold, "hold is 18446744073709551615, must be at most 10 s");
}

#[test]
fn of_members_of_different_sizes_the_smallest_counts() {
    let sizes = [(10 << 20, 0), ((4 << 20) + 4096, 1 << 20), (8 << 20, 512)];
    let array = Array::new(RAID5, members(&sizes)).expect("such an array can be");
    assert_eq!(array.capacity_bytes(), 2 * (3 << 20));
    assert_eq!(array.logical_bytes(), 512);
    assert_eq!(array.stripe_bytes(), Some(2 * 65_536));
    let raid1 = ArrayPlan { level: Level::Raid1, chunk_bytes: 0, ..RAID5 };
    let array = Array::new(raid1, members(&sizes)).expect("such an array can be");
    assert_eq!((array.capacity_bytes(), array.stripe_bytes()), ((3 << 20) + 4096, None));
}

#[test]
fn a_wrapper_has_the_stripe_of_the_array_that_it_wraps() {
    let sizes = [(1 << 20, 0); 3];
    let array = || Array::new(RAID5, members(&sizes)).expect("such an array can be");
    let check = |model: &dyn Model| assert_eq!(model.stripe_bytes(), Some(2 * 65_536));
    check(&Liar::new(array(), Lies::default()));
    let boxed: Box<dyn Model> = Box::new(array());
    check(&boxed);
    let plan = CloudPlan { limits: VolumeLimits::gp2(100), ..CloudPlan::default() };
    check(&Cloud::new(plan, array()).expect("such a volume can be"));
    let disk = || HardDisk::new(DISK).expect("such a disk can be");
    let disks = (0..3).map(|_| Member { model: disk(), offset_bytes: 0 }).collect();
    let array = Array::new(RAID5, disks).expect("such an array can be");
    let told = array.told();
    check(&Logged::new(array, told, 8).expect("disks keep logs"));
}

#[test]
fn members_that_do_not_fit_are_refused() {
    let good = (1 << 20, 0);
    let cases: [(&[(u64, u64)], &str); 5] = [
        (&[good, good], "the number of models is 2, must be what members says"),
        (&[], "the number of models is 0, must be what members says"),
        (
            &[good, good, (1 << 20, (1 << 20) + 512)],
            "data_offset is 1049088, must be within the member",
        ),
        (
            &[good, good, (1 << 20, 1000)],
            "data_offset is 1000, must be a multiple of the member's logical sector",
        ),
        (
            &[good, good, (1 << 20, (1 << 20) - 512)],
            "data_offset is 1048064, must be small enough for a chunk after it on \
             each member",
        ),
    ];
    for (sizes, wanted) in cases {
        let fault = Array::new(RAID5, members(sizes)).expect_err("such an array cannot be");
        assert_eq!(fault.to_string(), wanted);
    }
    let huge = [(1 << 55, 0); 3];
    let fault = Array::new(ArrayPlan { level: Level::Raid0, ..RAID5 }, members(&huge));
    let wanted = "a member's bytes is 36028797018963968, must be 2^56 over all";
    assert_eq!(fault.expect_err("too large").to_string(), wanted);
}
