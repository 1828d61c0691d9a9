"""The command-line program `denise`: where it is, and running it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

_NAME = "denise"
# Another program may have the same name.
_VERSION = re.compile(r"denise 0\.2\b")
_VARIABLE = "DENISE_PROGRAM"
# Seconds: until a program must have told its version, between two looks at one that runs, and for one to end.
_ANSWER = 20.0
_LOOK = 0.1
_END = 5.0


def find(program: str | os.PathLike[str] | None = None) -> Path:
    """The program: the one that is named, that of DENISE_PROGRAM, beside the interpreter, or on the PATH.

    Raises
    ------
    FileNotFoundError
        If there is none.
    ValueError
        If `program` or DENISE_PROGRAM names something else.
    """
    if program is not None:
        return _named(program, "program")
    variable = os.environ.get(_VARIABLE)
    if variable:
        return _named(variable, _VARIABLE)
    for place in _usual_places():
        if _is_it(place):
            return place
    raise FileNotFoundError(
        f"the program {_NAME} 0.2 is not beside this Python and not on the PATH. `make program` in the sources of "
        f"libdenise builds it as target/release/{_NAME}; name it by program=… or by {_VARIABLE} in the environment"
    )


def run(program: Path, arguments: Sequence[str | os.PathLike[str]], *, while_running: Callable[[], None]) -> str:
    """Run the program to its end, and return what it printed; call `while_running` now and then.

    However this ends, also by Ctrl-C, the program has ended too.

    Raises
    ------
    ValueError
        If the program refuses what it got; with its message.
    RuntimeError
        If it ends in another way.
    """
    # Files, not pipes: nobody reads while the program runs, and a pipe that is full would stop it.
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complaint:
        process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=printed, stderr=complaint)
        try:
            while True:
                try:
                    process.wait(_LOOK)
                    break
                except subprocess.TimeoutExpired:
                    while_running()
        finally:
            _end(process)
        while_running()
        texts = []
        for file in (printed, complaint):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace").strip())
    if process.returncode == 0:
        return texts[0]
    # After an empty line comes how to get help on the command line.
    message = texts[1].partition("\n\n")[0].removeprefix(f"{_NAME}: ").removeprefix("error: ")
    command = f"{_NAME} {os.fspath(arguments[0])}"
    # 1 is the program's own, 2 that of its options; all others are accidents.
    if process.returncode in (1, 2):
        raise ValueError(f"{command}: {message}")
    raise RuntimeError(f"{command} ended with status {process.returncode}: {message or 'no message'}")


def _named(place: str | os.PathLike[str], source: str) -> Path:
    path = Path(place).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"{source}: there is no file {path}; `make program` builds target/release/{_NAME}")
    if not _is_it(path):
        raise ValueError(f"{source}: {path} is not the program {_NAME} 0.2")
    return path.absolute()


def _usual_places() -> Iterator[Path]:
    beside = [str(Path(sys.executable).parent)] if sys.executable else []
    for folder in dict.fromkeys([*beside, *os.get_exec_path()]):
        place = shutil.which(_NAME, path=folder)
        if folder and place:
            yield Path(place).absolute()


def _is_it(program: Path) -> bool:
    try:
        answer = subprocess.run(
            [program, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWER, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and _VERSION.match(answer.stdout.decode("utf-8", "replace")) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
