#!/usr/bin/env python3
"""Tests of the evaluation itself; libdenise is not needed. python -m unittest discover evidence"""

import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from bootstrap import block_indices, interval, resampled, volatility
from estimate import from_sigma
from estimators import eigen, factors_and_diagonal, sample_covariances
from estimators import linear_shrinkage, of_correlations, quadratic_shrinkage
from low_rank import eigen_truncation, of_covariances, principal_factors
from panels import Panel, without_holidays, without_twins
from portfolio import hold, long_only, minimum_variance, turnover
from qis import qis
from sklearn.covariance import ledoit_wolf
from walk import estimates, follow, log_likelihood, record, steps


def draw(seed, days, n, sigma=None):
    x = np.random.default_rng(seed).standard_normal((days, n))
    x = x if sigma is None else x @ np.linalg.cholesky(sigma).T
    return x - x.mean(axis=0)


def random_sigma(seed, n):
    """Two factors, the first of which moves all assets the same way, as stocks do."""
    u = np.random.default_rng(seed).standard_normal((n, 2)) + np.array([2, 0])
    return u @ u.T + np.diag(np.linspace(0.5, 3, n))


def panel(seed=1, days=300, n=12):
    returns = 0.01 * np.random.default_rng(seed).standard_normal((days, n))
    return Panel("made up", returns, "", "", "", "", windows=(60,))


class Qis(unittest.TestCase):
    def test_rotation_of_the_assets_rotates_the_result(self):
        for days in (100, 25):
            x = draw(2, days, 40, random_sigma(3, 40))
            m = x.T @ x / (days - 1)
            q, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((40, 40)))
            np.testing.assert_allclose(qis(q @ m @ q.T, days - 1), q @ qis(m, days - 1) @ q.T, atol=1e-8)

    def test_positive_definite_with_fewer_days_than_assets(self):
        x = draw(5, 30, 80)
        m = x.T @ x / 29
        self.assertLess(np.linalg.eigvalsh(m)[0], 1e-10)
        self.assertGreater(np.linalg.eigvalsh(qis(m, 29))[0], 0.1)

    def test_trace_stays(self):
        for days in (200, 30):
            x = draw(6, days, 50, random_sigma(7, 50))
            m = x.T @ x / (days - 1)
            self.assertAlmostEqual(np.trace(qis(m, days - 1)) / np.trace(m), 1, places=10)

    def test_finds_the_identity(self):
        # The sample's own error is c = n / days in mean square.
        for days, n in ((400, 200), (100, 200)):
            x = draw(8, days + 1, n)
            m = x.T @ x / days
            sample, shrunk = (((sigma - np.eye(n)) ** 2).sum() / n for sigma in (m, qis(m, days)))
            self.assertGreater(sample, 0.4)
            self.assertLess(shrunk, 0.02)

    def test_near_the_best_rotation_invariant_estimator(self):
        # No estimator with the sample's eigenvectors v is better than the one with the eigenvalues v'Σv.
        n = 200
        sigma = np.diag(np.repeat([1.0, 3.0, 10.0], [40, 80, 80]))
        for days in (600, 100):
            x = draw(9, days + 1, n, sigma)
            m = x.T @ x / days
            v = np.linalg.eigh(m)[1]
            best = (v * np.einsum("ij,ik,kj->j", v, sigma, v)) @ v.T
            loss_best, loss = (np.linalg.norm(guess - sigma) for guess in (best, qis(m, days)))
            self.assertLess(loss, 1.08 * loss_best)


class Estimators(unittest.TestCase):
    def test_units_do_not_matter_with_correlations(self):
        x = draw(10, 100, 15, random_sigma(11, 15))[None]
        units = np.exp(np.linspace(-4, 4, 15))
        shrinkage = linear_shrinkage(ledoit_wolf)
        for estimate in (lambda x, m: eigen(3, 0.1)(x, m).sigma, of_correlations(shrinkage)):
            a, b = (estimate(y, sample_covariances(y)) for y in (x, x * units))
            np.testing.assert_allclose(a * np.outer(units, units), b, rtol=1e-9)
        a, b = (shrinkage(y, sample_covariances(y)) for y in (x, x * units))
        self.assertFalse(np.allclose(a * np.outer(units, units), b, rtol=0.1))

    def test_principal_factors_find_the_factors(self):
        sigma = random_sigma(20, 30)
        truth = sigma - np.diag(np.linspace(0.5, 3, 30))
        scale = np.sqrt(np.outer(np.diag(sigma), np.diag(sigma)))
        found, truncated = (split(sigma / scale, 2) * scale for split in (principal_factors, eigen_truncation))
        self.assertLess(np.linalg.norm(found - truth), 1e-3 * np.linalg.norm(truth))
        self.assertGreater(np.linalg.norm(truncated - truth), 1e-2 * np.linalg.norm(truth))

    def test_diagonal_is_the_variance_unless_the_floor_lifts_it(self):
        m = sample_covariances(draw(12, 50, 10, random_sigma(13, 10))[None])
        l = of_covariances(eigen_truncation, m, 3)
        diagonal = np.diag(m[0])
        np.testing.assert_allclose(np.diag(factors_and_diagonal(l, m, 1e-9)[0]), diagonal)
        lifted = np.diag(factors_and_diagonal(l, m, 0.9)[0])
        np.testing.assert_allclose(lifted, np.maximum(diagonal, np.diag(l[0]) + 0.9 * diagonal))
        self.assertTrue((lifted > diagonal * 1.001).any())

    def test_same_divisor_for_all(self):
        # Shrinkage keeps the trace, so the traces tell the divisor.
        x = draw(14, 30, 8)[None]
        m = sample_covariances(x)
        for estimate in (linear_shrinkage(ledoit_wolf), quadratic_shrinkage):
            self.assertAlmostEqual(np.trace(estimate(x, m)[0]), np.trace(m[0]), places=10)


class Portfolios(unittest.TestCase):
    def test_minimum_variance(self):
        sigma = random_sigma(15, 20)
        w = minimum_variance(np.linalg.inv(sigma))
        self.assertAlmostEqual(w.sum(), 1)
        # At the minimum, all assets have the same covariance with the portfolio.
        np.testing.assert_allclose(sigma @ w, w @ sigma @ w, rtol=1e-9)

    def test_long_only(self):
        sigma = 1e-4 * random_sigma(16, 20)
        self.assertLess(minimum_variance(np.linalg.inv(sigma)).min(), -0.01)
        w = long_only(sigma)
        self.assertAlmostEqual(w.sum(), 1)
        self.assertGreaterEqual(w.min(), 0)
        # Assets that are held have the same covariance with the portfolio, and no other one has less.
        covariance, variance = sigma @ w, w @ sigma @ w
        np.testing.assert_allclose(covariance[w > 0], variance, rtol=1e-9)
        self.assertGreaterEqual(covariance.min(), variance * (1 - 1e-9))

    def test_drift(self):
        daily, end = hold(np.array([0.5, 0.5]), np.array([[0.1, 0.0], [0.0, 0.1]]))
        np.testing.assert_allclose(daily, [0.05, 0.05 / 1.05])
        np.testing.assert_allclose(end, [0.5, 0.5])
        _, end = hold(np.array([0.5, 0.5]), np.array([[1.0, 0.0]]))
        np.testing.assert_allclose(end, [2 / 3, 1 / 3])

    def test_turnover(self):
        self.assertEqual(turnover(np.array([0.3, 0.7]), np.array([0.3, 0.7])), 0)
        self.assertEqual(turnover(np.array([1.0, 0.0]), np.array([0.0, 1.0])), 2)

    def test_constant_weights_trade_only_what_drifts(self):
        still = panel()
        still.returns[:] = 0.01  # all assets alike: nothing drifts
        walk = steps(still, 60, 0, 300)
        weights = [np.full(12, 1 / 12)] * len(walk)
        self.assertAlmostEqual(follow(still, walk, weights).turnover, 0)
        self.assertGreater(follow(panel(), walk, weights).turnover, 0.001)


class Walking(unittest.TestCase):
    def test_no_look_ahead(self):
        before, after = panel(), panel()
        day = 60 + 3 * 21
        after.returns[day:] = 0.02 * np.random.default_rng(17).standard_normal(after.returns[day:].shape)
        walk = steps(before, 60, 0, 300)
        a, b = (estimates(p, 60, walk, eigen(3, 0.1)) for p in (before, after))
        for place, step in enumerate(walk):
            same = np.array_equal(a[place][1], b[place][1])
            self.assertEqual(same, step.day <= day)

    def test_months_do_not_pass_the_end(self):
        walk = steps(panel(), 60, 180, 250)
        self.assertEqual([step.day for step in walk], [180, 201, 222])

    def test_assets_with_gaps_stay_out(self):
        gaps = panel()
        gaps.returns[100, 4] = np.nan
        for step in steps(gaps, 60, 0, 300):
            self.assertEqual(4 in step.assets, not step.day - 60 <= 100 < step.day + 21)

    def test_log_likelihood(self):
        sigma = random_sigma(18, 4)
        one = from_sigma(sigma[None])
        r = np.array([[0.1, -0.2, 0.3, 0.0]])
        direct = -0.5 * np.log(np.linalg.det(2 * np.pi * sigma)) - 0.5 * r[0] @ np.linalg.solve(sigma, r[0])
        self.assertAlmostEqual(log_likelihood(one.inverse[0], one.log_det[0], r), direct)

    def test_the_truth_has_the_higher_likelihood(self):
        here = panel(days=400)
        walk = steps(here, 60, 0, 400)
        truth = lambda x, m: from_sigma(np.stack([1e-4 * np.eye(12)] * len(m)))
        sample = lambda x, m: from_sigma(m)
        a, b = (record(here, 60, walk, estimator) for estimator in (truth, sample))
        self.assertGreater(a.log_likelihood.mean(), b.log_likelihood.mean() + 0.5)
        self.assertLess(volatility(a.free.daily), volatility(b.free.daily))


class Bootstrap(unittest.TestCase):
    def test_identical_series_have_the_ratio_one(self):
        r = np.random.default_rng(19).standard_normal(500)
        draws = resampled(volatility, np.column_stack([r, r]), block_indices(500, 63, 50, 1))
        self.assertEqual(interval(draws[:, 0] / draws[:, 1]), [1.0, 1.0])

    def test_blocks(self):
        indices = block_indices(100, 30, 20, 1)
        self.assertEqual(indices.shape, (20, 100))
        steps_within = np.diff(indices, axis=1) % 100
        self.assertTrue((np.delete(steps_within, [29, 59, 89], axis=1) == 1).all())
        self.assertTrue((indices == block_indices(100, 30, 20, 1)).all())

    def test_interval_covers_as_often_as_it_says(self):
        hits = 0
        for seed in range(200):
            r = np.random.default_rng(seed).standard_normal((400, 1))
            low, high = interval(resampled(volatility, r, block_indices(400, 10, 200, seed)))
            hits += low <= 1 <= high
        self.assertGreater(hits, 172)
        self.assertLess(hits, 199)


class Prices(unittest.TestCase):
    def test_twins(self):
        prices = np.array([[2.0, 1.0, 2.0, np.nan], [3.0, 1.0, 3.0, 3.0]])
        np.testing.assert_array_equal(without_twins(prices), prices[:, [0, 1, 3]])

    def test_prices_stay_for_some_days_only(self):
        prices = np.ones((20, 4)) * np.arange(1, 21)[:, None]
        prices[5:7, 0] = np.nan  # its own holidays
        prices[8:, 1] = np.nan  # the end of a series
        prices[12] = np.nan  # a holiday of all: not a day
        prices[:3, 2] = np.nan  # a late beginning
        clean = without_holidays(prices)
        self.assertEqual(len(clean), 19)
        np.testing.assert_array_equal(clean[4:8, 0], [5, 5, 5, 8])
        np.testing.assert_array_equal(clean[7:13, 1], 8)
        self.assertTrue(np.isnan(clean[13:, 1]).all())
        self.assertTrue(np.isnan(clean[:3, 2]).all())


if __name__ == "__main__":
    unittest.main()
