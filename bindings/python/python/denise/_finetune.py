"""Finetuning: the network learns from a user's own matrices, by the program `denise finetune`."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from . import _program
from ._denise import Model

Table = Literal["prices", "log-prices", "returns", "matrices"]
_TABLES = ("prices", "log-prices", "returns", "matrices")


@dataclass(frozen=True)
class Finetuned:
    """What came out of `finetune`.

    Attributes
    ----------
    model : Model
        The network that learnt.
    file : Path
        Its file, for ``denise.Model(file)`` and for ``denise_load`` in C.
    before, after : float
        Mean |S_ij| of the matrices that were kept for the result: by the network before, and by this one.
        If ``share`` is 1 they are those that it learnt from.
    learnt_from, tested_on : int
        How many matrices that was.
    seconds : float
        How long it took.
    """

    model: Model
    file: Path
    before: float
    after: float
    learnt_from: int
    tested_on: int
    seconds: float


def finetune(
    data: Any,
    *,
    k: int | None = None,
    out: str | os.PathLike[str] | None = None,
    steps: int = 600,
    batch: int = 64,
    rate: float | None = None,
    share: float = 0.77,
    seed: int = 1,
    model: str | os.PathLike[str] | None = None,
    table: Table | None = None,
    window: int = 100,
    step: int = 5,
    covariance: bool = False,
    progress: bool = True,
    program: str | os.PathLike[str] | None = None,
) -> Finetuned:
    """Let the network learn from matrices like yours, so that it leaves less in S.

    It needs no known split: it lowers the mean |S_ij| of the first matrices, and reports on the later ones.
    The program ``denise`` does the work; see `program`.

    Parameters
    ----------
    data : array_like (B, n, n), DataFrame or path
        Matrices in the order of time, also as ``returns.rolling(100).corr().dropna()`` has them;
        or a table of prices, a row for each day and a column for each asset, of which rolling windows are taken;
        or a file: matrices as ``.npy``, or a table as ``.csv`` or ``.csv.gz``. Nothing may be missing.
    k : int, optional
        The rank of L; without it, the model's own.
    out : path, optional
        A folder for ``model.onnx``, ``log.jsonl``, ``loss.png`` and the checkpoint: the same call goes on where one was
        interrupted. Without it, a new folder among the temporary ones, which stays; ``file`` of the result is in it.
    steps, batch : int
        Steps of gradient descent, and matrices in each. It ends earlier when nothing gets better.
    rate : float, optional
        The largest learning rate; without it, 0.03 for an unrolled network and 0.0001 for a dense one.
    share : float, default 0.77
        The share of the matrices, from the first, to learn from. The others are for the result.
    seed : int
        Of all random numbers.
    model : path, optional
        The file of the network to start from; without it, the one that is built in.
    table : {"prices", "log-prices", "returns", "matrices"}, optional
        What a DataFrame or a file holds; without it prices, but matrices if the name ends with ``.npy``.
        ``log-prices`` are prices too, for logarithmic returns.
    window, step : int
        Of a table: days in a window, and from one window to the next.
    covariance : bool, default False
        Of a table: covariances instead of correlations.
    progress : bool, default True
        Show a bar, by tqdm if it is installed.
    program : path, optional
        The program. Without it, the environment variable DENISE_PROGRAM, then ``denise`` beside the interpreter and on
        the PATH. ``make program`` in the sources of libdenise builds it.

    Returns
    -------
    Finetuned

    Raises
    ------
    FileNotFoundError
        If there is no program.
    ValueError
        If the program refuses what it got; with its message.

    Examples
    --------
    >>> import denise
    >>> tuned = denise.finetune("prices.csv", window=100, step=5)  # doctest: +SKIP
    >>> f"{tuned.before:.4f} before, {tuned.after:.4f} after"  # doctest: +SKIP
    '0.0656 before, 0.0642 after'
    >>> split = tuned.model.decompose(M)  # doctest: +SKIP
    """
    if table is not None and table not in _TABLES:
        raise ValueError(f"table must be one of {', '.join(_TABLES)}; it is {table!r}")
    numbers = {"k": k, "steps": steps, "batch": batch, "window": window, "step": step}
    for name, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"{name} must be at least 1; it is {number}")
    if seed < 0:
        raise ValueError(f"seed must not be negative; it is {seed}")
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1; it is {share}")
    if rate is not None and not 0.0 < rate < np.inf:
        raise ValueError(f"rate must be above 0 and finite; it is {rate}")
    if model is not None and not Path(model).is_file():
        raise FileNotFoundError(f"model: there is no file {model}")
    found = _program.find(program)
    with _folder(out) as folder, _input(data, table, folder) as (file, holds):
        arguments: list[str | os.PathLike[str]] = ["finetune", "--json", "--out", folder]
        if holds != "matrices":
            arguments += ["--table", holds, f"--window={window}", f"--step={step}"]
            arguments += ["--covariance"] if covariance else []
        arguments += ["--model", Path(model).absolute()] if model is not None else []
        arguments += [f"--k={k}"] if k is not None else []
        arguments += [f"--rate={rate}"] if rate is not None else []
        arguments += [f"--steps={steps}", f"--batch={batch}", f"--share={share}", f"--seed={seed}", "--", file]
        with _Progress(folder / "log.jsonl", steps, progress) as bar:
            result = json.loads(_program.run(found, arguments, while_running=bar.look))
        return _finetuned(result, folder / "model.onnx")


def _finetuned(result: dict[str, Any], file: Path) -> Finetuned:
    return Finetuned(
        model=Model(file),
        file=file,
        before=result["mean_abs_s_before"],
        after=result["mean_abs_s_after"],
        learnt_from=result["learnt_from"],
        tested_on=result["tested_on"],
        seconds=result["seconds"],
    )


@contextmanager
def _folder(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder for results. One that nobody named is of no use to anybody unless there are results."""
    if out is not None:
        folder = Path(out).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    folder = Path(tempfile.mkdtemp(prefix="denise-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextmanager
def _input(data: Any, table: Table | None, folder: Path) -> Iterator[tuple[Path, Table]]:
    """The file for the program, and what it holds. One that is made for it is removed when the program has ended."""
    if isinstance(data, (str, os.PathLike)):
        path = Path(os.fspath(data)).absolute()
        if not path.is_file():
            raise FileNotFoundError(f"data: there is no file {path}")
        yield path, table or ("matrices" if path.suffix.lower() == ".npy" else "prices")
        return
    frame = hasattr(data, "to_csv")
    holds: Table = table or ("prices" if frame and data.index.nlevels == 1 else "matrices")
    if holds == "matrices":
        suffix, content = ".npy", _npy(_windows(data) if frame else data)
    elif frame:
        suffix, content = ".csv", _csv(data)
    else:
        raise ValueError(f"table: {table!r} needs a DataFrame or a file")
    # A checkpoint knows its data by the name of the file only. So other data get another name, and are refused there.
    path = folder / f"data-{hashlib.sha256(content).hexdigest()[:16]}{suffix}"
    try:
        path.write_bytes(content)
        yield path, holds
    except ValueError as error:
        # The program speaks of a file that its user has never seen.
        raise ValueError(str(error).replace(str(path), "data")) from None
    finally:
        path.unlink(missing_ok=True)


def _csv(frame: Any) -> bytes:
    values = np.asarray(frame, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(values))
    if bad.size:
        row, column = bad[0]
        raise ValueError(
            f"data: {frame.columns[column]} at {frame.index[row]} is {values[row, column]}; "
            "data.dropna() leaves out such rows"
        )
    text: str = frame.to_csv(index_label="Date")
    return text.encode()


def _windows(frame: Any) -> Any:
    """The matrices of a frame whose rows are (time, asset), as ``returns.rolling(100).corr()`` has them."""
    from ._labels import of_matrices

    return of_matrices(frame, "data", np.asarray(frame, dtype=np.float64)).values


def _npy(data: Any) -> bytes:
    from io import BytesIO

    stack = np.asarray(data, dtype=np.float64)
    if stack.ndim != 3 or stack.shape[1] != stack.shape[2]:
        raise ValueError(f"data must be a stack of matrices (B, n, n); its shape is {stack.shape}")
    bad = np.argwhere(~np.isfinite(stack))
    if bad.size:
        at = tuple(bad[0].tolist())
        raise ValueError(f"data: entry {list(at)} is {stack[at]}; finetuning needs whole matrices")
    file = BytesIO()
    np.save(file, np.ascontiguousarray(stack))
    return file.getvalue()


class _Bar(Protocol):
    n: int
    total: int

    def update(self, n: int) -> Any: ...
    def set_postfix_str(self, s: str) -> Any: ...
    def refresh(self) -> Any: ...
    def close(self) -> Any: ...


class _Progress:
    """A bar that follows the log of a run, which gets a line every few steps."""

    def __init__(self, log: Path, steps: int, shown: bool) -> None:
        self._log = log
        self._place = log.stat().st_size if log.exists() else 0
        self._bar: _Bar | None = _bar(steps) if shown else None

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, failed: type[BaseException] | None, *_: object) -> None:
        if self._bar is None:
            return
        if failed is None:
            # A run that has ended early has not failed.
            self._bar.total = self._bar.n
            self._bar.refresh()
        self._bar.close()

    def look(self) -> None:
        """Show what is new."""
        if self._bar is None or not self._log.exists():
            return
        with self._log.open("rb") as log:
            log.seek(self._place)
            # The last line may not be whole yet.
            whole, end, _ = log.read().rpartition(b"\n")
        self._place += len(whole) + len(end)
        if whole:
            line = json.loads(whole.splitlines()[-1])
            self._bar.update(line["step"] - self._bar.n)
            self._bar.set_postfix_str(f"validation {line['validation']:.5f}")


def _bar(steps: int) -> _Bar:
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return _Plain(steps)
    bar: _Bar = tqdm(total=steps, desc="finetune", unit="step")
    return bar


class _Plain:
    """A bar where tqdm is not installed."""

    def __init__(self, total: int) -> None:
        self.n = 0
        self.total = total
        self._after = ""
        self.refresh()

    def update(self, n: int) -> None:
        self.n += n

    def set_postfix_str(self, s: str) -> None:
        self._after = f", {s}"
        self.refresh()

    def refresh(self) -> None:
        filled = 30 * self.n // max(self.total, 1)
        sys.stderr.write(f"\rfinetune [{'#' * filled:30}] {self.n}/{self.total}{self._after}")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")
        sys.stderr.flush()
