"""Panels of returns: three in this repository, and some that come with packages, which are fetched and not kept in it.

A panel of a package that cannot be had is left out, with the reason.
"""

import bz2
import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FETCHED = ROOT / "build" / "panels"


@dataclass
class Panel:
    name: str
    returns: np.ndarray  # T x N simple returns, NaN where there is none
    source: str
    version: str
    licence: str
    sha256: str  # of the file of prices or returns
    windows: tuple = (126, 252, 504)  # lengths of the estimation windows, in rows
    hold: int = 21  # rows from one rebalancing to the next: a month
    block: int = 63  # rows in a block of the bootstrap: a quarter
    a_year: int = 252  # rows in a year
    notes: list = field(default_factory=list)


def table(text, dated=True):
    """Column names and values of a comma-separated table; empty cells are NaN. A first column of dates is dropped."""
    rows = list(csv.reader(io.StringIO(text)))
    values = [[float(cell) if cell else np.nan for cell in row[dated:]] for row in rows[1:]]
    return rows[0][dated:], np.array(values)


def changes(prices):
    return prices[1:] / prices[:-1] - 1


def without_holidays(prices, longest=5):
    """Every series has holidays of its own. A day counts if half of the series that have begun have a price on it.

    Where one has none, its price stays for up to `longest` days. Only the past is used.
    """
    known = np.isfinite(prices)
    begun = np.logical_or.accumulate(known, axis=0)
    prices = prices[known.sum(axis=1) >= np.maximum(1, begun.sum(axis=1) / 2)].copy()
    age = np.zeros(prices.shape[1], dtype=int)
    for day in range(1, len(prices)):
        gap = np.isnan(prices[day])
        age = np.where(gap, age + 1, 0)
        stays = gap & (age <= longest)
        prices[day, stays] = prices[day - 1, stays]
    return prices


def without_twins(prices):
    """The first of several columns that are equal: with both there is no inverse."""
    return prices[:, np.sort(np.unique(np.nan_to_num(prices), axis=1, return_index=True)[1])]


def in_repository(name, path, package, licence, clean=lambda prices: prices):
    data = (ROOT / path).read_bytes()
    _, prices = table(gzip.decompress(data).decode())
    returns = changes(clean(prices))
    return Panel(name, returns, f"{path}, from the package {package}", "as committed", licence, digest(data))


def digest(data):
    return hashlib.sha256(data).hexdigest()


def fetch(package, version, kind):
    """The archive of a package, fetched with pip unless it is there already. Nothing is installed."""
    folder = FETCHED / f"{package}-{version}"
    if not list(folder.glob("*")):
        # One and the same wheel, whatever Python this is.
        wheel = ["--only-binary", ":all:", "--python-version", "3.12", "--platform", "manylinux2014_x86_64"]
        options = wheel if kind == "wheel" else ["--no-binary", package]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += [*options, "--dest", str(folder), f"{package}=={version}"]
        try:
            subprocess.run(command, check=True, stdout=sys.stderr, timeout=600)
        except subprocess.SubprocessError as error:
            raise OSError(f"pip cannot fetch {package} {version}") from error
    return next(folder.glob("*"))


def from_wheel(package, version, member):
    with zipfile.ZipFile(fetch(package, version, "wheel")) as archive:
        return archive.read(member)


def from_source(package, version, member):
    with tarfile.open(fetch(package, version, "source")) as archive:
        return archive.extractfile(f"{package}-{version}/{member}").read()


def sp500():
    path = "tests/data/sp500/sp500_dataset.csv.gz"
    return in_repository("20 stocks of the S&P 500", path, "skfolio", "BSD-3-Clause")


def stocks74():
    return in_repository("74 stocks", "tests/data/panels/stocks74.csv.gz", "cvxsimulator", "MIT")


def futures49():
    path = "tests/data/panels/futures49.csv.gz"
    clean = lambda prices: without_holidays(without_twins(prices))
    panel = in_repository("48 futures", path, "cvxsimulator", "MIT", clean)
    panel.notes.append(
        "Two of the 49 series are equal, and one of them is left out. "
        "A day counts if half of the series that have begun have a price; a missing price stays for up to 5 days. "
        "What is missing after that keeps a series out of a window."
    )
    return panel


def universal(name, file, version="0.4.17"):
    """Tables of prices: the products of the price relatives that these data sets are known for."""
    data = from_wheel("universal-portfolios", version, f"universal/data/{file}")
    _, prices = table(data.decode(), dated=False)
    return Panel(name, changes(prices), f"package universal-portfolios, {file}", version, "Feedback MIT", digest(data))


def nyse36():
    return universal("36 stocks, New York 1962-1984", "nyse_o.csv")


def toronto88():
    return universal("88 stocks, Toronto 1994-1998", "tse.csv")


def french30(version="7.1"):
    """30 portfolios of stocks by industry, size, value and momentum. Monthly, so a row is a month."""
    data = from_wheel("linearmodels", version, "linearmodels/datasets/french/french.csv.bz2")
    names, values = table(bz2.decompress(data).decode())
    portfolios = [column for column, name in enumerate(names) if name not in ("MktRF", "SMB", "HML", "Mom", "RF")]
    panel = Panel(
        "30 portfolios, monthly", values[:, portfolios], "package linearmodels, french.csv.bz2", version, "NCSA",
        digest(data), windows=(60, 120, 240), hold=1, block=12, a_year=12,
    )
    panel.notes.append("Rows are months: windows of 5, 10 and 20 years, blocks of 12 months.")
    return panel


def cvxportfolio432(version="1.5.1"):
    data = from_source("cvxportfolio", version, "examples/paper_examples/returns.csv.gz")
    names, values = table(gzip.decompress(data).decode())
    stocks = [column for column, name in enumerate(names) if name != "USDOLLAR"]
    source = "source of the package cvxportfolio, returns.csv.gz"
    return Panel(f"{len(stocks)} stocks", values[:, stocks], source, version, "GPL-3.0", digest(data))


QUICK = (sp500, stocks74)
ALL = (sp500, nyse36, french30, futures49, stocks74, toronto88, cvxportfolio432)


def load(loaders):
    """The panels that can be had, and for each of the others a line with the reason."""
    panels, left_out = [], []
    for loader in loaders:
        try:
            panels.append(loader())
        except OSError as error:
            left_out.append(f"{loader.__name__}: {error}")
    return panels, left_out
