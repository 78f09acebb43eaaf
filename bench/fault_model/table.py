"""The reckoning as text."""

from collections.abc import Iterator

from bench.fault_model.classes import CLASSES
from bench.fault_model.reckoning import Reckoning, Row

_RULES_SHOWN = 3


def lines(done: Reckoning) -> Iterator[str]:
    """Give the table by class, a line a class."""
    yield f"{'class':<26}{'planted':>8}{'slices':>8}{'rejected':>9}{'dropped':>8}{'stored':>7}  rules that fired most"
    for name, row in done.rows.items():
        yield (
            f"{name:<26}{row.planted:>8,}{len(row.slices):>8,}{row.rejected:>9,}{row.dropped:>8,}{row.stored:>7,}"
            f"  {_remark(name, row)}"
        )
    total = [sum(column) for column in zip(*map(_counts, done.rows.values()), strict=True)]
    yield f"{'all':<26}{total[0]:>8,}{'':>8}{total[1]:>9,}{total[2]:>8,}{total[3]:>7,}"


def _counts(row: Row) -> tuple[int, int, int, int]:
    return row.planted, row.rejected, row.dropped, row.stored


def _remark(name: str, row: Row) -> str:
    fired = ", ".join(f"{rule} {count:,}" for rule, count in row.rules.most_common(_RULES_SHOWN))
    if name in CLASSES and (why := CLASSES[name].uncovered):
        return f"{fired + '; ' if fired else ''}not covered: {why}"
    return fired or ("tried again" if row.rejected else "")
