"""A search that does not end by itself, however fast the machine is: it is under way until somebody stops it."""

from pathlib import Path
from typing import Any

from tests.support import graphs

PATH = "/v1/models/endless/counterfactuals"
# The first alone suffices, or any twenty of the others: there are more subsets than anybody can look at.
NAMES = [f"f{index}" for index in range(40)]
OTHERS = 20
HOUR_MS = 3_600_000
# What a server has to allow.
SETTINGS = {"max_deadline_ms": str(HOUR_MS)}
# And to be full with one of them, whoever asks.
ONE_AT_A_TIME = {**SETTINGS, "max_searches": "1", "max_searches_per_client": "2"}
INSTANCE = dict.fromkeys(NAMES, 0)


def write_endless(folder: Path) -> Path:
    """The model `endless` and its registry: every feature is normal from 1 upwards."""
    graphs.write_slow_network(folder / "models/endless/model.onnx", len(NAMES), others=OTHERS)
    graphs.write_model_toml(folder / "models/endless", NAMES, registry="endless")
    graphs.write_registry(folder / "ranges/endless.toml", dict.fromkeys(NAMES, "{ low = 1 }"))
    return folder


def request(engine: str = "cemsp", deadline_ms: int = HOUR_MS) -> dict[str, Any]:
    return {"instance": INSTANCE, "limits": {"engine": engine, "deadline_ms": deadline_ms}}
