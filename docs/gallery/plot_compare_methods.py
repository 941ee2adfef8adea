"""
Methods side by side
====================

Four methods select from the training rows of the same folds; a model on the selected columns is
judged on the rows left out. ``keepnet compare`` does the same from files, with tests and a report.
"""

# %%
# Correlated columns, of which ten matter.
import keepnet
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

rng = np.random.default_rng(5)
common = rng.normal(size=(300, 1))
X = 0.6 * common + 0.8 * rng.normal(size=(300, 1000))
truth = np.arange(0, 1000, 100)
y = X[:, truth] @ rng.choice([-1.0, 1.0], 10) + 0.5 * rng.normal(size=300)
methods = {
    "OSPlus": keepnet.OSPlus(k=10),
    "OS": keepnet.OS(k=10),
    "SAOLA": keepnet.SAOLA(k=10),
    "AlphaInvesting": keepnet.AlphaInvesting(),
}

# %%
# The selection sees the training rows alone.
scores, recall = {}, {}
for name, method in methods.items():
    found = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        selector = method.fit(X[train], y[train])
        model = LinearRegression().fit(selector.transform(X[train]), y[train])
        r2 = model.score(selector.transform(X[test]), y[test])
        found.append((r2, np.isin(truth, selector.selected_).mean()))
    scores[name] = [r2 for r2, _ in found]
    recall[name] = np.mean([share for _, share in found])
    print(f"{name:15} R2 {np.mean(scores[name]):6.3f}   true columns found {recall[name]:.0%}")

# %%
# Each point is a fold.
figure, ax = plt.subplots(figsize=(7, 3.5))
for at, values in enumerate(scores.values()):
    ax.plot(values, [at] * len(values), "o", color=f"C{at}")
ax.set_yticks(range(len(scores)), list(scores))
ax.set_xlabel("R2 on the rows left out")
figure.tight_layout()
