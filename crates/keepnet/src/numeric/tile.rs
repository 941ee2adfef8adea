//! The sums of one tile of `X'X` in registers, in the form of the processor at hand.
//!
//! ```text
//! sums_il = sum over rows r, in order, of a_ri b_rl       SIDE features i, one strip of features l
//!
//! AVX-512     12 features x 2 vectors: 24 of 32 registers, the whole tile at once
//! others       6 features x 2 vectors: 12 of 16 registers, the tile in pieces
//! ```
//!
//! An entry is one chain of fused multiply-adds over the rows whatever the form, so its digits are
//! the same in all of them.

use pulp::Simd;

/// Features of the side of a tile whose values are repeated over a vector.
pub(crate) const SIDE: usize = 12;
/// Features of a side that a piece takes where there are 16 registers.
const PIECE: usize = 6;

/// A width of numbers whose tiles can be summed. A strip is two vectors of 64 bytes.
pub(crate) trait Tile: Sized {
    /// The sums of one tile over all rows. With `half`, only those of the first half of the strip,
    /// and zeros: at the diagonal the other half may be above it.
    fn tile<V: Simd, const N: usize>(
        simd: V,
        side: &[[Self; SIDE]],
        strip: &[[Self; N]],
        half: bool,
    ) -> [[Self; N]; SIDE];
}

macro_rules! tile {
    ($t:ty, $lanes:ident, $splat:ident, $fma:ident, $read:ident, $write:ident) => {
        impl Tile for $t {
            #[inline(always)]
            fn tile<V: Simd, const N: usize>(
                simd: V,
                side: &[[Self; SIDE]],
                strip: &[[Self; N]],
                half: bool,
            ) -> [[Self; N]; SIDE] {
                /// `M` features from `top` by `W` vectors of the strip from `left`.
                #[inline(always)]
                fn piece<V: Simd, const M: usize, const W: usize, const N: usize>(
                    simd: V,
                    (side, top): (&[[$t; SIDE]], usize),
                    (strip, left): (&[[$t; N]], usize),
                    out: &mut [[$t; N]; SIDE],
                ) {
                    let mut sums = [[simd.$splat(0.0); W]; M];
                    for (a, b) in side.iter().zip(strip) {
                        let b = &V::$read(b).0[left..left + W];
                        for i in 0..M {
                            let a = simd.$splat(a[top + i]);
                            for v in 0..W {
                                sums[i][v] = simd.$fma(a, b[v], sums[i][v]);
                            }
                        }
                    }
                    for i in 0..M {
                        V::$write(&mut out[top + i]).0[left..left + W].copy_from_slice(&sums[i]);
                    }
                }

                let mut out = [[0.0; N]; SIDE];
                if 2 * V::$lanes == N {
                    match half {
                        true => piece::<V, SIDE, 1, N>(simd, (side, 0), (strip, 0), &mut out),
                        false => piece::<V, SIDE, 2, N>(simd, (side, 0), (strip, 0), &mut out),
                    }
                    return out;
                }
                let used = if half { N / 2 } else { N };
                for left in (0..used / V::$lanes).step_by(2) {
                    for top in (0..SIDE).step_by(PIECE) {
                        piece::<V, PIECE, 2, N>(simd, (side, top), (strip, left), &mut out);
                    }
                }
                out
            }
        }
    };
}

tile!(f32, F32_LANES, splat_f32s, mul_add_f32s, as_simd_f32s, as_mut_simd_f32s);
tile!(f64, F64_LANES, splat_f64s, mul_add_f64s, as_simd_f64s, as_mut_simd_f64s);

#[cfg(test)]
mod tests {
    use super::super::block_product::Product;
    use super::super::packed::Packed;
    use super::super::simd::testing::same_in_each_form;
    use crate::data::generator;
    use rand::RngExt;

    /// Triangles of two blocks with decay, in one form.
    fn triangle<T: Product>(p: usize, rows: usize, f32_storage: bool) -> Packed {
        let mut random = generator(7, (p * rows) as u64);
        let mut c = Packed::zeros(p, f32_storage);
        for decay in [1.0, 0.75] {
            c.update::<T>(rows, decay, |strips| {
                for (at, x) in strips.iter_mut().enumerate() {
                    // Beyond the last feature a strip has zeros.
                    let feature = at / (T::WIDTH * rows) * T::WIDTH + at % T::WIDTH;
                    let value = random.random::<f64>() - 0.3;
                    *x = T::narrow(if feature < p { value } else { 0.0 });
                }
            });
        }
        c.settle();
        c
    }

    #[test]
    fn every_form_gives_the_same_digits() {
        // Sizes around a side, a strip and a panel, which no width divides.
        for p in [1, 7, 12, 13, 17, 31, 33, 64, 97, 200] {
            for rows in [1, 2, 37, 257] {
                same_in_each_form(|| {
                    let wide = triangle::<f64>(p, rows, false);
                    [wide, triangle::<f32>(p, rows, false), triangle::<f32>(p, rows, true)]
                });
            }
        }
    }
}
