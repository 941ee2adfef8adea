"""
New features on three days
==========================

Each day brings new columns for the same rows. A state on disk holds the kept columns, so the files
of earlier days may go. This uses the command line, which the package brings along.
"""

# %%
# One table cut into three days of 700 columns. The target is a file of its own.
import json
import os
import subprocess
import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

folder = tempfile.mkdtemp()
rng = np.random.default_rng(3)
X = rng.normal(size=(300, 2100))
truth = [100, 650, 900, 1300, 1500, 2050]
y = X[:, truth] @ np.array([2, -1.5, 1, -1, 1.5, 1]) + 0.2 * rng.normal(size=300)
np.savetxt(os.path.join(folder, "y.csv"), y, header="y", comments="")


def keepnet(*words):
    subprocess.run([sys.executable, "-m", "keepnet", *words], cwd=folder, check=True)


# %%
# Every day: write the file, select, and throw the file away.
days = {}
for day, first in [("monday", 0), ("tuesday", 700), ("wednesday", 1400)]:
    names = ",".join(f"f{j}" for j in range(first, first + 700))
    path = os.path.join(folder, f"{day}.csv")
    np.savetxt(path, X[:, first : first + 700], delimiter=",", header=names, comments="")
    call = f"select {day}.csv --target y.csv -k 6 --state stream.kn --output {day}.json --quiet"
    keepnet(*call.split())
    os.remove(path)
    with open(os.path.join(folder, f"{day}.json")) as file:
        days[day] = json.load(file)
    kept = sorted(feature["name"] for feature in days[day]["selected"])
    print(f"{day}: {days[day]['features_seen']} features seen, kept {', '.join(kept)}")

# %%
# More of the true features stay each day, and the loss falls.
figure, ax = plt.subplots(figsize=(6, 3.5))
right = {
    day: len({f"f{j}" for j in truth} & {f["name"] for f in result["selected"]})
    for day, result in days.items()
}
ax.bar(list(right), list(right.values()), color="C0")
ax.set_ylabel("true features among the six kept")
other = ax.twinx()
other.plot(list(days), [result["final_loss"] for result in days.values()], "o-", color="C1")
other.set_ylabel("loss", color="C1")
figure.tight_layout()
