"""The figures that a network's script prints and records."""

from lab.training.network import Settings, Split
from lab.training.recourse import Judge, Recourse


def of_network(judge: Judge, data: Split, settings: Settings, recourse: Recourse) -> dict[str, int | float]:
    """Judge the written ONNX file, not the model in memory, on the test part."""
    right = judge.accepts(data.test_rows) == data.test_labels
    return {
        "seed": settings.seed,
        "rows": len(data.train_rows) + len(data.test_rows),
        "test_accuracy": float(right.mean()),
        "refused": recourse.refused,
        "share_with_recourse": recourse.share,
    }
