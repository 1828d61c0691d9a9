"""denise.skfolio, with the real skfolio: its optimizers, its walk-forward tests, and its own referee."""

from __future__ import annotations

import copy
import pickle
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("skfolio")

import pandas as pd  # noqa: E402
import skfolio  # noqa: E402
import sklearn  # noqa: E402
from skfolio.model_selection import (  # noqa: E402
    WalkForward,
    cross_val_predict,
    online_covariance_forecast_evaluation,
    online_predict,
)
from skfolio.moments import EmpiricalMu, EWCovariance, EWMu, LedoitWolf  # noqa: E402
from skfolio.optimization import MaximumDiversification, MeanRisk, ObjectiveFunction, RiskBudgeting  # noqa: E402
from skfolio.prior import EmpiricalPrior  # noqa: E402
from sklearn.base import clone  # noqa: E402

import denise  # noqa: E402
from denise.skfolio import DeniseCovariance, DenisePrior  # noqa: E402

# What skfolio says about zeros in the place of NaN in scenarios; they do not matter here.
pytestmark = pytest.mark.filterwarnings("ignore:More than 5%")

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
DATA = Path(__file__).parents[3] / "tests" / "data"


@pytest.fixture(scope="module")
def returns() -> pd.DataFrame:
    prices = pd.read_csv(DATA / "sp500" / "sp500_dataset.csv.gz", index_col=0, parse_dates=True)
    # Before 1998 some prices are often the same for days, and skfolio refuses assets without a variance.
    return prices.pct_change().loc["1998":]


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def universe(rows: pd.DataFrame) -> tuple[pd.DataFrame, Bools]:
    """Returns with a late listing (2), two that end (5, 7), one that comes back (11) and a few holidays (9)."""
    active = np.ones(rows.shape, dtype=bool)
    active[:100, 2] = False
    active[250:, 5] = False
    active[350:, 7] = False
    active[150:200, 11] = False
    rows = rows.where(active)
    rows.iloc[::17, 9] = np.nan
    return rows, active


# The covariance.


def test_sigma_is_that_of_the_library(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:250]
    model = DeniseCovariance(half_life=None, assume_centered=False).fit(rows)
    M = rows.cov(ddof=0).to_numpy()
    sigma = denise.covariance(M)
    np.testing.assert_allclose(model.covariance_, sigma.sigma, rtol=1e-7)
    np.testing.assert_allclose(model.loadings_, sigma.loadings, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.specific_, sigma.specific, rtol=1e-6)
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, M, rtol=1e-9)
    np.testing.assert_allclose(model.location_, rows.mean(), rtol=1e-9)
    assert list(model.feature_names_in_) == list(rows.columns)
    assert model.report_.status == 0 and model.k_ == 3


def test_m_is_the_covariance_of_skfolio(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:300]
    model, reference = DeniseCovariance(half_life=40).fit(rows), EWCovariance(half_life=40).fit(rows)
    np.testing.assert_allclose(model.low_rank_ + model.sparse_, reference.covariance_, rtol=1e-9)
    np.testing.assert_array_equal(model.location_, reference.location_)


@pytest.mark.parametrize("pieces", [[400], [100, 50, 1, 1, 98, 150], [230, 170]])
def test_masks_mean_what_they_mean_in_skfolio(returns: pd.DataFrame, pieces: list[int]) -> None:
    rows, active = universe(returns.iloc[:400])
    model, reference = DeniseCovariance(half_life=40), EWCovariance(half_life=40)
    at = 0
    for size in pieces:
        piece = slice(at, at + size)
        at += size
        for estimator in (model, reference):
            estimator.partial_fit(rows.iloc[piece], active_mask=active[piece])
        np.testing.assert_array_equal(np.isnan(model.covariance_), np.isnan(reference.covariance_))
        # Variances are the same with holidays, late listings and after coming back.
        variances = (model.low_rank_ + model.sparse_).diagonal()
        np.testing.assert_allclose(variances, reference.covariance_.diagonal(), rtol=1e-8)
        known = ~np.isnan(variances)
        assert np.linalg.eigvalsh(model.covariance_[np.ix_(known, known)]).min() > 0
    assert list(np.flatnonzero(~known)) == [5, 7]


def test_warm_up_is_that_of_skfolio(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:60]
    for least in (None, 25):
        model = DeniseCovariance(half_life=40, min_observations=least)
        reference = EWCovariance(half_life=40, min_observations=least)
        for row in range(60):
            for estimator in (model, reference):
                estimator.partial_fit(rows.iloc[row : row + 1])
            np.testing.assert_array_equal(np.isnan(model.covariance_), np.isnan(reference.covariance_))
        assert np.isfinite(model.covariance_).all()


def test_inactive_assets_change_nothing_for_the_others(returns: pd.DataFrame) -> None:
    rows, active = returns.iloc[:300], np.ones((300, 20), dtype=bool)
    active[200:, [3, 8]] = False
    here = active[-1]
    model = DeniseCovariance().fit(rows, active_mask=active)
    alone = DeniseCovariance().fit(rows.loc[:, here])
    assert np.isnan(model.covariance_[~here]).all() and np.isnan(model.covariance_[:, ~here]).all()
    assert np.isnan(model.loadings_[~here]).all() and np.isnan(model.specific_[~here]).all()
    np.testing.assert_allclose(model.covariance_[np.ix_(here, here)], alone.covariance_, rtol=1e-9)
    # The same if they go later.
    model = DeniseCovariance().fit(rows.iloc[:250]).partial_fit(rows.iloc[250:], active_mask=active[250:])
    alone = DeniseCovariance().fit(rows.loc[:, here].iloc[:251]).partial_fit(rows.loc[:, here].iloc[251:])
    np.testing.assert_allclose(model.covariance_[np.ix_(here, here)], alone.covariance_, rtol=1e-9)


def test_without_a_mask_gaps_are_holidays(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:200].copy()
    before = DeniseCovariance().fit(rows)
    rows.iloc[100:, 4] = np.nan
    model = DeniseCovariance().fit(rows)
    reference = EWCovariance(half_life=60).fit(rows)
    assert np.isfinite(model.covariance_).all()
    assert model.covariance_[4, 4] != before.covariance_[4, 4]
    assert (model.low_rank_ + model.sparse_)[4, 4] == pytest.approx(reference.covariance_[4, 4], rel=1e-9)


def test_a_pair_that_never_met_is_filled_in(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:1000].copy()
    rows.iloc[:500, 0] = np.nan
    rows.iloc[500:, 7] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # skfolio would say that it leaves an asset out
        model = DeniseCovariance(half_life=None).fit(rows)
    assert np.isnan(model.sparse_[0, 7]) and np.isfinite(model.covariance_).all()
    assert model.covariance_[0, 7] == pytest.approx(model.low_rank_[0, 7])


def test_in_one_piece_or_row_by_row(returns: pd.DataFrame) -> None:
    rows, active = universe(returns.iloc[:400])
    one = DeniseCovariance().fit(rows.iloc[:300], active_mask=active[:300])
    one.partial_fit(rows.iloc[300:], active_mask=active[300:])
    many = DeniseCovariance().fit(rows.iloc[:300], active_mask=active[:300])
    for t in range(300, 400):
        many.partial_fit(rows.iloc[t : t + 1], active_mask=active[t : t + 1])
    np.testing.assert_allclose(one.covariance_, many.covariance_, rtol=1e-9, atol=1e-15)


def test_everything_may_end_and_begin_again(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:300]
    model = DeniseCovariance(half_life=40).fit(rows.iloc[:100])
    model.partial_fit(rows.iloc[100:101], active_mask=np.zeros((1, 20), dtype=bool))
    assert np.isnan(model.covariance_).all() and model.report_ is None
    model.partial_fit(rows.iloc[101:])
    fresh = DeniseCovariance(half_life=40).fit(rows.iloc[101:])
    np.testing.assert_allclose(model.covariance_, fresh.covariance_, rtol=1e-9)


def test_score_leaves_unknown_assets_out(returns: pd.DataFrame) -> None:
    rows, active = universe(returns.iloc[:400])
    model = DeniseCovariance().fit(rows, active_mask=active)
    assert np.isfinite(model.score(returns.iloc[400:450]))
    assert np.isfinite(model.mahalanobis(returns.iloc[400:450])).all()


def test_copies_go_on_with_the_same_bits(returns: pd.DataFrame) -> None:
    model = DeniseCovariance().fit(returns.iloc[:100]).partial_fit(returns.iloc[100:110])
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for each in (model, *others):
        each.partial_fit(returns.iloc[110:130])
    for each in others:
        np.testing.assert_array_equal(model.covariance_, each.covariance_)


def test_fit_forgets(returns: pd.DataFrame) -> None:
    model = DeniseCovariance().fit(returns.iloc[:100]).fit(returns.iloc[500:700])
    np.testing.assert_array_equal(model.covariance_, DeniseCovariance().fit(returns.iloc[500:700]).covariance_)


def test_clone_and_parameters() -> None:
    model = DeniseCovariance(k="auto", floor=0.1)
    assert clone(model).get_params() == model.get_params()
    assert sorted(model.get_params()) == [
        "assume_centered", "correlation", "floor", "half_life", "k", "min_observations",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"k": 0},
        {"k": 33},
        {"k": True},
        {"k": "most"},
        {"floor": 0.0},
        {"floor": 2},
        {"half_life": 0},
        {"min_observations": 0},
    ],
)
def test_bad_parameters_are_named(returns: pd.DataFrame, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(options))}: must be"):
        DeniseCovariance(**options).fit(returns.iloc[:100])


def test_bad_data_are_refused(returns: pd.DataFrame) -> None:
    rows = returns.iloc[:100]
    with pytest.raises(ValueError, match="^active_mask: the shape is"):
        DeniseCovariance().fit(rows, active_mask=np.ones((99, 20)))
    with pytest.raises(ValueError, match="20 features|expecting 20"):
        DeniseCovariance().fit(rows.to_numpy()).partial_fit(rows.to_numpy()[:, :19])
    with pytest.raises(ValueError, match="infinity"):
        DeniseCovariance().fit(rows.replace(rows.iloc[3, 4], np.inf))


# The prior.


def test_the_factor_model_is_u_and_d(returns: pd.DataFrame) -> None:
    prior = DenisePrior(mu_estimator=EmpiricalMu()).fit(returns.iloc[:250])
    distribution = prior.return_distribution_
    factors = distribution.factor_model
    estimator = prior.covariance_estimator_
    np.testing.assert_array_equal(distribution.covariance, estimator.covariance_)
    np.testing.assert_array_equal(distribution.returns, returns.iloc[:250])
    np.testing.assert_array_equal(factors.loading_matrix, estimator.loadings_)
    np.testing.assert_array_equal(factors.factor_covariance, np.eye(3))
    np.testing.assert_array_equal(factors.idio_covariance, estimator.specific_)
    U, d = factors.loading_matrix, factors.idio_covariance
    np.testing.assert_allclose(U @ U.T + np.diag(d), distribution.covariance, rtol=1e-9)
    root = factors.covariance_sqrt
    np.testing.assert_allclose(root.components[0] @ root.components[0].T, U @ U.T, rtol=1e-9)
    np.testing.assert_allclose(root.diagonal**2, d, rtol=1e-12)
    np.testing.assert_allclose(distribution.mu, returns.iloc[:250].mean(), rtol=1e-12)
    np.testing.assert_allclose(U @ factors.factor_mu + factors.idio_mu, distribution.mu, rtol=1e-9)
    np.testing.assert_allclose(factors.factor_returns @ U.T + factors.idio_returns, distribution.returns, rtol=1e-9)
    # What is left has nothing of the factors, in the metric of d.
    np.testing.assert_allclose(factors.idio_returns @ (U / d[:, None]), 0, atol=1e-9 * np.abs(U / d[:, None]).max())
    assert list(factors.asset_names) == list(returns.columns)
    assert list(factors.factor_names) == ["factor_1", "factor_2", "factor_3"]
    assert list(factors.observations) == list(returns.index[:250])


def test_mean_risk_with_factors_is_mean_risk_without(returns: pd.DataFrame) -> None:
    rows = returns.iloc[-500:]
    covariance = DeniseCovariance(half_life=120)
    with_factors = MeanRisk(prior_estimator=DenisePrior(covariance_estimator=covariance)).fit(rows)
    without = MeanRisk(prior_estimator=EmpiricalPrior(mu_estimator=EWMu(), covariance_estimator=covariance)).fit(rows)
    np.testing.assert_allclose(with_factors.weights_, without.weights_, atol=2e-3)
    assert with_factors.weights_.sum() == pytest.approx(1)
    # And it is the portfolio of least variance, by the library's own solver, where nothing is short.
    free = MeanRisk(
        prior_estimator=DenisePrior(covariance_estimator=covariance), min_weights=-1, max_weights=1
    ).fit(rows)
    model = clone(covariance).fit(rows)
    best = denise.solve((model.loadings_, model.specific_), np.ones(20))
    np.testing.assert_allclose(free.weights_, best / best.sum(), atol=2e-3)


@pytest.mark.parametrize(
    "optimizer",
    [
        MeanRisk(objective_function=ObjectiveFunction.MAXIMIZE_RATIO),
        MeanRisk(linear_constraints=["factor_1 <= 0.006"]),
        RiskBudgeting(),
        MaximumDiversification(),
    ],
)
def test_other_optimizers_take_it(returns: pd.DataFrame, optimizer: Any) -> None:
    model = clone(optimizer).set_params(prior_estimator=DenisePrior()).fit(returns.iloc[-500:])
    assert model.weights_.sum() == pytest.approx(1)
    if model.get_params().get("linear_constraints"):
        free = clone(model).set_params(linear_constraints=None).fit(returns.iloc[-500:])
        U = model.prior_estimator_.return_distribution_.factor_model.loading_matrix
        assert (free.weights_ @ U)[0] > 0.0061
        assert (model.weights_ @ U)[0] <= 0.0061


def test_attribution(returns: pd.DataFrame) -> None:
    model = MeanRisk(prior_estimator=DenisePrior()).fit(returns.iloc[-500:])
    distribution = model.prior_estimator_.return_distribution_
    attribution = distribution.factor_model.predicted_attribution(model.weights_, annualization_factor=1.0)
    variance = model.weights_ @ distribution.covariance @ model.weights_
    assert attribution.total.vol == pytest.approx(variance**0.5, rel=1e-6)
    assert len(distribution.factor_model.summary()) == 3


def test_walk_forward(returns: pd.DataFrame) -> None:
    rows = returns.iloc[-752:]
    cv = WalkForward(train_size=252, test_size=100)
    volatility = {}
    for name, prior in {
        "denise": DenisePrior(covariance_estimator=DeniseCovariance(half_life=None)),
        "ledoit-wolf": EmpiricalPrior(covariance_estimator=LedoitWolf()),
    }.items():
        portfolio = cross_val_predict(MeanRisk(prior_estimator=prior), rows, cv=cv)
        assert len(portfolio) == 5
        volatility[name] = portfolio.standard_deviation
    # Sometimes better, sometimes worse than Ledoit and Wolf's, and never far away.
    assert volatility["denise"] == pytest.approx(volatility["ledoit-wolf"], rel=0.1)
    assert volatility["denise"] < rows.iloc[252:].mean(axis=1).std()


def test_online_portfolios(returns: pd.DataFrame) -> None:
    rows = returns.iloc[-452:]
    model = MeanRisk(prior_estimator=DenisePrior(max_history=252))
    portfolio = online_predict(model, rows, warmup_size=252, test_size=40)
    assert len(portfolio) == 5
    assert portfolio.standard_deviation < rows.iloc[252:].mean(axis=1).std()


def test_the_referee_of_skfolio(returns: pd.DataFrame) -> None:
    """On the last four years, Σ is nearer to calibrated in all directions than the covariance that it comes from."""
    rows = returns.iloc[-1252:]
    found = {}
    for name, estimator in {"denise": DeniseCovariance(half_life=60), "sample": EWCovariance(half_life=60)}.items():
        found[name] = online_covariance_forecast_evaluation(estimator, rows, warmup_size=252, test_size=5)
        assert len(found[name].observations) == 200
        assert (found[name].n_valid_assets == 20).all()
    ratio = {name: evaluation.mahalanobis_calibration_ratio.mean() for name, evaluation in found.items()}
    assert abs(ratio["denise"] - 1) < abs(ratio["sample"] - 1)
    # Variances are the same but where d is at its floor.
    one, other = (found[name].diagonal_calibration_ratio for name in ("denise", "sample"))
    np.testing.assert_allclose(one, other, rtol=0.02)


def test_the_referee_with_a_changing_universe(returns: pd.DataFrame, routing: None) -> None:
    rows, active = universe(returns.iloc[:400])
    found = [
        online_covariance_forecast_evaluation(
            estimator, rows, warmup_size=60, test_size=5, params={"active_mask": active}
        )
        for estimator in (DeniseCovariance(half_life=40), EWCovariance(half_life=40), DenisePrior())
    ]
    np.testing.assert_array_equal(found[0].n_valid_assets, found[1].n_valid_assets)
    assert found[0].n_valid_assets.min() < found[0].n_valid_assets.max()
    assert len(found[2].observations) == len(found[0].observations)


def test_masks_reach_the_covariance_through_the_prior(returns: pd.DataFrame, routing: None) -> None:
    rows, active = universe(returns.iloc[:400])
    model = MeanRisk(prior_estimator=DenisePrior()).fit(rows, active_mask=active)
    distribution = model.prior_estimator_.return_distribution_
    assert list(np.flatnonzero(~distribution.investable_mask)) == [5, 7]
    assert (model.weights_[[5, 7]] == 0).all() and model.weights_.sum() == pytest.approx(1)
    subset = distribution.investable_subset().factor_model
    for part in (subset.loading_matrix, subset.idio_covariance, subset.idio_mu, subset.idio_returns):
        assert np.isfinite(part).all()
    assert np.isfinite(subset.factor_returns).all() and np.isfinite(subset.factor_mu).all()
    online = online_predict(
        MeanRisk(prior_estimator=DenisePrior()), rows, warmup_size=120, test_size=40, params={"active_mask": active}
    )
    assert len(online) == 7


def test_prior_in_pieces(returns: pd.DataFrame) -> None:
    whole = DenisePrior(max_history=50).partial_fit(returns.iloc[:100])
    assert list(whole.return_distribution_.factor_model.observations) == list(returns.index[50:100])
    whole.partial_fit(returns.iloc[100:110])
    distribution = whole.return_distribution_
    assert list(distribution.factor_model.observations) == list(returns.index[60:110])
    assert distribution.factor_model.factor_returns.shape == (50, 3)
    arrays = DenisePrior().fit(returns.to_numpy()[:100]).partial_fit(returns.to_numpy()[100:110])
    np.testing.assert_array_equal(arrays.return_distribution_.factor_model.observations, np.arange(110))
    np.testing.assert_allclose(arrays.return_distribution_.covariance, distribution.covariance, rtol=1e-12)
    assert arrays.fit(returns.to_numpy()[:80]).return_distribution_.returns.shape == (80, 20)


def test_an_asset_with_a_variance_and_no_mean_yet(returns: pd.DataFrame, routing: None) -> None:
    rows, active = universe(returns.iloc[:240])
    prior = DenisePrior(mu_estimator=EWMu(min_observations=200)).fit(rows, active_mask=active)
    distribution = prior.return_distribution_
    assert np.isfinite(distribution.covariance[2, 2]) and np.isnan(distribution.mu[2])
    assert not distribution.investable_mask[2]
    assert np.isfinite(distribution.factor_model.factor_mu).all()
    assert np.isfinite(distribution.factor_model.factor_returns).all()


def test_prior_before_anything_is_known(returns: pd.DataFrame) -> None:
    prior = DenisePrior().fit(returns.iloc[:5])
    assert np.isnan(prior.return_distribution_.covariance).all()


def test_prior_refuses_other_covariances(returns: pd.DataFrame) -> None:
    with pytest.raises(TypeError, match="^covariance_estimator: must be a denise.skfolio.DeniseCovariance"):
        DenisePrior(covariance_estimator=EWCovariance()).fit(returns.iloc[:100])


def test_nested_parameters(returns: pd.DataFrame) -> None:
    model = MeanRisk(prior_estimator=DenisePrior(covariance_estimator=DeniseCovariance()))
    model.set_params(prior_estimator__covariance_estimator__k=1).fit(returns.iloc[:250])
    assert model.prior_estimator_.covariance_estimator_.k_ == 1


def test_the_page_about_estimators(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[1] / "docs" / "estimators.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```\n\nIt prints `(.*?)`\.", page, flags=re.DOTALL)
    assert len(blocks) == 2
    for code, printed in blocks:
        exec(compile(code, "estimators.md", "exec"), {})
        assert capsys.readouterr().out.strip() == printed


def test_version_is_the_pinned_one() -> None:
    text = (Path(__file__).parents[1] / "requirements-test.txt").read_text()
    assert f"skfolio=={skfolio.__version__}\n" in text
