"""The rules in force, as an answer names them: each by its owner and its path, in the words of its owner."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from app.adapters.rules.constraints import ConstraintsEntry, written
from app.adapters.rules.item_words import rule_words
from app.core.constraints import Item

# Before the path of an item: whose it is. One of the request's own has nothing before it.
MODEL = "model:"
KEY = "key:"
REGISTRY = "registry:"
REQUEST = ""


class RuleInForce(NamedTuple):
    """A rule that answers keep to: its path, after its owner, and what is written there."""

    item: str
    rule: object

    @property
    def words(self) -> str:
        """What a constraint says; nothing where it is a policy."""
        owner = next(owner for owner in (MODEL, KEY, REGISTRY, REQUEST) if self.item.startswith(owner))
        return rule_words(self.item.removeprefix(owner), self.rule)


class Rulebook(NamedTuple):
    """The constraints of one owner, as they are written, and the items that they become, named by their owner."""

    owner: str
    entry: ConstraintsEntry
    items: tuple[Item, ...]

    @classmethod
    def of(cls, owner: str, entry: ConstraintsEntry, items: Iterable[Item]) -> "Rulebook":
        return cls(owner, entry, tuple(Item(f"{owner}{item.path}", item.statement) for item in items))

    def holds(self, item: Item) -> bool:
        return item in self.items

    def rules(self) -> Iterator[RuleInForce]:
        return map(self.rule, self.items)

    def rule(self, item: Item) -> RuleInForce:
        return RuleInForce(item.path, written(self.entry, item.path.removeprefix(self.owner)))

    def field(self, item: Item) -> str:
        """Where a problem says that an item stands."""
        return item.path if self.owner else f"constraints.{item.path}"


class HasRules(Protocol):
    """A rulebook or a policy."""

    def rules(self) -> Iterator[RuleInForce]:
        """What it asks for, rule by rule."""
        ...


def rules_of(owners: Iterable[HasRules]) -> tuple[RuleInForce, ...]:
    """All that these ask for, one after the other."""
    return tuple([rule for owner in owners for rule in owner.rules()])
