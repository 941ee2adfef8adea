//! Types of columns: what is a feature, what is refused, and how text becomes numbers.

mod common;

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int8Array, Int32Array, Int64Array,
    RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use common::write::write_parquet;
use common::{Dir, columns, strings};
use keepnet::{ColumnBlock, ColumnData, FeatureId, FeatureSource};
use keepnet_io::{
    Categorical, ColumnKind, OpenOptions, ProblemSpec, SeriesValues, build_problem, open,
};
use parquet::file::properties::WriterProperties;

/// One column of each type, with missing values, in Parquet and in Arrow files.
fn typed(dir: &Dir) -> Vec<String> {
    let text = ["b", "a", "b"];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("flag", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("i8", Arc::new(Int8Array::from(vec![Some(-3), Some(0), None]))),
        ("i32", Arc::new(Int32Array::from(vec![1, 16_777_217, -5]))),
        ("i64", Arc::new(Int64Array::from(vec![Some(1 << 40), None, Some(2)]))),
        ("u32", Arc::new(UInt32Array::from(vec![u32::MAX, 0, 1]))),
        ("u64", Arc::new(UInt64Array::from(vec![1 << 63, 0, 1]))),
        ("f64", Arc::new(Float64Array::from(vec![None, Some(0.1), Some(f64::INFINITY)]))),
        ("text", Arc::new(StringArray::from(vec![Some("b"), None, Some("a")]))),
        ("coded", Arc::new(text.into_iter().collect::<DictionaryArray<Int32Type>>())),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let (parquet, arrow) = (dir.path("t.parquet"), dir.path("t.arrow"));
    let properties = WriterProperties::builder().build();
    write_parquet(&parquet, batch.schema(), std::slice::from_ref(&batch), properties);
    let file = std::fs::File::create(&arrow).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    vec![parquet, arrow]
}

#[test]
fn columnar_types_become_numbers_without_loss() {
    let (dir, nan) = (Dir::new(), f64::NAN);
    let want: [(&str, ColumnKind, [f64; 3]); 7] = [
        ("flag", ColumnKind::Bool, [1.0, nan, 0.0]),
        ("i8", ColumnKind::Int, [-3.0, 0.0, nan]),
        ("i32", ColumnKind::Int, [1.0, 16_777_217.0, -5.0]),
        ("i64", ColumnKind::Int, [(1_u64 << 40) as f64, nan, 2.0]),
        ("u32", ColumnKind::Int, [4_294_967_295.0, 0.0, 1.0]),
        ("u64", ColumnKind::Int, [(1_u64 << 63) as f64, 0.0, 1.0]),
        ("f64", ColumnKind::Float, [nan, 0.1, f64::INFINITY]),
    ];
    for path in typed(&dir) {
        let skip = OpenOptions { categorical: Categorical::Skip, ..Default::default() };
        let mut data = open(std::slice::from_ref(&path), &skip).unwrap();
        let kinds: Vec<_> = data.columns().iter().map(|c| c.kind.clone()).collect();
        assert_eq!(kinds[7..], [ColumnKind::Text, ColumnKind::Text], "{path}");
        for (name, values) in [("text", ["b", "", "a"]), ("coded", ["b", "a", "b"])] {
            let SeriesValues::Text(got) = data.series(name).unwrap().values else { panic!() };
            let got: Vec<_> = got.iter().map(|v| v.as_deref().unwrap_or("")).collect();
            assert_eq!(got, values, "{path}");
        }
        let got = columns(data.source(&[]).unwrap());
        assert_eq!(got.len(), want.len());
        for ((got, want), kind) in got.iter().zip(&want).zip(&kinds) {
            assert_eq!((got.1.as_str(), kind), (want.0, &want.1), "{path}");
            let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
            assert!(got.2.iter().zip(&want.2).all(same), "{path} {got:?}");
        }
    }
}

#[test]
fn csv_columns_get_their_types_from_their_values() {
    let dir = Dir::new();
    let text = "int,float,flag,text,late,none\n1,0.5,true,\"a, \"\"b\"\"\",,\n-2,NA,False,,x,NA\n\
                1e3,,,c,y,null\n";
    let path = dir.write("a.csv", text);
    let mut data = open(&[path], &OpenOptions::default()).unwrap();
    let kinds: Vec<_> = data.columns().iter().map(|c| c.kind.clone()).collect();
    use ColumnKind::{Bool, Float, Int, Text};
    assert_eq!(kinds, [Int, Float, Bool, Text, Text, Float]);
    let SeriesValues::Text(text) = data.series("text").unwrap().values else { panic!() };
    assert_eq!(text, [Some("a, \"b\"".into()), None, Some("c".into())]);
    let SeriesValues::Numbers { values, integral, boolean } = data.series("flag").unwrap().values
    else {
        panic!()
    };
    assert_eq!((values[0], values[1], integral, boolean), (1.0, 0.0, true, true));
    assert!(values[2].is_nan());
}

#[test]
fn what_settles_in_a_late_chunk_is_the_same_for_every_chunk_size() {
    // Column "late" is missing for 3000 rows and then text: far past the first small chunk.
    let mut text = String::from("x,late\n");
    (0..3000).for_each(|r| text += &format!("{r},\n"));
    (0..3000).for_each(|r| text += &format!("{r},v{}\n", r % 3));
    let dir = Dir::new();
    let path = dir.write("a.csv", text);
    for memory in [None, Some(0), Some(1 << 20)] {
        let options = OpenOptions { memory, ..Default::default() };
        let mut data = open(std::slice::from_ref(&path), &options).unwrap();
        let SeriesValues::Text(late) = data.series("late").unwrap().values else { panic!() };
        assert_eq!((late.len(), &late[2999], late[3001].as_deref()), (6000, &None, Some("v1")));
    }
}

#[test]
fn a_first_line_of_numbers_is_data() {
    let dir = Dir::new();
    let path = dir.write("a.csv", "1,2\n3,4\n");
    let got = columns(open(&[path], &OpenOptions::default()).unwrap().source(&[]).unwrap());
    assert_eq!(got[1], (1, "f1".into(), vec![2.0, 4.0]));
}

#[test]
fn text_is_skipped_coded_or_expanded() {
    let dir = Dir::new();
    let path = dir.write("a.csv", "x,city,y\n1,Oslo,7\n2,Bonn,8\n3,Oslo,9\n4,Caen,9\n");
    let with = |categorical| {
        let options = OpenOptions { categorical, ..Default::default() };
        open(std::slice::from_ref(&path), &options).unwrap().source(&[]).unwrap()
    };
    let names = |source| columns(source).into_iter().map(|c| (c.0, c.1)).collect::<Vec<_>>();
    let own = |list: &[(u64, &str)]| -> Vec<(u64, String)> {
        list.iter().map(|(index, name)| (*index, name.to_string())).collect()
    };
    assert_eq!(names(with(Categorical::Skip)), own(&[(0, "x"), (1, "y")]));
    // Levels in order: Bonn, Caen, Oslo.
    assert_eq!(columns(with(Categorical::Codes))[1].2, [2.0, 0.0, 2.0, 1.0]);
    // Oslo, the most frequent, is the reference.
    let mut source = with(Categorical::OneHot);
    assert_eq!(source.features(), Some(4));
    let mut block = ColumnBlock::new(8);
    while block.room() > 0 && source.next_block(&mut block).unwrap() {}
    let got: Vec<_> =
        block.columns().iter().map(|c| (c.id.index, c.id.part, c.name.to_string())).collect();
    let want = [(0, 0, "x"), (1, 2, "city=Bonn"), (1, 4, "city=Caen"), (2, 0, "y")];
    assert_eq!(got, want.map(|(index, part, name)| (index, part, name.to_string())));
    // Places are those of the stream, which the levels take up too.
    let places = block.columns().iter().map(|c| source.place(c.id)).collect::<Vec<_>>();
    assert_eq!(places, (0..4).map(Some).collect::<Vec<_>>());
    assert_eq!(source.place(block.columns()[2].id.indicator()), Some(2));
    assert_eq!(source.place(FeatureId::new(1)), None);
    let caen = &block.columns()[2].data;
    assert!(matches!(caen, ColumnData::Bits { rows: 4, words } if words == &[0b1000]));
}

#[test]
fn the_reference_is_the_level_of_most_weight_in_the_rows_that_count() {
    let dir = Dir::new();
    // The rows of Rome have no target; by rows Oslo is more frequent than Bonn, by weight less.
    let text = "city,y,w\nOslo,1,1\nOslo,2,1\nBonn,3,3\nCaen,4,1\nRome,,9\nRome,,9\nRome,,9\n";
    let path = dir.write("a.csv", text);
    let names = |weight: Option<&str>| {
        let options = OpenOptions { categorical: Categorical::OneHot, ..Default::default() };
        let mut data = open(std::slice::from_ref(&path), &options).unwrap();
        let weight = weight.map(String::from);
        let spec = ProblemSpec { target: "y".into(), weight, ..Default::default() };
        let joined = build_problem(&mut data, &spec, &options).unwrap();
        let got = columns(data.source(&joined.not_features).unwrap());
        got.into_iter().map(|c| c.1).filter(|name| name.contains('=')).collect::<Vec<_>>()
    };
    assert_eq!(names(None), ["city=Bonn", "city=Caen", "city=Rome"]);
    assert_eq!(names(Some("w")), ["city=Caen", "city=Oslo", "city=Rome"]);
}

#[test]
fn columns_are_chosen_by_glob_name_and_list() {
    let dir = Dir::new();
    let path = dir.write("a.csv", "g1,g2,h1,h2\n1,2,3,4\n");
    let list = dir.write("list.txt", "h1\n\n");
    let names = |columns: &[&str], exclude: &[&str]| {
        let (columns, exclude) = (strings(columns), strings(exclude));
        let options = OpenOptions { columns, exclude, ..Default::default() };
        let source = open(std::slice::from_ref(&path), &options).unwrap().source(&[]);
        source.map(|s| self::columns(s).into_iter().map(|c| c.1).collect::<Vec<_>>())
    };
    assert_eq!(names(&["g*"], &[]).unwrap(), ["g1", "g2"]);
    assert_eq!(names(&["g*", "h2"], &["g1"]).unwrap(), ["g2", "h2"]);
    assert_eq!(names(&[], &[&format!("@{list}")]).unwrap(), ["g1", "g2", "h2"]);
    let error = names(&["g3"], &[]).unwrap_err().to_string();
    assert!(error.starts_with("--columns: there is no column \"g3\"; did you mean"), "{error}");
}
