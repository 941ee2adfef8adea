//! NumPy memory, borrowed: an array stays alive as long as anything here refers to it.
//!
//! A [`Strided`] is one line of values in any layout. Where its values are f32 or f64 side by
//! side the engine reads them in place; all else is gathered, a line at a time.

use std::sync::Arc;

use keepnet::{ColumnData, Numbers, SharedBytes};
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
}

/// The memory of an array.
pub struct Memory {
    start: *const u8,
    // Bytes from `start` on that may be read in place; 0 where the layout runs backwards.
    span: usize,
    _owner: Py<PyUntypedArray>,
}

// SAFETY: the memory is only read, and the reference keeps it alive; a caller who writes to an
// array while it is being fitted gets a mixture of old and new numbers, as with NumPy itself.
unsafe impl Send for Memory {}
unsafe impl Sync for Memory {}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        if self.span == 0 {
            return &[];
        }
        // SAFETY: `span` bytes from `start` on belong to the array, which is alive.
        unsafe { std::slice::from_raw_parts(self.start, self.span) }
    }
}

/// An array of one or two dimensions.
#[derive(Clone)]
pub struct Array {
    memory: Arc<Memory>,
    /// Its numbers.
    pub kind: Kind,
    /// Rows and columns; one column where there is one dimension.
    pub shape: [usize; 2],
    strides: [isize; 2],
}

impl Array {
    /// Borrows an array.
    pub fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let array = array.cast::<PyUntypedArray>()?;
        let kind = Kind::of(array)?;
        let (shape, strides) = match (array.shape(), array.strides()) {
            ([n], [s]) => ([*n, 1], [*s, 0]),
            ([n, p], [s, t]) => ([*n, *p], [*s, *t]),
            (shape, _) => {
                let text = format!("expected one or two dimensions, got {}", shape.len());
                return Err(PyValueError::new_err(text));
            }
        };
        let last = |d: usize| shape[d].saturating_sub(1) as isize * strides[d];
        let forward = strides.iter().all(|stride| *stride >= 0) && shape.iter().all(|n| *n > 0);
        let span = if forward { (last(0) + last(1)) as usize + kind.size() } else { 0 };
        // SAFETY: the array object is alive while it is bound.
        let start = unsafe { (*array.as_array_ptr()).fields.data }.cast_const().cast::<u8>();
        let memory = Memory { start, span, _owner: array.clone().unbind() };
        Ok(Self { memory: Arc::new(memory), kind, shape, strides })
    }

    /// A column.
    pub fn column(&self, j: usize) -> Strided<'_> {
        Strided {
            array: self,
            offset: j as isize * self.strides[1],
            stride: self.strides[0],
            len: self.shape[0],
        }
    }

    /// A row.
    pub fn row(&self, i: usize) -> Strided<'_> {
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

    fn at(&self, i: usize) -> *const u8 {
        debug_assert!(i < self.len);
        let offset = self.offset + i as isize * self.stride;
        self.array.memory.start.wrapping_offset(offset)
    }

    fn read<T: Copy>(&self, i: usize) -> T {
        // SAFETY: `i` is below the length, so the element lies in the array, and callers ask for
        // the array's own type.
        unsafe { self.at(i).cast::<T>().read_unaligned() }
    }

    /// A value as f64.
    pub fn get(&self, i: usize) -> f64 {
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

    /// A whole number that is not negative.
    pub fn index(&self, i: usize) -> Option<usize> {
        match self.array.kind {
            Kind::Int(8) => usize::try_from(self.read::<i64>(i)).ok(),
            Kind::Int(4) => usize::try_from(self.read::<i32>(i)).ok(),
            _ => None,
        }
    }

    /// Where the values lie side by side: their place in the memory.
    fn contiguous(&self) -> Option<usize> {
        let size = self.array.kind.size();
        let aligned = (self.at(0) as usize).is_multiple_of(size);
        let inside = self.array.memory.span > 0 && self.offset >= 0;
        (inside && aligned && self.stride == size as isize).then_some(self.offset as usize)
    }

    /// The values in place, where they are f32 side by side.
    pub fn slice32(&self) -> Option<&'a [f32]> {
        let start = self.contiguous().filter(|_| self.array.kind == Kind::F32)?;
        debug_assert!(start + 4 * self.len <= self.array.memory.span);
        // SAFETY: f32 values, aligned, side by side, inside the array.
        Some(unsafe { std::slice::from_raw_parts(self.at(0).cast(), self.len) })
    }

    /// The values in place, where they are f64 side by side.
    pub fn slice64(&self) -> Option<&'a [f64]> {
        let start = self.contiguous().filter(|_| self.array.kind == Kind::F64)?;
        debug_assert!(start + 8 * self.len <= self.array.memory.span);
        // SAFETY: f64 values, aligned, side by side, inside the array.
        Some(unsafe { std::slice::from_raw_parts(self.at(0).cast(), self.len) })
    }

    /// The column that shares the array's memory, where the engine can read it in place.
    pub fn shared(&self) -> Option<ColumnData> {
        let start = self.contiguous()?;
        let wide = match self.array.kind {
            Kind::F32 => false,
            Kind::F64 => true,
            _ => return None,
        };
        let bytes: SharedBytes = Arc::clone(&self.array.memory) as SharedBytes;
        Some(ColumnData::Shared { bytes, start, rows: self.len, wide })
    }

    /// Appends the values `from` to `to` in the width that loses nothing.
    pub fn gather(&self, from: usize, to: usize, out: &mut Numbers) {
        match (self.array.kind, out) {
            (Kind::F32, Numbers::F32(out)) => out.extend((from..to).map(|i| self.read::<f32>(i))),
            (_, Numbers::F32(out)) => out.extend((from..to).map(|i| self.get(i) as f32)),
            (_, Numbers::F64(out)) => out.extend((from..to).map(|i| self.get(i))),
        }
    }

    /// Whether values are whole numbers by their type.
    pub fn whole(&self) -> bool {
        self.array.kind.integral()
    }

    /// Whether f32 holds every value of this type.
    pub fn fits32(&self) -> bool {
        matches!(self.array.kind, Kind::F32 | Kind::Bool | Kind::Int(1 | 2) | Kind::Uint(1 | 2))
    }
}
