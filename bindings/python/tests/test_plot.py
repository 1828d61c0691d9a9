"""Pictures: what they show, and that they leave everything else alone."""

from __future__ import annotations

import io
import subprocess
import sys

import denise
import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pd = pytest.importorskip("pandas")

from denise import _plot
from matplotlib.colors import to_rgb
from matplotlib.dates import date2num
from matplotlib.figure import Figure


def matrix(n: int = 8) -> np.ndarray:
    rng = np.random.default_rng(5)
    u = rng.normal(size=(n, 2))
    m = u @ u.T + np.diag(rng.uniform(0.1, 0.5, n))
    m[3, 1] = m[1, 3] = m[1, 3] + 2.0
    return m


def shown(figure: Figure) -> list[np.ndarray]:
    return [np.ma.filled(ax.images[0].get_array(), np.nan) for ax in figure.axes[:3]]


def png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


def test_three_panels_hold_the_matrix_and_its_parts_on_one_scale():
    m = matrix()
    figure = denise.plot(m, 2)
    split = denise.decompose(m, 2)
    assert [ax.get_title() for ax in figure.axes] == ["M", "L", "S", ""]
    for have, want in zip(shown(figure), [m, split.low_rank, split.sparse]):
        np.testing.assert_array_equal(have, want)
    most = max(np.abs(x).max() for x in shown(figure))
    assert {ax.images[0].get_clim() for ax in figure.axes[:3]} == {(-most, most)}
    assert "n = 8, rank 2" in [text.get_text() for text in figure.texts]
    assert png(figure)[:4] == b"\x89PNG"


def test_white_is_zero_and_the_ends_are_those_of_the_program():
    colours = denise.plot(matrix()).axes[0].images[0].get_cmap()
    assert colours(0.5)[:3] == to_rgb("#ffffff")
    assert colours(0.0)[:3] == to_rgb("#0a2c64")
    assert colours(1.0)[:3] == to_rgb("#6c0c22")
    assert tuple(colours.get_bad()[:3]) == to_rgb("#9a9a9a")


def test_names_come_from_the_frame_or_the_caller():
    names = list("ABCDEFGH")
    frame = pd.DataFrame(matrix(), index=names, columns=names)
    split = denise.decompose(frame, 2, u=True)
    for figure in [denise.plot(frame), denise.plot(split), denise.plot(matrix(), labels=names)]:
        across = [[text.get_text() for text in ax.get_xticklabels()] for ax in figure.axes[:3]]
        assert across == [names] * 3
        assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == names
        assert not figure.axes[1].get_yticklabels()
    other = denise.plot(frame, labels=range(8)).axes[0]
    assert [text.get_text() for text in other.get_xticklabels()] == [str(at) for at in range(8)]
    assert not denise.plot(matrix()).axes[0].get_xticklabels()
    with pytest.raises(ValueError, match="labels must have a name for each of the 8 assets; it has 2"):
        denise.plot(frame, labels=["A", "B"])


def test_names_that_have_no_room_are_left_out_evenly():
    n = 90
    ax = denise.plot(np.eye(n) + 0.1, labels=[f"${at}_$" for at in range(n)]).axes[0]
    names = [text.get_text() for text in ax.get_xticklabels()]
    assert names == [f"${at}_$" for at in range(0, n, n // len(names))]
    assert 20 < len(names) < n
    # A price of a name is not mathematics.
    assert not ax.get_xticklabels()[0].get_parse_math()


def test_a_decomposition_is_drawn_as_it_is():
    m = matrix()
    split = denise.decompose(m, 3, u=True)
    figure = denise.plot(split)
    np.testing.assert_allclose(shown(figure)[0], m, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(shown(figure)[2], split.sparse)
    assert "n = 8, rank 3" in [text.get_text() for text in figure.texts]
    without = denise.plot(denise.decompose(m, 3))
    assert "n = 8" in [text.get_text() for text in without.texts]


def test_only_the_lower_triangle_counts():
    m = matrix()
    upper = np.where(np.tri(8, dtype=bool), m, 77.0)
    np.testing.assert_array_equal(shown(denise.plot(upper))[0], m)


def test_what_is_not_known_is_grey_with_a_line_and_a_key():
    m = matrix()
    m[5, 2] = m[2, 5] = np.nan
    figure = denise.plot(m, 2)
    holes = np.isnan(m)
    for values, want in zip(shown(figure), [holes, np.zeros_like(holes), holes]):
        np.testing.assert_array_equal(np.isnan(values), want)
    assert "not known" in [text.get_text() for text in figure.texts]
    lines = [sum(len(x.get_segments()) for x in ax.collections) for ax in figure.axes[:3]]
    assert lines == [2, 0, 2]
    assert "not known" not in [text.get_text() for text in denise.plot(matrix()).texts]
    png(figure)


def test_a_caption_is_the_callers():
    texts = [text.get_text() for text in denise.plot(matrix(), caption="March 2020").texts]
    assert "March 2020" in texts and not any(text.startswith("n =") for text in texts)


def test_in_axes_that_are_there():
    figure = Figure(layout="constrained")
    axes = figure.subplots(1, 3)
    assert denise.plot(matrix(), axes=axes, labels="ABCDEFGH") is figure
    assert [ax.get_title() for ax in axes] == ["M", "L", "S"]
    assert len(figure.axes) == 4
    part = Figure().subfigures(1, 2)[1]
    assert denise.plot(matrix(), axes=part.subplots(3, 1)) is part.figure
    with pytest.raises(ValueError, match="axes must be three"):
        denise.plot(matrix(), axes=axes[:2])


def test_a_large_matrix_keeps_its_single_entries():
    n = 1001
    s = np.zeros((n, n))
    s[500, 700] = s[700, 500] = -1.0
    s[3, 3], s[10, 10] = 0.5, np.nan
    values = _plot._largest(s)
    assert values.shape == (400, 400)
    assert [(values == x).sum() for x in (-1.0, 0.5)] == [2, 1] and np.isnan(values).sum() == 1
    assert np.nansum(np.abs(values)) == 2.5
    small = matrix()
    assert _plot._largest(small) is small


@pytest.mark.parametrize("value", [0.0, 5e-324, 1e-310, 1e-7, 1e7, 1e300, np.nan, np.inf])
def test_any_numbers(value):
    values = np.array([[value]])
    assert png(_plot._draw([values, -values, values], _plot._limit([values]), [], ""))[:4] == b"\x89PNG"


@pytest.mark.parametrize("bad", [np.eye(3)[:2], np.ones((2, 3, 3)), np.ones(3), 1.0])
def test_one_matrix_only(bad):
    with pytest.raises(ValueError, match="M must be one n×n matrix"):
        denise.plot(bad)


def test_a_matrix_of_numbers_only():
    for bad in "M", None, [[1, 2], [3]], [[object()]]:
        with pytest.raises((TypeError, ValueError), match="^M must be"):
            denise.plot(bad)
    with pytest.raises(ValueError, match="M"):
        denise.plot(np.full((4, 4), np.inf))


def path(ticks: int = 30, n: int = 5, k: int = 2) -> np.ndarray:
    return np.random.default_rng(2).normal(size=(ticks, n, k))


def test_a_path_has_a_panel_for_each_factor():
    u = path()
    u[:3] = np.nan
    times = pd.date_range("2020-01-01", periods=30)
    figure = denise.plot_path(u, labels="ABCDE", times=times, caption="2020")
    assert [ax.get_ylabel() for ax in figure.axes] == ["factor 1", "factor 2", ""]
    for factor, ax in enumerate(figure.axes[:2]):
        values = np.ma.filled(ax.collections[0].get_array(), np.nan)
        np.testing.assert_array_equal(values, u[:, :, factor].T)
        assert ax.collections[0].get_clim() == (-np.nanmax(abs(u)), np.nanmax(abs(u)))
        assert [text.get_text() for text in ax.get_yticklabels()] == list("ABCDE")
        low, high = ax.get_ylim()
        assert low > high  # the first asset is above
    assert png(figure)[:4] == b"\x89PNG"


def test_a_path_of_a_stream():
    returns = np.random.default_rng(3).normal(size=(40, 4))
    replay = denise.Stream(4, 2, warm_up=10).replay(returns, u=True)
    mesh = denise.plot_path(replay).axes[0].collections[0]
    np.testing.assert_array_equal(np.ma.filled(mesh.get_array(), np.nan), replay.loadings[:, :, 0].T)


def test_a_path_has_the_names_and_the_times_of_its_frame():
    times = pd.date_range("2020-01-01", periods=30, name="Date")
    rows = pd.MultiIndex.from_product([times, list("ABCDE")])
    frame = pd.DataFrame(path().reshape(150, 2), index=rows)
    ax = denise.plot_path(frame).axes[1]
    np.testing.assert_array_equal(ax.collections[0].get_array(), path()[:, :, 1].T)
    assert [text.get_text() for text in ax.get_yticklabels()] == list("ABCDE")
    first, last = ax.get_xlim()
    assert [first + 0.5, last - 0.5] == list(date2num([times[0], times[-1]]))


def test_what_a_path_must_be():
    with pytest.raises(ValueError, match=r"loadings must be \(T, n, k\)"):
        denise.plot_path(path()[0])
    with pytest.raises(ValueError, match="times must have one time for each of the 30 ticks; it has 3"):
        denise.plot_path(path(), times=range(3))
    with pytest.raises(ValueError, match="labels must have a name for each of the 5 assets; it has 1"):
        denise.plot_path(path(), labels=["A"])
    with pytest.raises(ValueError, match="u=True"):
        denise.plot_path(denise.Stream(4, 2).replay(np.ones((3, 4))))


def test_a_picture_changes_nothing_else(tmp_path):
    # In a process of its own: other tests may have imported pyplot.
    code = """
import sys, matplotlib, numpy as np, denise
before = matplotlib.rcParams.copy()
for figure in denise.plot(np.eye(4) + .5, 1, labels="ABCD"), denise.plot_path(np.ones((5, 4, 2))):
    figure.savefig(sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules
# A look at the backend would choose one.
assert all(matplotlib.rcParams[name] == before[name] for name in before if name != "backend")
"""
    subprocess.run([sys.executable, "-c", code, tmp_path / "a.png"], check=True)
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        denise.plot(matrix())
