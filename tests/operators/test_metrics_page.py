"""The page of metrics tells of every metric, with its labels."""

from pathlib import Path

from operators.metrics import Metrics

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"


def test_every_metric_is_documented_with_its_labels():
    rows = dict(line.strip("| ").split(" | ", 1) for line in PAGE.read_text().splitlines() if line.startswith("| `"))
    metrics = [metric for metric in vars(Metrics()).values() if hasattr(metric, "describe")]
    assert len(rows) == len(metrics)
    for metric in metrics:
        (family,) = metric.describe()
        row = rows[f"`{family.name}{'_total' if family.type == 'counter' else ''}`"]
        assert row.startswith(family.type)
        assert all(f"`{label}`" in row for label in metric._labelnames)
