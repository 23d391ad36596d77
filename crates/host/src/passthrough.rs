//! Ioctls that hand a structure through to a driver, and tell by their own result too.

use std::ffi::c_void;

use rustix::io;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode};

/// An ioctl that reads and writes one `T`, or a slice of them from its start. Its output is what
/// the ioctl returned, which is not negative.
pub(crate) struct StructIoctl<'a, const OPCODE: Opcode, T: ?Sized>(pub(crate) &'a mut T);

/// An ioctl without an argument, that tells by what it returned.
pub(crate) struct BareIoctl<const OPCODE: Opcode>;

#[expect(unsafe_code, reason = "rustix asks who implements it to promise what the kernel does")]
// SAFETY: the pointer is to the borrowed `T`, which lives as long as this value, and the kernel may
// write to it, which `IS_MUTATING` says. That the opcode takes a `T` is up to who calls `ioctl`,
// which is unsafe itself.
unsafe impl<const OPCODE: Opcode, T: ?Sized> Ioctl for StructIoctl<'_, OPCODE, T> {
    type Output = IoctlOutput;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::from_mut(self.0).cast()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> io::Result<IoctlOutput> {
        Ok(out)
    }
}

#[expect(unsafe_code, reason = "rustix asks who implements it to promise what the kernel does")]
// SAFETY: the pointer is null, and nothing is read through it. That the opcode takes no argument is
// up to who calls `ioctl`, which is unsafe itself.
unsafe impl<const OPCODE: Opcode> Ioctl for BareIoctl<OPCODE> {
    type Output = IoctlOutput;

    const IS_MUTATING: bool = false;

    fn opcode(&self) -> Opcode {
        OPCODE
    }

    fn as_ptr(&mut self) -> *mut c_void {
        std::ptr::null_mut()
    }

    unsafe fn output_from_ptr(out: IoctlOutput, _: *mut c_void) -> io::Result<IoctlOutput> {
        Ok(out)
    }
}
