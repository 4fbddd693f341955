"""From a request to a question, in turns."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from math import isnan

from app.adapters.graphs.features import Raw
from app.adapters.graphs.models import Model
from app.adapters.rules.formulas import FormulaLimits
from app.asking.callers import ANYONE, Caller
from app.asking.posing.consequences import check_consequences, check_tables, with_causes
from app.asking.posing.question import PLAIN, Purpose, Question
from app.asking.posing.standards import choose_standards, features_of
from app.asking.posing.terms import Terms, read_terms
from app.asking.prepared import PreparedModels
from app.asking.ranges import ChosenRange, known_facts
from app.asking.reading import Errors, read_instance, too_large
from app.asking.refusals import ConflictingConstraints, FieldError
from app.asking.robustness import Robustness, read_robustness, usual
from app.asking.rules import Rulebook
from app.asking.schemas import CounterfactualsRequest
from app.asking.unmet import why_unmet
from app.core.budget import Budget
from app.core.constraints import Causal, Item
from app.core.facts import Moment, Working
from app.core.findings import Feature
from app.core.problem import Problem, pose
from app.core.relations.relation import Relation
from app.core.robust.asked import More
from app.core.robust.noise import LARGEST_ERROR
from app.core.search.conflicts import Conflict, find_conflict


def understand(
    request: CounterfactualsRequest,
    model: Model,
    prepared_models: PreparedModels,
    limits: FormulaLimits,
    conflicts: Budget,
    caller: Caller = ANYONE,
    purpose: Purpose = PLAIN,
) -> Generator[Moment, None, Question]:
    """Pose the problem of a request in turns, or raise `InvalidRequest` with all that is wrong.

    `conflicts` is what the search for constraints that contradict each other may spend.
    """
    errors = Errors()
    values = read_instance(request.instance, model, "instance", errors)
    terms = read_terms(request, model, prepared_models, limits, errors, caller)
    if purpose.rules_set_aside:
        terms = terms.without_rules()
    robustness = usual(terms.prepared, purpose.told_plans)
    if request.robustness is not None:
        catalog = prepared_models.catalog
        robustness = read_robustness(request.robustness, terms.prepared, values, catalog, caller, errors)
    errors.raise_any()
    if purpose.rules_set_aside:
        robustness = None
    # Long formulas take a while to read, and as long again to make a problem of.
    yield Working()
    asked = terms.prepared.asked
    standards = choose_standards(terms, known_facts(request, model, values) if asked else {}, errors)
    errors.raise_any()
    features = features_of(terms, standards, values)
    _check_what_follows(features, terms, errors)
    problem = pose(features, terms.items)
    _check_targets(problem, model, standards.ranges, errors)
    # Errors of measurement pass on to derived features, whatever the person can change.
    follows = problem.following is not None or bool(model.derived)
    _check_combination(request, problem, robustness, errors, follows=follows)
    if robustness is not None and not _check_noise(robustness, problem, model, errors) and not robustness.is_asked:
        # What nobody has asked for is not told.
        robustness = None
    errors.raise_any()
    yield Working()
    conflict = yield from find_conflict(problem, conflicts)
    if conflict.items and conflict.settled and problem.following is not None:
        conflict = yield from with_causes(conflict, features, terms.items, conflicts)
    _check_conflict(conflict, terms.books, problem, model)
    return Question(
        model,
        terms.prepared,
        sent=_sent(request, model, values),
        ranges=standards.ranges,
        favourable=terms.favourable,
        problem=problem,
        unused_context=terms.unused_context,
        unmatched_context=tuple(
            [key for key, fact in request.context.items() if key in asked and not asked[key].know(fact)]
        ),
        added_rules=terms.added_rules,
        conflicts_ruled_out=conflict.settled,
        robustness=None if follows else robustness,
        least=request.least,
    )


def _check_what_follows(features: tuple[Feature, ...], terms: Terms, errors: Errors) -> None:
    causes = _causes(terms.items)
    if causes or terms.model.derived or any(isinstance(item.statement, Relation) for item in terms.items):
        without_rules = pose(features, causes)
        check_consequences(terms.books, without_rules, terms.model, errors)
        check_tables(terms.books, without_rules, errors)
        errors.raise_any()


def _check_combination(
    request: CounterfactualsRequest, problem: Problem, robustness: Robustness | None, errors: Errors, *, follows: bool
) -> None:
    """What cannot be asked for together."""
    if problem.ladder is not None and robustness is not None and robustness.more is More.REQUIRE:
        errors.add("robustness.more", "cannot be require where features have steps; choose tell, or leave it out")
    if follows and request.robustness is not None:
        reason = "cannot be asked for where values follow from others: derived features, and causes with amounts"
        errors.add("robustness", reason)
    if request.least and robustness is not None and robustness.is_required:
        errors.add("least", "tells where the model's own decision turns; leave it out with robustness.require")


def _check_noise(robustness: Robustness, problem: Problem, model: Model, errors: Errors) -> bool:
    """Whether the model can read every measurement; if not, what the request asks for is a mistake."""
    largest = {position: abs(value) for position, value in enumerate(problem.instance) if not isnan(value)}
    for move in problem.candidates:
        largest[move.position] = max(largest.get(move.position, 0.0), abs(move.target))
    noisy = [
        (model.features[at].name, model.types[at].most, largest.get(at, 0.0), each)
        for at, each in robustness.conditions.noisy.items()
    ]
    too_noisy = [name for name, most, value, each in noisy if value + LARGEST_ERROR * each.noise.sd(value) > most]
    for name in too_noisy if robustness.is_asked else ():
        errors.add(f"robustness.noise.{name}", "leads to measurements too large for the model; give less noise")
    return not too_noisy


def _check_conflict(conflict: Conflict, books: Sequence[Rulebook], problem: Problem, model: Model) -> None:
    fields = [
        FieldError(book.field(item), f"{book.rule(item).words}{why_unmet(item, problem, model.features)}")
        for item in conflict.items
        for book in books
        if book.holds(item)
    ]
    if fields:
        raise ConflictingConstraints(fields, minimal=conflict.settled)


def _sent(request: CounterfactualsRequest, model: Model, values: Sequence[float]) -> tuple[Raw, ...]:
    """The values as they were sent; derived ones as they are computed."""
    if not model.derived:
        return tuple([request.instance[feature.name] for feature in model.features])
    known = [None if isnan(value) else value for value in values]
    return tuple([request.instance.get(feature.name, known[at]) for at, feature in enumerate(model.features)])


def _causes(items: Sequence[Item]) -> tuple[Item, ...]:
    """What the items say of how much effects move with their causes, and nothing else."""
    causes = [(item.path, item.statement) for item in items if isinstance(item.statement, Causal)]
    return tuple(Item(path, replace(causal, effects=())) for path, causal in causes if causal.shifts)


def _check_targets(problem: Problem, model: Model, ranges: tuple[ChosenRange | None, ...], errors: Errors) -> None:
    for move in problem.candidates:
        if abs(move.target) <= model.plain[move.position]:
            continue
        feature = model.features[move.position]
        where = f"{'guide' if ranges[move.position] is None else 'normal_ranges'}.{feature.name}"
        if isnan(problem.instance[move.position]):
            where = f"normal_ranges.{feature.name}.if_missing"
        if feature.missing_codes and feature.means_missing(move.target):
            errors.add(where, "leads to a target that is one of the feature's missing codes")
        elif dtype := too_large(move.target, move.position, model):
            errors.add(where, f"leads to a target that is too large for the model's {dtype} input")
