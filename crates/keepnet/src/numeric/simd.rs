//! Eight f64 lanes, on the vector unit where there is one.
//!
//! Kernels are written once, generic over [`Vector`]; [`on_best!`] runs them in one of three forms:
//!
//! ```text
//! AVX-512            one register a vector
//! AVX2 with FMA      two registers a vector
//! plain arrays       on any other processor
//! ```
//!
//! Every operation is exact or correctly rounded in all of them, so the digits are the same.

use std::sync::LazyLock;

/// Lanes of a vector.
pub const LANES: usize = 8;

/// A stored number that widens to f64 without loss.
pub trait Element: Copy + Send + Sync + bytemuck::Pod {
    /// The value as f64.
    fn wide(self) -> f64;
    /// Eight of them as a vector.
    fn load<V: Vector>(v: V, x: &[Self; LANES]) -> V::F;
}

impl Element for f32 {
    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn load<V: Vector>(v: V, x: &[Self; LANES]) -> V::F {
        v.load32(x)
    }
}

impl Element for f64 {
    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn load<V: Vector>(v: V, x: &[Self; LANES]) -> V::F {
        v.load64(x)
    }
}

/// Operations on eight lanes.
pub trait Vector: Copy {
    /// Eight f64.
    type F: Copy;
    /// Whether about thirty vectors fit in the registers; elsewhere it is about seven.
    const MANY: bool;
    /// The same number eight times.
    fn splat(self, x: f64) -> Self::F;
    /// Eight f32, widened.
    fn load32(self, x: &[f32; LANES]) -> Self::F;
    /// Eight f64.
    fn load64(self, x: &[f64; LANES]) -> Self::F;
    /// The lanes.
    fn store(self, x: Self::F) -> [f64; LANES];
    /// `a b + c`, rounded once.
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F;
    /// `a + b`.
    fn add(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a - b`.
    fn sub(self, a: Self::F, b: Self::F) -> Self::F;
    /// `a b`.
    fn mul(self, a: Self::F, b: Self::F) -> Self::F;
    /// A bit a byte, least significant first: whether it is `to`.
    fn equal(self, x: &[u8; 64], to: u8) -> u64;
    /// Four numbers to choose from.
    type Table: Copy;
    /// A table of four numbers.
    fn table(self, of: [f64; 4]) -> Self::Table;
    /// The number of the table that each two bits stand for, the lowest first.
    fn pick(self, table: Self::Table, codes: [u8; 2]) -> Self::F;
}

/// The sum of the lanes, in the order that every kernel uses.
#[inline(always)]
pub fn fold(x: [f64; LANES]) -> f64 {
    let [a, b, c, d, e, f, g, h] = x;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Plain arrays, for processors without a supported vector unit.
#[derive(Clone, Copy)]
pub struct Portable;

impl Vector for Portable {
    type F = [f64; LANES];
    const MANY: bool = false;

    #[inline(always)]
    fn splat(self, x: f64) -> Self::F {
        [x; LANES]
    }
    #[inline(always)]
    fn load32(self, x: &[f32; LANES]) -> Self::F {
        x.map(f64::from)
    }
    #[inline(always)]
    fn load64(self, x: &[f64; LANES]) -> Self::F {
        *x
    }
    #[inline(always)]
    fn store(self, x: Self::F) -> [f64; LANES] {
        x
    }
    #[inline(always)]
    fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
        std::array::from_fn(|l| a[l].mul_add(b[l], c[l]))
    }
    #[inline(always)]
    fn add(self, a: Self::F, b: Self::F) -> Self::F {
        std::array::from_fn(|l| a[l] + b[l])
    }
    #[inline(always)]
    fn sub(self, a: Self::F, b: Self::F) -> Self::F {
        std::array::from_fn(|l| a[l] - b[l])
    }
    #[inline(always)]
    fn mul(self, a: Self::F, b: Self::F) -> Self::F {
        std::array::from_fn(|l| a[l] * b[l])
    }
    #[inline(always)]
    fn equal(self, x: &[u8; 64], to: u8) -> u64 {
        // Eight bytes of 0 or 1 times this have them side by side in the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let bytes: [u8; 64] = std::array::from_fn(|i| u8::from(x[i] == to));
        let (eights, _) = bytes.as_chunks::<8>();
        let byte = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56;
        eights.iter().enumerate().fold(0, |word, (i, eight)| word | byte(eight) << (8 * i))
    }

    type Table = [f64; 4];

    #[inline(always)]
    fn table(self, of: [f64; 4]) -> Self::Table {
        of
    }
    #[inline(always)]
    fn pick(self, table: Self::Table, codes: [u8; 2]) -> Self::F {
        let codes = u16::from_le_bytes(codes);
        std::array::from_fn(|l| table[usize::from(codes >> (2 * l) & 3)])
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Vector};
    use pulp::x86::{V3, V4};
    use pulp::{f32x4, f32x8, f64x4, f64x8, u8x32};

    /// AVX-512: F, BW, CD, DQ and VL.
    #[derive(Clone, Copy)]
    pub struct Avx512(pub V4);

    impl Vector for Avx512 {
        type F = f64x8;
        const MANY: bool = true;

        #[inline(always)]
        fn splat(self, x: f64) -> f64x8 {
            self.0.splat_f64x8(x)
        }
        #[inline(always)]
        fn load32(self, x: &[f32; LANES]) -> f64x8 {
            self.0.convert_f32x8_to_f64x8(pulp::cast::<[f32; LANES], f32x8>(*x))
        }
        #[inline(always)]
        fn load64(self, x: &[f64; LANES]) -> f64x8 {
            pulp::cast(*x)
        }
        #[inline(always)]
        fn store(self, x: f64x8) -> [f64; LANES] {
            pulp::cast(x)
        }
        #[inline(always)]
        fn fma(self, a: f64x8, b: f64x8, c: f64x8) -> f64x8 {
            self.0.mul_add_f64x8(a, b, c)
        }
        #[inline(always)]
        fn add(self, a: f64x8, b: f64x8) -> f64x8 {
            pulp::cast(self.0.avx512f._mm512_add_pd(pulp::cast(a), pulp::cast(b)))
        }
        #[inline(always)]
        fn sub(self, a: f64x8, b: f64x8) -> f64x8 {
            pulp::cast(self.0.avx512f._mm512_sub_pd(pulp::cast(a), pulp::cast(b)))
        }
        #[inline(always)]
        fn mul(self, a: f64x8, b: f64x8) -> f64x8 {
            pulp::cast(self.0.avx512f._mm512_mul_pd(pulp::cast(a), pulp::cast(b)))
        }
        #[inline(always)]
        fn equal(self, x: &[u8; 64], to: u8) -> u64 {
            let to = self.0.avx512f._mm512_set1_epi8(to.cast_signed());
            self.0.avx512bw._mm512_cmpeq_epi8_mask(pulp::cast(*x), to)
        }

        type Table = f64x8;

        #[inline(always)]
        fn table(self, [a, b, c, d]: [f64; 4]) -> f64x8 {
            // Twice: the third bit of a lane, which is that of the next row, makes no difference.
            pulp::cast([a, b, c, d, a, b, c, d])
        }
        #[inline(always)]
        fn pick(self, table: f64x8, codes: [u8; 2]) -> f64x8 {
            let simd = self.0.avx512f;
            let codes = simd._mm512_set1_epi64(i64::from(u16::from_le_bytes(codes)));
            let shifts = pulp::cast([0_u64, 2, 4, 6, 8, 10, 12, 14]);
            let places = simd._mm512_srlv_epi64(codes, shifts);
            pulp::cast(simd._mm512_permutexvar_pd(places, pulp::cast(table)))
        }
    }

    /// AVX2 with FMA.
    #[derive(Clone, Copy)]
    pub struct Avx2(pub V3);

    impl Vector for Avx2 {
        type F = [f64x4; 2];
        const MANY: bool = false;

        #[inline(always)]
        fn splat(self, x: f64) -> Self::F {
            [self.0.splat_f64x4(x); 2]
        }
        #[inline(always)]
        fn load32(self, x: &[f32; LANES]) -> Self::F {
            let [a, b] = pulp::cast::<[f32; LANES], [f32x4; 2]>(*x);
            [self.0.convert_f32x4_to_f64x4(a), self.0.convert_f32x4_to_f64x4(b)]
        }
        #[inline(always)]
        fn load64(self, x: &[f64; LANES]) -> Self::F {
            pulp::cast(*x)
        }
        #[inline(always)]
        fn store(self, x: Self::F) -> [f64; LANES] {
            pulp::cast(x)
        }
        #[inline(always)]
        fn fma(self, a: Self::F, b: Self::F, c: Self::F) -> Self::F {
            [self.0.mul_add_f64x4(a[0], b[0], c[0]), self.0.mul_add_f64x4(a[1], b[1], c[1])]
        }
        #[inline(always)]
        fn add(self, a: Self::F, b: Self::F) -> Self::F {
            [self.0.add_f64x4(a[0], b[0]), self.0.add_f64x4(a[1], b[1])]
        }
        #[inline(always)]
        fn sub(self, a: Self::F, b: Self::F) -> Self::F {
            [self.0.sub_f64x4(a[0], b[0]), self.0.sub_f64x4(a[1], b[1])]
        }
        #[inline(always)]
        fn mul(self, a: Self::F, b: Self::F) -> Self::F {
            [self.0.mul_f64x4(a[0], b[0]), self.0.mul_f64x4(a[1], b[1])]
        }
        #[inline(always)]
        fn equal(self, x: &[u8; 64], to: u8) -> u64 {
            let to = self.0.avx._mm256_set1_epi8(to.cast_signed());
            let [low, high] = pulp::cast::<[u8; 64], [u8x32; 2]>(*x).map(|half| {
                let same = self.0.avx2._mm256_cmpeq_epi8(pulp::cast(half), to);
                u64::from(self.0.avx2._mm256_movemask_epi8(same).cast_unsigned())
            });
            low | high << 32
        }

        /// The numbers of the codes with the high bit clear, and set.
        type Table = [f64x4; 2];

        #[inline(always)]
        fn table(self, [a, b, c, d]: [f64; 4]) -> Self::Table {
            [pulp::cast([a, b, a, b]), pulp::cast([c, d, c, d])]
        }
        #[inline(always)]
        fn pick(self, [clear, set]: Self::Table, codes: [u8; 2]) -> Self::F {
            let (avx, avx2) = (self.0.avx, self.0.avx2);
            codes.map(|byte| {
                let codes = avx._mm256_set1_epi64x(i64::from(byte));
                // The instructions look at bit 1 and bit 63 of a lane: the low and the high bit.
                let low = avx2._mm256_sllv_epi64(codes, pulp::cast([1_u64, 0, 0, 0]));
                let low = avx2._mm256_srlv_epi64(low, pulp::cast([0_u64, 1, 3, 5]));
                let high = avx2._mm256_sllv_epi64(codes, pulp::cast([62_u64, 60, 58, 56]));
                let clear = avx._mm256_permutevar_pd(pulp::cast(clear), low);
                let set = avx._mm256_permutevar_pd(pulp::cast(set), low);
                pulp::cast(avx._mm256_blendv_pd(clear, set, pulp::cast(high)))
            })
        }
    }
}

/// The instructions that kernels are compiled with.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(pulp::x86::V4),
    /// AVX2 with FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2(pulp::x86::V3),
    /// Those of any processor of the target.
    Plain,
}

impl Form {
    /// The forms that this processor has, the fastest first.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            all.extend(pulp::x86::V4::try_new().map(Self::Avx512));
            all.extend(pulp::x86::V3::try_new().map(Self::Avx2));
        }
        all.push(Self::Plain);
        all
    }
}

static FORMS: LazyLock<Vec<Form>> = LazyLock::new(Form::all);
static BEST: LazyLock<Form> = LazyLock::new(|| FORMS[0]);

/// The form that kernels run in: the fastest, or the one that a test asks for.
#[inline(always)]
pub fn form() -> Form {
    #[cfg(test)]
    if let Some(form) = testing::forced() {
        return form;
    }
    *BEST
}

/// A loop to be compiled with the vector unit's instructions. Called through `FnMut`, so that its
/// body is inlined where they are enabled; through `FnOnce` it would not be.
pub struct Body<F>(pub F);

impl<R, F: FnMut() -> R> pulp::WithSimd for Body<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) -> R {
        let mut body = self.0;
        body()
    }
}

/// Evaluates an expression with `$v` the [`Vector`] of [`form`]. The expression is compiled once a
/// form, with the instructions of that form.
#[cfg(target_arch = "x86_64")]
macro_rules! on_best {
    ($v:ident => $body:expr) => {{
        use $crate::numeric::simd::{Avx2, Avx512, Body, Form, Portable, form};
        match form() {
            Form::Avx512(simd) => pulp::Simd::vectorize(
                simd,
                Body(
                    #[inline(always)]
                    || {
                        let $v = Avx512(simd);
                        $body
                    },
                ),
            ),
            Form::Avx2(simd) => pulp::Simd::vectorize(
                simd,
                Body(
                    #[inline(always)]
                    || {
                        let $v = Avx2(simd);
                        $body
                    },
                ),
            ),
            Form::Plain => {
                let $v = Portable;
                $body
            }
        }
    }};
}

/// Evaluates an expression with `$v` the [`Vector`] of [`form`].
#[cfg(not(target_arch = "x86_64"))]
macro_rules! on_best {
    ($v:ident => $body:expr) => {{
        let $v = $crate::numeric::simd::Portable;
        $body
    }};
}

pub(crate) use on_best;

/// Runs tests in each form in one process.
#[cfg(test)]
pub(crate) mod testing {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{FORMS, Form};

    /// 0 for the fastest form, or one more than the place in [`FORMS`].
    static FORCED: AtomicUsize = AtomicUsize::new(0);
    /// One test at a time chooses the form. The others may run in any form meanwhile.
    static TURN: Mutex<()> = Mutex::new(());

    pub(super) fn forced() -> Option<Form> {
        let place = FORCED.load(Ordering::Relaxed).checked_sub(1)?;
        FORMS.get(place).copied()
    }

    /// What `f` gives in each form that this processor has. All threads of the process run in that
    /// form meanwhile.
    pub(crate) fn each_form<R>(mut f: impl FnMut() -> R) -> Vec<R> {
        let _turn = TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let mut all = Vec::new();
        for place in 1..=FORMS.len() {
            FORCED.store(place, Ordering::SeqCst);
            all.push(std::panic::catch_unwind(std::panic::AssertUnwindSafe(&mut f)));
        }
        FORCED.store(0, Ordering::SeqCst);
        all.into_iter()
            .map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    }

    /// Asserts that `f` gives the same in each form.
    #[track_caller]
    pub(crate) fn same_in_each_form<R: PartialEq + std::fmt::Debug>(f: impl FnMut() -> R) {
        let all = each_form(f);
        for (form, other) in FORMS.iter().zip(&all) {
            assert_eq!(other, &all[0], "{form:?}");
        }
    }
}
