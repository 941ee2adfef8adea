"""
A wide Parquet file
===================

Twenty of 5,000 columns make the target. The file is read in blocks of columns; the table is never
held in memory.
"""

# %%
# A table to begin with: 400 rows, 5,000 columns.
import os
import tempfile

import keepnet
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

folder = tempfile.mkdtemp()
path = os.path.join(folder, "wide.parquet")
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 5000)).astype("f4")
truth = rng.choice(5000, 20, replace=False)
y = X[:, truth] @ rng.normal(size=20) + 0.1 * rng.normal(size=400)
names = [f"gene{j}" for j in range(5000)]
columns = [pa.array(X[:, j]) for j in range(5000)]
pq.write_table(pa.table([*columns, pa.array(y)], names=[*names, "response"]), path)

# %%
# The target is a column of the file. The result is a fitted scikit-learn estimator.
selector = keepnet.select(path, "response", k=20)
found = set(selector.get_feature_names_out())
print(len(found & {names[j] for j in truth}), "of the 20 true columns were found")
print("most memory:", selector.result_["run"]["peak_bytes"] // 2**20, "MiB, the whole process")

# %%
# Coefficients of the selected columns, and the course of the run.
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4))
keepnet.plot.weights(selector, left)
keepnet.plot.substitutions(selector, right)
figure.tight_layout()
