"""A dense network trained by this project's own program, `target/release/denise` or $DENISE. Used by make_fixtures.py."""

import os
import shutil
import subprocess
import tempfile

import fixtures

PROGRAM = os.environ.get("DENISE", os.path.join(os.path.dirname(__file__), "../../target/release/denise"))


def seed(number):
    """Training has its own."""


def mlp(path):
    size = ["-n", str(fixtures.N), "-k", str(fixtures.K)]
    with tempfile.TemporaryDirectory() as work:
        short = ["--steps", "200", "--every", "100", "--validation", "100", "--batch", "64"]
        command = [PROGRAM, "train", "--topology", "mlp", *size, *short, "--out", work]
        subprocess.run(command, check=True)
        shutil.copyfile(os.path.join(work, "model.onnx"), path)
    return ["S", "L"]


MODELS = {"denise_mlp": mlp}
