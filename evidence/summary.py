"""The report of usefulness.py as a few tables in Markdown."""

from statistics import geometric_mean


def found(rows, method, to):
    return next((row for row in rows if (row["method"], row["to"]) == (method, to)), None)


def marked(text, low, high, nothing):
    """Bold where the interval does not contain `nothing`, the value of no difference."""
    return text if low <= nothing <= high else f"**{text}**"


def ratio(rows, method, to):
    row = found(rows, method, to)
    return marked(f"{row['ratio']:.3f}", *row["interval"], 1) if row else "–"


def difference(rows, method, to):
    row = found(rows, method, to)
    return marked(f"{row['difference']:+.2f}", *row["interval"], 0) if row else "–"


def with_interval(row, key, digits):
    low, high = row["interval"]
    return f"{row[key]:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def each(report):
    for panel in report["panels"]:
        for window in panel["windows"]:
            yield f"{panel['name']}, {window['window']}", window


def others(report, kind, reference):
    """All methods but the reference, in the order of the first window that has them all."""
    lists = [list(window["portfolios"][kind]["methods"]) for _, window in each(report)]
    return [name for name in max(lists, key=len) if name != reference]


def volatilities(report, kind, reference):
    methods = others(report, kind, reference)
    rows = []
    for name, window in each(report):
        part = window["portfolios"][kind]
        own = f"{100 * part['methods'][reference]['volatility']:.2f} %"
        rows.append([name, f"{window['assets']:.0f}", own] + [ratio(part["ratios"], m, reference) for m in methods])
    return table(["panel, window", "assets", reference, *methods], rows)


def likelihoods(report, reference):
    methods = [name for name in others(report, "free", reference) if name != "equal weights"]
    rows = []
    for name, window in each(report):
        part = window["log_likelihood"]
        own = f"{part['methods'][reference]:.2f}"
        rows.append([name, own] + [difference(part["differences"], m, reference) for m in methods])
    return table(["panel, window", reference, *methods], rows)


def beside(report, other, ranks):
    rows = []
    for name, window in each(report):
        for k in ranks:
            a, b = f"Denise {k}", f"{other} {k}"
            free, long = (found(window["portfolios"][kind]["ratios"], a, b) for kind in ("free", "long"))
            likelihood = found(window["log_likelihood"]["differences"], a, b)
            rows.append([name, k, with_interval(free, "ratio", 3), with_interval(long, "ratio", 3),
                         with_interval(likelihood, "difference", 2)])
    return table(["panel, window", "k", "volatility", "volatility, long only", "log-likelihood of a day"], rows)


def counts(rows, nothing, smaller_is_better):
    """How often the interval says better, neither, or worse."""
    below = sum(row["interval"][1] < nothing for row in rows)
    above = sum(row["interval"][0] > nothing for row in rows)
    better, worse = (below, above) if smaller_is_better else (above, below)
    return f"{better}, {len(rows) - better - worse}, {worse}"


def ratios(rows):
    """The geometric mean of the ratios, and the counts."""
    return f"{geometric_mean(row['ratio'] for row in rows):.3f}: {counts(rows, 1, True)}"


def score(report, reference, ranks):
    rows = []
    for k in ranks:
        for other in (f"eigen {k}", f"principal {k}", reference, f"{reference}, corr.", "QIS", "QIS, corr."):
            pair = (f"Denise {k}", other)
            free, long = ([found(window["portfolios"][kind]["ratios"], *pair) for _, window in each(report)]
                          for kind in ("free", "long"))
            likelihood = [found(window["log_likelihood"]["differences"], *pair) for _, window in each(report)]
            rows.append([f"{pair[0]} / {other}", ratios(free), ratios(long), counts(likelihood, 0, False)])
    return table(["", "volatility", "volatility, long only", "log-likelihood of a day"], rows)


def trading(report, kind, key):
    methods = list(dict.fromkeys(m for _, window in each(report) for m in window["portfolios"][kind]["methods"]))
    rows = []
    for name, window in each(report):
        part = window["portfolios"][kind]["methods"]
        rows.append([name] + [f"{part[m][key]:.2f}" if m in part else "–" for m in methods])
    return table(["panel, window", *methods], rows)


def markdown(report, reference="Ledoit-Wolf", ranks=(1, 3, 5)):
    out = [f"The last 40 % of each panel; floor {report['floor']}, {report['resamples']} resamples, "
           f"seed {report['seed']}. Bold: the 95 % interval excludes no difference."]
    out += [f"Left out: {line}" for line in report["left_out"]]
    out += [f"No sample covariance, {name}: {window['no_sample']}."
            for name, window in each(report) if window["no_sample"]]
    sections = {
        "Over all panels and windows: mean ratio, and how often Denise is better, neither, worse":
            score(report, reference, ranks),
        f"Volatility of minimum-variance portfolios: {reference}, and the others divided by it":
            volatilities(report, "free", reference),
        "The same, long only": volatilities(report, "long", reference),
        f"Log-likelihood of a day: {reference}, and the others minus it": likelihoods(report, reference),
        "Denise beside eigen-truncation of the same rank (95 % intervals)": beside(report, "eigen", ranks),
        "Denise beside principal factors of the same rank (95 % intervals)": beside(report, "principal", ranks),
        "Turnover at a rebalancing": trading(report, "free", "turnover"),
        "Turnover at a rebalancing, long only": trading(report, "long", "turnover"),
        "Leverage: sum of the sizes of the weights": trading(report, "free", "leverage"),
    }
    for title, text in sections.items():
        out += ["", f"### {title}", "", text]
    return "\n".join(out)
