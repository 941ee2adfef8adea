//! The few loops of the row side that touch every value, compiled for the processor at hand.
//!
//! No sum here crosses lanes, so the digits depend on neither the vector width nor the length.

use std::sync::LazyLock;

use pulp::{Arch, Simd, WithSimd};

use super::product::Product;
use crate::kernel::Element;

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

/// `out_j += scale (x_j - shift_j)`.
pub(crate) fn add_shifted<T: Element>(scale: f64, x: &[T], shift: &[f64], out: &mut [f64]) {
    run(
        #[inline(always)]
        || {
            for ((out, x), s) in out.iter_mut().zip(x).zip(shift) {
                *out = scale.mul_add(x.wide() - s, *out);
            }
        },
    );
}

/// `out_j = scale (x_j - shift_j)`, rounded to the width of `out`.
pub(crate) fn centre<S: Element, T: Product>(scale: f64, x: &[S], shift: &[f64], out: &mut [T]) {
    run(
        #[inline(always)]
        || {
            for ((out, x), s) in out.iter_mut().zip(x).zip(shift) {
                *out = T::narrow(scale * (x.wide() - s));
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
