"""A model with a derived feature: it reads amount, price, amount / price, tenure and age."""

from pathlib import Path

import numpy as np

from tests.support.graphs import write_network, write_registry
from tests.support.networks import Network

# It says yes above 4.8, as long as nobody asks for more.
WEIGHTS = [0.0, 0.0, -10.0, 0.4, 0.05]
NAMES = ["amount", "price", "ltv", "tenure", "age"]
PERSON = {"amount": 190_000, "price": 200_000, "tenure": 2, "age": 41}


def write_loan(
    folder: Path, name: str = "loan", *, least: float = 4.8, extra: str = "", derived: str = "amount / price"
) -> None:
    """The model, and its registry in the folder `normal_ranges`; the score is above nought from `least` on."""
    (folder / "models" / name).mkdir(parents=True)
    network = Network(np.array(WEIGHTS)[:, None], np.array([10.0]), np.array([1.0]), -least)
    write_network(folder / f"models/{name}/model.onnx", network, opaque=True)
    kinds = {"ltv": f'derived = "{derived}"', "tenure": 'type = "integer"', "age": 'type = "integer"'}
    features = "\n".join(f'[[features]]\nname = "{each}"\n{kinds.get(each, "")}' for each in NAMES)
    head = 'title = "Loan"\nversion = "1"\nnormal_ranges = "loan"\n[output]\nkind = "classification"\n'
    outputs = 'classes = ["no", "yes"]\nfavourable = ["yes"]\n'
    (folder / f"models/{name}/model.toml").write_text(f"{head}{outputs}{features}\n{extra}")


def write_loan_ranges(folder: Path, steps: str = "") -> None:
    """The registry `loan`; `steps` of the amount are in the words of a file."""
    ranges = {"amount": "{ high = 160000 }", "tenure": "{ low = 5 }", "ltv": "{ high = 0.8 }", "age": "{ low = 18 }"}
    write_registry(folder / "loan.toml", ranges, {"amount": steps} if steps else {})
