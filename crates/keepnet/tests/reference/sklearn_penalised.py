"""Weights of scikit-learn's Lasso and ElasticNet on standardised features.

Writes sklearn_penalised.csv: a line "data,y,x1,..." a row, then a line
"fit,alpha,l1_ratio,w1,..." a model. Made with numpy and scikit-learn 1.9.1:

    python sklearn_penalised.py > sklearn_penalised.csv
"""
import numpy as np
from sklearn.linear_model import ElasticNet, Lasso

rng = np.random.default_rng(5)
n, p = 60, 20
X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
X = np.round(X * np.linspace(0.5, 3, p) + np.arange(p), 4)
y = np.round(X[:, :5] @ [2.0, -1.0, 0.5, 1.0, -0.7] + rng.standard_normal(n), 4)
for row, t in zip(X, y):
    print("data", repr(float(t)), *[repr(float(v)) for v in row], sep=",")
Z = (X - X.mean(0)) / X.std(0)
for alpha, ratio in [(0.5, 1.0), (0.1, 1.0), (0.01, 1.0), (0.4, 0.5), (0.05, 0.2), (0.02, 0.9)]:
    make = {"alpha": alpha, "tol": 1e-14, "max_iter": 1_000_000}
    model = Lasso(**make) if ratio == 1.0 else ElasticNet(l1_ratio=ratio, **make)
    w = model.fit(Z, y - y.mean()).coef_
    print("fit", alpha, ratio, *[repr(float(v)) for v in w], sep=",")
