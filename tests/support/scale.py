"""How many random problems the tests draw: TEST_SCALE multiplies them. `make test` takes 1, `make test-all` more."""

import os

SCALE = int(os.environ.get("TEST_SCALE", "1"))


def scaled(count: int) -> int:
    return count * SCALE
