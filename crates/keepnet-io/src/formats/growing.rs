//! A dense column that grows part by part.

use keepnet::{ColumnData, Error, Numbers, Result};

/// Appends integers, as f32 while every one of them survives that.
pub(crate) fn push_integers<T: Copy>(to: &mut Numbers, from: &[T], wide: impl Fn(T) -> f64) {
    if let Numbers::F32(values) = to {
        let before = values.len();
        let mut exact = true;
        values.extend(from.iter().map(|v| {
            let value = wide(*v);
            exact &= f64::from(value as f32) == value || value.is_nan();
            value as f32
        }));
        if exact {
            return;
        }
        values.truncate(before);
        *to = Numbers::F64(values.iter().map(|v| f64::from(*v)).collect());
    }
    if let Numbers::F64(values) = to {
        values.extend(from.iter().map(|v| wide(*v)));
    }
}

/// The column, of integers where `whole` and no value is missing; an error where it does not have
/// `rows` values.
pub(crate) fn finish(values: Numbers, whole: bool, rows: usize) -> Result<ColumnData> {
    let got = match &values {
        Numbers::F32(v) => v.len(),
        Numbers::F64(v) => v.len(),
    };
    match got == rows {
        true => Ok(if whole { ColumnData::integers(values) } else { ColumnData::Dense(values) }),
        false => Err(Error::Rows { what: "the column".into(), got, want: rows }),
    }
}

#[cfg(test)]
mod tests {
    use keepnet::Whole;

    use super::*;

    #[test]
    fn integers_widen_only_when_one_of_them_needs_it() {
        let mut values = Numbers::F32(Vec::new());
        push_integers(&mut values, &[1, -3], f64::from);
        assert_eq!(values, Numbers::F32(vec![1.0, -3.0]));
        push_integers(&mut values, &[(1 << 24) + 1], f64::from);
        assert_eq!(values, Numbers::F64(vec![1.0, -3.0, 16_777_217.0]));
        assert!(finish(values.clone(), true, 4).is_err());
        let ColumnData::Whole(Whole::I32(v)) = finish(values, true, 3).unwrap() else { panic!() };
        assert_eq!(v, [1, -3, 16_777_217]);
        let missing = finish(Numbers::F32(vec![1.0, f32::NAN]), true, 2).unwrap();
        assert!(matches!(missing, ColumnData::Dense(Numbers::F32(_))));
    }
}
