"""Finetuning through the program: finding it, handing over data, progress, errors, and an end by Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import denise
import numpy as np
import pytest
from denise import _finetune, _program

pd = pytest.importorskip("pandas")

ROOT = Path(__file__).resolve().parents[3]
PRICES = ROOT / "tests" / "data" / "sp500" / "sp500_dataset.csv.gz"
BUILT = Path(os.environ.get("DENISE_PROGRAM") or ROOT / "target" / "release" / "denise")
MODEL = ROOT / "models" / "default.onnx"
PYTHON = sys.executable

posix = pytest.mark.skipif(os.name != "posix", reason="the stand-in for the program is a script with #!")
real = pytest.mark.skipif(not BUILT.is_file(), reason="`make program` has not been run")

# A stand-in for the program: it keeps what it was given, logs, and prints a result.
STANDIN = """#!{python}
import json, os, pathlib, shutil, sys, time
arguments = sys.argv[1:]
if arguments == ["--version"]:
    print({version!r})
    sys.exit()
out = pathlib.Path(arguments[arguments.index("--out") + 1])
(out / "arguments.json").write_text(json.dumps(arguments))
shutil.copy(arguments[-1], out / ("copy" + pathlib.Path(arguments[-1]).suffix))
{behaviour}
"""
GOOD = f"""
with open(out / "log.jsonl", "a") as log:
    for step in 10, 20, 30:
        log.write(json.dumps({{"step": step, "loss": 0.5, "validation": 0.25}}) + "\\n")
shutil.copy({str(MODEL)!r}, out / "model.onnx")
result = {{"learnt_from": 6, "tested_on": 2, "mean_abs_s_before": 0.2, "mean_abs_s_after": 0.1, "seconds": 3.5}}
print(json.dumps(result))
"""
SLEEP = """
(out / "pid.part").write_text(str(os.getpid()))
(out / "pid.part").rename(out / "pid")
time.sleep(600)
"""


def standin(folder: Path, behaviour: str = GOOD, version: str = "denise 0.2.0") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "denise"
    place.write_text(STANDIN.format(python=PYTHON, version=version, behaviour=behaviour))
    place.chmod(0o755)
    return place


def stack(count: int = 8, n: int = 5) -> np.ndarray:
    x = np.random.default_rng(4).normal(size=(count, 30, n))
    return np.einsum("bti,btj->bij", x, x) / 30


def prices(days: int = 300, assets: int = 20) -> pd.DataFrame:
    return pd.read_csv(PRICES, index_col=0, parse_dates=True).iloc[-days:, :assets]


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """No program in any of the usual places, unless a test puts one there."""
    monkeypatch.delenv("DENISE_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join(str(tmp_path / name) for name in ("first", "second")))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))


# Finding the program.


@posix
def test_where_the_program_is_looked_for(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="make program"):
        _program.find()
    # Each place counts more than those before.
    assert standin(tmp_path / "second") == _program.find()
    assert standin(tmp_path / "first") == _program.find()
    assert standin(tmp_path / "bin") == _program.find()
    variable = standin(tmp_path / "variable")
    monkeypatch.setenv("DENISE_PROGRAM", str(variable))
    assert variable == _program.find()
    assert standin(tmp_path / "argument") == _program.find(tmp_path / "argument" / "denise")


@posix
@pytest.mark.parametrize("version", ["denise 0.1.9", "denise 0.25.0", "DENISE 4, a theorem prover", ""])
def test_another_program_of_that_name_is_passed_over(tmp_path, version, monkeypatch):
    other = standin(tmp_path / "first", version=version)
    with pytest.raises(FileNotFoundError, match="DENISE_PROGRAM"):
        _program.find()
    assert standin(tmp_path / "second") == _program.find()
    with pytest.raises(ValueError, match="program: .* is not the program denise 0.2"):
        _program.find(other)
    monkeypatch.setenv("DENISE_PROGRAM", str(other))
    with pytest.raises(ValueError, match="DENISE_PROGRAM: .* is not the program denise 0.2"):
        _program.find()


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="program: there is no file .*none"):
        denise.finetune(stack(), program=tmp_path / "none")


@posix
def test_a_file_that_does_not_run_is_no_program(tmp_path):
    (tmp_path / "denise").write_text("not a program")
    with pytest.raises(ValueError, match="is not the program"):
        _program.find(tmp_path / "denise")


# What the program gets, and what comes back.


@posix
def test_matrices_go_over_as_npy_and_the_result_comes_back(tmp_path):
    out = tmp_path / "out"
    tuned = denise.finetune(
        stack().astype(np.float32), k=2, out=out, steps=30, batch=7, rate=0.01, share=0.5, seed=3,
        program=standin(tmp_path / "bin"), progress=False,
    )  # fmt: skip
    numbers = (tuned.before, tuned.after, tuned.learnt_from, tuned.tested_on, tuned.seconds)
    assert numbers == (0.2, 0.1, 6, 2, 3.5)
    assert tuned.file == out / "model.onnx"
    assert tuned.model.decompose(stack()).low_rank.shape == (8, 5, 5)
    np.testing.assert_array_equal(np.load(out / "copy.npy"), stack().astype(np.float32))
    arguments = json.loads((out / "arguments.json").read_text())
    assert arguments[:-1] == [
        "finetune", "--json", "--out", str(out), "--k=2", "--rate=0.01", "--steps=30", "--batch=7", "--share=0.5",
        "--seed=3", "--",
    ]  # fmt: skip
    assert not Path(arguments[-1]).exists()


@posix
def test_a_frame_goes_over_as_a_table(tmp_path):
    out = tmp_path / "out"
    program = standin(tmp_path / "bin")
    frame = prices(120, 3)
    denise.finetune(frame, out=out, window=50, step=2, covariance=True, program=program, progress=False)
    arguments = json.loads((out / "arguments.json").read_text())
    assert arguments[4:9] == ["--table", "prices", "--window=50", "--step=2", "--covariance"]
    read = pd.read_csv(out / "copy.csv", index_col=0, parse_dates=True)
    pd.testing.assert_frame_equal(read, frame, check_freq=False, rtol=1e-15)
    denise.finetune(frame.pct_change().dropna(), out=out, table="returns", program=program, progress=False)
    arguments = json.loads((out / "arguments.json").read_text())
    assert arguments[4:8] == ["--table", "returns", "--window=100", "--step=5"]


@posix
def test_a_frame_of_rolling_windows_is_matrices(tmp_path):
    out = tmp_path / "out"
    rolling = prices(120, 3).pct_change().rolling(100).corr().dropna()
    denise.finetune(rolling, out=out, program=standin(tmp_path / "bin"), progress=False)
    np.testing.assert_array_equal(np.load(out / "copy.npy"), rolling.to_numpy().reshape(20, 3, 3))
    for bad in rolling.iloc[1:], rolling[rolling.columns[::-1]]:
        with pytest.raises(ValueError, match="data: for every time there must be a row"):
            denise.finetune(bad, program=standin(tmp_path / "bin"))


@posix
@pytest.mark.parametrize(
    ("name", "table", "want"),
    [("a.npy", None, []), ("a.csv", None, ["--table", "prices"]), ("a.csv", "matrices", []),
     ("a.csv.gz", "log-prices", ["--table", "log-prices"])],
)  # fmt: skip
def test_a_file_goes_over_by_its_name(tmp_path, name, table, want):
    file = tmp_path / name
    file.write_bytes(b"1")
    for data in file, str(file):
        denise.finetune(data, out=tmp_path / "out", table=table, program=standin(tmp_path / "bin"), progress=False)
        arguments = json.loads((tmp_path / "out" / "arguments.json").read_text())
        assert arguments[4 : 4 + len(want)] == want and ("--table" in arguments) == bool(want)
        assert arguments[-1] == str(file) and file.exists()


@posix
def test_a_folder_that_nobody_named_stays_with_the_result_only(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    with pytest.raises(ValueError):
        denise.finetune(stack(), program=standin(tmp_path / "bin", "sys.exit('denise: no')"), progress=False)
    assert not list((tmp_path / "temporary").iterdir())
    tuned = denise.finetune(stack(), program=standin(tmp_path / "bin"), progress=False)
    assert [tuned.file.parent] == list((tmp_path / "temporary").iterdir())
    assert denise.Model(tuned.file).k == tuned.model.k


# Progress.


@posix
@pytest.mark.parametrize("installed", [True, False])
def test_a_bar_follows_the_log(tmp_path, capsys, monkeypatch, installed):
    if installed:
        pytest.importorskip("tqdm")
    else:
        monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    program = standin(tmp_path / "bin")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "log.jsonl").write_text('{"step": 999, "validation": 9}\n')  # of a run before
    denise.finetune(stack(), out=tmp_path / "out", steps=40, program=program)
    shown = capsys.readouterr().err
    assert "0/40" in shown and "30/30" in shown and "validation 0.25000" in shown and "999" not in shown
    assert shown.endswith("\n") and ("#" in shown) != installed
    denise.finetune(stack(), out=tmp_path / "out", program=program, progress=False)
    assert capsys.readouterr().err == ""


def test_a_line_that_is_not_whole_waits(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    log = tmp_path / "log.jsonl"
    with _finetune._Progress(log, 40, True) as bar:
        bar.look()
        for text, step in [('{"step": 10, "valid', 0), ('ation": 1}\n{"st', 10), ('ep": 20, "validation": 1}\n', 20)]:
            with log.open("a") as file:
                file.write(text)
            bar.look()
            assert bar._bar.n == step


# Errors.


@posix
def test_the_programs_message_becomes_an_error(tmp_path):
    refuses = "sys.stderr.write('denise: ' + arguments[-1] + ':2:2: the price -1'); sys.exit(1)"
    with pytest.raises(ValueError, match="^denise finetune: data:2:2: the price -1$"):
        denise.finetune(stack(), program=standin(tmp_path / "bin", refuses), progress=False)
    options = "sys.stderr.write('error: unexpected argument\\n\\nFor more information'); sys.exit(2)"
    with pytest.raises(ValueError, match="^denise finetune: unexpected argument$"):
        denise.finetune(stack(), program=standin(tmp_path / "bin", options), progress=False)
    accident = "sys.stderr.write('panicked'); sys.exit(101)"
    with pytest.raises(RuntimeError, match="ended with status 101: panicked"):
        denise.finetune(stack(), program=standin(tmp_path / "bin", accident), progress=False)
    killed = "os.kill(os.getpid(), 9)"
    with pytest.raises(RuntimeError, match="ended with status -9: no message"):
        denise.finetune(stack(), program=standin(tmp_path / "bin", killed), progress=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"k": 0}, "k must be at least 1; it is 0"), ({"steps": 0}, "steps must"), ({"batch": -1}, "batch must"),
     ({"window": 0}, "window must"), ({"step": 0}, "step must"), ({"seed": -1}, "seed must not be negative"),
     ({"share": 0.0}, "share must"), ({"share": 1.1}, "share must"), ({"share": np.nan}, "share must"),
     ({"rate": 0.0}, "rate must"), ({"rate": np.inf}, "rate must"), ({"table": "cells"}, "table must be one of")],
)  # fmt: skip
def test_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        denise.finetune(stack(), **options)


@posix
def test_data_are_named(tmp_path):
    def refused(data, message, kind=ValueError, **options):
        with pytest.raises(kind, match=message):
            denise.finetune(data, program=standin(tmp_path / "bin"), **options)

    refused(stack()[0], r"data must be a stack of matrices \(B, n, n\); its shape is \(5, 5\)")
    refused(stack()[:, :3], "its shape is")
    refused(stack(), "table: 'prices' needs a DataFrame or a file", table="prices")
    hole = stack()
    hole[4, 3, 2] = np.nan
    refused(hole, r"data: entry \[4, 3, 2\] is nan")
    frame = prices(120, 3)
    frame.iloc[7, 1] = np.nan
    refused(frame, r"data: AMD at .* is nan; data.dropna\(\)")
    refused(tmp_path / "none.csv", "data: there is no file", FileNotFoundError)
    refused(stack(), "model: there is no file none.onnx", FileNotFoundError, model="none.onnx")


# Ctrl-C.


@posix
def test_an_interrupt_ends_the_program_too(tmp_path):
    program = standin(tmp_path / "bin", SLEEP)
    out = tmp_path / "out"
    # A process in the background may have been told to ignore the signal.
    code = """
import denise, numpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
denise.finetune(numpy.ones((9, 4, 4)), out=sys.argv[1], program=sys.argv[2])
"""
    caller = subprocess.Popen([PYTHON, "-c", code, out, program], stderr=subprocess.PIPE)
    try:
        pid = wait_for(lambda: (out / "pid").exists() and int((out / "pid").read_text()))
        # To the caller alone, as a notebook does it; a terminal sends it to both.
        caller.send_signal(signal.SIGINT)
        message = caller.communicate(timeout=60)[1]
    finally:
        caller.kill()
    assert b"KeyboardInterrupt" in message
    wait_for(lambda: not alive(pid))
    assert not list(out.glob("data-*"))


def wait_for(what):
    for _ in range(600):
        result = what()
        if result:
            return result
        time.sleep(0.1)
    raise AssertionError("waited for a minute")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# The real program.


@real
def test_the_program_learns(tmp_path):
    returns = prices(300).pct_change().dropna()
    M = returns.rolling(100).corr().dropna().to_numpy().reshape(-1, 20, 20)[::5]
    options = {"out": tmp_path, "steps": 20, "batch": 16, "program": BUILT, "progress": False}
    tuned = denise.finetune(M, **options)
    assert (tuned.learnt_from, tuned.tested_on) == (31, len(M) - 31)
    assert tuned.after < tuned.before
    tested = M[31:]
    for model, mean in (denise.Model(), tuned.before), (tuned.model, tuned.after):
        assert np.abs(model.decompose(tested).sparse).mean() == pytest.approx(mean, rel=1e-6)
    # The same call again has nothing left to do; other data are refused there.
    again = denise.finetune(M, **options)
    assert (again.before, again.after) == (tuned.before, tuned.after)
    with pytest.raises(ValueError, match="belongs to a run with other options"):
        denise.finetune(M + 1e-9, **options)


@real
def test_windows_of_the_program_are_those_of_pandas(tmp_path):
    table = prices(260)
    options = {"steps": 10, "batch": 8, "program": BUILT, "progress": False}
    by_table = denise.finetune(table, window=100, step=5, out=tmp_path / "table", **options)
    M = table.pct_change().rolling(100).corr().dropna().to_numpy().reshape(-1, 20, 20)[::5]
    by_matrices = denise.finetune(M, out=tmp_path / "matrices", **options)
    assert by_table.tested_on == by_matrices.tested_on
    assert by_table.before == pytest.approx(by_matrices.before, rel=1e-6)
    assert by_table.after == pytest.approx(by_matrices.after, rel=1e-3)


@real
def test_what_the_program_refuses():
    with pytest.raises(ValueError, match="the rank k must be at least 1 and less than n"):
        denise.finetune(stack(), k=5, program=BUILT, progress=False)
    with pytest.raises(ValueError, match="data: the table has 49 returns, but a window takes 100"):
        denise.finetune(prices(50), program=BUILT, progress=False)
    with pytest.raises(ValueError, match="leaves nothing to learn from"):
        denise.finetune(stack(1), program=BUILT, progress=False)
