"""The snippets of the package's README run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from conftest import DATA

README = Path(__file__).parents[1] / "README.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_snippet(
    snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(DATA / "sp500" / "sp500_dataset.csv.gz", tmp_path / "prices.csv.gz")
    monkeypatch.chdir(tmp_path)
    exec(compile(snippet, str(README), "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    # The first, or three pairs and three weights.
    assert printed == "ok: M = 1.50 is L = 1.00 plus S = 0.50\n" or re.fullmatch(
        r"one +other\n(.* 0\.\d+\n){3}dtype: float64\n(\w+ +0\.\d+\n){3}dtype: float64\n", printed
    ), printed


def test_there_are_some() -> None:
    assert len(SNIPPETS) == 2
