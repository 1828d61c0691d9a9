#!/usr/bin/env python3
"""licences.py: the licences of all crates that are linked into the library and the program, on standard output.

Each text once, under the crates that it came with. A crate without a file names its licence only.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from linked_crates import linked_crates  # noqa: E402

HEAD = """\
libdenise and the program denise are under the MIT licence or the Apache licence 2.0, at your choice.
They contain the crates below, the standard library of Rust (MIT or Apache-2.0, https://www.rust-lang.org) and,
in the packages for Linux, a few routines of compiler-rt as zig has it (MIT, https://ziglang.org).
"""


def texts(crate):
    """The licence files of a crate."""
    folder = pathlib.Path(crate["manifest_path"]).parent
    beginnings = ("licen", "copying", "notice", "unlicense", "copyright")
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(beginnings):
            yield "\n".join(line.rstrip() for line in path.read_text(errors="replace").strip().splitlines())


def main():
    crates = [crate for crate, _ in linked_crates("denise-capi", "denise-cli") if crate["source"]]
    owners = {}
    print(HEAD)
    for crate in crates:
        name = f"{crate['name']} {crate['version']}"
        found = list(texts(crate))
        for text in found:
            owners.setdefault(text, []).append(name)
        print(f"{name}: {crate['license']}{'' if found else ' (no file in the crate)'}")
    for text, names in owners.items():
        print("\n" + "=" * 100)
        print(", ".join(names))
        print("-" * 100)
        print(text)


main()
