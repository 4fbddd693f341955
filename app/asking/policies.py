"""What a question may not choose: held against the policy of its model, and of the key that it came with."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from app.adapters.catalog import Catalog
from app.adapters.files.names import listed
from app.adapters.files.numbers import number_text
from app.adapters.graphs.models import Model
from app.adapters.rules.policies import PolicyEntry
from app.asking.reading import Errors
from app.asking.rules import KEY, MODEL, RuleInForce
from app.asking.schemas import CounterfactualsRequest, TargetBody
from app.asking.targets import read_target
from app.core.favourable import Favourable, FavourableClasses

WHOSE = {MODEL: "this model", KEY: "this key"}


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy, and whose it is: what a model's forbids cannot be asked for, what a key's forbids not with that key."""

    owner: str
    entry: PolicyEntry

    @property
    def whose(self) -> str:
        return WHOSE[self.owner]

    def refuse(self, field: str, message: str, errors: Errors) -> None:
        (errors.forbid if self.owner == KEY else errors.add)(field, message)

    def rules(self) -> Iterator[RuleInForce]:
        said = self.entry.model_dump(exclude_unset=True)
        return (RuleInForce(f"{self.owner}policy.{name}", rule) for name, rule in said.items())


def policies_of(model: Model) -> tuple[Policy, ...]:
    """The model's own, where it has one."""
    return (Policy(MODEL, model.policy),) if model.policy.model_fields_set else ()


def check_fixed(request: CounterfactualsRequest, policies: Sequence[Policy], errors: Errors) -> None:
    """Ranges and guides of the request's own, where they are fixed."""
    for policy in policies:
        if request.normal_ranges and policy.entry.normal_ranges == "fixed":
            policy.refuse("normal_ranges", f"are fixed by {policy.whose}; leave them out", errors)
        if request.guide and policy.entry.guide == "fixed":
            policy.refuse("guide", f"is fixed by {policy.whose}; leave it out", errors)


def offered_registries(model: Model, catalog: Catalog, policies: Sequence[Policy]) -> list[str]:
    """The registries that a request may name."""
    return [name for name in catalog.registries_for(model) if all(policy.entry.allows(name) for policy in policies)]


def check_registry(
    name: str | None, model: Model, catalog: Catalog, policies: Sequence[Policy], errors: Errors
) -> None:
    """Where the ranges come from, by the request's own choice or by the model's."""
    for policy in policies:
        if not policy.entry.allows(name):
            offered = [repr(each) for each in offered_registries(model, catalog, policies)]
            hint = f"; name {listed(offered, 'or')}" if offered else ""
            policy.refuse("registry", f"is not one that {policy.whose} allows{hint}", errors)


def permitted_target(target: TargetBody, model: Model, policies: Sequence[Policy], errors: Errors) -> Favourable:
    """What is favourable, as far as that is for the request to say; a key may ask for more than the model does."""
    favourable = read_target(target, model, errors)
    for policy in policies:
        if policy.entry.target == "fixed" and favourable != model.favourable:
            policy.refuse("target", f"is fixed by {policy.whose}; leave it out", errors)
        if policy.entry.least_threshold is not None and isinstance(favourable, FavourableClasses):
            favourable = _reaching(policy.entry.least_threshold, favourable, target, model, policy, errors)
    return favourable


def _reaching(
    least: float, favourable: FavourableClasses, target: TargetBody, model: Model, policy: Policy, errors: Errors
) -> FavourableClasses:
    assert isinstance(model.favourable, FavourableClasses)
    threshold = favourable.threshold
    if favourable.classes != model.favourable.classes:
        policy.refuse("target.classes", f"are fixed by {policy.whose}; leave them out", errors)
    elif threshold is not None and threshold < least and target.threshold is None:
        # It is the model that asks for less, and not the request.
        return replace(favourable, threshold=least)
    elif threshold is None or threshold < least:
        policy.refuse("target.threshold", f"must be {number_text(least)} or more, as {policy.whose} has it", errors)
    return favourable
