# To be sourced by scripts that run programs for Windows: `wine PROGRAM.exe ...` in a configuration of its own.
# WINEPATH is where programs find their DLLs.
windows=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build/windows
export WINEPREFIX=$windows/wine WINEDEBUG=-all
# Nothing of .NET, HTML or menus, which wine would ask for or install.
export WINEDLLOVERRIDES='mscoree,mshtml=;winemenubuilder.exe='
export DENISE_WINE=/usr/lib/wine/wine64

wine() {
  "$DENISE_WINE" "$@"
}

# Wine 8 has no bcryptprimitives.dll, which programs in Rust need.
if ! [ -e "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" ]; then
  mkdir -p "$windows"
  echo '== wine makes its configuration'
  wine wineboot --init >/dev/null 2>&1
  x86_64-w64-mingw32-gcc -O2 -Wall -Wextra -Werror -shared -static-libgcc \
    "$(dirname "${BASH_SOURCE[0]}")/bcryptprimitives.c" -ladvapi32 \
    -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll"
fi
