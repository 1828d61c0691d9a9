#!/usr/bin/env python3
"""sbom.py: the bill of materials of libdenise.so as CycloneDX 1.5 JSON, on standard output.

What is linked into the library with the default features, no more. The same commit gives the same bytes.
"""

import json
import pathlib
import tomllib
import uuid

from linked_crates import linked_crates


def purl(crate):
    return f"pkg:cargo/{crate['name']}@{crate['version']}"


def component(crate, checksums):
    entry = {
        "type": "library",
        "bom-ref": purl(crate),
        "name": crate["name"],
        "version": crate["version"],
        "scope": "required",
        "purl": purl(crate),
    }
    if crate.get("description"):
        entry["description"] = " ".join(crate["description"].split())
    checksum = checksums.get((crate["name"], crate["version"]))
    if checksum:
        entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    if crate.get("license"):
        # Some crates still write the slash that once stood for OR.
        entry["licenses"] = [{"expression": crate["license"].replace("/", " OR ")}]
    if crate.get("repository"):
        entry["externalReferences"] = [{"type": "vcs", "url": crate["repository"]}]
    return entry


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    with open(root / "Cargo.lock", "rb") as file:
        lock = tomllib.load(file)["package"]
    checksums = {(p["name"], p["version"]): p["checksum"] for p in lock if "checksum" in p}
    crates = linked_crates()
    by_id = {crate["id"]: crate for crate, _ in crates}
    own = next(crate for crate, _ in crates if crate["name"] == "denise-capi")
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(own, checksums)},
        "components": [component(crate, checksums) for crate, _ in crates if crate is not own],
        "dependencies": [
            {"ref": purl(crate), "dependsOn": [purl(by_id[i]) for i in needs]} for crate, needs in crates
        ],
    }
    # A number that follows from what is listed, so that the file is reproducible.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bom, sort_keys=True))
    bom["serialNumber"] = f"urn:uuid:{serial}"
    print(json.dumps(bom, indent=1))


main()
