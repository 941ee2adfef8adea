//! Four f64 lanes, on the vector unit where there is one.
//!
//! Kernels are written once, generic over [`Vector`]; [`on_best!`] runs them with AVX2 and FMA
//! where the processor has them and with plain arrays elsewhere. Every operation is exact or
//! correctly rounded in both, so the digits are the same.

use std::sync::LazyLock;

/// A stored number that widens to f64 without loss.
pub trait Element: Copy + Send + Sync + bytemuck::Pod {
    /// The value as f64.
    fn wide(self) -> f64;
    /// Four of them as a vector.
    fn load<V: Vector>(v: V, x: &[Self; 4]) -> V::F;
}

impl Element for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn load<V: Vector>(v: V, x: &[Self; 4]) -> V::F {
        v.load32(x)
    }
}

impl Element for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn load<V: Vector>(v: V, x: &[Self; 4]) -> V::F {
        v.load64(x)
    }
}

/// Operations on four lanes.
pub trait Vector: Copy {
    /// Four f64.
    type F: Copy;
    /// The same number four times.
    fn splat(self, x: f64) -> Self::F;
    /// Four f32, widened.
    fn load32(self, x: &[f32; 4]) -> Self::F;
    /// Four f64.
    fn load64(self, x: &[f64; 4]) -> Self::F;
    /// The lanes.
    fn store(self, x: Self::F) -> [f64; 4];
    /// `a b + c`, rounded once.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a + b`.
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a b`.
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
}

/// Plain arrays, for processors without a supported vector unit.
#[derive(Clone, Copy)]
pub struct Portable;

impl Vector for Portable {
    type F = [f64; 4];

    #[inline(always)]
    fn splat(self, x: f64) -> [f64; 4] {
        [x; 4]
    }
    #[inline(always)]
    fn load32(self, x: &[f32; 4]) -> [f64; 4] {
        x.map(f64::from)
    }
    #[inline(always)]
    fn load64(self, x: &[f64; 4]) -> [f64; 4] {
        *x
    }
    #[inline(always)]
    fn store(self, x: [f64; 4]) -> [f64; 4] {
        x
    }
    #[inline(always)]
    fn fma(self, a: [f64; 4], b: [f64; 4], c: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|l| a[l].mul_add(b[l], c[l]))
    }
    #[inline(always)]
    fn add(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|l| a[l] + b[l])
    }
    #[inline(always)]
    fn sub(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|l| a[l] - b[l])
    }
    #[inline(always)]
    fn mul(self, a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
        std::array::from_fn(|l| a[l] * b[l])
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, BEST};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LazyLock, Vector};
    use pulp::{f32x4, f64x4, x86::V3};

    /// The vector unit, where the processor has AVX2 and FMA.
    pub static BEST: LazyLock<Option<V3>> = LazyLock::new(V3::try_new);

    /// AVX2 with FMA.
    #[derive(Clone, Copy)]
    pub struct Avx2(pub V3);

    impl Vector for Avx2 {
        type F = f64x4;

        #[inline(always)]
        fn splat(self, x: f64) -> f64x4 {
            self.0.splat_f64x4(x)
        }
        #[inline(always)]
        fn load32(self, x: &[f32; 4]) -> f64x4 {
            self.0.convert_f32x4_to_f64x4(pulp::cast::<[f32; 4], f32x4>(*x))
        }
        #[inline(always)]
        fn load64(self, x: &[f64; 4]) -> f64x4 {
            pulp::cast(*x)
        }
        #[inline(always)]
        fn store(self, x: f64x4) -> [f64; 4] {
            pulp::cast(x)
        }
        #[inline(always)]
        fn fma(self, a: f64x4, b: f64x4, c: f64x4) -> f64x4 {
            self.0.mul_add_f64x4(a, b, c)
        }
        #[inline(always)]
        fn add(self, a: f64x4, b: f64x4) -> f64x4 {
            self.0.add_f64x4(a, b)
        }
        #[inline(always)]
        fn sub(self, a: f64x4, b: f64x4) -> f64x4 {
            self.0.sub_f64x4(a, b)
        }
        #[inline(always)]
        fn mul(self, a: f64x4, b: f64x4) -> f64x4 {
            self.0.mul_f64x4(a, b)
        }
    }
}

/// A loop to be compiled with the vector unit's instructions. Called through `FnMut`, so that its
/// body is inlined where they are enabled; through `FnOnce` it would not be.
#[cfg(target_arch = "x86_64")]
pub struct Body<F>(pub F);

#[cfg(target_arch = "x86_64")]
impl<R, F: FnMut() -> R> pulp::WithSimd for Body<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> R {
        let mut body = self.0;
        body()
    }
}

/// Evaluates an expression with `$v` the best [`Vector`] of this processor.
#[cfg(target_arch = "x86_64")]
macro_rules! on_best {
    ($v:ident => $body:expr) => {
        match *$crate::numeric::simd::BEST {
            Some(simd) => pulp::Simd::vectorize(
                simd,
                $crate::numeric::simd::Body(
                    #[inline(always)]
                    || {
                        let $v = $crate::numeric::simd::Avx2(simd);
                        $body
                    },
                ),
            ),
            None => {
                let $v = $crate::numeric::simd::Portable;
                $body
            }
        }
    };
}

/// Evaluates an expression with `$v` the best [`Vector`] of this processor.
#[cfg(not(target_arch = "x86_64"))]
macro_rules! on_best {
    ($v:ident => $body:expr) => {{
        let $v = $crate::numeric::simd::Portable;
        $body
    }};
}

pub(crate) use on_best;
