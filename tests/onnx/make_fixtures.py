#!/usr/bin/env python3
"""Makes the models of tests/data/onnx again, with real exporters, and what onnxruntime computes with them.

usage: make_fixtures.py DIRECTORY

Needs the packages of requirements-fixtures.txt, best in an environment of their own. Each NAME.onnx gets a
NAME.txt: one line per value, its name first. A line M starts a matrix (n x n, row by row); the lines U, L and S
after it are the outputs that the model has. Weights are random, but for the network that this project trains.
"""

import importlib
import os
import subprocess
import sys

import fixtures


def make(directory, group):
    """Makes the models of one module."""
    module = importlib.import_module(group)
    for number, (name, make_one) in enumerate(module.MODELS.items()):
        module.seed(number)
        path = os.path.join(directory, name + ".onnx")
        kinds = make_one(path)
        fixtures.strip_traces(path)
        with open(os.path.join(directory, name + ".txt"), "w") as out:
            fixtures.run(path, kinds, out)
        print(name, os.path.getsize(path), "bytes")


def main():
    directory, *group = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    if group:
        make(directory, *group)
        return
    # TensorFlow and PyTorch cannot live in one process.
    for group in ["fixtures_keras", "fixtures_torch", "fixtures_denise"]:
        subprocess.run([sys.executable, __file__, directory, group], check=True)


if __name__ == "__main__":
    main()
