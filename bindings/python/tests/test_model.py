"""Networks from files, and what else there is: ranks, classical methods, the manual."""

from __future__ import annotations

import doctest
import pickle
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import DATA, same

import denise

ROOT = DATA.parents[1]
PAPER = DATA / "onnx" / "keras_paper.onnx"


def test_the_built_in_network(windows: Any) -> None:
    model = denise.Model(k=2)
    assert (model.n, model.k) == (20, 2) and model.kernel.startswith("unrolled")
    assert same(model.decompose(windows).low_rank, denise.decompose(windows, k=2).low_rank)
    # Any other size too.
    assert same(model.decompose(windows[0, :7, :7]).low_rank, denise.decompose(windows[0, :7, :7], k=2).low_rank)
    sigma = denise.Model(k=2, correlation=True).covariance(windows)
    assert same(sigma.sigma, denise.covariance(windows, k=2).sigma)
    stream = model.stream(20, window=30)
    assert stream.k == 2
    assert denise.Stream(20, model=model).k == 2


def test_networks_by_name(windows: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert same(denise.Model("default").decompose(windows).low_rank, denise.decompose(windows).low_rank)
    fast = denise.Model("fast", missing=True)
    low_rank = fast.decompose(windows).low_rank
    assert not same(low_rank, denise.decompose(windows).low_rank)
    assert same(pickle.loads(pickle.dumps(fast)).decompose(windows).low_rank, low_rank)
    holes = windows.copy()
    holes[:, 3, 5] = holes[:, 5, 3] = np.nan
    assert np.isfinite(fast.decompose(holes).low_rank).all()
    assert denise.Model("fast").stream(20, window=30).k == 3
    # A file of that name is another thing, wherever the process is.
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        denise.Model("./fast")
    Path("fast").write_bytes((ROOT / "models" / "default.onnx").read_bytes())
    assert same(denise.Model("./fast").decompose(windows).low_rank, denise.decompose(windows).low_rank)
    assert same(denise.Model("fast").decompose(windows).low_rank, low_rank)
    assert same(denise.Model(tmp_path / "fast").decompose(windows).low_rank, denise.decompose(windows).low_rank)


@pytest.mark.parametrize("kind", [str, Path, "bytes"])
def test_a_file(windows: Any, kind: Any) -> None:
    path = ROOT / "models" / "default.onnx"
    model = denise.Model(path.read_bytes() if kind == "bytes" else kind(path))
    assert same(model.decompose(windows).low_rank, denise.decompose(windows).low_rank)


def test_a_dense_network(windows: Any) -> None:
    model = denise.Model(PAPER)
    assert model.kernel.startswith("dense")
    M = np.resize(windows[:5], (5, model.n, model.n))
    result = model.decompose(M, u=True)
    assert result.loadings is not None and result.loadings.shape == (5, model.n, model.k)
    again = pickle.loads(pickle.dumps(model))
    assert same(again.decompose(M).low_rank, result.low_rank) and again.kernel == model.kernel
    with pytest.raises(ValueError, match="M, k: n = 7"):
        model.decompose(np.eye(7))
    with pytest.raises(ValueError, match="correlation"):
        denise.Model(PAPER, correlation=True)
    with pytest.raises(ValueError, match="dense|stream"):
        model.stream(model.n)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="file: there is no"):
        denise.Model(tmp_path / "nothing.onnx")
    with pytest.raises(OSError, match="not a regular file"):
        denise.Model(tmp_path)
    damaged = tmp_path / "damaged.onnx"
    damaged.write_bytes(PAPER.read_bytes()[:-1000])
    for file in (damaged, b"", b"no network", PAPER.read_bytes()[:100]):
        with pytest.raises(ValueError, match="file"):
            denise.Model(file)
    with pytest.raises(TypeError, match="^file"):
        denise.Model(3)  # type: ignore[arg-type]


def test_ranks_that_cannot_be() -> None:
    for k in (0, -1, 33, 10**20):
        with pytest.raises(ValueError, match="^k: "):
            denise.Model(k=k)
    with pytest.raises(ValueError, match="^M, k: "):
        denise.Model(k=7).decompose(np.eye(5))


def test_a_model_can_be_pickled(windows: Any) -> None:
    model = denise.Model(k=4, correlation=True, missing=True, careful=True, threads=2)
    again = pickle.loads(pickle.dumps(model))
    assert repr(again) == repr(model)
    assert same(again.decompose(windows).low_rank, model.decompose(windows).low_rank)


def test_ranks(windows: Any) -> None:
    rng = np.random.default_rng(4)
    U = rng.normal(size=(30, 2))
    M = U @ U.T + np.eye(30)
    assert denise.rank(M) == 2
    assert list(denise.rank(np.stack([M, np.eye(30)]))) == [2, 0]
    assert denise.rank(windows.astype(np.float32), most=4, observations=100).max() <= 4
    for wrong in ({"most": 0}, {"most": 99}, {"observations": -1.0}, {"observations": np.nan}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            denise.rank(M, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["eigen", "pcp", "ialm", "fpcp", "rpca_gd", "masked_pcp"])
def test_classical_methods(windows: Any, method: Any) -> None:
    result = denise.classical(windows[:3], method)
    assert np.linalg.norm(result.low_rank + result.sparse - windows[:3]) < 0.01 * np.linalg.norm(windows[:3])
    assert same(result.low_rank[1], denise.classical(windows[1].astype(np.float64), method).low_rank)
    assert result.report is None and result.loadings is None


def test_the_golden_files_of_the_lrs_library() -> None:
    folder = DATA / "lrs_golden"
    M = np.load(folder / "M.npy")
    golden = np.load(folder / "rpcagd_L.npy")
    L = denise.classical(M, "rpca_gd", lam=0.1).low_rank
    error = np.linalg.norm(L - golden, axis=(1, 2)) / np.linalg.norm(M, axis=(1, 2))
    assert np.median(error) < 1e-6


def test_wrong_methods(windows: Any) -> None:
    with pytest.raises(ValueError, match="^method: .*masked_pcp"):
        denise.classical(windows[0], "svd")  # type: ignore[call-overload]
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="lam"):
            denise.classical(windows[0], lam=wrong)


def manual() -> list[tuple[str, str]]:
    """Every text that a user can ask for, but for the modules that need other packages."""
    found = [("denise", denise.__doc__ or "")]
    for name in denise.__all__:
        thing = getattr(denise, name)
        if isinstance(thing, str):
            continue
        found.append((name, thing.__doc__ or ""))
        if isinstance(thing, type):
            for part, value in vars(thing).items():
                if not part.startswith("_") and isinstance(value, (types.MethodDescriptorType, types.FunctionType)):
                    found.append((f"{name}.{part}", value.__doc__ or ""))
    return found


def test_everything_has_a_text_and_its_examples_run() -> None:
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    for name, text in manual():
        assert text.strip(), f"{name} has no text"
        runner.run(parser.get_doctest(text, {}, name, name, 0))
    assert runner.tries > 20 and runner.failures == 0
