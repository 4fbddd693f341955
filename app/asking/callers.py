"""Who asks, as far as an answer depends on it: what they may hear of, and the rules of their key."""

from dataclasses import dataclass

from app.adapters.files.names import ended
from app.adapters.graphs.models import Model
from app.adapters.keys.key import Key
from app.adapters.keys.key_rules import EVERY_MODEL
from app.adapters.rules.constraints import ConstraintsEntry, read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.asking.policies import Policy
from app.asking.reading import Errors
from app.asking.rules import KEY, Rulebook

NO_RULES = ConstraintsEntry()
NO_RULEBOOK = Rulebook(KEY, NO_RULES, ())


@dataclass(frozen=True, slots=True)
class Caller:
    """Someone who asks about one model. A caller who may not see all models learns nothing about the others."""

    knows_all: bool = True
    policies: tuple[Policy, ...] = ()
    constraints: ConstraintsEntry = NO_RULES
    key: Key | None = None

    @classmethod
    def of(cls, key: Key | None, model: str) -> "Caller":
        if key is None:
            return ANYONE
        found = [key.rules[name] for name in (EVERY_MODEL, model) if name in key.rules]
        policies = tuple(Policy(KEY, rules.policy) for rules in found if rules.policy.model_fields_set)
        # Only the rules for one model can name features.
        constraints = found[-1].constraints if found else NO_RULES
        return cls(key.is_for_all, policies, constraints, key)

    def may_use(self, model: str) -> bool:
        return self.key is None or self.key.may_use(model)

    def rulebook(self, model: Model, errors: Errors) -> Rulebook:
        """The constraints of the key. Where they do not fit the model nothing is answered: they could not be kept."""
        if self.constraints is NO_RULES:
            return NO_RULEBOOK
        items, mistakes = read_constraints(self.constraints, model.features, FormulaLimits())
        for mistake in mistakes:
            reason = f"{ended(mistake.message)} This is a rule of your key; ask your operator to fix it"
            errors.forbid(f"{KEY}{mistake.field}", reason)
        return Rulebook.of(KEY, self.constraints, items)


# Where there are no keys, and on the command line.
ANYONE = Caller()
