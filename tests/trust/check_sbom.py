#!/usr/bin/env python3
"""check_sbom.py BOM.json: the bill of materials is sound, and every licence in it is one that we accept.

`make trust` asks cargo-deny the same about licences; this needs nothing but Python and cargo.
"""

import json
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def acceptable(expression, allowed):
    """Whether one of the alternatives of a licence expression is allowed as a whole."""
    alternatives = re.sub(r"[()]", "", expression).split(" OR ")
    return any(all(part.strip() in allowed for part in each.split(" AND ")) for each in alternatives)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        bom = json.load(file)
    with open(ROOT / "deny.toml", "rb") as file:
        allowed = tomllib.load(file)["licenses"]["allow"]
    assert bom["bomFormat"] == "CycloneDX" and bom["specVersion"] == "1.5"
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", bom["serialNumber"])
    own, others = bom["metadata"]["component"], bom["components"]
    references = [entry["bom-ref"] for entry in [own, *others]]
    assert len(set(references)) == len(references), "a component is there twice"
    assert {d["ref"] for d in bom["dependencies"]} == set(references)
    reached, left = set(), [own["bom-ref"]]
    needs = {d["ref"]: d["dependsOn"] for d in bom["dependencies"]}
    while left:
        reference = left.pop()
        if reference not in reached:
            reached.add(reference)
            left += needs[reference]
    assert reached == set(references), f"not needed by anything: {set(references) - reached}"
    # What comes from a registry has a checksum; what comes with this repository has none.
    unsigned = [entry["name"] for entry in others if "hashes" not in entry]
    assert unsigned == ["denise"], unsigned
    for entry in others:
        if entry["name"] in unsigned:
            continue
        assert re.fullmatch(r"[0-9a-f]{64}", entry["hashes"][0]["content"]), entry["name"]
    refused = [
        (entry["name"], licence["expression"])
        for entry in [own, *others]
        for licence in entry.get("licenses", [{"expression": "none"}])
        if not acceptable(licence["expression"], allowed)
    ]
    assert not refused, f"licences that deny.toml does not allow: {refused}"
    names = {entry["name"] for entry in others}
    assert {"fearless_simd", "tract-core", "tract-onnx", "libc"} <= names
    assert not names & {"cbindgen", "criterion", "proptest", "burn", "clap"}, "these are not in the library"
    assert not acceptable("MPL-2.0", allowed) and not acceptable("GPL-3.0 AND MIT", allowed)
    print(f"ok      the bill of materials lists {len(others)} crates, all under licences of deny.toml")


main()
