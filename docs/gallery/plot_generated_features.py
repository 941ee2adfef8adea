"""
Features that are made on the way
=================================

All products of two of 60 columns are 1,830 features. They are made one after the other, and none
but the kept ones is stored.
"""

# %%
# The target depends on three products.
import keepnet
import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(2)
base = rng.normal(size=(500, 60))
y = base[:, 3] * base[:, 9] - 2 * base[:, 20] * base[:, 41] + base[:, 7] ** 2
y = y + 0.3 * rng.normal(size=500)

# %%
# A callable gives a fresh stream for each scan.


def products():
    for a in range(60):
        for b in range(a, 60):
            yield [f"x{a}*x{b}"], base[:, a] * base[:, b]


selector = keepnet.select(products, y, k=3)
for feature in selector.result_["selected"]:
    print(feature["name"], round(feature["coefficient"], 3))

# %%
# The loss while the products went past: it falls when a true one arrives.
keepnet.plot.substitutions(selector)
plt.gcf().tight_layout()
