use super::prune::further;

#[test]
fn added_errors_agree_with_quinlans_table() {
    // C4.5 (1993), section 4.2: U(0,6) = 0.206, U(0,9) = 0.143, U(0,1) = 0.750 and, one error
    // in sixteen, U(1,16) = 0.157.
    for (n, e, share) in [(6.0, 0.0, 0.206), (9.0, 0.0, 0.143), (1.0, 0.0, 0.75)] {
        assert!(((e + further(n, e, 0.25)) / n - share).abs() < 5e-4);
    }
    // The normal approximation of release 8 differs from the exact limit in the third digit.
    assert!(((1.0 + further(16.0, 1.0, 0.25)) / 16.0 - 0.157).abs() < 5e-3);
}
