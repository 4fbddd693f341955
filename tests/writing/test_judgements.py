"""Scores of rows that no plan leads to need not be finite; what is written is JSON all the same."""

import json

import numpy as np
import pytest

from app.api.describing.shared import Judgement
from app.writing.json_pieces import judgement_json


@pytest.mark.parametrize(("score", "said"), [(np.inf, None), (-np.inf, None), (np.nan, None), (0.1, 0.1)])
def test_a_score_that_is_not_finite_is_null(score: float, said: float | None):
    def no_constant(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    text = judgement_json('"healthy"', np.float32(score), favourable=False)
    told = json.loads(text, parse_constant=no_constant)
    assert told == {"label": "healthy", "score": said, "favourable": False}
    Judgement.model_validate(told)
