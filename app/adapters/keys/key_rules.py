"""The rules of a key, for one model or for all: narrower than the model's own, and never wider."""

from pydantic import field_validator

from app.adapters.files.toml_files import Entry
from app.adapters.rules.causes import NOT_IN_A_FILE
from app.adapters.rules.constraints import ConstraintsEntry
from app.adapters.rules.policies import PolicyEntry

# In the place of a model's name.
EVERY_MODEL = "*"


class KeyRules(Entry):
    """Rules for requests with this key, in addition to the model's own."""

    policy: PolicyEntry = PolicyEntry()
    constraints: ConstraintsEntry = ConstraintsEntry()

    @field_validator("constraints")
    @classmethod
    def _narrower(cls, entry: ConstraintsEntry) -> ConstraintsEntry:
        if any(causal.lets_the_immutable_move for causal in entry.causal):
            raise ValueError(NOT_IN_A_FILE)
        return entry
