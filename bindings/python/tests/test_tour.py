"""The tour runs, says what its page says, and draws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "bindings" / "python" / "docs" / "tour.md"


@pytest.fixture(scope="module")
def tour(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tour")
    command = [sys.executable, "-W", "error::RuntimeWarning", ROOT / "examples" / "python" / "tour.py", folder]
    # Its figures are the same for any number of threads of NumPy.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(command, capture_output=True, encoding="utf-8", env=environment, check=False)
    assert run.returncode == 0, run.stderr
    return folder, run.stdout


def test_it_draws(tour):
    folder, text = tour
    pictures = sorted(path.name for path in folder.iterdir())
    assert pictures == ["loadings.png", "missing.png", "pairs.png", "split.png"]
    for name in pictures:
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
        assert f"picture: {folder / name}" in text


def test_it_says_what_the_page_says(tour):
    # How long it took, and where the pictures are, is not the same everywhere.
    def lines(text):
        return [line for line in text.splitlines() if not re.search("split .* in|picture: ", line)]

    blocks = re.findall(r"```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) > 3
    said = lines(tour[1])
    shown = [line for block in blocks for line in lines(block)]
    assert [line for line in shown if line not in said] == []


def test_the_page_shows_code_of_the_tour():
    code = (ROOT / "examples" / "python" / "tour.py").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    own = [block for block in blocks if "finetune" not in block]
    assert len(own) > 3
    missing = [line for block in own for line in block.splitlines() if line not in code]
    assert missing == []


def test_pictures_of_the_page_are_there_and_small():
    names = re.findall(r"!\[.*?\]\((.*?)\)", PAGE.read_text(encoding="utf-8"))
    assert len(names) == 2
    for name in names:
        assert (PAGE.parent / name).stat().st_size < 150_000
