"""No input crashes, whatever it is: it gives numbers, or ValueError, TypeError or MemoryError."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.extra import numpy as hnp

import denise

EXPECTED = (ValueError, TypeError)
SETTINGS = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)

dtypes = st.one_of(
    hnp.floating_dtypes(endianness="?"),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.boolean_dtypes(),
    hnp.complex_number_dtypes(),
    hnp.datetime64_dtypes(),
    hnp.byte_string_dtypes(),
    hnp.unicode_string_dtypes(),
    st.just(np.dtype(object)),
    st.just(np.dtype([("a", np.float64)])),
)
shapes = st.one_of(
    hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=7),
    st.integers(0, 12).flatmap(
        lambda n: st.lists(st.integers(0, 3), max_size=3).map(lambda leading: (*leading, n, n))
    ),
)
floats = st.floats(allow_nan=True, allow_infinity=True, width=32)


@st.composite
def arrays(draw: Any) -> Any:
    shape = draw(shapes)
    if draw(st.booleans()):
        array = draw(hnp.arrays(draw(st.sampled_from([np.float32, np.float64])), shape, elements=floats))
    else:
        kind = draw(dtypes)
        if kind.hasobject or kind.names:
            array = np.empty(shape, kind)
        else:
            array = np.frombuffer(
                draw(st.binary(min_size=64, max_size=64)) * (1 + int(np.prod(shape)) * max(1, kind.itemsize) // 64),
                dtype=np.uint8,
            )[: int(np.prod(shape)) * kind.itemsize]
            array = array.view(kind).reshape(shape) if kind.itemsize else np.empty(shape, kind)
    for change in draw(st.lists(st.sampled_from("TFrn-b"), max_size=3)):
        if change == "T":
            array = array.T
        elif change == "F":
            array = np.asfortranarray(array)
        elif change == "r":
            array = array.copy()
            array.flags.writeable = False
        elif change == "n" and array.ndim:
            array = array[..., ::2]
        elif change == "-" and array.ndim:
            array = array[::-1]
        elif change == "b":
            array = np.broadcast_to(array, (2, *array.shape))
    return array


anything = st.one_of(
    arrays(),
    st.none(),
    st.booleans(),
    st.integers(),
    floats,
    st.text(),
    st.binary(),
    st.lists(st.lists(floats, max_size=4), max_size=4),
    st.dictionaries(st.text(), st.integers(), max_size=2),
    st.just(denise.decompose),
    st.just(np.float64),
)
options = st.fixed_dictionaries(
    {},
    optional={
        "k": st.one_of(st.integers(-2, 12), anything),
        "missing": st.booleans(),
        "correlation": st.booleans(),
        "careful": st.booleans(),
        "threads": st.one_of(st.integers(-1, 3), st.just(10**40)),
        "check_finite": st.booleans(),
    },
)


@SETTINGS
@given(M=anything, others=options, u=st.booleans())
def test_decompose(M: Any, others: Any, u: bool) -> None:
    kept = M.copy() if isinstance(M, np.ndarray) else None
    try:
        result = denise.decompose(M, u=u, **others)
    except EXPECTED:
        result = None
    if kept is not None and kept.dtype != object:
        assert kept.tobytes() == M.tobytes(), "M was changed"
    if result is not None:
        assert result.low_rank.shape == result.sparse.shape == np.shape(M)
        assert np.all(np.isfinite(result.low_rank) | ~np.asarray(result.report.ok)[..., None, None])


@SETTINGS
@given(M=anything, others=options, floor=st.one_of(floats, anything), b=anything)
def test_covariance(M: Any, others: Any, floor: Any, b: Any) -> None:
    try:
        sigma = denise.covariance(M, floor=floor, **others)
    except EXPECTED:
        return
    assert sigma.sigma.shape == sigma.inverse.shape == np.shape(M)
    for call in (sigma.solve, sigma.multiply):
        try:
            assert call(b).dtype == sigma.sigma.dtype
        except EXPECTED:
            pass


@SETTINGS
@given(M=anything, U=anything, b=anything, method=st.one_of(st.sampled_from(["eigen", "fpcp"]), st.text()))
def test_the_other_functions(M: Any, U: Any, b: Any, method: Any) -> None:
    for call in (
        lambda: denise.rank(M, most=3),
        lambda: denise.classical(M, method, k=1),
        lambda: denise.covariance_from_loadings(M, U),
        lambda: denise.solve((U, M), b),
        lambda: denise.solve(M, b),
        lambda: denise.decompose(M, out=U),
        lambda: denise.decompose(M, out=(U, b)),
    ):
        try:
            call()
        except EXPECTED:
            pass


@SETTINGS
@given(
    n=st.one_of(st.integers(-1, 6), anything),
    settings_=st.fixed_dictionaries(
        {},
        optional={
            "k": st.integers(-1, 4),
            "window": st.integers(-1, 9),
            "half_life": floats,
            "correlation": st.booleans(),
            "demean": st.booleans(),
            "warm_up": st.integers(-1, 9),
            "streams": st.integers(-1, 3),
        },
    ),
    pushes=st.lists(anything, max_size=4),
    state=st.binary(max_size=100),
)
def test_streams(n: Any, settings_: Any, pushes: Any, state: bytes) -> None:
    try:
        stream = denise.Stream(n, **settings_)
    except EXPECTED:
        return
    for given_ in pushes:
        for call in (stream.push, stream.push_matrix, stream.replay):
            try:
                call(given_)
            except EXPECTED:
                pass
    with pytest.raises(ValueError):
        stream.restore(state)
    stream.covariance()


@SETTINGS
@given(state=st.binary(max_size=200))
def test_files(state: bytes) -> None:
    with pytest.raises(ValueError):
        denise.Model(state)


def test_arguments_that_call_back() -> None:
    """Objects whose methods fail, or change what is being read."""

    class Fails:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            raise RuntimeError("no")

        def __index__(self) -> int:
            raise RuntimeError("no index")

    for call in (
        lambda: denise.decompose(Fails()),
        lambda: denise.decompose(np.eye(4), k=Fails()),  # type: ignore[call-overload]
        lambda: denise.covariance(np.eye(4), floor=Fails()),  # type: ignore[call-overload]
    ):
        # What the caller's own objects raise is theirs.
        with pytest.raises((TypeError, ValueError, RuntimeError), match="no"):
            call()
