//! The buffer protocol: `numpy.asarray(a)`, `memoryview(a)` and all that index by numbers take them without a copy.
#![expect(
    unsafe_code,
    reason = "the protocol hands out addresses; the view owns the array that they point into"
)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use arrow_array::types::{ArrowPrimitiveType, Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array as _, ArrayRef, PrimitiveArray};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

use super::Array;

/// What a view points to beside the elements; it lives until the view is released.
struct Shape {
    elements: ffi::Py_ssize_t,
    stride: ffi::Py_ssize_t,
}

/// Where the elements of an array of numbers are, what Python's `struct` calls their type, and their width.
fn numbers(array: &ArrayRef) -> Option<(*const c_void, &'static CStr, usize)> {
    fn of<T: ArrowPrimitiveType>(
        array: &ArrayRef,
        format: &'static CStr,
    ) -> Option<(*const c_void, &'static CStr, usize)> {
        let numbers = array.as_any().downcast_ref::<PrimitiveArray<T>>()?;
        Some((
            numbers.values().inner().as_ptr().cast(),
            format,
            size_of::<T::Native>(),
        ))
    }
    of::<UInt64Type>(array, c"Q")
        .or_else(|| of::<Int64Type>(array, c"q"))
        .or_else(|| of::<UInt32Type>(array, c"I"))
        .or_else(|| of::<Int32Type>(array, c"i"))
        .or_else(|| of::<Float64Type>(array, c"d"))
}

/// Fills a view of the array's numbers.
///
/// # Safety
/// `view` is null or points to a view that may be written to.
///
/// # Errors
/// `BufferError` where it cannot be viewed: its elements are not numbers, some are null, or it was to be written to.
pub(super) unsafe fn fill(owner: Bound<'_, Array>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("there is no view to fill"));
    }
    // SAFETY: it may be written to; Python wants no owner in a view that could not be filled.
    unsafe { (*view).obj = ptr::null_mut() };
    let array = &owner.get().array;
    let has = |flag: c_int| flags & flag == flag;
    if has(ffi::PyBUF_WRITABLE) {
        return Err(PyBufferError::new_err("the array is read-only"));
    }
    if array.null_count() > 0 {
        return Err(PyBufferError::new_err(
            "the array has nulls, which a buffer has no place for; to_pylist() gives them as None",
        ));
    }
    let (start, format, width) = numbers(array).ok_or_else(|| {
        PyBufferError::new_err(format!(
            "the array has {}; only numbers can be viewed as a buffer",
            array.data_type()
        ))
    })?;
    let shape = Box::into_raw(Box::new(Shape {
        elements: array.len() as ffi::Py_ssize_t,
        stride: width as ffi::Py_ssize_t,
    }));
    let asked = |flag, address| if has(flag) { address } else { ptr::null_mut() };
    // SAFETY: the shape was made above, and is alive.
    let elements = unsafe { &raw mut (*shape).elements };
    // SAFETY: as above.
    let stride = unsafe { &raw mut (*shape).stride };
    let filled = ffi::Py_buffer {
        buf: start.cast_mut(),
        len: (array.len() * width) as ffi::Py_ssize_t,
        readonly: 1,
        itemsize: width as ffi::Py_ssize_t,
        format: if has(ffi::PyBUF_FORMAT) {
            format.as_ptr().cast_mut()
        } else {
            ptr::null_mut()
        },
        ndim: 1,
        shape: asked(ffi::PyBUF_ND, elements),
        strides: asked(ffi::PyBUF_STRIDES, stride),
        suboffsets: ptr::null_mut(),
        internal: shape.cast(),
        // The view owns the array from here on.
        obj: owner.into_ptr(),
    };
    // SAFETY: the view may be written to, and nothing in it has to be dropped.
    unsafe { view.write(filled) };
    Ok(())
}

/// Frees what [`fill`] made for a view.
///
/// # Safety
/// `view` was filled by [`fill`], and is released once.
pub(super) unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: the view is one, by this function's contract.
    let shape = unsafe { (*view).internal };
    // SAFETY: `fill` put the shape there.
    drop(unsafe { Box::from_raw(shape.cast::<Shape>()) });
}
