"""Objectives of scikit-learn's Lasso and of LinearSVC with the squared hinge and L1.

Writes sklearn_l1.csv: a line "data,y,x1,..." a row, then lines "lasso,alpha,objective" and
"hinge,C,objective", each objective as keepnet counts it: the loss divided by n, squared losses
halved, plus lambda |w|_1, with lambda = alpha or 1 / (2 n C). Made with numpy and scikit-learn
1.9.1:

    python sklearn_l1.py > sklearn_l1.csv
"""
import numpy as np
from sklearn.linear_model import Lasso
from sklearn.svm import LinearSVC

rng = np.random.default_rng(7)
n, p = 80, 120
X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
X = np.round(X * np.linspace(0.5, 2, p), 4)
y = np.round(X[:, :6] @ [2.0, -1.5, 1.0, 1.0, -0.7, 0.5] + rng.standard_normal(n), 4)
for row, t in zip(X, y):
    print("data", repr(float(t)), *[repr(float(v)) for v in row], sep=",")
for alpha in [1.0, 0.3, 0.1, 0.03]:
    model = Lasso(alpha=alpha, fit_intercept=True, tol=1e-14, max_iter=1_000_000).fit(X, y)
    r = y - X @ model.coef_ - model.intercept_
    print("lasso", alpha, repr(float(r @ r / (2 * n) + alpha * np.abs(model.coef_).sum())), sep=",")
s = np.where(y > 0, 1.0, -1.0)
for C in [0.02, 0.1, 1.0]:
    # A tolerance of 1e-12 is never met: LIBLINEAR then ends far from its minimum.
    model = LinearSVC(penalty="l1", loss="squared_hinge", dual=False, C=C, fit_intercept=False,
                      tol=1e-10, max_iter=100_000, random_state=0).fit(X, s)
    w = model.coef_[0]
    hinge = np.maximum(0, 1 - s * (X @ w))
    print("hinge", C, repr(float(hinge @ hinge / (2 * n) + np.abs(w).sum() / (2 * n * C))), sep=",")
