#!/usr/bin/env bash
# The program from the outside: every subcommand does what its help says, and bad input gets a sentence.
set -euo pipefail
denise=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
here=$(dirname "$0")
prices=$here/data/sp500/sp500_dataset.csv.gz
gaps=$here/data/panels/futures12.csv.gz
checks=0

ok() { checks=$((checks + 1)); }
# refuses 'part of the message' arguments...: fails, says so, and does not panic.
refuses() {
  local expected=$1
  shift
  if "$denise" "$@" > "$work/stdout" 2> "$work/stderr"; then
    echo "accepted: denise $*" >&2
    exit 1
  fi
  if ! grep -qF -- "$expected" "$work/stderr" || grep -q panicked "$work/stderr"; then
    echo "denise $*: expected \"$expected\", got:" >&2
    cat "$work/stderr" >&2
    exit 1
  fi
  ok
}
has() { grep -qF -- "$2" "$1" || { echo "$1 lacks \"$2\"" >&2; cat "$1" >&2; exit 1; }; ok; }

"$denise" --help > "$work/help"
for command in decompose covariance rank stream train finetune generate eval results info plot; do
  has "$work/help" "$command"
  "$denise" "$command" --help > /dev/null
done

# Covariances that can be inverted, from prices and from matrices; and which k.
"$denise" covariance "$prices" --out "$work/sigma" > "$work/stdout"
has "$work/stdout" '384 matrices of 20×20'
for name in Sigma inverse U d log_det; do test -s "$work/sigma/$name.npy"; done
python3 - "$work/sigma" <<'EOF'
import ast, struct, sys
def read(name):  # the values of a .npy file of doubles, and its shape
    data = open(f"{sys.argv[1]}/{name}.npy", "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    shape = ast.literal_eval(data[10:10 + size].decode().strip())["shape"]
    return struct.unpack(f"<{(len(data) - 10 - size) // 8}d", data[10 + size:]), shape
(sigma, shape), (inverse, _), (u, of_u), (d, _) = map(read, ("Sigma", "inverse", "U", "d"))
count, n, k = shape[0], shape[1], of_u[2]
assert (count, n, k) == (384, 20, 3), shape
for q in (0, count - 1):
    s, v = sigma[q * n * n:], inverse[q * n * n:]
    for i in range(n):
        for j in range(n):
            unit = sum(s[i * n + e] * v[e * n + j] for e in range(n))
            assert abs(unit - (i == j)) < 1e-9, (q, i, j, unit)
            rows = zip(u[(q * n + i) * k:][:k], u[(q * n + j) * k:][:k])
            right = sum(a * b for a, b in rows) + (d[q * n + i] if i == j else 0)
            assert abs(s[i * n + j] - right) < 1e-15, (q, i, j)
EOF
ok
"$denise" covariance "$prices" --last -k 1 --window 100 --floor 0.2 --out "$work/sigma" --json > "$work/summary"
has "$work/summary" '"matrices": 1'
has "$work/summary" '"k": 1'
has "$work/summary" '"floor": 0.2'
"$denise" covariance "$gaps" --missing --window 60 --out "$work/sigma" > "$work/stdout"
has "$work/stdout" 'at the floor'
refuses 'must be a number from' covariance "$prices" --floor 0 --out "$work/x"
refuses '--missing' covariance "$gaps" --out "$work/x"
"$denise" rank "$prices" --step 250 > "$work/stdout"
has "$work/stdout" 'suggested       k = '
"$denise" rank "$prices" --step 2500 --most 2 --json > "$work/summary"
has "$work/summary" '"observations": 250'
test "$("$denise" rank "$prices" --step 2500 --list | wc -l)" = 4
ok
refuses '33 is not in 1..=32' rank "$prices" --most 33
"$denise" eval --ranks --count 1 --format csv > "$work/stdout"
has "$work/stdout" 'matrices of,this library,'

# Matrices, their decomposition, and what is known about them.
"$denise" generate --count 50 --sparsity 0.9 --distribution normal --out "$work" > /dev/null
"$denise" decompose "$work/M.npy" --out "$work/split" --json > "$work/summary"
has "$work/summary" '"matrices": 50'
has "$work/summary" '"not_finite": 0'
for name in L S U; do test -s "$work/split/$name.npy"; done
has "$work/summary" '"largest_unsettled": 0.0'
has "$work/summary" '"least_specific": '
has "$work/summary" '"first_not_finite": null'
"$denise" decompose "$work/M.npy" --model "$here/../models/default.onnx" --out "$work/again" > /dev/null
cmp "$work/split/L.npy" "$work/again/L.npy" # the built-in network is the default model
# Networks by name; a file of such a name has a folder before it.
"$denise" decompose "$work/M.npy" --model default --out "$work/again" > /dev/null
cmp "$work/split/L.npy" "$work/again/L.npy"
"$denise" decompose "$work/M.npy" --model fast --out "$work/fast" > /dev/null
if cmp -s "$work/fast/L.npy" "$work/split/L.npy"; then echo '--model fast changes nothing' >&2; exit 1; fi
refuses 'there is no such file' decompose "$work/M.npy" --model ./fast --out "$work/x"
"$denise" info fast > "$work/info"
has "$work/info" 'unrolled network'
# Who reads it may leave early.
(sleep 0.5; status=0; "$denise" info "$here/../models/default.onnx" 2> "$work/errors" || status=$?
 echo "$status" > "$work/status") | true
[ "$(cat "$work/status")" = 141 ] && [ ! -s "$work/errors" ]
"$denise" info fast --layers > "$work/few.layers"
"$denise" front "$work/few.layers" --count 20 --quick -o "$work/front.svg" > "$work/stdout" 2> /dev/null
for name in default 'default, careful' fast few PCP; do has "$work/stdout" "| $name"; done
has "$work/front.svg" '</svg>'
ok
"$denise" decompose "$work/M.npy" --correlation --out "$work/units" > /dev/null
if cmp -s "$work/units/L.npy" "$work/split/L.npy"; then echo '--correlation changes nothing' >&2; exit 1; fi
refuses '--correlation is for the network' decompose "$work/M.npy" --correlation --method pcp --out "$work/x"
"$denise" decompose "$work/M.npy" --careful --out "$work/careful" > /dev/null
refuses '--careful is for the network' decompose "$work/M.npy" --careful --method pcp --out "$work/x"
paper=$here/data/onnx/keras_paper.onnx
"$denise" generate -n 6 -k 2 --count 3 --out "$work/six" > /dev/null
refuses DENISE_FLAG_CAREFUL decompose "$work/six/M.npy" --careful --model "$paper" --out "$work/x"
"$denise" decompose "$work/M.npy" --method ialm --out "$work/ialm" > "$work/stdout"
has "$work/stdout" IALM
for method in pcp masked-pcp; do "$denise" decompose "$work/M.npy" --method "$method" --out "$work/$method" > /dev/null; done
cmp "$work/pcp/L.npy" "$work/masked-pcp/L.npy" # all is known
ok
"$denise" eval --count 20 --json > "$work/eval"
has "$work/eval" '"distribution": "t:5"'
# Every λ is in the table; one that is given stands alone.
for row in 'PCP, λ = .56/√n' 'PCP, λ = 1/√n' 'PCP, best λ' 'IALM, λ = .56/√n' 'IALM, λ = 1/√n'; do has "$work/eval" "\"$row\""; done
"$denise" eval --count 5 --sparsity 0.9 --distribution normal --method pcp --lambda 0.25 --format csv > "$work/eval"
has "$work/eval" 'normal 0.90,"PCP, λ = .25",5,'
[ "$(wc -l < "$work/eval")" = 2 ]
"$denise" eval --count 5 --sparsity 0.9 --method masked-pcp --lambda 0.25 --format csv > "$work/eval"
has "$work/eval" 'masked PCP, λ = .25'
for format in text markdown csv latex; do
  "$denise" eval --count 5 --sparsity 0.9 --method denise,pcp,rpca-gd --format "$format" > "$work/eval"
  has "$work/eval" 'RPCA-GD'
done
"$denise" info "$here/../models/default.onnx" > "$work/info"
has "$work/info" 'unrolled network'

# Robustness: synthetic matrices alone, then real ones too.
"$denise" eval --robustness --count 3 > "$work/eval" 2> /dev/null
has "$work/eval" 'Large outliers'
has "$work/eval" 's(S₀) = 0.95, a = 30  Denise, careful'
"$denise" eval --robustness --count 0 --prices "$prices" --panel "$prices" --panel-size 10:2 --json \
  > "$work/eval" 2> /dev/null
has "$work/eval" '"Denise, careful, correlation"'
has "$work/eval" '"n": 10'
refuses 'has 20 assets only' eval --robustness --count 0 --panel "$prices"
refuses '--panel is for --robustness and --streams' eval --count 1 --panel "$prices"
refuses 'cannot be used with' eval --robustness --count 0 -n 30
ok

# Streams: a file, what comes in, a file that grows, and one that was stopped and goes on give the same.
zcat "$prices" | sed -n 1,162p > "$work/prices.csv"
without_time() { sed 's/,"microseconds":[0-9.]*//' "$1"; }
"$denise" stream "$work/prices.csv" --window 60 --l > "$work/ticks"
[ "$(wc -l < "$work/ticks")" = 160 ]
has "$work/ticks" '"status":"not ready"'
has "$work/ticks" '"label":"1990-08-1'
"$denise" stream --window 60 --l < "$work/prices.csv" > "$work/stdin"
cmp <(without_time "$work/ticks") <(without_time "$work/stdin")
head -n 101 "$work/prices.csv" > "$work/begun.csv"
{ head -n 1 "$work/prices.csv"; tail -n +101 "$work/prices.csv"; } > "$work/rest.csv"
"$denise" stream "$work/begun.csv" --window 60 --l --state "$work/state" > "$work/halves"
"$denise" stream "$work/rest.csv" --window 60 --l --state "$work/state" >> "$work/halves"
l_of() { sed -n 's/.*"L":\(.*\]\]\).*/\1/p' "$1"; }
cmp <(l_of "$work/ticks") <(l_of "$work/halves")
[ "$(l_of "$work/ticks" | wc -l)" -gt 150 ]
cp "$work/begun.csv" "$work/growing.csv"
"$denise" stream "$work/growing.csv" --window 60 --l --wait > "$work/grown" &
follower=$!
tail -n +102 "$work/prices.csv" >> "$work/growing.csv"
for _ in $(seq 100); do [ "$(wc -l < "$work/grown")" -ge 160 ] && break; sleep 0.1; done
kill "$follower"; wait "$follower" 2> /dev/null || true
cmp <(l_of "$work/ticks") <(l_of "$work/grown")
"$denise" stream "$work/prices.csv" --every 40 --u --s --half-life 20 --covariance --demean | tail -n 1 > "$work/stdout"
has "$work/stdout" '"U":[['
has "$work/stdout" '"tick":160'
"$denise" stream "$work/prices.csv" 2> /dev/null | head -n 1 > /dev/null # a reader that goes away is no error
refuses 'another window' stream "$work/rest.csv" --window 50 --state "$work/state"
refuses 'window is 1' stream "$work/prices.csv" --window 1
refuses '--every 0' stream "$work/prices.csv" --every 0
head -n 2 "$work/prices.csv" > "$work/short.csv"
refuses 'no returns' stream "$work/short.csv"
printf 'date,A,B\n2020-01-01,x,2\n' > "$work/wrong.csv"
refuses 'wrong.csv' stream "$work/wrong.csv"
refuses 'must be a .csv' stream "$work/M.npy"
ok
"$denise" decompose "$work/prices.csv" --table prices --follow --window 60 --step 1 --out "$work/followed" > "$work/stdout"
has "$work/stdout" 'followed'
for name in M L S U; do test -s "$work/followed/$name.npy"; done
"$denise" decompose "$work/followed/M.npy" --correlation --follow --out "$work/matrices" --json > "$work/summary"
has "$work/summary" '"matrices": 101'
refuses 'cannot be used with' decompose "$work/M.npy" --follow --careful --out "$work/x"
"$denise" eval --streams --prices "$work/prices.csv" --panel "$work/prices.csv" --panel-size 6:2 --json > "$work/eval"
has "$work/eval" '"ratio_late"'
ok

# The authors' pairs are what tables and `generate` have, uniform ones what is trained on; both can be asked for.
eval=(eval --count 200 --sparsity 0.6 --distribution normal --method identity --json)
error() { sed -n '/"error_l"/,/"mean"/s/.*"mean": \([0-9.]*\).*/\1/p' "$1"; }
for pairs in '' authors uniform; do
  "$denise" "${eval[@]}" ${pairs:+--pairs "$pairs"} | error /dev/stdin > "$work/error$pairs"
  "$denise" generate --count 5 --sparsity 0.6 ${pairs:+--pairs "$pairs"} --out "$work/pairs$pairs" > /dev/null
done
cmp "$work/error" "$work/errorauthors"
cmp "$work/pairs/M.npy" "$work/pairsauthors/M.npy"
! cmp -s "$work/error" "$work/erroruniform"
! cmp -s "$work/pairs/M.npy" "$work/pairsuniform/M.npy"
ok

# Prices.
"$denise" decompose "$prices" --table prices --out "$work/sp500" > "$work/stdout"
has "$work/stdout" '1643 matrices of 20×20'
"$denise" plot "$prices" --table prices --index 1642 -o "$work/a.png" -o "$work/a.svg" > /dev/null
head -c 8 "$work/a.png" | cmp - <(printf '\x89PNG\r\n\x1a\n')
has "$work/a.svg" '<svg'

# Entries that are missing: of matrices in CSV and npy, each of which says what it lacks.
printf '1,.5,.2\n.5,1,\n.2,NA,1\n\n1,.1,.3\n.1,1,.2\n.3,.2,1\n' > "$work/holes.csv"
refuses 'holes.csv:2:3: the cell is empty; fill it in, or take such entries as not known (--missing)' \
  decompose "$work/holes.csv" -k 1 --out "$work/x"
"$denise" decompose "$work/holes.csv" -k 1 --missing --out "$work/holes" --json > "$work/summary"
for line in '"matrices": 2' '"missing": 1' '"matrices_with_missing": 1' '"not_finite": 0' '"first_not_finite": null' \
  '"gaps": null'; do has "$work/summary" "$line"; done
"$denise" decompose "$work/holes.csv" -k 1 --missing --out "$work/holes" > "$work/stdout"
has "$work/stdout" 'missing         1 entries of the lower triangles, in 1 of 2 matrices'
# L is complete and S is not known where M is not: entries [0, 1, 2] and [0, 2, 1], after 128 bytes of header.
entry() { od -An -tf8 -j $((128 + 8 * $2)) -N 8 "$work/$1.npy" | tr -d ' '; }
for at in 0 1 2 3 4 5 6 7 8; do
  case $at in 5 | 7) want=nan ;; *) want=number ;; esac
  [[ $(entry holes/S "$at") == *nan ]] && got=nan || got=number
  [ "$got" = "$want" ] && [[ $(entry holes/L "$at") != *nan ]] || { echo "entry $at of L or S" >&2; exit 1; }
  ok
done
refuses 'entry [0, 1, 2] is NaN; fill it in, or take such entries as not known (--missing)' \
  decompose "$work/holes/S.npy" -k 1 --out "$work/x"
"$denise" decompose "$work/holes/S.npy" -k 1 --missing --out "$work/rest" --json > "$work/summary"
has "$work/summary" '"missing": 1'
"$denise" decompose "$work/holes.csv" --missing --method masked-pcp --out "$work/masked" --json > "$work/summary"
has "$work/summary" '"not_finite": 0'
refuses 'PCP needs them all' decompose "$work/holes.csv" --missing --method pcp --out "$work/x"
"$denise" decompose "$work/M.npy" --missing --method pcp --out "$work/pcp" --json > "$work/summary" # nothing is missing
has "$work/summary" '"matrices_with_missing": 0'
refuses DENISE_FLAG_MISSING decompose "$work/six/M.npy" --missing --model "$paper" --out "$work/x"
refuses 'learns from whole matrices' finetune "$work/holes.csv" --missing --out "$work/x"
printf ',.5\n.5,1\n' > "$work/corner.csv"
refuses 'corner.csv:1:1: an empty cell before numbers' decompose "$work/corner.csv" --missing -k 1 --out "$work/x"
printf '1,inf\ninf,1\n' > "$work/infinite.csv"
refuses 'infinite.csv:1:2: "inf" is not a finite number' decompose "$work/infinite.csv" --missing -k 1 --out "$work/x"
"$denise" plot "$work/holes.csv" -k 1 --missing -o "$work/holes.svg" > /dev/null
has "$work/holes.svg" '<title>not known</title>'
if grep -q 'not known' "$work/a.svg"; then echo 'a.svg: nothing is missing' >&2; exit 1; fi

# Tables with gaps. The figures are those of pandas.
refuses 'is missing; fill it in, take it as not known (--missing), or drop such rows (--drop-missing)' \
  decompose "$gaps" --table prices --out "$work/x"
refuses 'cannot be used with' decompose "$gaps" --table prices --missing --drop-missing --out "$work/x"
refuses '--missing' decompose "$gaps" --table prices --min-days 20 --out "$work/x"
refuses 'at least 101 common days in windows of 100' \
  decompose "$gaps" --table prices --missing --min-days 101 --out "$work/x"
"$denise" decompose "$gaps" --table prices --missing --out "$work/gaps" --json > "$work/summary"
for line in '"matrices": 60' '"pairs_too_short": 1550' '"pairs_without_variation": 0' '"windows": 60' '"min_days": 33' \
  '"missing": 1706' '"matrices_with_missing": 60' '"not_finite": 0'; do has "$work/summary" "$line"; done
"$denise" decompose "$gaps" --table prices --missing --min-days 60 --out "$work/gaps" > "$work/stdout"
has "$work/stdout" 'pairs missing   1803 of fewer than 60 common days, 0 without variation, in 60 of 60 windows'
# Without gaps --missing changes no bit.
"$denise" decompose "$prices" --table prices --missing --out "$work/whole" --json > "$work/summary"
has "$work/summary" '"pairs_too_short": 0'
cmp "$work/whole/L.npy" "$work/sp500/L.npy"
cmp "$work/whole/S.npy" "$work/sp500/S.npy"
ok

# A short training, gone on with, and a short finetuning.
train=(train -n 8 -k 2 --sparsity 0.6,0.9 --layers 4 --shared 2 --steps 20 --every 5 --batch 20 --validation 20 --test 20)
"$denise" "${train[@]}" --out "$work/model" > "$work/stdout" 2> /dev/null
has "$work/stdout" 'validation 0.'
for name in model.onnx log.jsonl loss.png loss.svg result.json checkpoint; do test -s "$work/model/$name"; done
cp "$work/model/model.onnx" "$work/first.onnx"
"$denise" "${train[@]}" --out "$work/model" > /dev/null 2> /dev/null
cmp "$work/first.onnx" "$work/model/model.onnx" # nothing was left to do
ok
"$denise" "${train[@]}" --pairs uniform --out "$work/model" > /dev/null 2> /dev/null
cmp "$work/first.onnx" "$work/model/model.onnx" # the default
ok
# Both pages, from few matrices; the short one has the three sentences first.
gaps=$here/data/panels/futures49.csv.gz
quick=(results --quick --count 4 --prices "$prices" --out "$work/results")
"$denise" "${quick[@]}" --stability "$gaps" > "$work/stdout" 2> /dev/null
has "$work/stdout" 'Denise wins '
has "$work/results/TABLES.md" 'Denise, finetuned'
has "$work/results/TABLES.md" '| 0.95 | RPCA-GD |'
has "$work/results/TABLES.md" '| normal 0.95 | PCP, best λ | 1 |'
has "$work/results/TABLES.md" '### Order of the assets'
has "$work/results/TABLES.md" '| prices | PCP, λ = 1/√n |'
has "$work/results/TABLES.md" '| k = 3, true rank 1, s₀ = .95 (n = 20, k = 3) | RPCA-GD, best α | 2 |'
grep -q '^\(Denise is\|Nothing that\)' <(sed -n 3p "$work/results/RESULTS.md")
has "$work/results/RESULTS.md" 'too few matrices to quote'
has "$work/results/RESULTS.md" '| futures49 | 49, 5 | 6 |'
has "$work/results/RESULTS.md" 'seed 2026'
has "$work/results/results.json" '"pairs": "authors"'
for name in windows accuracy distribution cost heatmap; do
  test -s "$work/results/figures/$name.png" -a -s "$work/results/figures/$name.svg"
done
refuses 'no such file.json' "${quick[@]}" --usefulness 'no such file.json'
ok
# Layers that follow a stream; the others stay what they are.
follow=(train --follow own,own -n 10 -k 2 --steps 4 --every 2 --validation 100 --test 100 --out "$work/follow")
"$denise" "${follow[@]}" > "$work/stdout" 2> /dev/null
has "$work/stdout" 'simulated, window 60'
"$denise" info "$work/follow/model.onnx" --follow > "$work/info"
test "$(grep -c '^own ' "$work/info")" = 2
cmp <("$denise" info --layers) <("$denise" info "$work/follow/model.onnx" --layers)
cmp <("$denise" info --mend) <("$denise" info "$work/follow/model.onnx" --mend)
ok
# The same for a dense network.
"$denise" train -n 6 -k 2 --sparsity 0.9 --topology mlp --steps 20 --every 10 --batch 20 --validation 20 --test 20 --rate 0.001 --out "$work/dense" > /dev/null 2>&1
"$denise" info "$work/dense/model.onnx" > "$work/info"
has "$work/info" 'dense network, 4 layers'
"$denise" generate -n 6 -k 2 --count 30 --sparsity 0.9 --out "$work/small" > /dev/null
"$denise" decompose "$work/small/M.npy" --model "$work/dense/model.onnx" --out "$work/split6" --json > "$work/summary"
has "$work/summary" '"kernel": "dense'
"$denise" finetune "$work/small/M.npy" --model "$work/dense/model.onnx" --steps 10 --batch 8 --out "$work/tuned6" > /dev/null 2>&1
test -s "$work/tuned6/model.onnx"
ok
"$denise" finetune "$prices" --table prices --steps 20 --batch 32 --out "$work/tuned" --json > "$work/tuned.json" 2> /dev/null
has "$work/tuned.json" 'mean_abs_s_after'
"$denise" info "$work/tuned/model.onnx" > /dev/null

# What goes wrong.
printf '1,2\n2,x\n' > "$work/bad.csv"
printf '1,2,3\n2,1,3\n' > "$work/wide.csv"
head -c 300 "$work/M.npy" > "$work/short.npy"
head -c 300 "$here/../models/default.onnx" > "$work/short.onnx"
refuses 'bad.csv:2:2: "x" is not a number' decompose "$work/bad.csv" --out "$work/x"
refuses 'wide.csv' decompose "$work/wide.csv" --out "$work/x"
refuses 'short.npy' decompose "$work/short.npy" --out "$work/x"
refuses 'missing.npy' decompose "$work/missing.npy" --out "$work/x"
refuses 'name' decompose "$here/check_program.sh" --out "$work/x"
refuses 'short.onnx' info "$work/short.onnx"
refuses 'less than' decompose "$work/M.npy" -k 20 --out "$work/x"
refuses '--index 50' plot "$work/M.npy" --index 50 -o "$work/a.png"
refuses '.svg or .png' plot "$work/M.npy" -o "$work/a.gif"
refuses 'other options' "${train[@]}" --seed 7 --out "$work/model"
refuses 'other options' "${train[@]}" --pairs authors --out "$work/model"
refuses '--pairs' generate --pairs random --out "$work/x"
refuses 'above 0' eval --lambda 0 --count 1
refuses 'n = 6' decompose "$work/M.npy" --model "$work/dense/model.onnx" --out "$work/x"
refuses 'unrolled' train --topology topo0 --also 10x2:0.9 --out "$work/x"
refuses '10x2:0.95' train --also 10 --out "$work/x"
refuses 'shared,own,own' train --follow 3 --out "$work/x"
refuses '--follow has streams of its own' train --follow --sparsity 0.9 --out "$work/x"
refuses '--share' train --follow --share 0 --out "$work/x"
refuses '--follow' train --prices "$prices" --out "$work/x"
refuses 'distribution' generate --distribution cauchy --out "$work/x"
refuses '--share' finetune "$work/M.npy" --share 0 --out "$work/x"
test ! -e "$work/x"
echo "$checks checks of the program passed"
