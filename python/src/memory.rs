//! NumPy memory, borrowed: an array stays alive as long as anything here refers to it.
//!
//! A [`Strided`] is one line of values in any layout. Where its values lie side by side, floats or
//! integers of at most four bytes, the engine reads them in place; all else is gathered, a line at
//! a time.
//!
//! What is assumed of an array, and what is checked:
//!
//! - Shape, strides and type, read once under the interpreter's lock, describe memory that the
//!   array or its base owns. NumPy promises that; who makes an array by `as_strided` or of a
//!   foreign pointer promises it himself.
//! - The array is not resized in place and its base not freed while a call works on it. The
//!   reference held here keeps both alive. Values may change meanwhile, by another thread or a
//!   callback: the result is then of a mixture of old and new numbers.
//! - Every index, of a line and within a line, is compared with the shape here. A wrong one is a
//!   defect of this crate and panics, which the caller sees as an exception; it is never read.

use std::sync::Arc;

use keepnet::{ColumnData, NumberKind, Numbers, SharedBytes};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The numbers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Four bytes.
    F32,
    /// Eight bytes.
    F64,
    /// One byte that is 0 or 1.
    Bool,
    /// Signed, of this many bytes.
    Int(usize),
    /// Unsigned, of this many bytes.
    Uint(usize),
}

impl Kind {
    fn of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Self> {
        let dtype = array.dtype();
        let kind = match (dtype.kind(), dtype.itemsize()) {
            (b'f', 4) => Some(Self::F32),
            (b'f', 8) => Some(Self::F64),
            (b'b', 1) => Some(Self::Bool),
            (b'i', size @ (1 | 2 | 4 | 8)) => Some(Self::Int(size)),
            (b'u', size @ (1 | 2 | 4 | 8)) => Some(Self::Uint(size)),
            _ => None,
        };
        let native = dtype.is_native_byteorder() != Some(false);
        kind.filter(|_| native).ok_or_else(|| {
            PyTypeError::new_err(format!("an array of {dtype} cannot be used; convert it to float"))
        })
    }

    fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
            Self::Bool => 1,
            Self::Int(size) | Self::Uint(size) => size,
        }
    }

    /// Whether values are whole numbers by their type.
    pub fn integral(self) -> bool {
        !matches!(self, Self::F32 | Self::F64)
    }

    /// Whether f32 holds every value of this type.
    pub fn fits32(self) -> bool {
        matches!(self, Self::F32 | Self::Bool | Self::Int(1 | 2) | Self::Uint(1 | 2))
    }

    /// The type that the engine reads in place.
    fn in_place(self) -> Option<NumberKind> {
        Some(match self {
            Self::F32 => NumberKind::F32,
            Self::F64 => NumberKind::F64,
            Self::Bool | Self::Uint(1) => NumberKind::U8,
            Self::Int(1) => NumberKind::I8,
            Self::Uint(2) => NumberKind::U16,
            Self::Int(2) => NumberKind::I16,
            Self::Int(4) => NumberKind::I32,
            _ => return None,
        })
    }

    /// An empty vector of the width that loses nothing but what f64 does.
    pub fn numbers(self, capacity: usize) -> Numbers {
        match self.fits32() {
            true => Numbers::F32(Vec::with_capacity(capacity)),
            false => Numbers::F64(Vec::with_capacity(capacity)),
        }
    }
}

/// The memory of an array.
pub struct Memory {
    start: *const u8,
    // Bytes from `start` on that may be read in place; 0 where the layout runs backwards.
    span: usize,
    _owner: Py<PyUntypedArray>,
}

// SAFETY: the memory is only read, and the reference keeps it alive wherever it is sent; a caller
// who writes to an array while it is being fitted gets a mixture of old and new numbers, as with
// NumPy itself.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`; reading needs no order between threads.
unsafe impl Sync for Memory {}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        if self.span == 0 {
            return &[];
        }
        // SAFETY: all strides are forward where `span` is not 0, so the `span` bytes from `start`
        // on lie between the array's first and last element; it is alive.
        unsafe { std::slice::from_raw_parts(self.start, self.span) }
    }
}

/// The first bytes of an array.
struct Part {
    memory: Arc<Memory>,
    end: usize,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &(*self.memory).as_ref()[..self.end]
    }
}

/// A vector, as a matrix of one column, or a matrix.
#[derive(Clone)]
pub struct Array {
    memory: Arc<Memory>,
    /// Its numbers.
    pub kind: Kind,
    /// Rows and columns.
    pub shape: [usize; 2],
    strides: [isize; 2],
}

impl Array {
    /// Borrows a matrix: an array of two dimensions.
    pub fn matrix(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = array.cast::<PyUntypedArray>()?;
        let ([n, p], [s, t]) = (array.shape(), array.strides()) else {
            let text = format!("a matrix has two dimensions, got {}", array.ndim());
            return Err(PyValueError::new_err(text));
        };
        Self::borrow(array, [*n, *p], [*s, *t])
    }

    /// Borrows a vector: an array of one dimension, which is the column 0 here. `what` names it.
    pub fn vector(array: &Bound<'_, PyAny>, what: &str) -> PyResult<Self> {
        let array = array.cast::<PyUntypedArray>()?;
        let ([n], [s]) = (array.shape(), array.strides()) else {
            let got = array.shape();
            let text = format!("{what} has shape {got:?}, expected one dimension");
            return Err(PyValueError::new_err(text));
        };
        Self::borrow(array, [*n, 1], [*s, 0])
    }

    fn borrow(
        array: &Bound<'_, PyUntypedArray>,
        shape: [usize; 2],
        strides: [isize; 2],
    ) -> PyResult<Self> {
        let kind = Kind::of(array)?;
        let far =
            |d: usize| isize::try_from(shape[d].saturating_sub(1)).ok()?.checked_mul(strides[d]);
        let ends = far(0).zip(far(1)).and_then(|(a, b)| a.checked_add(b));
        let Some(end) = ends else {
            return Err(PyValueError::new_err("the array's strides pass its memory"));
        };
        let forward = strides.iter().all(|stride| *stride >= 0) && shape.iter().all(|n| *n > 0);
        let span = if forward { end as usize + kind.size() } else { 0 };
        // SAFETY: the array object is alive while it is bound.
        let start = unsafe { (*array.as_array_ptr()).fields.data }.cast_const().cast::<u8>();
        let memory = Memory { start, span, _owner: array.clone().unbind() };
        Ok(Self { memory: Arc::new(memory), kind, shape, strides })
    }

    /// A column.
    ///
    /// # Panics
    ///
    /// Where there is no column `j`.
    pub fn column(&self, j: usize) -> Strided<'_> {
        assert!(j < self.shape[1], "column {j} of {}", self.shape[1]);
        Strided {
            array: self,
            offset: j as isize * self.strides[1],
            stride: self.strides[0],
            len: self.shape[0],
        }
    }

    /// A row.
    ///
    /// # Panics
    ///
    /// Where there is no row `i`.
    pub fn row(&self, i: usize) -> Strided<'_> {
        assert!(i < self.shape[0], "row {i} of {}", self.shape[0]);
        Strided {
            array: self,
            offset: i as isize * self.strides[0],
            stride: self.strides[1],
            len: self.shape[1],
        }
    }
}

/// One line of an array: a row or a column.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    array: &'a Array,
    offset: isize,
    stride: isize,
    len: usize,
}

impl<'a> Strided<'a> {
    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The place of value `i`; not to be read where there is none.
    fn at(&self, i: usize) -> *const u8 {
        let offset = self.offset + i as isize * self.stride;
        self.array.memory.start.wrapping_offset(offset)
    }

    /// # Safety
    ///
    /// `i` is below the length, and `T` is the array's own type or of its size in plain bits.
    unsafe fn read<T: Copy>(&self, i: usize) -> T {
        // SAFETY: the line was made for a row or column that the array has, and `i` is below its
        // length, so the element lies in the array, which is alive; it may be unaligned.
        unsafe { self.at(i).cast::<T>().read_unaligned() }
    }

    /// # Safety
    ///
    /// `i` is below the length.
    unsafe fn value(&self, i: usize) -> f64 {
        // SAFETY: the caller promises `i`, and each arm reads the type that the array has.
        unsafe {
            match self.array.kind {
                Kind::F32 => f64::from(self.read::<f32>(i)),
                Kind::F64 => self.read(i),
                Kind::Bool => f64::from(self.read::<u8>(i) != 0),
                Kind::Int(1) => f64::from(self.read::<i8>(i)),
                Kind::Int(2) => f64::from(self.read::<i16>(i)),
                Kind::Int(4) => f64::from(self.read::<i32>(i)),
                Kind::Int(_) => self.read::<i64>(i) as f64,
                Kind::Uint(1) => f64::from(self.read::<u8>(i)),
                Kind::Uint(2) => f64::from(self.read::<u16>(i)),
                Kind::Uint(4) => f64::from(self.read::<u32>(i)),
                Kind::Uint(_) => self.read::<u64>(i) as f64,
            }
        }
    }

    /// A whole number that is not negative; `None` also where there is no value `i`.
    pub fn index(&self, i: usize) -> Option<usize> {
        if i >= self.len {
            return None;
        }
        // SAFETY: `i` is below the length, and each arm reads the type that the array has.
        unsafe {
            match self.array.kind {
                Kind::Int(8) => usize::try_from(self.read::<i64>(i)).ok(),
                Kind::Int(4) => usize::try_from(self.read::<i32>(i)).ok(),
                _ => None,
            }
        }
    }

    /// Where the values lie side by side: their place in the memory.
    fn contiguous(&self) -> Option<usize> {
        let size = self.array.kind.size();
        let aligned = (self.at(0) as usize).is_multiple_of(size);
        let start = usize::try_from(self.offset).ok()?;
        let end = self.len.checked_mul(size)?.checked_add(start)?;
        let inside = self.len > 0 && end <= self.array.memory.span;
        (inside && aligned && self.stride == size as isize).then_some(start)
    }

    /// The values in place, where they are f32 side by side.
    pub fn slice32(&self) -> Option<&'a [f32]> {
        self.contiguous().filter(|_| self.array.kind == Kind::F32)?;
        // SAFETY: f32 values, aligned, side by side, inside the array, as was just checked; it
        // is alive while it is borrowed here.
        Some(unsafe { std::slice::from_raw_parts(self.at(0).cast(), self.len) })
    }

    /// The values in place, where they are f64 side by side.
    pub fn slice64(&self) -> Option<&'a [f64]> {
        self.contiguous().filter(|_| self.array.kind == Kind::F64)?;
        // SAFETY: f64 values, aligned, side by side, inside the array, as was just checked; it
        // is alive while it is borrowed here.
        Some(unsafe { std::slice::from_raw_parts(self.at(0).cast(), self.len) })
    }

    /// The bytes of the first `count` values, where they lie side by side from the start of the
    /// array on.
    pub fn bytes(&self, count: usize) -> Option<SharedBytes> {
        let start = self.contiguous()?;
        let end = count.checked_mul(self.array.kind.size())?;
        (start == 0 && count > 0 && count <= self.len).then(|| {
            let memory = Arc::clone(&self.array.memory);
            Arc::new(Part { memory, end }) as SharedBytes
        })
    }

    /// The column that shares the array's memory, where the engine can read it in place.
    pub fn shared(&self) -> Option<ColumnData> {
        let start = self.contiguous()?;
        let kind = self.array.kind.in_place()?;
        let bytes: SharedBytes = Arc::clone(&self.array.memory) as SharedBytes;
        // A view of other bytes as booleans may hold more than 0 and 1; each is true.
        let values = &(*bytes).as_ref()[start..start + self.len * kind.size()];
        if self.array.kind == Kind::Bool && values.iter().any(|value| *value > 1) {
            return None;
        }
        Some(ColumnData::Shared { bytes, start, rows: self.len, kind })
    }

    /// Appends the values `from` to `to` in the width that loses nothing.
    ///
    /// # Panics
    ///
    /// Where the line has no such values.
    pub fn gather(&self, from: usize, to: usize, out: &mut Numbers) {
        assert!(from <= to && to <= self.len, "values {from} to {to} of {}", self.len);
        let at = from..to;
        // SAFETY: `at` ends within the line, as was just checked; f32 is read where the array
        // has f32.
        unsafe {
            match (self.array.kind, out) {
                (Kind::F32, Numbers::F32(out)) => out.extend(at.map(|i| self.read::<f32>(i))),
                (_, Numbers::F32(out)) => out.extend(at.map(|i| self.value(i) as f32)),
                (_, Numbers::F64(out)) => out.extend(at.map(|i| self.value(i))),
            }
        }
    }

    /// The type of the values.
    pub fn kind(&self) -> Kind {
        self.array.kind
    }
}
