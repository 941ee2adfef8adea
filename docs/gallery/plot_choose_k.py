"""
Choosing k
==========

With a list of sizes every size is fitted in the same scans, and cross-validation chooses one of
them: the smallest whose loss is within a standard error of the least.
"""

# %%
# Eight of 800 columns matter.
import keepnet
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(6)
X = rng.normal(size=(300, 800))
truth = rng.choice(800, 8, replace=False)
y = X[:, truth] @ rng.uniform(0.7, 2, 8) + rng.normal(size=300)
sizes = [1, 2, 4, 6, 8, 10, 15, 20, 30]

# %%
# ``result_["path"]`` has a point for each size.
selector = keepnet.OSPlus(k=sizes, choose="cv").fit(X, y)
path = selector.result_["path"]
chosen = len(selector.selected_)
print("chosen:", chosen, "features;", np.isin(truth, selector.selected_).sum(), "of 8 true ones")

# %%
# The loss on the rows of the model falls with every feature; on rows left out it rises again.
figure, ax = plt.subplots(figsize=(7, 4))
ax.plot([p["k"] for p in path], [p["in_sample"] for p in path], "o-", label="rows of the model")
ax.errorbar(
    [p["k"] for p in path],
    [p["cv_mean"] for p in path],
    yerr=[p["cv_se"] for p in path],
    fmt="o-",
    capsize=3,
    label="rows left out",
)
ax.axvline(chosen, color="0.5", linestyle="--", label="chosen")
ax.set_xlabel("k")
ax.set_ylabel("loss")
ax.legend()
figure.tight_layout()
