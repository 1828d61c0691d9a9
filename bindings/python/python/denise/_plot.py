"""Pictures: a matrix and its two parts, and the loadings of a stream over time.

Nothing here touches pyplot or ``rcParams``: a picture must not change those that a program draws later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._denise import Decomposition, decompose

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

Floats = npt.NDArray[np.float64]

# Colours from zero outwards, evenly spaced: those of the program's pictures.
_NEGATIVE = ("#ffffff", "#bad4ec", "#609cd0", "#2262aa", "#0a2c64")
_POSITIVE = ("#ffffff", "#f8c8b6", "#e47c66", "#be2c36", "#6c0c22")
_GREY = "#9a9a9a"
_INK = "#222222"

# Sizes are in points. A panel grows with the number of names beside it, up to a limit.
_SIDE = 200.0
_MOST_SIDE = 320.0
_GAP = 34.0
_MARGIN = 18.0
_TOP = 44.0
_BAR_GAP = 20.0
_BAR = 12.0
_NUMBERS = 58.0
_BELOW = 40.0
# What grey cells mean.
_KEY = 20.0
_TITLE = 19.0
_CAPTION = 12.5
_SMALL = 11.5
_NAME = 8.5
_LEAST_NAME = 6.0
# Of a panel of loadings over time, in inches.
_ROW = 2.4
# More cells than this on a side would be smaller than pixels, and lines across more cells too thin to see.
_MOST_CELLS = 400
_MOST_LINES = 100


def plot(
    M: Any,
    k: int = 3,
    *,
    labels: Sequence[object] | None = None,
    caption: str | None = None,
    axes: Sequence[Axes] | None = None,
) -> Figure:
    """Draw M = L + S as three heat maps on one scale of colours, white at zero.

    Parameters
    ----------
    M : array_like (n, n), DataFrame or Decomposition
        The matrix, of which the lower triangle counts, or what ``decompose`` made of one.
        NaN is an entry that is not known, and grey.
    k : int, default 3
        The rank of L. A Decomposition has its own.
    labels : sequence of n names, optional
        Of the assets. Without it a DataFrame's own; other matrices have none.
    caption : str, optional
        Below the panels; without it, n and the rank.
    axes : sequence of three Axes, optional
        Where to draw M, L and S. Without it, a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        ``figure.savefig("split.png")`` writes it.
        A notebook shows it if ``matplotlib.pyplot`` has been imported.

    Examples
    --------
    >>> import denise, numpy as np
    >>> figure = denise.plot(np.eye(4) + 0.5, k=1, labels=["A", "B", "C", "D"])
    >>> [ax.get_title() for ax in figure.axes]
    ['M', 'L', 'S', '']
    """
    _matplotlib()
    m, l, s, rank, own = _parts(M, k)
    n = len(m)
    names = _names(labels if labels is not None else own, n)
    panels = (m, l, s)
    limit = _limit(panels)
    if caption is None:
        caption = f"n = {n}" if rank is None else f"n = {n}, rank {rank}"
    if axes is not None:
        return _draw_in(axes, panels, limit, names, caption)
    return _draw(panels, limit, names, caption)


def plot_path(
    loadings: Any,
    *,
    labels: Sequence[object] | None = None,
    times: Sequence[Any] | None = None,
    caption: str = "",
) -> Figure:
    """Draw loadings over time, as ``Stream.replay(returns, u=True)`` gives them.

    There is a panel for each factor: a row for each asset, a column for each tick, white at zero.

    Parameters
    ----------
    loadings : array_like (T, n, k), DataFrame with rows (time, asset), or Decomposition
        U of every tick, or the Decomposition that holds it. Ticks before the end of the warm-up are NaN, and grey.
    labels : sequence of n names, optional
        Of the assets. Without it a DataFrame's own.
    times : sequence of T times, optional
        Anything that matplotlib has an axis for, such as dates.
        Without it a DataFrame's own; other ticks are counted from 0.
    caption : str, default ""
        Above the panels.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> import denise, numpy as np
    >>> path = np.random.default_rng(1).normal(size=(50, 4, 2))
    >>> figure = denise.plot_path(path, labels=["A", "B", "C", "D"])
    >>> [ax.get_ylabel() for ax in figure.axes]
    ['factor 1', 'factor 2', '']
    """
    _matplotlib()
    if isinstance(loadings, Decomposition):
        if loadings.loadings is None:
            raise ValueError("loadings: the Decomposition has none; ask for them with u=True")
        loadings = loadings.loadings
    u = np.asarray(loadings, dtype=np.float64)
    if u.ndim == 2 and getattr(getattr(loadings, "index", None), "nlevels", 1) == 2:
        # The rows of a DataFrame are (time, asset).
        own = loadings.index.droplevel(-1).unique()
        u = u.reshape(len(own), -1, u.shape[1])
        times = own if times is None else times
        labels = loadings.index.get_level_values(-1)[: u.shape[1]] if labels is None else labels
    if u.ndim != 3 or 0 in u.shape:
        raise ValueError(f"loadings must be (T, n, k), and not empty; its shape is {u.shape}")
    ticks, n, _ = u.shape
    if times is not None and len(times) != ticks:
        raise ValueError(f"times must have one time for each of the {ticks} ticks; it has {len(times)}")
    return _draw_path(u, _names(labels, n), range(ticks) if times is None else times, caption)


def _matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError("denise.plot needs matplotlib: pip install matplotlib") from error


def _parts(M: Any, k: int) -> tuple[Floats, Floats, Floats, int | None, Sequence[object] | None]:
    """M, L and S, the rank if it is known, and the names that M brings along."""
    if isinstance(M, Decomposition):
        split = M
        rank = None if split.loadings is None else int(np.shape(split.loadings)[-1])
        own = getattr(split.low_rank, "columns", None)
        l, s = _one(split.low_rank), _one(split.sparse)
        return l + s, l, s, rank, own
    own = getattr(M, "columns", None)
    m = _one(M)
    # The other triangle is not read, so the picture does not show it.
    m = np.tril(m) + np.tril(m, -1).T
    split = decompose(m, k, missing=bool(np.isnan(m).any()))
    return m, _one(split.low_rank), _one(split.sparse), k, own


def _one(M: Any) -> Floats:
    try:
        matrix = np.asarray(M, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"M must be a matrix of numbers: {error}") from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"M must be one n×n matrix; its shape is {matrix.shape}")
    return matrix


def _names(labels: Sequence[object] | None, n: int) -> list[str]:
    names = [] if labels is None else [str(label) for label in labels]
    if labels is not None and len(names) != n:
        raise ValueError(f"labels must have a name for each of the {n} assets; it has {len(names)}")
    return names


def _limit(panels: Sequence[Floats]) -> float:
    """The largest magnitude of all numbers: where the scale of colours ends."""
    return max((float(np.max(np.abs(x), where=np.isfinite(x), initial=0.0)) for x in panels), default=0.0)


def _colours() -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("denise", [*reversed(_NEGATIVE), *_POSITIVE[1:]], N=255)
    return colours.with_extremes(bad=_GREY)


def _scale(limit: float) -> dict[str, Any]:
    # A scale needs a width, also where all is zero.
    end = limit if limit > 0.0 else 1.0
    return {"cmap": _colours(), "vmin": -end, "vmax": end}


def _largest(values: Floats) -> Floats:
    """Of a matrix too large to show, the largest entry of each cell, by magnitude: a sparse part must not fade."""
    n = len(values)
    if n <= _MOST_CELLS:
        return values
    edges = np.arange(_MOST_CELLS) * n // _MOST_CELLS
    most = np.maximum.reduceat(np.maximum.reduceat(values, edges, axis=0), edges, axis=1)
    least = np.minimum.reduceat(np.minimum.reduceat(values, edges, axis=0), edges, axis=1)
    return np.where(most >= -least, most, least)


def _panel(ax: Axes, title: str, values: Floats, limit: float) -> AxesImage:
    from matplotlib.collections import LineCollection

    n = len(values)
    cells = _largest(np.where(np.isfinite(values), values, np.nan))
    image = ax.imshow(
        cells, interpolation="nearest", extent=(0, n, n, 0), aspect="equal", origin="upper", **_scale(limit)
    )
    rows, columns = np.nonzero(np.isnan(cells))
    if rows.size and n <= _MOST_LINES:
        # Print without colours tells them apart too.
        across = [[(j, i + 1), (j + 1, i)] for i, j in zip(rows.tolist(), columns.tolist())]
        width = min(max(0.1 * _SIDE / n, 0.3), 1.0)
        ax.add_collection(LineCollection(across, colors="white", linewidths=width), autolim=False)
    ax.set_title(title, fontsize=_TITLE, color=_INK, pad=8.0)
    ax.grid(False)
    ax.set_xticks([])
    ax.set_yticks([])
    _frame(ax)
    return image


def _frame(ax: Axes) -> None:
    for spine in ax.spines.values():
        spine.set(visible=True, color=_INK, linewidth=0.8)


def _name_size(side: float, n: int) -> tuple[float, int]:
    """The size of n names along a side, and every how manieth of them fits if it must not be smaller."""
    size = max(min(_NAME, 0.85 * side / max(n, 1)), _LEAST_NAME)
    return size, max(int(np.ceil(size / 0.85 * n / side - 1e-9)), 1)


def _name_axis(ax: Axes, names: Sequence[str], size: float, every: int, *, across: bool) -> None:
    places = [at + 0.5 for at in range(0, len(names), every)]
    style: dict[str, Any] = {"fontsize": size, "color": _INK, "parse_math": False}
    if across:
        ax.set_xticks(places, list(names[::every]), rotation=90, **style)
        ax.tick_params(axis="x", length=0.0, pad=3.0, bottom=False, labelbottom=True, top=False, labeltop=False)
    else:
        ax.set_yticks(places, list(names[::every]), **style)
        ax.tick_params(axis="y", length=0.0, pad=3.0, left=False, labelleft=True, right=False, labelright=False)


def _numbers(ax: Axes, limit: float) -> None:
    """The numbers of a scale of colours, right of it."""
    from matplotlib.ticker import FixedLocator, MaxNLocator, ScalarFormatter

    axis = ax.yaxis
    axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]) if limit > 0.0 else FixedLocator([0.0]))
    numbers = ScalarFormatter(useMathText=True, useOffset=False)
    numbers.set_powerlimits((-3, 5))
    axis.set_major_formatter(numbers)
    axis.get_offset_text().set(fontsize=_SMALL, color=_INK)
    ax.tick_params(axis="y", labelsize=_SMALL, labelcolor=_INK, color=_INK, width=0.8, length=4.0)


def _draw(panels: Sequence[Floats], limit: float, names: list[str], caption: str) -> Figure:
    from matplotlib.figure import Figure

    n = len(panels[0])
    side = min(max(_SIDE, 1.25 * _NAME * n), _MOST_SIDE) if names else _SIDE
    size, every = _name_size(side, n)
    # A letter is about 0.65 of its height wide.
    room = 0.65 * size * max(map(len, names)) + 6.0 if names else 0.0
    grey = any(not np.isfinite(values).all() for values in panels)
    first = _MARGIN + room
    end = first + 3.0 * side + 2.0 * _GAP
    wide = end + _BAR_GAP + _BAR + _NUMBERS
    under = _BELOW if caption else _MARGIN
    below = under + (_KEY if grey else 0.0) + room
    high = _TOP + side + below
    figure = Figure(figsize=(wide / 72.0, high / 72.0), facecolor="white")

    def area(left: float, width: float) -> tuple[float, float, float, float]:
        return left / wide, below / high, width / wide, side / high

    def write(x: float, y: float, text: str, size: float, align: str = "center") -> None:
        figure.text(x / wide, y / high, text, fontsize=size, color=_INK, ha=align, va="center")

    for column, (title, values) in enumerate(zip("MLS", panels)):
        left = first + column * (side + _GAP)
        ax = figure.add_axes(area(left, side))
        image = _panel(ax, title, values, limit)
        if names:
            _name_axis(ax, names, size, every, across=True)
        if names and column == 0:
            _name_axis(ax, names, size, every, across=False)
        if column < 2:
            write(left + side + _GAP / 2.0, below + side / 2.0, "=+"[column], _TITLE)
    bar = figure.add_axes(area(end + _BAR_GAP, _BAR))
    figure.colorbar(image, cax=bar)
    _numbers(bar, limit)
    _frame(bar)
    write(first + (end - first) / 2.0, _BELOW / 2.0, caption, _CAPTION)
    if grey:
        key = figure.add_axes((first / wide, under / high, 11.0 / wide, 11.0 / high))
        _panel(key, "", np.full((1, 1), np.nan), limit)
        write(first + 18.0, under + 5.5, "not known", _SMALL, "left")
    return figure


def _draw_in(axes: Sequence[Axes], panels: Sequence[Floats], limit: float, names: list[str], caption: str) -> Figure:
    from matplotlib.figure import Figure

    places = list(np.ravel(np.asarray(axes, dtype=object)))
    if len(places) != 3:
        raise ValueError(f"axes must be three, for M, L and S; there are {len(places)}")
    figure = places[0].figure
    while not isinstance(figure, Figure):  # a part of one
        figure = figure.figure
    for column, (ax, title, values) in enumerate(zip(places, "MLS", panels)):
        image = _panel(ax, title, values, limit)
        size = _name_size(72.0 / figure.dpi * min(ax.bbox.width, ax.bbox.height), len(values))
        if names:
            _name_axis(ax, names, *size, across=True)
        if names and column == 0:
            _name_axis(ax, names, *size, across=False)
    places[1].set_xlabel(caption, fontsize=_CAPTION, color=_INK)
    bar = figure.colorbar(image, ax=places)
    _numbers(bar.ax, limit)
    _frame(bar.ax)
    return figure


def _draw_path(u: Floats, names: list[str], times: Sequence[Any], caption: str) -> Figure:
    from matplotlib.figure import Figure

    n, k = u.shape[1:]
    figure = Figure(figsize=(9.0, 0.6 + _ROW * k), facecolor="white", layout="constrained")
    axes = figure.subplots(k, 1, sharex=True, squeeze=False)[:, 0]
    values = np.where(np.isfinite(u), u, np.nan)
    limit = _limit([values])
    for factor, ax in enumerate(axes):
        # In vector files a mesh of small cells would have seams, and be large.
        mesh = ax.pcolormesh(
            times, np.arange(n) + 0.5, values[:, :, factor].T, shading="nearest", rasterized=True, **_scale(limit)
        )
        ax.set_facecolor(_GREY)
        ax.invert_yaxis()
        ax.grid(False)
        ax.set_ylabel(f"factor {factor + 1}", fontsize=_CAPTION, color=_INK)
        ax.tick_params(labelsize=10.0, labelcolor=_INK, color=_INK)
        ax.set_yticks([])
        if names:
            _name_axis(ax, names, *_name_size(0.9 * 72.0 * _ROW, n), across=False)
        _frame(ax)
    figure.suptitle(caption, fontsize=_CAPTION, color=_INK)
    bar = figure.colorbar(mesh, ax=list(axes), aspect=15.0 * k)
    _numbers(bar.ax, limit)
    _frame(bar.ax)
    return figure
