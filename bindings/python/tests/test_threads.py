"""Many threads, forks, and the floating-point modes of the host."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from conftest import same

import denise


def test_many_threads_share_everything(windows: Any) -> None:
    expected = {k: denise.decompose(windows, k=k).low_rank for k in (1, 2, 3)}
    model = denise.Model(k=2)
    wrong = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(60):
            k = int(rng.integers(1, 4))
            rows = rng.integers(0, len(windows), 5)
            # Sizes that come and go, so that networks are made, found and dropped meanwhile.
            denise.decompose(np.eye(int(rng.integers(5, 30))), k=k)
            if not same(denise.decompose(windows[rows], k=k, threads=1 + k % 2).low_rank, expected[k][rows]):
                wrong.append(seed)
            if not same(model.decompose(windows[rows]).low_rank, expected[2][rows]):
                wrong.append(seed)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert not wrong


def test_a_stream_is_shared(returns: Any) -> None:
    """One waits for the other: as many ticks as were pushed, in some order."""
    stream = denise.Stream(20, half_life=1e9)
    order = np.array_split(returns[:400], 4)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda rows: [stream.push(row) for row in rows], order))
    assert np.allclose(stream.covariance(), returns[:400].T @ returns[:400] / 400, rtol=1e-6)


def test_the_interpreter_is_free_meanwhile() -> None:
    """Another thread goes on while a large batch is split."""
    M = np.broadcast_to(np.eye(60) + 0.5, (4000, 60, 60)).copy()
    denise.decompose(M[:1], k=5)
    started, done = threading.Event(), threading.Event()

    def split() -> None:
        started.set()
        denise.decompose(M, k=5)
        done.set()

    thread = threading.Thread(target=split)
    steps = 0
    switch = sys.getswitchinterval()
    thread.start()
    started.wait()
    while not done.is_set():
        steps += 1
    thread.join()
    assert steps > 1000, f"{steps} steps in a time in which thousands are taken every {switch} s"


def _in_a_child(queue: Any, M: Any) -> None:
    queue.put(denise.decompose(M, threads=2).low_rank)


def test_a_fork_goes_on(windows: Any) -> None:
    M = np.tile(windows, (3, 1, 1))
    expected = denise.decompose(M, threads=2).low_rank
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_a_child, args=(queue, M))
    child.start()
    result = queue.get(timeout=60)
    child.join(60)
    assert child.exitcode == 0 and same(result, expected)


def test_modes_of_the_host_change_nothing(windows: Any) -> None:
    """Some packages make the whole process flush small numbers to zero."""
    import ctypes

    libm = ctypes.CDLL("libm.so.6")
    # FE_UPWARD is 0x800 on x86-64 and 0x400000 on aarch64; others keep their modes.
    expected = denise.decompose(windows * 1e-300).low_rank
    upward = {"x86_64": 0x800, "aarch64": 0x400000}.get(__import__("platform").machine())
    if upward is None or libm.fesetround(upward) != 0:
        return
    try:
        one = np.float64(1) / np.float64(3)
        result = denise.decompose(windows * 1e-300).low_rank
        kept = libm.fegetround()
    finally:
        libm.fesetround(0)
    assert one > 1 / 3 or kept == upward
    assert kept == upward, "the host's modes were not put back"
    # The input is scaled in the host's modes, so compare with the same input.
    again = denise.decompose(windows * 1e-300).low_rank
    assert same(again, expected)
    assert np.allclose(result, expected, rtol=1e-9)
