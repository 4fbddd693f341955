"""The reasons for a decision as one JSON object."""

from collections.abc import Iterator

from app.adapters.graphs.features import as_sent
from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.messages import Messages
from app.adapters.rules.registries import ReasonEntry
from app.answering.reasons import Outcome, Reason, Reasons
from app.asking.posing.question import Question
from app.core.facts import Found
from app.core.findings import WhyNot
from app.writing.json_pieces import encoded, prediction_json, range_json, target_json
from app.writing.lines import LineWriter
from app.writing.variations import Variations
from app.writing.wording import wording_of

# US Regulation B, 12 CFR part 1002, comment 9(b)(2)-1: more than four are not likely to be helpful.
MOST_REASONS = 4


def reasons_json(reasons: Reasons, language: Language = IN_ENGLISH) -> str:
    """All that is said of the reasons; sentences, titles and the texts of reasons are in the language."""
    question, summary = reasons.question, reasons.summary
    wording, verdict = wording_of(question.prepared), reasons.prediction
    decision = prediction_json(wording.labels[int(verdict.label[0])], verdict.score[0], bool(verdict.favourable[0]))
    shown, writer = reasons.ranked[:MOST_REASONS], ReasonWriter(question, summary.count, language)
    told = ",".join([writer.reason(rank, reason) for rank, reason in enumerate(shown, start=1)])
    known = {
        "more": len(reasons.ranked) - len(shown),
        "minimal_sets": summary.count if summary.complete else None,
        "without_effect": _without_effect(reasons),
        "not_considered": list(_not_considered(question)),
        "set_aside": _set_aside(question),
        "complete": summary.complete,
        "stopped_by": summary.stopped_by,
        "guarantee": summary.guarantee,
        "engine": summary.engine,
        "model_rows": summary.model_rows,
        "elapsed_ms": summary.elapsed_ms.total,
        "explanation": _explained(reasons.outcome, language.messages),
        "note": language.messages.reasons_note,
    }
    return (
        f'{{"model":{wording.model},"normal_ranges":{wording.registry},'
        f'"target":{encoded(target_json(question.favourable, question.model))},"prediction":{decision},'
        f'"outcome":"{reasons.outcome}","reasons":[{told}],{encoded(known)[1:]}'
    )


def _explained(outcome: Outcome, messages: Messages) -> str:
    match outcome:
        case Outcome.FOUND:
            return messages.reasons_found
        case Outcome.ALREADY_FAVOURABLE:
            return messages.reasons_already_favourable
        case Outcome.NONE:
            return messages.reasons_none
    return messages.reasons_unknown


class ReasonWriter:
    """Writes the JSON of each reason."""

    def __init__(self, question: Question, count: int, language: Language = IN_ENGLISH) -> None:
        self._question = question
        self._count = count
        self._language = language
        self._features = language.features(question.model)
        self._lines = LineWriter(question, language)
        self._speaking = Variations(question, language)

    def reason(self, rank: int, reason: Reason) -> str:
        question, position = self._question, reason.position
        feature, known = self._features[position], question.ranges[position]
        stated = stated_reason(question, position, self._language)
        said = {
            "text": None if stated is None else stated.text,
            "code": None if stated is None else stated.code,
            "source": None if stated is None else stated.source,
            "necessity": {
                "share": round(reason.sets / self._count, 4),
                "sets": reason.sets,
                "holds": "all" if reason.sets == self._count else "some",
            },
            "sufficiency": {"smallest_set": len(reason.smallest.moves), "alone": len(reason.smallest.moves) == 1},
        }
        status = question.problem.findings[position].status
        return (
            f'{{"rank":{rank},"feature":{encoded(feature.name)},"title":{encoded(feature.title)},'
            f'"value":{as_sent(question.sent[position])},"unit":{encoded(feature.unit)},'
            f'{range_json(known, feature)},"status":"{status}",{encoded(said)[1:-1]},'
            f'"variation":{self._variation(reason.smallest)}}}'
        )

    def _variation(self, found: Found) -> str:
        """How far other values would have led to another result."""
        sentence = encoded(self._sentence(found))
        return f'{{"sentence":{sentence},{self._lines.changed(found)}}}'

    def _sentence(self, found: Found) -> str:
        messages, label, values = self._language.messages, self._speaking.label(found), self._speaking.values(found)
        if label is None:
            return messages.would_have_been_favourable.format(values=values)
        return messages.would_have_been.format(values=values, label=label)


def stated_reason(question: Question, position: int, language: Language = IN_ENGLISH) -> ReasonEntry | None:
    """What the registry says a notice should state."""
    registry = question.prepared.registry
    return None if registry is None else language.reason(registry, question.model.features[position].name)


def _without_effect(reasons: Reasons) -> list[str]:
    """Features outside their ranges that no minimal set holds; nothing is known of them if some sets may be missing."""
    if reasons.outcome is not Outcome.FOUND:
        return []
    named = {reason.position for reason in reasons.ranked}
    features = reasons.question.model.features
    positions = dict.fromkeys(move.position for move in reasons.question.problem.moves)
    return [features[position].name for position in positions if position not in named]


def _not_considered(question: Question) -> Iterator[dict[str, str]]:
    """Features that could not become a reason, whatever their values do to the decision."""
    for feature, finding in zip(question.model.features, question.problem.findings, strict=True):
        if feature.name in question.model.protected:
            yield {"feature": feature.name, "why": "protected"}
        elif finding.why_not in (WhyNot.NO_RANGE, WhyNot.MISSING):
            yield {"feature": feature.name, "why": str(finding.why_not)}


def _set_aside(question: Question) -> list[str]:
    """The paths of the constraints, whoever's they are; a policy is none."""
    rules = (*question.prepared.rules, *question.added_rules)
    return [rule.item for rule in rules if not rule.item.partition(":")[2].startswith("policy.")]
