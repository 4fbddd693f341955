"""What a request asks for, whoever it is about."""

from collections.abc import Mapping
from typing import NamedTuple

from app.adapters.files.names import closest
from app.adapters.graphs.features import NEVER_MISSING
from app.adapters.graphs.models import Model
from app.adapters.rules.constraints import read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.asking.callers import ANYONE, Caller
from app.asking.policies import check_fixed, check_registry, offered_registries, permitted_target
from app.asking.posing.consequences import check_causes
from app.asking.prepared import PreparedModel, PreparedModels
from app.asking.reading import Errors, check_known
from app.asking.rules import REQUEST, Rulebook, RuleInForce, rules_of
from app.asking.schemas import CounterfactualsRequest
from app.core.constraints import Immutable, Item
from app.core.facts import Engine
from app.core.favourable import Favourable
from app.core.through.view import Kind


class Terms(NamedTuple):
    """What a request asks for, whoever it is about: the registry, what is favourable, and the constraints."""

    request: CounterfactualsRequest
    model: Model
    prepared: PreparedModel
    favourable: Favourable
    # Every rule in force by its owner, the request's own last; and all of them together.
    books: tuple[Rulebook, ...]
    items: tuple[Item, ...]
    # What the key and the request add to the rules of the model and the registry, as an answer names it.
    added_rules: tuple[RuleInForce, ...]
    # Keys of the context that no range asks for.
    unused_context: tuple[str, ...]

    @property
    def weights(self) -> Mapping[str, float]:
        """How hard changes are: as the request says, or else the registry."""
        registry = self.prepared.registry
        usual = {} if registry is None else registry.weights
        return {**usual, **self.request.weights} if usual else self.request.weights

    def without_rules(self) -> "Terms":
        """The same with every rule set aside, but that protected features stay as they are."""
        positions = [self.model.positions[name] for name in self.model.protected]
        kept = tuple(Item(f"protected[{place}]", Immutable(position)) for place, position in enumerate(positions))
        return self._replace(books=(), items=kept)


def read_terms(
    request: CounterfactualsRequest,
    model: Model,
    prepared_models: PreparedModels,
    limits: FormulaLimits,
    errors: Errors,
    caller: Caller = ANYONE,
) -> Terms:
    """All of a request that speaks of nobody in particular."""
    prepared = _prepared(request, model, prepared_models, caller, errors)
    policies = (*prepared.policies, *caller.policies)
    favourable = permitted_target(request.target, model, policies, errors)
    check_fixed(request, policies, errors)
    _check_engine(request, model, errors)
    of_key, own = caller.rulebook(model, errors), _own_rules(request, model, limits, errors)
    _check_names(request, model, errors)
    # What always holds, and what the request adds to that.
    books = (*prepared.books, of_key, own)
    items = tuple([item for book in books for item in book.items])
    check_causes(books, own, errors)
    added = rules_of((of_key, *caller.policies, own))
    unused = tuple([key for key in request.context if key not in prepared.asked])
    return Terms(request, model, prepared, favourable, books, items, added, unused)


def _check_engine(request: CounterfactualsRequest, model: Model, errors: Errors) -> None:
    if request.limits.engine is Engine.THROUGH and model.structure.kind is Kind.OPAQUE:
        reason = f"cannot see through this model: {model.structure.why}"
        errors.add("limits.engine", f"through {reason}; leave it out, or choose auto, lattice or cemsp")


def _prepared(
    request: CounterfactualsRequest, model: Model, prepared_models: PreparedModels, caller: Caller, errors: Errors
) -> PreparedModel:
    name = request.registry if request.names_registry else model.registry
    catalog = prepared_models.catalog
    registry = None if name is None else catalog.registries.get(name)
    misfits = () if registry is None else catalog.pairings[model.name, registry.name].misfits
    if name is not None and (registry is None or (misfits and not caller.knows_all)):
        fitting = offered_registries(model, catalog, caller.policies)
        hint = closest(name, fitting)
        errors.add("registry", f"is not known; {hint or 'for this model: ' + ', '.join(fitting)}")
    elif misfits:
        errors.add("registry", f"does not fit this model: {misfits[0].field}: {misfits[0].told([model.name])}")
    else:
        prepared = prepared_models.with_registry(model, registry)
        check_registry(name, model, catalog, (*prepared.policies, *caller.policies), errors)
        return prepared
    return prepared_models.with_registry(model, None)


def _check_names(request: CounterfactualsRequest, model: Model, errors: Errors) -> None:
    check_known(request.normal_ranges, model.positions, "normal_ranges", errors)
    check_known(request.guide, model.positions, "guide", errors)
    check_known(request.weights, model.positions, "weights", errors)
    for name, own in request.normal_ranges.items():
        is_missing = name in model.positions and request.instance.get(name, "") is None
        if own.if_missing is not None and is_missing and not model.features[model.positions[name]].may_be_missing:
            errors.add(f"normal_ranges.{name}.if_missing", f"cannot help: {NEVER_MISSING}")


def _own_rules(request: CounterfactualsRequest, model: Model, limits: FormulaLimits, errors: Errors) -> Rulebook:
    own, mistakes = read_constraints(request.constraints, model.features, limits)
    for mistake in mistakes:
        errors.add(f"constraints.{mistake.field}".removesuffix("."), mistake.message, mistake.place)
    return Rulebook(REQUEST, request.constraints, own)
