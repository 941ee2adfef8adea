//! The few loops of the row side that touch every value, compiled for the processor at hand.
//!
//! No sum here crosses lanes, so the digits depend on neither the vector width nor the length.

use super::packed::Product;
use crate::kernel::{Element, run};

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

/// `out_j = decay out_j + x_j`.
pub(crate) fn decay_add<T: Element>(decay: f64, x: &[T], out: &mut [f64]) {
    run(
        #[inline(always)]
        || {
            if decay == 1.0 {
                for (out, x) in out.iter_mut().zip(x) {
                    *out += x.wide();
                }
            } else {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = decay.mul_add(*out, x.wide());
                }
            }
        },
    );
}
