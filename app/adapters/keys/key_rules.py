"""The rules of a key, for one model or for all: narrower than the model's own, and never wider."""

from app.adapters.files.toml_files import Entry
from app.adapters.rules.constraints import ConstraintsEntry
from app.adapters.rules.policies import PolicyEntry

# In the place of a model's name.
EVERY_MODEL = "*"


class KeyRules(Entry):
    """Rules for requests with this key, in addition to the model's own."""

    policy: PolicyEntry = PolicyEntry()
    constraints: ConstraintsEntry = ConstraintsEntry()
