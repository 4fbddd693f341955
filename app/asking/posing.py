"""From a request to a posed problem: names become positions, and everything that can be refused is refused here."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from app.adapters.files.names import closest
from app.adapters.graphs.features import NEVER_MISSING, ModelFeature, Raw
from app.adapters.graphs.models import Model
from app.adapters.rules.constraints import read_constraints
from app.adapters.rules.formulas import FormulaLimits
from app.asking.callers import ANYONE, Caller
from app.asking.policies import check_fixed, check_registry, offered_registries, permitted_target
from app.asking.prepared import PreparedModel, PreparedModels
from app.asking.ranges import ChosenRange, Facts, choose_range, known_facts, own_if_missing
from app.asking.reading import Errors, check_known, read_instance, read_value, too_large
from app.asking.refusals import ConflictingConstraints, FieldError
from app.asking.robustness import Robustness, read_robustness, usual
from app.asking.rules import REQUEST, Rulebook, RuleInForce, rules_of
from app.asking.schemas import CounterfactualsRequest
from app.asking.unmet import why_unmet
from app.core.budget import Budget
from app.core.constraints import Direction, Item
from app.core.facts import Engine, Moment, Working
from app.core.favourable import Favourable
from app.core.problem import Feature, Problem, pose
from app.core.ranges import IfMissing, MoveTo
from app.core.search.conflicts import Conflict, find_conflict
from app.core.through.view import Kind

NEAREST = MoveTo()


@dataclass(frozen=True, slots=True)
class Terms:
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


@dataclass(frozen=True, slots=True)
class Standards:
    """What the values of a person are held against: a range for each feature, or a value to move to."""

    ranges: tuple[ChosenRange | None, ...]
    guide: Mapping[str, float]
    # What missing values would become, of features that have no range.
    if_missing: Mapping[str, IfMissing]


@dataclass(frozen=True, slots=True)
class Question:
    """A request understood: the problem in positions, and what of the request the answer repeats."""

    model: Model
    prepared: PreparedModel
    # The values as they were sent, in the model's order.
    sent: tuple[Raw, ...]
    ranges: tuple[ChosenRange | None, ...]
    favourable: Favourable
    problem: Problem
    # Keys of the context that no range asks for, and keys with a value that no condition of a range knows.
    unused_context: tuple[str, ...]
    unmatched_context: tuple[str, ...]
    added_rules: tuple[RuleInForce, ...]
    # Whether it is known that the constraints do not contradict each other.
    conflicts_ruled_out: bool
    # What is asked, or told, of plans that hold.
    robustness: Robustness | None = None

    def is_missing(self, position: int) -> bool:
        return isnan(self.problem.instance[position])

    def direction(self, position: int) -> Direction | None:
        """Up or down; a category goes neither way, nor does what is missing."""
        is_category = self.model.features[position].type == "category"
        return None if is_category else self.problem.states[position].direction


def understand(
    request: CounterfactualsRequest,
    model: Model,
    prepared_models: PreparedModels,
    limits: FormulaLimits,
    conflicts: Budget,
    caller: Caller = ANYONE,
    told_plans: int = 0,
) -> Generator[Moment, None, Question]:
    """Pose the problem of a request in turns, or raise `InvalidRequest` with all that is wrong.

    `conflicts` is what the search for constraints that contradict each other may spend. `told_plans` is of how many
    plans it is told whether they hold, if the request does not ask.
    """
    errors = Errors()
    values = read_instance(request.instance, model, "instance", errors)
    terms = read_terms(request, model, prepared_models, limits, errors, caller)
    robustness = usual(terms.prepared, told_plans)
    if request.robustness is not None:
        robustness = read_robustness(
            request.robustness, terms.prepared, values, prepared_models.catalog, caller, errors
        )
    errors.raise_any()
    # Long formulas take a while to read, and as long again to make a problem of.
    yield Working()
    asked = terms.prepared.asked
    standards = choose_standards(terms, known_facts(request, model, values) if asked else {}, errors)
    errors.raise_any()
    problem = pose(features_of(terms, standards, values), terms.items)
    _check_targets(problem, model, standards.ranges, errors)
    errors.raise_any()
    yield Working()
    conflict = yield from find_conflict(problem, conflicts)
    _check_conflict(conflict, terms.books, problem, model)
    return Question(
        model,
        terms.prepared,
        sent=tuple([request.instance[feature.name] for feature in model.features]),
        ranges=standards.ranges,
        favourable=terms.favourable,
        problem=problem,
        unused_context=terms.unused_context,
        unmatched_context=tuple(
            [key for key, fact in request.context.items() if key in asked and not asked[key].know(fact)]
        ),
        added_rules=terms.added_rules,
        conflicts_ruled_out=conflict.settled,
        robustness=robustness,
    )


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
    added = rules_of((of_key, *caller.policies, own))
    unused = tuple([key for key in request.context if key not in prepared.asked])
    return Terms(request, model, prepared, favourable, books, items, added, unused)


def _check_engine(request: CounterfactualsRequest, model: Model, errors: Errors) -> None:
    if request.limits.engine is Engine.THROUGH and model.structure.kind is Kind.OPAQUE:
        reason = f"cannot see through this model: {model.structure.why}"
        errors.add("limits.engine", f"through {reason}; leave it out, or choose auto, lattice or cemsp")


def choose_standards(terms: Terms, facts: Facts, errors: Errors) -> Standards:
    """The ranges that hold for a person of whom this is known, and the guides for the rest."""
    own, unused = terms.request.normal_ranges, terms.unused_context
    ranges = tuple(
        choose_range(feature, own.get(feature.name), known, facts, errors, unused)
        for feature, known in zip(terms.model.features, terms.prepared.ranges, strict=True)
    )
    guide = _guide(terms.request, terms.model, ranges, errors)
    return Standards(ranges, guide, _if_missing(terms, ranges, guide, errors) if own else {})


def features_of(terms: Terms, standards: Standards, values: Sequence[float]) -> tuple[Feature, ...]:
    """The values of a person, each beside what it is held against."""
    weights = terms.request.weights
    return tuple(
        _feature(feature, value, chosen, standards, weights)
        for feature, value, chosen in zip(terms.model.features, values, standards.ranges, strict=True)
    )


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


def _guide(
    request: CounterfactualsRequest, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors
) -> dict[str, float]:
    """The values to move to where there is no range: the request's, or else the model's own prototype."""
    guide: dict[str, float] = {}
    if not request.guide and not model.prototype:
        return guide
    for position, (feature, chosen) in enumerate(zip(model.features, ranges, strict=True)):
        field = f"guide.{feature.name}"
        raw = request.guide.get(feature.name, model.prototype.get(feature.name) if chosen is None else None)
        if feature.name in request.guide and chosen is not None:
            errors.add(field, "has a normal range; a guide is for features without one")
        elif feature.name in request.guide and raw is None:
            errors.add(field, "must not be missing")
        elif raw is not None:
            guide[feature.name] = read_value(raw, position, model, "guide", errors)
            if isnan(guide[feature.name]) and not errors.found:
                errors.add(field, "must not be missing")
    return guide


def _if_missing(
    terms: Terms, ranges: tuple[ChosenRange | None, ...], guide: Mapping[str, float], errors: Errors
) -> dict[str, IfMissing]:
    """What the request says of missing values where there is no range."""
    said: dict[str, IfMissing] = {}
    for position, (feature, chosen) in enumerate(zip(terms.model.features, ranges, strict=True)):
        own = terms.request.normal_ranges.get(feature.name)
        if chosen is not None or own is None or (become := own_if_missing(own, feature, errors)) is None:
            continue
        if become.value is None and feature.name not in guide and not terms.prepared.ranges[position]:
            reason = "has neither a range nor a guide that would lead to a target: give a value"
            errors.add(f"normal_ranges.{feature.name}.if_missing", reason)
        said[feature.name] = become
    return said


def _feature(
    feature: ModelFeature,
    value: float,
    chosen: ChosenRange | None,
    standards: Standards,
    weights: Mapping[str, float],
) -> Feature:
    name = feature.name
    return Feature(
        value=float(value),
        normal=None if chosen is None else chosen.normal,
        move_to=NEAREST if chosen is None else chosen.move_to,
        guide=standards.guide.get(name),
        whole=feature.whole,
        weight=weights.get(name, 1),
        if_missing=standards.if_missing.get(name) if chosen is None else chosen.if_missing,
    )


def _own_rules(request: CounterfactualsRequest, model: Model, limits: FormulaLimits, errors: Errors) -> Rulebook:
    own, mistakes = read_constraints(request.constraints, model.features, limits)
    for mistake in mistakes:
        errors.add(f"constraints.{mistake.field}".removesuffix("."), mistake.message, mistake.place)
    return Rulebook(REQUEST, request.constraints, own)


def _check_conflict(conflict: Conflict, books: Sequence[Rulebook], problem: Problem, model: Model) -> None:
    fields = [
        FieldError(book.field(item), f"{book.rule(item).words}{why_unmet(item, problem, model.features)}")
        for item in conflict.items
        for book in books
        if book.holds(item)
    ]
    if fields:
        raise ConflictingConstraints(fields, minimal=conflict.settled)


def _check_targets(problem: Problem, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors) -> None:
    for move in problem.candidates:
        feature = model.features[move.position]
        where = f"{'guide' if ranges[move.position] is None else 'normal_ranges'}.{feature.name}"
        if isnan(problem.instance[move.position]):
            where = f"normal_ranges.{feature.name}.if_missing"
        if feature.missing_codes and feature.means_missing(move.target):
            errors.add(where, "leads to a target that is one of the feature's missing codes")
        elif dtype := too_large(move.target, move.position, model):
            errors.add(where, f"leads to a target that is too large for the model's {dtype} input")
