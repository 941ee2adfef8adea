"""Writes the type stubs: `python -m keepnet._stubs > keepnet/__init__.pyi`."""

from __future__ import annotations

import inspect

from keepnet._registry import CLASSES, default_of, python_name, words_of

_HEAD = '''"""Types of the package; written by `python -m keepnet._stubs`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keepnet import plot as plot

__version__: str

class Progress(NamedTuple):
    scan: int
    scans: int | None
    arrived: int
    total: int | None
    kept: int
    loss: float | None
    substitutions: int
    bytes: int

def methods() -> list[dict[str, Any]]: ...
def merge(estimators: Iterable[_Averages]) -> _Averages: ...
SELECT
class _Selector:
    result_: dict[str, Any]
    selected_: NDArray[np.int64]
    scores_: NDArray[np.float64]
    n_features_seen_: int
    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Self: ...
    def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...
    def get_support(self, indices: bool = False) -> NDArray[Any]: ...
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]: ...
    def transform(self, X: Any) -> Any: ...
    def inverse_transform(self, X: Any) -> NDArray[Any]: ...
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self: ...
    def fit_transform(self, X: Any, y: ArrayLike, **fit_params: Any) -> Any: ...

class _Model:
    coef_: NDArray[np.float64]
    intercept_: float | NDArray[np.float64]
    def predict(self, X: Any) -> NDArray[Any]: ...
    def decision_function(self, X: Any) -> NDArray[np.float64]: ...
    def predict_proba(self, X: Any) -> NDArray[np.float64]: ...
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float: ...

class _Features(_Selector):
    k_: int
    path_: list[dict[str, Any]]
    holdout_loss_: float
    frequencies_: NDArray[np.float64]
    expected_false_: dict[str, float | None]
    estimates_: NDArray[np.float64]
    std_errors_: NDArray[np.float64]
    pvalues_: NDArray[np.float64]
    pvalues_adjusted_: NDArray[np.float64]
    confidence_intervals_: NDArray[np.float64]
    w_: NDArray[np.float64]
    e_values_: NDArray[np.float64]
    def partial_fit_columns(
        self,
        X_columns: Any,
        y: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self: ...
    def end_scan(self) -> bool: ...
    def finish(self) -> Self: ...

class _Samples(_Model, _Selector):
    n_samples_seen_: int
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self: ...

class _Averages(_Samples):
    def averages(self) -> bytes: ...
    def load_averages(self, averages: bytes) -> Self: ...
    def merge(self, *others: _Averages | bytes) -> Self: ...
    def extract(self, k: int | None = None, estimator: _Averages | None = None) -> _Averages: ...
'''

_TYPES = {
    "k": "int | Sequence[int] | str",
    "choose": "str | None",
    "cv": "int | None",
    "holdout": "float | None",
    "stability": "int | tuple[int, float] | None",
    "inference": "str | None",
    "correction": "str | None",
    "repeats": "int | None",
    "null": "int | None",
    "level": "float | None",
    "loss": "str | None",
    "task": "str",
    "scans": 'int | Literal["rest"] | None',
    "order": "str | ArrayLike",
    "groups": "str | Mapping[str, Any] | ArrayLike | None",
    "always": "Sequence[str | int] | None",
    "missing": "str",
    "max_missing": "float | None",
    "min_count": "int",
    "class_weight": "str | Mapping[Any, float] | None",
    "memory": "int | None",
    "n_jobs": "int | None",
    "random_state": "int | np.random.RandomState | None",
    "verbose": "int",
    "callback": "Callable[[Progress], object] | None",
}


def _setting(setting: dict) -> str:
    """The type of a setting."""
    kinds = {"flag": ["bool"], "whole": ["int"], "number": ["float"], "step": ["float", "str"]}
    parts = list(kinds.get(setting["kind"], []))
    if (words := words_of(setting)) and setting["kind"] != "step":
        quoted = ", ".join(f'"{word}"' for word in words)
        parts.append(f"Literal[{quoted}]")
    if default_of(setting) is None:
        parts.append("None")
    return " | ".join(parts)


def _argument(cls, name, default) -> str:
    settings = {python_name(setting["name"]): setting for setting in cls._info["settings"]}
    if name in settings:
        kind = _setting(settings[name])
    else:
        kind = _TYPES.get(name) or type(default).__name__
    if name == "k" and cls._info["rows"]:
        kind = "int"
    if name == "k" and not cls._info["needs_k"]:
        kind += " | None"
    return f"{name}: {kind} = ..."


def _select(method: str, result: str) -> str:
    """`select` for one kind of method."""
    return f"""@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    {method},
    **options: Any,
) -> {result}: ...
"""


def _overloads() -> str:
    """`select` gives the class of the method that is named, or of the estimator that is given."""
    first, *rest = ((name, cls.__name__) for name, cls in CLASSES.items())
    out = [_select(f'method: Literal["{first[0]}"] = "{first[0]}"', first[1])]
    for name, cls in rest:
        out.append(_select(f'*, method: Literal["{name}"]', cls))
    out.append(_select("*, method: _Estimator", "_Estimator"))
    out.append(_select("*, method: str", "_Selector"))
    return '_Estimator = TypeVar("_Estimator", bound=_Selector)\n\n' + "".join(out)


def stubs() -> str:
    """The text of the stubs."""
    out = [_HEAD.replace("SELECT", _overloads())]
    for cls in CLASSES.values():
        bases = [base.__name__ for base in cls.__mro__]
        if "AveragesMixin" in bases:
            base = "_Averages"
        elif "SampleSelector" in bases:
            base = "_Samples"
        else:
            base = "_Model, _Features" if "ModelMixin" in bases else "_Features"
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        words = [_argument(cls, p.name, p.default) for p in parameters]
        words.insert(1 if parameters[0].name == "k" else 0, "*")
        lines = "".join(f"        {word},\n" for word in words)
        out.append(f"class {cls.__name__}({base}):\n    def __init__(\n        self,\n{lines}    ) -> None: ...\n")
    return "\n".join(out)


if __name__ == "__main__":
    print(stubs(), end="")
