"""The crates that end up in libdenise.so with the default features, or in other packages, from cargo itself.

Build scripts, their dependencies and procedural macros run while the library is built and are not part of it; neither
are the dependencies of the program and of the tests.
"""

import json
import os
import subprocess

TARGET = "x86_64-unknown-linux-gnu"


def cargo(*arguments):
    command = [os.environ.get("CARGO", "cargo"), *arguments, "--locked"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked_crates(*packages):
    """Pairs of a crate's metadata and the ids of the linked crates that it needs, sorted by name and version."""
    metadata = json.loads(cargo("metadata", "--format-version", "1", "--filter-platform", TARGET))
    asked = [word for package in packages or ["denise-capi"] for word in ("-p", package)]
    tree = cargo("tree", *asked, "-e", "normal,no-proc-macro", "--target", TARGET, "--prefix", "none",
                 "--format", "{p}")
    linked = set()
    for line in filter(None, tree.splitlines()):
        name, version = line.split()[:2]
        linked.add((name, version.removeprefix("v")))
    crates = {p["id"]: p for p in metadata["packages"] if (p["name"], p["version"]) in linked}
    found = {(p["name"], p["version"]) for p in crates.values()}
    if found != linked:
        raise SystemExit(f"cargo tree and cargo metadata disagree: {sorted(found ^ linked)}")
    needs = {node["id"]: node["deps"] for node in metadata["resolve"]["nodes"]}
    result = []
    for identifier, crate in crates.items():
        normal = [d["pkg"] for d in needs[identifier] if any(k["kind"] is None for k in d["dep_kinds"])]
        result.append((crate, sorted(i for i in set(normal) if i in crates)))
    return sorted(result, key=lambda pair: (pair[0]["name"], pair[0]["version"]))
