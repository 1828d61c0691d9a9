"""denise.sklearn.DeniseCovariance, with the real scikit-learn."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("sklearn")

import sklearn  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.covariance import EmpiricalCovariance  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks  # noqa: E402

import denise  # noqa: E402
from denise.sklearn import DeniseCovariance  # noqa: E402

Floats = npt.NDArray[np.float64]
DATA = Path(__file__).parents[3] / "tests" / "data"


@pytest.fixture(scope="module")
def returns() -> Floats:
    with gzip.open(DATA / "sp500" / "sp500_dataset.csv.gz", "rt") as file:
        prices = np.loadtxt(file, delimiter=",", skiprows=1, usecols=range(1, 21))
    return prices[1:] / prices[:-1] - 1


def with_gaps(rows: Floats, share: float) -> Floats:
    rows = rows.copy()
    rows[np.random.default_rng(0).random(rows.shape) < share] = np.nan
    return rows


@parametrize_with_checks(
    [
        DeniseCovariance(),
        DeniseCovariance(k="auto", half_life=10, correlation=False, assume_centered=True, store_precision=False),
    ]
)
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_check_estimator_is_clean() -> None:
    results = check_estimator(DeniseCovariance(), on_fail=None, on_skip=None)
    assert len(results) > 30
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
    # Nothing but what the environment lacks may be left out.
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}
    assert not any(r["expected_to_fail"] for r in results)


def test_sigma_is_that_of_the_library(returns: Floats) -> None:
    rows = returns[:250]
    model = DeniseCovariance(k=4, floor=0.1).fit(rows)
    M = np.cov(rows.T, bias=True)
    sigma = denise.covariance(M, 4, floor=0.1)
    np.testing.assert_allclose(model.covariance_, sigma.sigma, rtol=1e-7)
    np.testing.assert_allclose(model.loadings_, sigma.loadings, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.precision_, sigma.inverse, rtol=1e-6, atol=1e-6 * sigma.inverse.max())
    np.testing.assert_allclose(model.location_, rows.mean(axis=0), atol=1e-15)
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, M, rtol=1e-10)
    np.testing.assert_allclose(model.low_rank_, model.loadings_ @ model.loadings_.T, rtol=1e-12)
    np.testing.assert_allclose(model.covariance_, model.low_rank_ + np.diag(model.specific_), rtol=1e-12)
    # Not the sample covariance again, in units of correlation.
    assert (np.abs(model.covariance_ - M) / np.sqrt(np.outer(M.diagonal(), M.diagonal()))).max() > 0.05
    assert model.report_.status == 0
    assert model.k_ == 4


@pytest.mark.parametrize("options", [{"correlation": False}, {"floor": 0.9}, {"half_life": 30.0}, {"k": 1}])
def test_every_option_counts(returns: Floats, options: dict[str, Any]) -> None:
    usual = DeniseCovariance().fit(returns[:250])
    other = DeniseCovariance(**options).fit(returns[:250])
    assert not np.allclose(usual.covariance_, other.covariance_, rtol=1e-3)


def test_half_life_weighs_samples(returns: Floats) -> None:
    rows = returns[:200]
    weights = 0.5 ** (np.arange(200)[::-1] / 25)
    M = np.cov(rows.T, aweights=weights, bias=True)
    model = DeniseCovariance(half_life=25).fit(rows)
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, M, rtol=1e-9)
    np.testing.assert_allclose(model.location_, np.average(rows, axis=0, weights=weights), rtol=1e-9)


def test_assume_centered(returns: Floats) -> None:
    rows = returns[:100] + 0.01
    model = DeniseCovariance(assume_centered=True).fit(rows)
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, rows.T @ rows / 100, rtol=1e-10)
    assert (model.location_ == 0).all()


def test_large_offsets_lose_no_digits(returns: Floats) -> None:
    rows = returns[:100]
    near, far = DeniseCovariance().fit(rows), DeniseCovariance().fit(rows + 1000)
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-6)


def test_more_features_than_samples() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 1)) + rng.normal(size=(30, 100))
    model = DeniseCovariance(k=1).fit(rows)
    assert np.linalg.eigvalsh(EmpiricalCovariance().fit(rows).covariance_).min() < 1e-12
    assert np.linalg.eigvalsh(model.covariance_).min() > 0.05
    np.testing.assert_allclose(model.precision_ @ model.covariance_, np.eye(100), atol=1e-9)


def test_precision_need_not_be_stored(returns: Floats) -> None:
    stored, not_stored = DeniseCovariance(), DeniseCovariance(store_precision=False)
    stored.fit(returns[:250])
    not_stored.fit(returns[:250])
    assert not_stored.precision_ is None
    np.testing.assert_allclose(not_stored.get_precision(), stored.precision_, rtol=1e-6, atol=1e-6 * 1e4)
    assert stored.score(returns[250:300]) == not_stored.score(returns[250:300])


def test_score_and_distances_are_those_of_scikit_learn(returns: Floats) -> None:
    model = DeniseCovariance().fit(returns[:250])
    reference = EmpiricalCovariance().fit(returns[:250])
    reference.covariance_, reference.precision_ = model.covariance_, np.linalg.inv(model.covariance_)
    later = returns[250:400]
    assert model.score(later) == pytest.approx(reference.score(later), rel=1e-9)
    np.testing.assert_allclose(model.mahalanobis(later), reference.mahalanobis(later), rtol=1e-7)
    assert model.error_norm(np.cov(later.T)) > 0


def test_k_is_less_than_the_number_of_features() -> None:
    rows = np.random.default_rng(2).normal(size=(40, 3))
    assert DeniseCovariance(k=10).fit(rows).loadings_.shape == (3, 2)
    assert DeniseCovariance(k=10).fit(rows[:, :2]).k_ == 1
    with pytest.raises(ValueError, match=r"1 feature\(s\)"):
        DeniseCovariance().fit(rows[:, :1])


def test_auto_takes_the_suggested_rank() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 30)) + 0.5 * rng.normal(size=(2000, 30))
    assert denise.rank(np.corrcoef(rows.T), observations=2000) == 2
    assert DeniseCovariance(k="auto").fit(rows).k_ == 2
    # No common factor: at least one all the same.
    assert DeniseCovariance(k="auto").fit(rng.normal(size=(500, 30))).k_ == 1


def test_auto_knows_how_many_samples_there_are(returns: Floats) -> None:
    rows = returns[6600:7000]
    weights = 0.5 ** (np.arange(400)[::-1] / 60)
    M = np.cov(rows.T, aweights=weights, bias=True)
    # With this half-life a long history is worth 173 samples.
    ranks = [denise.rank(M, observations=observations) for observations in (0, 173, 400)]
    assert len(set(ranks)) == 3
    assert DeniseCovariance(k="auto", half_life=60).fit(rows).k_ == ranks[1]


def test_auto_with_gaps() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(2000, 2)) @ rng.normal(size=(2, 30)) + 0.5 * rng.normal(size=(2000, 30))
    rows[:1500, :5] = np.nan
    rows[500:, 5:8] = np.nan
    assert DeniseCovariance(k="auto").fit(rows).k_ == 2


def test_gaps(returns: Floats) -> None:
    rows = returns[:1000]
    whole, gaps = DeniseCovariance().fit(rows), DeniseCovariance().fit(with_gaps(rows, 0.1))
    size = np.linalg.norm(whole.covariance_)
    assert 0 < np.linalg.norm(gaps.covariance_ - whole.covariance_) < 0.1 * size
    assert np.linalg.eigvalsh(gaps.covariance_).min() > 0


def test_gaps_are_pairwise(returns: Floats) -> None:
    rows = with_gaps(returns[:300], 0.2)
    model = DeniseCovariance().fit(rows)
    M = np.empty((20, 20))
    for i in range(20):
        for j in range(20):
            both = ~np.isnan(rows[:, i] + rows[:, j])
            M[i, j] = np.cov(rows[both, i], rows[both, j], bias=True)[0, 1]
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, M, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.location_, np.nanmean(rows, axis=0), atol=1e-15)


def test_a_pair_that_never_met_is_filled_in(returns: Floats) -> None:
    rows = returns[:2000].copy()
    whole = DeniseCovariance().fit(rows)
    rows[:1000, 0] = np.nan
    rows[1000:, 7] = np.nan
    model = DeniseCovariance().fit(rows)
    assert np.isnan(model.sparse_[0, 7]) and np.isnan(model.sparse_).sum() == 2
    assert np.isfinite(model.covariance_).all()
    # Not zero, but what the factors say: right to a half.
    assert model.covariance_[0, 7] == pytest.approx(whole.covariance_[0, 7], rel=0.5)


def test_min_observations(returns: Floats) -> None:
    rows = returns[:200].copy()
    rows[:150, 3] = np.nan
    assert np.isfinite(DeniseCovariance(min_observations=50).fit(rows).sparse_).all()
    unknown = np.isnan(DeniseCovariance(min_observations=51).fit(rows).sparse_)
    assert unknown[3].all() and unknown[:, 3].all() and unknown.sum() == 39
    # Two that are well known, but not together.
    rows = returns[:200].copy()
    rows[:80, 3] = np.nan
    rows[120:, 8] = np.nan
    assert np.isfinite(DeniseCovariance(min_observations=40).fit(rows).sparse_).all()
    assert list(np.argwhere(np.isnan(DeniseCovariance(min_observations=41).fit(rows).sparse_)).ravel()) == [3, 8, 8, 3]


def test_features_without_a_variance_are_not_without_risk(returns: Floats) -> None:
    rows = returns[:250].copy()
    rows[:, 2] = 0.001
    rows[:, 5] = np.nan
    model = DeniseCovariance().fit(rows)
    others = np.delete(model.specific_, [2, 5])
    np.testing.assert_allclose(model.specific_[[2, 5]], others.mean(), rtol=1e-6)
    assert model.location_[5] == 0
    assert np.isfinite(model.score(rows))


def test_constants_have_no_variance_by_rounding() -> None:
    rng = np.random.default_rng(5)
    rows = np.empty((320, 302))
    rows[:, :300] = rng.normal(size=300) * 10 ** rng.uniform(-6, 8, size=300)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[:, 300:] = rng.normal(size=(320, 2))
    for half_life in (None, 30.0):
        model = DeniseCovariance(k=1, half_life=half_life).fit(rows[:300]).partial_fit(rows[300:])
        assert (model.loadings_[:300] == 0).all() and (model.loadings_[300:] != 0).any()
        np.testing.assert_allclose(model.specific_[:300], model.specific_[300:].mean())


def test_score_of_gaps_is_the_likelihood_of_what_is_known(returns: Floats) -> None:
    model = DeniseCovariance().fit(returns[:500])
    later = returns[500:502].copy()
    later[0, 3:] = np.nan
    later[1, :] = np.nan
    from scipy.stats import multivariate_normal

    expected = multivariate_normal(model.location_[:3], model.covariance_[:3, :3]).logpdf(later[0, :3])
    assert model.score(later) == pytest.approx(expected)
    assert model.mahalanobis(later)[1] == 0
    with pytest.raises(ValueError, match="X_test"):
        model.score(later[1:])


def test_grid_search_over_k(returns: Floats) -> None:
    search = GridSearchCV(DeniseCovariance(), {"k": [1, 2, 3, 5, 8, 12], "half_life": [None, 250]}, cv=KFold(4))
    search.fit(returns[-1000:])
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all() and len(set(scores)) == 12
    assert search.best_estimator_.k_ == search.best_params_["k"]
    # The sample covariance is worse.
    sample = GridSearchCV(EmpiricalCovariance(), {"assume_centered": [False]}, cv=KFold(4)).fit(returns[-1000:])
    assert search.best_score_ > sample.best_score_


def test_grid_search_finds_the_true_k() -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(600, 3)) @ rng.normal(size=(3, 40)) + rng.normal(size=(600, 40))
    search = GridSearchCV(DeniseCovariance(), {"k": [1, 2, 3, 4, 6]}).fit(rows)
    assert search.best_params_ == {"k": 3}


def test_partial_fit_goes_on_where_fit_was(returns: Floats) -> None:
    options: dict[str, Any] = {"half_life": 60.0}
    whole = DeniseCovariance(**options).fit(returns[:400])
    fitted = DeniseCovariance(**options).fit(returns[:300]).partial_fit(returns[300:400])
    by_rows = DeniseCovariance(**options).partial_fit(returns[:300])
    for row in returns[300:400]:
        by_rows.partial_fit(row[None, :])
    M = whole.low_rank_ + whole.sparse_
    for model in (fitted, by_rows):
        np.testing.assert_allclose(model.low_rank_ + model.sparse_, M, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(model.location_, whole.location_, rtol=1e-8)
    # In one piece or row by row: the same.
    np.testing.assert_allclose(fitted.loadings_, by_rows.loadings_, rtol=1e-6, atol=1e-9)
    # U followed: not the split that a new one would be, but about as good.
    assert not np.allclose(fitted.low_rank_, whole.low_rank_, rtol=1e-3)
    assert fitted.report_.l1 < 1.2 * whole.report_.l1
    assert np.linalg.norm(fitted.covariance_ - whole.covariance_) < 0.2 * np.linalg.norm(whole.covariance_)
    assert np.linalg.eigvalsh(fitted.covariance_).min() > 0


def test_partial_fit_with_gaps_ages_no_pair_that_was_not_seen(returns: Floats) -> None:
    rows = with_gaps(returns[:120], 0.3)
    model = DeniseCovariance(half_life=20, assume_centered=True).partial_fit(rows[:60]).partial_fit(rows[60:])
    pair = rows[:, [4, 9]]
    pair = pair[~np.isnan(pair).any(axis=1)]
    weights = 0.5 ** (np.arange(len(pair))[::-1] / 20)
    expected = (weights * pair[:, 0] * pair[:, 1]).sum() / weights.sum()
    assert (model.low_rank_ + model.sparse_)[4, 9] == pytest.approx(expected, rel=1e-9)


def test_columns_of_u_do_not_flip_in_partial_fit(returns: Floats) -> None:
    model = DeniseCovariance(half_life=60).fit(returns[:300])
    model.partial_fit(returns[300:301])
    for row in returns[301:400]:
        before = model.loadings_
        model.partial_fit([row])
        assert ((before * model.loadings_).sum(axis=0) > 0).all()


@pytest.mark.parametrize("correlation", [True, False])
def test_partial_fit_is_a_stream_of_matrices(returns: Floats, correlation: bool) -> None:
    model = DeniseCovariance(half_life=60, correlation=correlation).fit(returns[:300])
    stream = denise.Model(k=3, correlation=correlation).stream(20)
    stream.push_matrix(model.low_rank_ + model.sparse_)
    for t in range(300, 330):
        model.partial_fit(returns[t : t + 1])
        step = stream.push_matrix(model.low_rank_ + model.sparse_, u=True)
        np.testing.assert_allclose(model.loadings_, step.loadings, rtol=1e-5, atol=1e-8)


def test_portfolios_move_less_with_partial_fit(returns: Floats) -> None:
    followed, anew = DeniseCovariance(half_life=60).fit(returns[4000:4400]), DeniseCovariance(half_life=60)
    moved = {"followed": 0.0, "anew": 0.0}
    before: dict[str, Floats] = {}
    for t in range(4400, 4500):
        followed.partial_fit(returns[t : t + 1])
        anew.fit(returns[4000 : t + 1])
        for name, model in (("followed", followed), ("anew", anew)):
            weights = model.get_precision().sum(axis=0)
            weights /= weights.sum()
            moved[name] += np.abs(weights - before.get(name, weights)).sum()
            before[name] = weights
    assert 0 < moved["followed"] < 0.8 * moved["anew"]


def test_a_feature_that_comes_later(returns: Floats) -> None:
    rows = returns[:400].copy()
    rows[:310, 6] = np.nan
    model = DeniseCovariance(half_life=60).fit(rows[:300])
    without = DeniseCovariance(half_life=60).fit(np.delete(rows[:300], 6, axis=1))
    others = np.arange(20) != 6
    # As if it were not there, before.
    np.testing.assert_allclose(model.covariance_[np.ix_(others, others)], without.covariance_, rtol=1e-9)
    assert (model.loadings_[6] == 0).all() and model.covariance_[6, 6] == pytest.approx(without.specific_.mean())
    model.partial_fit(rows[300:])
    assert np.abs(model.loadings_[6]).max() > 0
    variance = (model.low_rank_ + model.sparse_)[6, 6]
    weights = 0.5 ** (np.arange(90)[::-1] / 60)
    assert variance == pytest.approx(np.cov(rows[310:, 6], aweights=weights, bias=True), rel=1e-9)


def test_fewer_known_features_than_factors(returns: Floats) -> None:
    rows = np.full((100, 6), np.nan)
    rows[:, 4] = returns[:100, 4]
    one = DeniseCovariance(k=3).fit(rows)
    assert one.loadings_.shape == (6, 3) and (one.loadings_ == 0).all() and one.report_ is None
    np.testing.assert_allclose(one.covariance_, np.eye(6) * rows[:, 4].var(), rtol=1e-9)
    assert np.isfinite(one.score(rows))
    rows[:, 5] = returns[:100, 5]
    two = DeniseCovariance(k=3).fit(rows)
    np.testing.assert_allclose(two.covariance_[4:, 4:], np.cov(rows[:, 4:].T, bias=True), rtol=0.01)


def test_partial_fit_before_anything_is_known(returns: Floats) -> None:
    model = DeniseCovariance(k=2).partial_fit(returns[:1])
    assert np.isnan(model.covariance_).all() and np.isnan(model.precision_).all()
    assert model.loadings_.shape == (20, 2) and model.report_ is None
    with pytest.raises(NotFittedError, match="no variance is known yet"):
        model.score(returns[:5])
    model.partial_fit(returns[1:50])
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, np.cov(returns[:50].T, bias=True), rtol=1e-9)
    assert np.isfinite(model.score(returns[50:60]))


def test_fit_forgets(returns: Floats) -> None:
    model = DeniseCovariance(half_life=60).fit(returns[:300]).partial_fit(returns[300:400])
    model.fit(returns[1000:1300])
    np.testing.assert_array_equal(model.covariance_, DeniseCovariance(half_life=60).fit(returns[1000:1300]).covariance_)


def test_pickle_goes_on_with_the_same_bits(returns: Floats) -> None:
    model = DeniseCovariance(half_life=60).fit(returns[:300]).partial_fit(returns[300:310])
    copy = pickle.loads(pickle.dumps(model))
    for each in (model, copy):
        each.partial_fit(returns[310:350])
    np.testing.assert_array_equal(model.covariance_, copy.covariance_)


def test_clone_and_parameters() -> None:
    model = DeniseCovariance(k="auto", floor=0.1, half_life=30)
    assert clone(model).get_params() == model.get_params()
    assert sorted(model.get_params()) == [
        "assume_centered", "correlation", "floor", "half_life", "k", "min_observations", "store_precision",
    ]  # fmt: skip
    with pytest.raises(TypeError):
        DeniseCovariance(3)  # type: ignore[misc]


def test_names_of_features(returns: Floats) -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(returns[:100, :5], columns=list("abcde"))
    model = DeniseCovariance(k=1).fit(table)
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(table[list("edcba")])


def test_in_a_pipeline(returns: Floats) -> None:
    pipeline = make_pipeline(StandardScaler(), DeniseCovariance(k=2)).fit(returns[:250])
    assert np.isfinite(pipeline.score(returns[250:300]))
    np.testing.assert_allclose(pipeline[-1].covariance_.diagonal(), 1, rtol=0.2)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"k": 0}, "k"),
        ({"k": 33}, "k"),
        ({"k": 1.5}, "k"),
        ({"k": "most"}, "k"),
        ({"floor": 0.0}, "floor"),
        ({"floor": 1.5}, "floor"),
        ({"half_life": 0}, "half_life"),
        ({"half_life": -1.0}, "half_life"),
        ({"min_observations": 0}, "min_observations"),
        ({"correlation": "yes"}, "correlation"),
    ],
)
def test_bad_parameters_are_named(returns: Floats, options: dict[str, Any], name: str) -> None:
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            getattr(DeniseCovariance(**options), method)(returns[:50])


def test_bad_data_are_refused(returns: Floats) -> None:
    infinite = returns[:50].copy()
    infinite[3, 4] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        DeniseCovariance().fit(infinite)
    with pytest.raises(ValueError, match="1 sample"):
        DeniseCovariance().fit(returns[:1])
    for nothing in (np.ones((20, 5)), np.full((20, 5), np.nan)):
        with pytest.raises(ValueError, match="^X: no feature has a variance"):
            DeniseCovariance().fit(nothing)


def test_version_is_the_pinned_one() -> None:
    text = (Path(__file__).parents[1] / "requirements-test.txt").read_text()
    assert f"scikit-learn=={sklearn.__version__}\n" in text
