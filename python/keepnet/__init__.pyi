"""Types of the package; written by `python -m keepnet._stubs`."""

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
_Estimator = TypeVar("_Estimator", bound=_Selector)

@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    method: Literal["os-plus"] = "os-plus",
    **options: Any,
) -> OSPlus: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["os"],
    **options: Any,
) -> OS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["saola"],
    **options: Any,
) -> SAOLA: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["saola-max"],
    **options: Any,
) -> SAOLAMax: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["group-saola"],
    **options: Any,
) -> GroupSAOLA: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["ossfs-dd"],
    **options: Any,
) -> OSSFSDD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["sfs-fi"],
    **options: Any,
) -> SFSFI: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["screen"],
    **options: Any,
) -> Screen: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["alpha-investing"],
    **options: Any,
) -> AlphaInvesting: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["osfs"],
    **options: Any,
) -> OSFS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["fast-osfs"],
    **options: Any,
) -> FastOSFS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["ogfs"],
    **options: Any,
) -> OGFS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["asy-os"],
    **options: Any,
) -> AsyOS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["grafting"],
    **options: Any,
) -> Grafting: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["grafting-light"],
    **options: Any,
) -> GraftingLight: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["l1-cd"],
    **options: Any,
) -> L1CD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["l0-cd"],
    **options: Any,
) -> L0CD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["lasso"],
    **options: Any,
) -> Lasso: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["l1-hinge"],
    **options: Any,
) -> L1Hinge: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["proj-gd"],
    **options: Any,
) -> ProjGD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["sparse-group-lasso"],
    **options: Any,
) -> SparseGroupLasso: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["fcbf"],
    **options: Any,
) -> FCBF: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["mrmr"],
    **options: Any,
) -> MRMR: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["spsf-lar"],
    **options: Any,
) -> SPSFLAR: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["gdm"],
    **options: Any,
) -> GDM: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["iamb"],
    **options: Any,
) -> IAMB: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["inter-iamb"],
    **options: Any,
) -> InterIAMB: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["fast-iamb"],
    **options: Any,
) -> FastIAMB: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["mmpc"],
    **options: Any,
) -> MMPC: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["mmmb"],
    **options: Any,
) -> MMMB: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["annealed-ridge"],
    **options: Any,
) -> AnnealedRidge: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["ols"],
    **options: Any,
) -> OLS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["olsth"],
    **options: Any,
) -> OLSth: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["ofsa"],
    **options: Any,
) -> OFSA: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["olasso"],
    **options: Any,
) -> OLasso: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["oalasso"],
    **options: Any,
) -> OALasso: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["oelnet"],
    **options: Any,
) -> OElNet: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["omcp"],
    **options: Any,
) -> OMCP: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["oscad"],
    **options: Any,
) -> OSCAD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["sgd"],
    **options: Any,
) -> SGD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["tsgd"],
    **options: Any,
) -> TSGD: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["siht"],
    **options: Any,
) -> SIHT: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["truncated-gradient"],
    **options: Any,
) -> TruncatedGradient: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["opg"],
    **options: Any,
) -> OPG: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["rda"],
    **options: Any,
) -> RDA: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["opg-sadmm"],
    **options: Any,
) -> OPGSADMM: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["rda-sadmm"],
    **options: Any,
) -> RDASADMM: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["ofs"],
    **options: Any,
) -> OFS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: Literal["sofs"],
    **options: Any,
) -> SOFS: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: _Estimator,
    **options: Any,
) -> _Estimator: ...
@overload
def select(
    source: Any,
    target: ArrayLike | str | None = None,
    k: int | None = 10,
    *, method: str,
    **options: Any,
) -> _Selector: ...

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

class OSPlus(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        loss: str | None = ...,
        reserve: int | Literal["auto"] = ...,
        theta: float | Literal["auto"] = ...,
        ridge: float = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        neighbours: int | Literal["auto"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OS(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        loss: str | None = ...,
        eta: float | str = ...,
        m: float = ...,
        tolerance: float = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SAOLA(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "su", "mi", "fisher-z"] = ...,
        rules: Literal["paper", "lofs"] = ...,
        delta: float = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        on_full: Literal["error", "evict"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SAOLAMax(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "su", "mi", "fisher-z"] = ...,
        rules: Literal["paper", "lofs"] = ...,
        delta: float = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        on_full: Literal["error", "evict"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class GroupSAOLA(_Features):
    def __init__(
        self,
        *,
        measure: Literal["auto", "su", "mi", "fisher-z"] = ...,
        rules: Literal["paper", "lofs"] = ...,
        delta: float = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OSSFSDD(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "su", "mi", "fisher-z"] = ...,
        rules: Literal["paper", "authors"] = ...,
        low: float = ...,
        high: float = ...,
        pool: int = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SFSFI(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "su", "mi", "fisher-z"] = ...,
        rules: Literal["paper", "authors"] = ...,
        gamma: float = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Screen(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        test: Literal["auto", "fisher", "mann-whitney", "ks", "kendall", "pearson", "fisher-z", "spearman", "welch", "anova", "chi2", "g2"] = ...,
        procedure: Literal["by", "bh", "holm", "bonferroni", "lond", "lond-dep", "lord", "saffron", "addis", "e-lond"] = ...,
        level: float = ...,
        classes: int = ...,
        combine: Literal["each", "bonferroni"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class AlphaInvesting(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        level: float | None = ...,
        wealth: float | None = ...,
        payout: float | None = ...,
        rules: Literal["paper", "lofs"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OSFS(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        rules: Literal["paper", "lofs"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        max_condition: int = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class FastOSFS(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        rules: Literal["paper", "lofs"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        max_condition: int = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OGFS(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        epsilon: float = ...,
        level: float = ...,
        lambda_: float = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class AsyOS(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        loss: str | None = ...,
        centre: Literal["threads", "simulated"] = ...,
        workers: int | None = ...,
        tau: int | None = ...,
        eta: float | str = ...,
        m: float = ...,
        tolerance: float = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Grafting(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        loss: str | None = ...,
        lambda_: float | Literal["auto"] = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class GraftingLight(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        loss: str | None = ...,
        lambda_: float | Literal["auto"] = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class L1CD(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        loss: str | None = ...,
        lambda_: float | Literal["auto"] = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class L0CD(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        loss: str | None = ...,
        eta: float = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class Lasso(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        loss: str | None = ...,
        lambda_: float | Literal["auto"] = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class L1Hinge(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        lambda_: float | Literal["auto"] = ...,
        standardise: bool = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class ProjGD(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        loss: str | None = ...,
        eta: float | str = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SparseGroupLasso(_Model, _Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        loss: str | None = ...,
        mix: float = ...,
        lambda_: float | Literal["auto"] = ...,
        lambda1: float | None = ...,
        lambda2: float | None = ...,
        ratio: bool = ...,
        standardise: bool = ...,
        epsilon: float | None = ...,
        intercept: bool = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class FCBF(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "su", "mi", "fisher-z"] = ...,
        rules: Literal["paper", "strict"] = ...,
        delta: float = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class MRMR(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        criterion: Literal["auto", "mid", "miq", "fcd", "fcq"] = ...,
        rules: Literal["paper", "mrmr-selection"] = ...,
        bins: int | Literal["mean"] | None = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SPSFLAR(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class GDM(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str = ...,
        *,
        cost: float = ...,
        rho: float = ...,
        per_round: int = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class IAMB(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        rules: Literal["paper", "bnlearn"] = ...,
        strongest: Literal["p", "statistic"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        few_rows: int = ...,
        max_condition: int | Literal["auto", "unlimited"] = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class InterIAMB(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        rules: Literal["paper", "bnlearn"] = ...,
        strongest: Literal["p", "statistic"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        few_rows: int = ...,
        max_condition: int | Literal["auto", "unlimited"] = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class FastIAMB(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        rules: Literal["paper", "bnlearn"] = ...,
        strongest: Literal["p", "statistic"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        few_rows: int = ...,
        max_condition: int | Literal["auto", "unlimited"] = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class MMPC(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        rules: Literal["paper", "bnlearn"] = ...,
        strongest: Literal["p", "statistic"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        few_rows: int | Literal["independent"] = ...,
        max_condition: int = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class MMMB(_Features):
    def __init__(
        self,
        k: int | Sequence[int] | str | None = ...,
        *,
        measure: Literal["auto", "fisher-z", "g2"] = ...,
        strongest: Literal["p", "statistic"] = ...,
        alpha: float = ...,
        bins: int | Literal["mean"] | None = ...,
        few_rows: int | Literal["independent"] = ...,
        max_condition: int = ...,
        symmetric: bool = ...,
        hold: int | Literal["auto", "all"] = ...,
        choose: str | None = ...,
        cv: int | None = ...,
        holdout: float | None = ...,
        stability: int | tuple[int, float] | None = ...,
        inference: str | None = ...,
        correction: str | None = ...,
        repeats: int | None = ...,
        null: int | None = ...,
        level: float | None = ...,
        task: str = ...,
        scans: int | Literal["rest"] | None = ...,
        order: str | ArrayLike = ...,
        groups: str | Mapping[str, Any] | ArrayLike | None = ...,
        always: Sequence[str | int] | None = ...,
        missing: str = ...,
        max_missing: float | None = ...,
        min_count: int = ...,
        class_weight: str | Mapping[Any, float] | None = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class AnnealedRidge(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        ridge: float | Literal["gcv"] = ...,
        drop: float = ...,
        cool: float = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OLS(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        ridge: float = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OLSth(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        ridge: float = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OFSA(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        iterations: int = ...,
        mu: float = ...,
        step: float = ...,
        ridge: float = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OLasso(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        solver: Literal["lars", "cd", "ista"] = ...,
        lambda_: float | None = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OALasso(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        ridge: float = ...,
        lambda_: float | None = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OElNet(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        l2: float = ...,
        lambda_: float | None = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OMCP(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        gamma: float = ...,
        solver: Literal["cd", "ista"] = ...,
        lambda_: float | None = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OSCAD(_Averages):
    def __init__(
        self,
        k: int | None = ...,
        *,
        loss: str | None = ...,
        a: float = ...,
        lambda_: float | None = ...,
        choose: Literal["bic", "ebic", "holdout"] = ...,
        forget: float = ...,
        products: Literal["f32", "f64"] = ...,
        active: int | None = ...,
        storage: Literal["f64", "f32"] = ...,
        always: Sequence[str | int] | None = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SGD(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        power: float | None = ...,
        average: bool = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class TSGD(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        power: float | None = ...,
        burn: int | None = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SIHT(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        power: float | None = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class TruncatedGradient(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        power: float | None = ...,
        lambda_: float = ...,
        every: int = ...,
        theta: float | None = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OPG(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        power: float | None = ...,
        lambda_: float | None = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class RDA(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        gamma: float | None = ...,
        lambda_: float = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OPGSADMM(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        rho: float = ...,
        lambda_: float = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class RDASADMM(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        rate: float | None = ...,
        rho: float = ...,
        lambda_: float = ...,
        standardise: bool = ...,
        preset: Literal["tuned", "published"] = ...,
        regret: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class OFS(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        eta: float = ...,
        lambda_: float = ...,
        margin: int = ...,
        standardise: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...

class SOFS(_Samples):
    def __init__(
        self,
        k: int = ...,
        *,
        loss: str | None = ...,
        r: float = ...,
        standardise: bool = ...,
        shuffle: bool = ...,
        task: str = ...,
        missing: str = ...,
        memory: int | None = ...,
        n_jobs: int | None = ...,
        random_state: int | np.random.RandomState | None = ...,
        verbose: int = ...,
        callback: Callable[[Progress], object] | None = ...,
    ) -> None: ...
