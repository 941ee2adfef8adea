"""Recipes of the guide for formats that other packages read, where these are installed."""

import re
import shutil
import subprocess
from pathlib import Path

import keepnet
import numpy as np
import pytest

GUIDE = Path(__file__).parents[1] / "docs" / "guide.md"
SAMPLES, VARIANTS = 120, 70


def recipes():
    """The functions as the guide has them."""
    text = GUIDE.read_text().split("## Genotypes and other formats")[1]
    found = {}
    exec(re.search(r"```python\n(.*?)```", text, re.S)[1], found)
    return found


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    copies = rng.integers(0, 3, size=(SAMPLES, VARIANTS)).astype(np.int8)
    y = 2.0 * copies[:, 5] - copies[:, 31] + copies[:, 60] + 0.3 * rng.normal(size=SAMPLES)
    return copies, y


def names():
    return [f"x{j}" for j in range(VARIANTS)]


def same(stream, values, y, digits=1e-10):
    """A stream of these values gives what the values give as an array."""
    got = keepnet.select(stream, y, k=4, missing="mean").result_
    want = keepnet.select(values, y, k=4, missing="mean").result_
    assert [f["name"] for f in got["selected"]] == [f["name"] for f in want["selected"]]
    pick = lambda result: [f["coefficient"] for f in result["selected"]]
    np.testing.assert_allclose(pick(got), pick(want), rtol=digits)


def with_gaps(copies):
    values = copies.astype(np.float64)
    values[(np.arange(SAMPLES)[:, None] * 7 + np.arange(VARIANTS)) % 29 == 0] = np.nan
    return values


def write_pgen(prefix, values):
    pgenlib = pytest.importorskip("pgenlib", reason="pgenlib is not installed")
    codes = np.where(np.isnan(values), -9, values).astype(np.int8)
    path = f"{prefix}.pgen".encode()
    with pgenlib.PgenWriter(path, SAMPLES, variant_ct=VARIANTS, nonref_flags=False) as writer:
        writer.append_biallelic_batch(np.ascontiguousarray(codes.T))
    lines = [f"1\t{j + 1}\tx{j}\tG\tA\n" for j in range(VARIANTS)]
    Path(f"{prefix}.pvar").write_text("#CHROM\tPOS\tID\tREF\tALT\n" + "".join(lines))


def test_pgen(data, tmp_path):
    copies, y = data
    values = with_gaps(copies)
    write_pgen(tmp_path / "x", values)
    pgen = recipes()["pgen"]
    for width in (256, 16):
        same(lambda: pgen(str(tmp_path / "x"), width), values, y)


def test_bgen(data, tmp_path):
    pytest.importorskip("bgen_reader", reason="bgen_reader is not installed")
    if shutil.which("plink2") is None:
        pytest.skip("plink2 is not installed, which writes the .bgen")
    copies, y = data
    write_pgen(tmp_path / "x", copies.astype(np.float64))
    people = "".join(f"i{i}\n" for i in range(SAMPLES))
    (tmp_path / "x.psam").write_text("#IID\n" + people)
    call = ["plink2", "--pfile", "x", "--export", "bgen-1.2", "bits=8", "ref-first", "--out", "x"]
    subprocess.run(call, cwd=tmp_path, check=True, capture_output=True)
    same(lambda: recipes()["bgen"](str(tmp_path / "x.bgen"), 16), copies.astype(np.float64), y)


def test_h5ad(data, tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    pandas = pytest.importorskip("pandas")
    from scipy import sparse

    copies, y = data
    var = pandas.DataFrame(index=names())
    x = sparse.csc_matrix(copies.astype(np.float32))
    anndata.AnnData(X=x, var=var).write_h5ad(tmp_path / "x.h5ad")
    same(lambda: recipes()["h5ad"](tmp_path / "x.h5ad", 16), copies.astype(np.float64), y)


def test_zarr(data, tmp_path):
    zarr = pytest.importorskip("zarr", reason="zarr is not installed")
    copies, y = data
    values = copies.astype(np.float64)
    z = zarr.open(
        str(tmp_path / "x.zarr"), mode="w", shape=values.shape, chunks=(SAMPLES, 16), dtype="f8"
    )
    z[:] = values
    same(lambda: recipes()["zarr_columns"](str(tmp_path / "x.zarr")), values, y)
