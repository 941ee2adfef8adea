//! The few loops of the row side that touch every value, compiled for the processor at hand.
//!
//! No sum here crosses lanes, so the digits depend on neither the vector width nor the length.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

use super::kernel::Element;
use crate::learn::averages::product::Product;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// A loop called through `FnMut`, so that its body is inlined where the instruction set is known;
/// through `FnOnce` it would stay outside, with a function call for every multiply-add.
struct Body<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Body<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> R {
        let mut body = self.0;
        body()
    }
}

/// Runs a loop compiled for the processor at hand.
#[inline(always)]
pub(crate) fn run<R>(body: impl FnMut() -> R) -> R {
    ARCH.dispatch(Body(body))
}

/// Asks for the cache line of a value that is used soon. It changes nothing, and does nothing where
/// the processor has no such instruction.
#[inline(always)]
pub(crate) fn ask<T>(x: &T) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(x).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
}

/// `out_j += scale_i (x_ij - shift_j)` of `R` rows, one after the other: `out` is read and written
/// once for all of them. `far_j` is the largest `|x_ij - shift_j|` so far.
pub(crate) fn add_shifted<T: Element, const R: usize>(
    scale: [f64; R],
    x: [&[T]; R],
    shift: &[f64],
    out: &mut [f64],
    far: &mut [f64],
) {
    run(
        #[inline(always)]
        || {
            // Lengths that are seen here to agree need no check within the loop.
            let (length, out) = (out.len(), &mut *out);
            let (x, shift, far) = (x.map(|x| &x[..length]), &shift[..length], &mut far[..length]);
            for j in 0..length {
                let (mut sum, mut most) = (out[j], far[j]);
                for i in 0..R {
                    let d = x[i][j].wide() - shift[j];
                    sum = scale[i].mul_add(d, sum);
                    most = if d.abs() > most { d.abs() } else { most };
                }
                (out[j], far[j]) = (sum, most);
            }
        },
    );
}

/// `out_j = scale ((x_j - high_j) - low_j)`, rounded to the width of `out`.
pub(crate) fn centre<S: Element, T: Product>(
    scale: f64,
    x: &[S],
    high: &[f64],
    low: &[f64],
    out: &mut [T],
) {
    run(
        #[inline(always)]
        || {
            for (((out, x), h), l) in out.iter_mut().zip(x).zip(high).zip(low) {
                *out = T::narrow(scale * ((x.wide() - h) - l));
            }
        },
    );
}

/// Whether every value is a number of at most `most` in size. Without the early end of a search
/// the loop works on whole vectors.
pub(crate) fn within<T: Element>(x: &[T], most: f64) -> bool {
    run(
        #[inline(always)]
        || {
            x.chunks(64).all(
                #[inline(always)]
                |part| {
                    let mut inside = true;
                    for x in part {
                        inside &= x.wide().abs() <= most;
                    }
                    inside
                },
            )
        },
    )
}
