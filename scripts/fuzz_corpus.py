#!/usr/bin/env python3
"""Writes the seed files of the fuzzer: `scripts/fuzz_corpus.py crates/keepnet-fuzz/corpus`.

Needs numpy and pyarrow, as the tests of the Python package do. One small table with every kind of
column, in every format, encoding and compression that is read. Files that once broke a reader
(names that start with `broke_`) are not made here and stay as they are.
"""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet as pq

N = 24
rng = np.random.default_rng(14)


def table():
    a = rng.normal(size=N)
    b = rng.normal(size=N)
    y = a - 2 * b + 0.1 * rng.normal(size=N)
    return pa.table(
        {
            "id": pa.array(np.arange(N), pa.int64()),
            "a": pa.array(a, pa.float64()),
            "b": pa.array([None if i % 11 == 5 else v for i, v in enumerate(b)], pa.float32()),
            "n": pa.array(rng.integers(-3, 4, N), pa.int16()),
            "u": pa.array(rng.integers(0, 200, N), pa.uint8()),
            "t": pa.array([bool(i % 3 == 0) for i in range(N)]),
            "d": pa.array([["red", "green", None][i % 3] for i in range(N)]).dictionary_encode(),
            "s": pa.array([f"w{i % 4}" for i in range(N)]),
            "h": pa.array(rng.normal(size=N).astype(np.float16)),
            "c": pa.array([["yes", "no"][i % 2] for i in range(N)]),
            "y": pa.array(y, pa.float64()),
        }
    )


def features(full):
    """The numbers of the table with a feature a row."""
    names = ["a", "n", "u", "y"]
    lists = [full[name].to_pylist() for name in names]
    values = pa.array([[float(v) for v in row] for row in lists], pa.list_(pa.float32(), N))
    groups = pa.array(["g", "g", "h", "h"])
    return pa.table({"name": pa.array(names), "values": values, "group": groups})


def text_rows(full):
    names = [name for name in full.column_names if name not in ("h",)]
    return names, [[full[name][i].as_py() for name in names] for i in range(N)]


def delimited(names, rows, sep):
    def cell(v):
        return "" if v is None else ("true" if v is True else "false" if v is False else str(v))

    lines = [sep.join(names)] + [sep.join(cell(v) for v in row) for row in rows]
    return "\n".join(lines) + "\n"


def main(out):
    full = table()
    numbers = full.select(["a", "n", "u", "y"])
    names, rows = text_rows(full)

    def put(folder, name, data):
        path = out / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    csv = delimited(names, rows, ",")
    put("csv", "mixed.csv", csv)
    put("csv", "quoted.csv", 'a,"b ""x""",y\r\n1,"2",3\r\n4,,6\r\n-1e3,"0.5",nan\r\n2,2,1\r\n')
    put("tsv", "mixed.tsv", delimited(names, rows, "\t"))
    put("gz", "mixed.csv.gz", gzip.compress(csv.encode(), mtime=0))
    put("zst", "mixed.csv.zst", pa.compress(csv.encode(), codec="zstd", asbytes=True))
    objects = "".join(json.dumps(dict(zip(names, row))) + "\n" for row in rows)
    put("jsonl", "mixed.jsonl", objects)
    put("jsonl", "sparse.jsonl", '{"y":1,"a":2}\n{"y":2,"b":-1.5e-3}\n{"y":0.5,"a":1,"b":null}\n')
    svm = "".join(
        f"{i % 2} " + " ".join(f"{j}:{rng.normal():.4f}" for j in range(1, 9) if (i + j) % 3) + "\n"
        for i in range(N)
    )
    put("svm", "two.svm", svm)
    put("svm", "notes.svm", "# head\n1.5 qid:1 1:2 3:4 # tail\n-2 2:1e-3\n\n0.5 1:1 2:2 3:3\n")

    matrix = rng.normal(size=(N, 5))
    for name, array in {
        "c_f8": matrix,
        "fortran_f4": np.asfortranarray(matrix.astype("<f4")),
        "big_f8": matrix.astype(">f8"),
        "i2": (10 * matrix).astype("<i2"),
        "bool": matrix > 0,
        "one": matrix[:, 0],
    }.items():
        import io

        buffer = io.BytesIO()
        np.save(buffer, array)
        put("npy", f"{name}.npy", buffer.getvalue())

    def ipc(kind, tab, **options):
        sink = pa.BufferOutputStream()
        make = pa.ipc.new_file if kind == "file" else pa.ipc.new_stream
        with make(sink, tab.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
            writer.write_table(tab, max_chunksize=10)
        return sink.getvalue().to_pybytes()

    wide = full.append_column("l", pa.array([[i, i + 1] for i in range(N)]))
    for kind, folder, ext in [("file", "arrow", "arrow"), ("stream", "arrows", "arrows")]:
        put(folder, f"mixed.{ext}", ipc(kind, full))
        put(folder, f"numbers.{ext}", ipc(kind, numbers))
        put(folder, f"nested.{ext}", ipc(kind, wide))
        put(folder, f"zstd.{ext}", ipc(kind, full, compression="zstd"))
    put("arrow-columns", "plain.arrow-columns", ipc("stream", features(full)))
    put("arrow-columns", "zstd.arrow-columns", ipc("stream", features(full), compression="zstd"))
    for codec in ["lz4", "zstd", "uncompressed"]:
        sink = pa.BufferOutputStream()
        pa.feather.write_feather(full, sink, compression=codec)
        put("feather", f"{codec}.feather", sink.getvalue().to_pybytes())

    def parquet(tab, **options):
        sink = pa.BufferOutputStream()
        pq.write_table(tab, sink, **options)
        return sink.getvalue().to_pybytes()

    plain = full.drop_columns(["h"])
    for codec in ["none", "snappy", "zstd", "gzip", "brotli", "lz4"]:
        put("parquet", f"{codec}.parquet", parquet(plain, compression=codec))
    put("parquet", "groups.parquet", parquet(plain, row_group_size=7, data_page_version="2.0"))
    floats = full.select(["a", "y"])
    split = {"a": "BYTE_STREAM_SPLIT", "y": "BYTE_STREAM_SPLIT"}
    put("parquet", "split.parquet", parquet(floats, use_dictionary=False, column_encoding=split))
    whole = full.select(["id", "n", "y"])
    delta = {"id": "DELTA_BINARY_PACKED", "n": "DELTA_BINARY_PACKED", "y": "PLAIN"}
    put("parquet", "delta.parquet", parquet(whole, use_dictionary=False, column_encoding=delta))
    words = full.select(["s", "y"])
    delta = {"s": "DELTA_BYTE_ARRAY", "y": "PLAIN"}
    put("parquet", "words.parquet", parquet(words, use_dictionary=False, column_encoding=delta))
    put("parquet", "nested.parquet", parquet(wide.drop_columns(["h"])))


main(Path(sys.argv[1]))
