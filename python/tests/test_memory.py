"""What crosses into the engine is checked: no shape, index or length leads outside an array.

Each case was an out-of-bounds read or could have become one; here it is an exception. `calls`
hands the engine its tuples as the package does, so the checks of the engine's side are met alone.
"""

import json

import keepnet
import numpy as np
import pytest
from keepnet import _keepnet
from scipy import sparse

N, P = 40, 6
Y = np.random.default_rng(0).normal(size=N)
X = np.random.default_rng(1).normal(size=(N, P))
REQUEST = json.dumps({"method": {"name": "os-plus", "k": 2}})


def fit(packed, names=None, y=Y, weight=None):
    return _keepnet.fit_columns(REQUEST, packed, names, [("", y, None, False)], weight, None)


def push(packed, names=None):
    names = [f"x{j}" for j in range(P)] if names is None else names
    _keepnet.ColumnRun(REQUEST, [("", Y, None, False)], None).push(packed, names, None)


def rows(packed, y=Y, weight=None, order=None):
    request = json.dumps({"method": {"name": "olsth", "k": 2}})
    run = _keepnet.RowRun(request, [f"x{j}" for j in range(P)], None)
    run.push(packed, y, weight, order, True, None)


def parts(form="csc"):
    """A sparse matrix as the engine takes it, each part its own copy."""
    S = sparse.csc_array(X * (X > 0)) if form == "csc" else sparse.csr_array(X * (X > 0))
    across = N if form == "csc" else P
    return [form, across, S.indptr.copy(), S.indices.copy(), S.data.copy()]


def test_a_polars_column_of_empty_arrays_is_named():
    polars = pytest.importorskip("polars")
    empty = polars.Series("hole", [[]] * N, dtype=polars.Array(polars.Float64, 0))
    frame = polars.DataFrame({"a": X[:, 0]}).with_columns(empty)
    for use in (
        lambda: keepnet.OSPlus(k=1).fit(frame, Y),
        lambda: keepnet.OSPlus(k=1).partial_fit_columns(frame, Y),
    ):
        with pytest.raises(TypeError, match="'hole'"):
            use()
    pairs = polars.Series("pair", X[:, :2], dtype=polars.Array(polars.Float64, 2))
    with pytest.raises(TypeError, match="'pair'.*each of their values"):
        keepnet.OSPlus(k=1).fit(frame.drop("hole").with_columns(pairs), Y)


@pytest.mark.parametrize("shape", [(N, 0), (N, 2), (0, N), (N, 1, 1), (N, 0, 3)])
@pytest.mark.parametrize("call", [fit, push])
def test_a_column_has_one_dimension(call, shape):
    columns = [X[:, j].copy() for j in range(P)]
    columns[3] = np.zeros(shape)
    with pytest.raises(ValueError, match="column 3 has shape"):
        call(("columns", N, columns))


@pytest.mark.parametrize("call", [fit, push])
def test_a_column_has_the_rows_of_the_others(call):
    columns = [X[:, j].copy() for j in range(P)]
    for rows_ in (0, 1, N - 1, N + 1):
        columns[2] = np.zeros(rows_)
        with pytest.raises(ValueError, match=f"column 2 has {rows_} rows"):
            call(("columns", N, columns))
    for claimed in (0, N - 1, N + 1):
        with pytest.raises(ValueError, match="rows"):
            call(("columns", claimed, [X[:, j].copy() for j in range(P)]))


@pytest.mark.parametrize("part", [2, 3, 4])
@pytest.mark.parametrize("shape", ["(m, 0)", "(0, m)", "(m, 1)", "()"])
@pytest.mark.parametrize("form, call", [("csc", fit), ("csc", push), ("csr", rows)])
def test_parts_of_a_sparse_matrix_have_one_dimension(form, call, part, shape):
    packed = parts(form)
    m = len(packed[part])
    new = {"(m, 0)": (m, 0), "(0, m)": (0, m), "(m, 1)": (m, 1), "()": ()}[shape]
    packed[part] = np.zeros(new, dtype=packed[part].dtype)
    with pytest.raises(ValueError, match="expected one dimension"):
        call(tuple(packed))


def damage(packed, how):
    start, index, data = packed[2:]
    if how == "no indptr":
        packed[2] = start[:0]
    elif how == "negative indptr":
        start[2] = -1
    elif how == "indptr from 1":
        start[0] = 1
    elif how == "indptr descends":
        start[2], start[3] = start[3] + 1, start[2]
    elif how == "indptr beyond":
        start[-1] += 1
    elif how == "indptr far beyond":
        packed[2] = start.astype(np.int64)
        packed[2][-1] = 2**62
    elif how == "fewer indices":
        packed[3] = index[:-1]
    elif how == "fewer data":
        packed[4] = data[:-1]
    elif how == "no data":
        packed[4] = data[:0]
    elif how == "negative index":
        index[3] = -5
    elif how == "index beyond":
        index[-1] = packed[1]
    elif how == "index beyond 32 bits":
        packed[3] = index.astype(np.int64)
        packed[3][-1] += 2**32
    elif how == "indices not ascending":
        index[[0, 1]] = index[[1, 0]]
    elif how == "an index twice":
        index[1] = index[0]
    elif how == "float indices":
        packed[3] = index.astype(np.float64)
    elif how == "short indices":
        packed[3] = index.astype(np.int16)
    elif how == "unsigned indptr":
        packed[2] = start.astype(np.uint64)
    return tuple(packed)


DAMAGES = """no indptr, negative indptr, indptr from 1, indptr descends, indptr beyond,
    indptr far beyond, fewer indices, fewer data, no data, negative index, index beyond,
    index beyond 32 bits, indices not ascending, an index twice, float indices, short indices,
    unsigned indptr"""
DAMAGES = [how.strip() for how in DAMAGES.split(",")]


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("form, call", [("csc", fit), ("csc", push), ("csr", rows)])
def test_a_damaged_sparse_matrix_is_refused(form, call, how):
    call(tuple(parts(form)))
    with pytest.raises(ValueError, match="sparse matrix"):
        call(damage(parts(form), how))


@pytest.mark.parametrize("how", ["data of (nnz, 0)", *DAMAGES[1:6], *DAMAGES[7:11]])
@pytest.mark.parametrize("form", ["csc", "csr"])
def test_scipy_matrices_with_replaced_parts_are_refused(form, how):
    """SciPy itself would read outside such a matrix while it converts it."""
    for method in (keepnet.OSPlus(k=2), keepnet.OLSth(k=2)):
        S = sparse.csc_array(X * (X > 0)) if form == "csc" else sparse.csr_array(X * (X > 0))
        if how == "data of (nnz, 0)":
            S.data = np.empty((S.nnz, 0))
        else:
            packed = damage([form, N if form == "csc" else P, S.indptr, S.indices, S.data], how)
            S.indptr, S.indices, S.data = packed[2:]
        with pytest.raises(ValueError, match="damaged"):
            method.fit(S, Y)
        if hasattr(method, "partial_fit_columns"):
            with pytest.raises(ValueError, match="damaged"):
                method.partial_fit_columns(S, Y)


def test_other_sparse_formats_are_checked_or_converted():
    want = list(keepnet.OSPlus(k=2).fit(X * (X > 0), Y).selected_)
    for form in ("coo", "bsr", "lil", "dok", "dia"):
        S = sparse.csr_matrix(X * (X > 0)).asformat(form)
        assert list(keepnet.OSPlus(k=2).fit(S, Y).selected_) == want
    S = sparse.coo_matrix(X * (X > 0))
    S.row[-1] = 10**6
    with pytest.raises(ValueError, match="damaged"):
        keepnet.OSPlus(k=2).fit(S, Y)
    S = sparse.bsr_matrix(X * (X > 0), blocksize=(2, 2))
    S.indices[0] = 10**6
    with pytest.raises(ValueError, match="damaged"):
        keepnet.OSPlus(k=2).fit(S, Y)


@pytest.mark.parametrize("shape", [(), (N,), (N, P, 1), (N, 0, 3)])
def test_a_matrix_has_two_dimensions(shape):
    for call in (fit, push, rows):
        with pytest.raises(ValueError, match="two dimensions"):
            call(("dense", np.zeros(shape)))


def test_matrices_without_rows_or_columns():
    with pytest.raises(ValueError, match="0 columns came with 6 names"):
        push(("dense", np.zeros((N, 0))))
    assert json.loads(fit(("dense", np.zeros((N, 0)))))["selected"] == []
    assert json.loads(fit(("columns", N, [])))["selected"] == []
    for call in (fit, push, rows):
        with pytest.raises(ValueError):
            call(("dense", np.zeros((0, P))))
    with pytest.raises(ValueError, match="0 features, expected 6"):
        rows(("dense", np.zeros((N, 0))))


@pytest.mark.parametrize("length", [0, 1, N - 1, N + 1])
def test_lengths_of_target_weights_names_and_orders(length):
    some = np.ones(length)
    dense = ("dense", X)
    for call in (fit, rows):
        with pytest.raises(ValueError):
            call(dense, y=some * np.arange(length))
        with pytest.raises(ValueError):
            call(dense, weight=some)
    for call in (fit, push):
        with pytest.raises(ValueError, match=f"came with {length} names"):
            call(dense, names=[f"n{j}" for j in range(length)])
    with pytest.raises(ValueError, match="differ in length"):
        rows(dense, order=np.zeros(length, dtype=np.int64))
    for bad in (-1, N, 2**62):
        with pytest.raises((ValueError, OverflowError)):
            rows(dense, order=np.full(N, bad, dtype=np.int64))


@pytest.mark.parametrize("bad", [np.zeros((N, 0)), np.zeros((N, 1)), np.zeros(N, np.float32), None])
def test_targets_and_weights_are_vectors_of_f64(bad):
    for call in (fit, rows):
        with pytest.raises((TypeError, ValueError)):
            call(("dense", X), y=bad)
        if bad is not None:
            with pytest.raises((TypeError, ValueError)):
                call(("dense", X), weight=bad)


@pytest.mark.parametrize(
    "dtype", ["O", "U3", "S3", "M8[s]", "m8[s]", "c16", "f2", ">f8", ">i4", [("a", "f8")], "V8"]
)
def test_types_that_are_no_plain_numbers_are_refused(dtype):
    for call in (fit, push, rows):
        with pytest.raises(TypeError, match="cannot be used"):
            call(("dense", np.zeros((N, P), dtype=dtype)))
    with pytest.raises(TypeError, match="cannot be used"):
        fit(("columns", N, [X[:, 0].copy(), np.zeros(N, dtype=dtype)]))


def layouts():
    """The same values in memory of every kind of layout."""
    wide = np.zeros((3 * N, 2 * P))
    wide[::3, ::2] = X
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(N, P)
    raw[:] = X
    return {
        "C": np.ascontiguousarray(X),
        "F": np.asfortranarray(X),
        "steps": wide[::3, ::2],
        "rows backwards": np.ascontiguousarray(X[::-1])[::-1],
        "columns backwards": np.asfortranarray(X[:, ::-1])[:, ::-1],
        "all backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "unaligned": raw,
        "unaligned F": _unaligned_fortran(),
    }


def _unaligned_fortran():
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(P, N).T
    raw[:] = X
    return raw


@pytest.mark.parametrize("layout", layouts())
def test_every_layout_gives_the_same_answer(layout):
    A = layouts()[layout]
    np.testing.assert_array_equal(A, X)
    drop = lambda text: {k: v for k, v in json.loads(text).items() if k != "run"}
    want = drop(fit(("dense", X.copy())))
    assert drop(fit(("dense", A))) == want
    assert drop(fit(("columns", N, [A[:, j] for j in range(P)]))) == want
    a, b = (keepnet.OLSth(k=2).fit(Z, Y).result_ for Z in (A, X))
    assert {**a, "run": 0} == {**b, "run": 0}
    # A column that is one value over and over, without memory for it.
    flat = np.broadcast_to(np.float64(3.0), (N,))
    assert json.loads(fit(("columns", N, [X[:, 0].copy(), flat])))["dropped"]["constant"] == 1
