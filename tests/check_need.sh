#!/usr/bin/env bash
# scripts/need says what it will install before it does, and DENISE_INSTALL=no keeps it from installing anything.
# Nothing is installed here: apt-get, rustup and sudo are stand-ins that write down how they were called.
set -euo pipefail
need=$(cd "$(dirname "$0")/.." && pwd)/scripts/need
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
checks=0

fail() {
  echo "need: $1" >&2
  cat "$work/out" >&2
  exit 1
}

# A machine with a shell, a few commands, and installers that bring what they are asked for.
mkdir "$work/bin"
for tool in bash dirname env cat chmod id; do
  ln -s "$(command -v $tool)" "$work/bin/$tool"
done
cat >"$work/bin/apt-get" <<'END'
#!/usr/bin/env bash
cat "$OUT" >"$SEEN" # what had been printed by then
echo "${0##*/} $*" >>"$CALLS"
for brought in denise-tool denise-part; do
  echo '#!/bin/sh' >"$BIN/$brought"
  chmod +x "$BIN/$brought"
done
END
printf '#!/usr/bin/env bash\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work/bin/apt-get" "$work/bin/sudo"
cp "$work/bin/apt-get" "$work/bin/rustup"
export BIN=$work/bin CALLS=$work/calls SEEN=$work/seen OUT=$work/out

# run REFUSE ARGUMENT...: the status of scripts/need on that machine, as it was at first
run() {
  rm -f "$work/calls" "$work/seen" "$work/bin/denise-tool" "$work/bin/denise-part"
  status=0
  PATH=$work/bin DENISE_INSTALL=$1 "$need" "${@:2}" >"$work/out" 2>&1 || status=$?
  checks=$((checks + 1))
}

run no bash:bash
[ $status = 0 ] && [ ! -s "$work/out" ] || fail 'what is there needs no word'

for pair in denise-tool:denise-package denise-part:rustup/denise-package; do
  run no "$pair"
  [ $status != 0 ] || fail "$pair: does not fail when it may not install"
  [ ! -e "$work/calls" ] || fail "$pair: installs although DENISE_INSTALL=no"
  grep -q 'DENISE_INSTALL=no.*denise-package' "$work/out" || fail "$pair: does not name what is missing"

  for answer in yes ''; do
    run "$answer" "$pair"
    [ $status = 0 ] || fail "$pair: does not install"
    grep -q 'denise-package' "$work/calls" || fail "$pair: calls no installer"
    grep -q 'denise-package' "$work/seen" || fail "$pair: does not say what it will install before it does"
  done
done

run perhaps denise-tool:denise-package
[ $status != 0 ] && [ ! -e "$work/calls" ] || fail 'takes an answer that it does not know for a yes'

run yes denise-other:denise-package
[ $status != 0 ] || fail 'a package that does not bring its command passes'
echo "need: $checks passed, 0 failed"
