//! The loops over every value of a row, compiled for the processor at hand.
//!
//! No sum here crosses lanes, so the digits depend on neither the vector width nor the length.

use pulp::{Simd, WithSimd};

use super::block_product::Product;
use super::kernel::Element;
use super::simd::{Body, Form, form};

/// Runs a loop compiled for the processor at hand.
#[inline(always)]
pub(crate) fn run<R>(body: impl FnMut() -> R) -> R {
    dispatch(Body(body))
}

/// Runs a loop that is written for any vector unit in the form of [`form`].
#[inline(always)]
pub(crate) fn dispatch<W: WithSimd>(body: W) -> W::Output {
    match form() {
        #[cfg(target_arch = "x86_64")]
        Form::Avx512(simd) => Simd::vectorize(simd, body),
        #[cfg(target_arch = "x86_64")]
        Form::Avx2(simd) => Simd::vectorize(simd, body),
        #[cfg(target_arch = "x86_64")]
        Form::Plain => Simd::vectorize(pulp::Scalar::new(), body),
        // Other processors have vector units that `Form` does not name.
        #[cfg(not(target_arch = "x86_64"))]
        Form::Plain => pulp::Arch::new().dispatch(body),
    }
}

/// Prefetches the cache line of a value that is used soon. Does nothing where the processor has no
/// such instruction.
#[inline(always)]
pub(crate) fn prefetch<T>(x: &T) {
    #[cfg(target_arch = "x86_64")]
    if let Some(sse) = pulp::core_arch::x86::Sse::try_new() {
        sse._mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(x).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
}

/// `out_j += scale_i (x_ij - shift_j)` over `R` rows in order; `out` is read and written once for
/// all of them. `deviation_j` is the largest `|x_ij - shift_j|` so far.
pub(crate) fn add_shifted<T: Element, const R: usize>(
    scale: [f64; R],
    x: [&[T]; R],
    shift: &[f64],
    out: &mut [f64],
    deviation: &mut [f64],
) {
    run(
        #[inline(always)]
        || {
            // With equal lengths known here, the loop needs no bounds checks.
            let (length, out) = (out.len(), &mut *out);
            let (x, shift) = (x.map(|x| &x[..length]), &shift[..length]);
            let deviation = &mut deviation[..length];
            for j in 0..length {
                let (mut sum, mut most) = (out[j], deviation[j]);
                for i in 0..R {
                    let d = x[i][j].wide() - shift[j];
                    sum = scale[i].mul_add(d, sum);
                    most = if d.abs() > most { d.abs() } else { most };
                }
                (out[j], deviation[j]) = (sum, most);
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

/// Whether every value is a number with `|x| <= most`. There is no early exit within a chunk, so
/// that the loop works on whole vectors.
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
