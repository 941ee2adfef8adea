//! Every kernel, and whole selections, in each form of the vector unit: every digit is the same.

use super::counts::{Levelled, Planes, count, count_pairs};
use super::simd::testing::{each_form, same_in_each_form};
use super::{exp, integers, kernel, popcount, symmetric};
use crate::loss::{Logistic, Loss};

/// Numbers of both signs over eight orders of magnitude, so that every order of summing shows.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..n).map(|_| (next() - 0.5) * 10_f64.powf(8.0 * next() - 4.0)).collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

const LENGTHS: [usize; 9] = [0, 1, 7, 8, 31, 32, 33, 1000, 2931];

fn reductions<T: kernel::Element>(narrow: impl Fn(f64) -> T) {
    for n in LENGTHS {
        let x: Vec<T> = numbers(n, 1).into_iter().map(&narrow).collect();
        let (v, d) = (numbers(n, 2), numbers(n, 3));
        same_in_each_form(|| {
            let (a, b) = kernel::moments(&x, 0.3);
            let (c, e, f) = kernel::moments_and_dot(&x, 0.3, &v);
            let (g, h) = kernel::weighted_moments(&x, &v, 0.3);
            let (i, j, k) = kernel::slope_curve(&x, &v, &d);
            bits(&[kernel::dot(&x, &v), kernel::sum(&v), a, b, c, e, f, g, h, i, j, k])
        });
    }
}

#[test]
fn reductions_are_the_same_in_each_form() {
    reductions(|x| x);
    reductions(|x| x as f32);
    reductions(|x| x as u8);
    reductions(|x| x as i16);
    reductions(|x| x as i32);
}

#[test]
fn a_test_of_forms_sees_a_sum_in_another_order() {
    let (x, v) = (numbers(1000, 1), numbers(1000, 2));
    let plain: f64 = x.iter().zip(&v).map(|(x, v)| x * v).sum();
    assert!(each_form(|| kernel::dot(&x, &v)).iter().all(|dot| *dot != plain));
}

#[test]
fn loops_over_values_are_the_same_in_each_form() {
    for n in LENGTHS {
        let (x, v) = (numbers(n, 4), numbers(n, 5));
        let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let index: Vec<u32> = (0..n as u32).rev().collect();
        same_in_each_form(|| {
            let mut out = v.clone();
            kernel::axpy(0.7, &x, &mut out);
            kernel::axpy(-1.3, &narrow, &mut out);
            kernel::sparse_axpy(0.1, &index, &x, &mut out);
            kernel::scale_by(&mut out, &v);
            let mut wide = vec![0.0; n];
            kernel::widen(&narrow, 0.1, &mut wide);
            out.extend(wide);
            bits(&out)
        });
    }
}

fn products<T: kernel::Element>(narrow: impl Fn(f64) -> T) {
    for n in LENGTHS {
        let x: Vec<Vec<T>> =
            (0..29).map(|j| numbers(n, j).into_iter().map(&narrow).collect()).collect();
        let x: Vec<&[T]> = x.iter().map(Vec::as_slice).collect();
        let v: Vec<Vec<f64>> = (0..7).map(|g| numbers(n, 100 + g)).collect();
        let v: Vec<&[f64]> = v.iter().map(Vec::as_slice).collect();
        let w = numbers(29, 9);
        same_in_each_form(|| {
            let mut all = Vec::new();
            for (columns, vectors) in [(29, 1), (29, 2), (29, 3), (29, 4), (29, 7), (1, 7), (5, 5)]
            {
                let mut lanes = vec![kernel::Lanes::default(); columns * vectors];
                kernel::add_products(&x[..columns], &v[..vectors], &mut lanes);
                all.extend(lanes.iter().map(kernel::Lanes::sum));
            }
            let mut out = numbers(n, 8);
            kernel::add_combination(&w, &x, &mut out);
            all.extend(out);
            bits(&all)
        });
    }
}

#[test]
fn products_of_several_columns_are_the_same_in_each_form() {
    products(|x| x);
    products(|x| x as f32);
    products(|x| x as i8);
    products(|x| x as u16);
    products(|x| x as i32);
}

#[test]
fn integers_and_codes_are_counted_the_same_in_each_form() {
    for n in LENGTHS {
        let (x, y) = (numbers(n, 14), numbers(n, 15));
        let signed: Vec<i16> = x.iter().map(|x| *x as i16).collect();
        let x: Vec<u8> = x.iter().map(|x| *x as u8 % 5).collect();
        let y: Vec<u8> = y.iter().map(|y| *y as u8 % 4).collect();
        same_in_each_form(|| {
            let (mut counts, mut table) = ([0; 5], [0; 20]);
            count(&x, &mut counts);
            let sides = ((Levelled::Codes(&x), 5), (Levelled::Codes(&y), 4));
            count_pairs(sides.0, sides.1, &mut Planes::default(), &mut table);
            let sums = (integers::moments(&x, 1.0), integers::moments(&signed, -7.0));
            (counts, table, sums, integers::ends(&signed), integers::bits(&signed, 1))
        });
    }
}

#[test]
fn the_exponential_and_the_logistic_loss_are_the_same_in_each_form() {
    let (u, y, x) = (numbers(9931, 6), numbers(9931, 7), numbers(9931, 8));
    let y: Vec<f64> = y.iter().map(|y| y.signum()).collect();
    same_in_each_form(|| {
        let mut all: Vec<f64> = crate::numeric::simd::on_best!(_s => {
            let mut all = vec![0.0; u.len()];
            for (out, u) in all.iter_mut().zip(&u) {
                *out = exp::exp_down(-u.abs());
            }
            all
        });
        let mut out = vec![0.0; u.len()];
        Logistic.slopes(&u, &y, Some(&u), &mut out);
        all.extend_from_slice(&out);
        Logistic.curvatures(&u, &y, None, &mut out);
        all.extend_from_slice(&out);
        all.push(Logistic.sum(&u, &y));
        for weight in [None, Some(u.as_slice())] {
            for t in [0.0, 0.3, -20.0] {
                let (value, slope, curve) = Logistic.along(t, &x, &u, &y, weight);
                all.extend([value, slope, curve]);
            }
        }
        bits(&all)
    });
}

#[test]
fn symmetric_products_and_counts_are_the_same_in_each_form() {
    for p in [5, 8, 43, 120] {
        let matrix = symmetric::Symmetric::of(&crate::learn::testing::gram(80, p, 4).s);
        let mut x = numbers(p, 11);
        x.resize(matrix.width(), 0.0);
        same_in_each_form(|| {
            let mut y = vec![0.0; x.len()];
            matrix.times(&x, &mut y);
            y.push(matrix.largest_eigenvalue());
            bits(&y)
        });
    }
    let a: Vec<u64> = bits(&numbers(1001, 12));
    let b: Vec<u64> = bits(&numbers(1001, 13));
    same_in_each_form(|| (popcount::count_ones(&a), popcount::count_and(&a, &b)));
}
