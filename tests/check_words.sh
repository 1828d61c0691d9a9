#!/usr/bin/env bash
# The form of the text: no line above 120 columns, and in Markdown one sentence a line.
#   tests/check_words.sh              the Markdown sources
#   tests/check_words.sh --all        the Markdown sources and the code
#   tests/check_words.sh GLOB...      the files of the repository that match, for example '*.md' 'src/*.rs'
# It prints file:line: and the reason for each line that does not hold, then a count, and fails if there is any.
set -euo pipefail
cd "$(dirname "$0")/.."

markdown=('*.md')
code=('*.rs' '*.c' '*.h' '*.cpp' '*.hpp' '*.m' '*.tst' '*.sh' 'Makefile' 'scripts/*' 'packaging/*' 'fuzz/run' '.ci/run')
generated=(':(exclude)docs/RESULTS.md' ':(exclude)docs/TABLES.md') # by `denise results`
case ${1:-} in
  '') globs=("${markdown[@]}") ;;
  --all) globs=("${markdown[@]}" "${code[@]}") ;;
  -*) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
  *) globs=("$@") ;;
esac

git rev-parse --is-inside-work-tree >/dev/null 2>&1 || { echo 'words: not a git tree, nothing checked'; exit 0; }
git ls-files -z -- "${globs[@]}" "${generated[@]}" | python3 -c '
import os
import re
import sys

COLUMNS = 120
ABBREVIATIONS = {"e.g.", "i.e.", "cf.", "vs.", "al.", "approx.", "Fig.", "Sec.", "Eq.", "No.", "Dr.", "St."}
# One capital letter and a full stop is an initial, unless it is a matrix of this project: a sentence may end with it.
MATRICES = "ACDLMQRSUY"
END = re.compile(r"(\S*[.!?])[)\]*_\"”’]*\s+(?=[(\[*_\"“‘]*([^\W\d_]|`))")


def too_long(line):
    """Whether the line is too long, and would be without its addresses."""
    return len(line) > COLUMNS and len(re.sub(r"https?://[^\s)>\]]+", "", line)) > COLUMNS


def prose(line):
    """The line without its marks: list and quote signs, a title in bold type, code, targets of links, comments."""
    line = re.sub(r"<!--.*?-->", "", line)
    line = re.sub(r"(`+).+?\1", "`c`", line)
    line = re.sub(r"\]\([^)]*\)", "]", line)
    line = re.sub(r"^\s*(>\s*)*([-*+]\s+|\d+[.)]\s+)?", "", line)
    return re.sub(r"^\*\*[^*]+\*\*", "", line)


def second_sentence(line):
    """The word that ends a sentence in the middle of the line, or None."""
    text = prose(line)
    for match in END.finditer(text):
        word, start = match.group(1).lstrip("([*_\"“‘"), match.group(2)
        if start != "`" and not start.isupper():
            continue
        if word in ABBREVIATIONS or word.strip(".") == "":
            continue
        if re.fullmatch(r"[A-Z]\.", word) and word[0] not in MATRICES:
            continue
        return word
    return None


def table_row(line):
    return line.lstrip().startswith("|")


def complaints(name, text):
    fence = None
    for number, line in enumerate(text.split("\n"), 1):
        if too_long(line):
            yield number, f"{len(line)} columns"
        if not name.endswith(".md"):
            continue
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = mark.group(1) if fence is None else None
        elif fence is None and not table_row(line):
            word = second_sentence(line)
            if word:
                yield number, f"two sentences, the first ends with \"{word}\""


found = files = 0
for name in sys.stdin.buffer.read().decode().split("\0"):
    if not os.path.isfile(name) or os.path.islink(name):
        continue
    with open(name, encoding="utf-8", errors="replace") as file:
        text = file.read()
    files += 1
    for number, why in complaints(name, text):
        print(f"{name}:{number}: {why}")
        found += 1
print(f"words: {files} files, {found} lines to mend")
sys.exit(found > 0 or files == 0)
'
