#!/usr/bin/env bash
# Licences, duplicates and sources of all that is in the library or builds it (deny.toml), and known weaknesses where
# their database can be had.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=build/trust/tools
if ! command -v cargo-deny >/dev/null && [ ! -x $tools/bin/cargo-deny ]; then
  scripts/may_install cargo install cargo-deny
  cargo install cargo-deny --locked --quiet --root "$PWD/$tools"
fi
PATH=$PATH:$PWD/$tools/bin
cargo deny --locked --log-level error check --hide-inclusion-graph licenses bans sources 2>&1 | tee build/trust/deny.txt
# The database comes over the network. Without it nothing is known, which is not the same as nothing being found.
if cargo deny --locked --log-level error fetch db >build/trust/fetch.txt 2>&1; then
  cargo deny --locked --log-level error check --hide-inclusion-graph advisories
else
  echo "NOT CHECKED: advisories (the database of RustSec cannot be fetched from here)"
fi
