"""An answer as a person reads it in a terminal."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

MARKS = {"normal": "normal", "low": "▼ low", "high": "▲ high", "not_allowed": "✕ not allowed", "unknown": "? no range"}


def show(lines: list[dict[str, Any]], console: Console) -> None:
    """Print the decision, where each value stands, every answer, and how far to trust that these are all."""
    start, last = lines[0], lines[-1]
    answers = [line for line in lines if line["type"] == "counterfactual"]
    console.print(_decision(start))
    console.print(_features(start["features"]))
    if answers:
        console.print(_answers(answers))
    console.print(_conclusion(last))
    if last.get("no_recourse"):
        console.print(_why(last["no_recourse"]))


def _decision(start: dict[str, Any]) -> Text:
    model, prediction = start["model"], start["prediction"]
    ranges = start["normal_ranges"]
    against = f", ranges {ranges['name']} {ranges['version']}" if ranges else ", no ranges"
    verdict = "favourable" if prediction["favourable"] else "not favourable"
    said = f"{prediction['label']}, {verdict}" if prediction["label"] else verdict
    return Text(f"{model['name']} {model['version']}{against}: {said}\n{_scored(prediction, start['target'])}\n")


def _scored(prediction: dict[str, Any], target: dict[str, Any]) -> str:
    """The score beside what it should be."""
    score = _short(prediction["score"])
    if "classes" not in target:
        return f"value {score}; favourable is {_interval(target['low'], target['high'])}"
    wanted = " or ".join(target["classes"])
    least = "it must win" if target["threshold"] is None else f"it must reach {target['threshold']}"
    return f"score of {wanted}: {score}; {least}"


def _features(features: list[dict[str, Any]]) -> Table:
    table = Table("feature", "value", "unit", "normal range", "status", "would move to", title="Where the values stand")
    for feature in features:
        target = "" if feature["target"] is None else str(feature["target"])
        if feature["target"] is not None and not feature["movable"]:
            target = f"may not: {feature['why_not']}"
        cells = (
            f"{feature['name']} ({feature['title']})" if feature["title"] else feature["name"],
            str(feature["value"]),
            _unit(feature["unit"]),
            ", ".join(map(str, feature["allowed"] or [])) or _interval(feature["low"], feature["high"]),
            MARKS[feature["status"]],
            target,
        )
        table.add_row(*map(Text, cells))
    return table


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


def _answers(answers: list[dict[str, Any]]) -> Table:
    table = Table("rank", "change", "cost", "score then", title="What would turn the decision", show_lines=True)
    for answer in answers:
        score = _short(answer["prediction"]["score"])
        cells = (str(answer["rank"]), "\n".join(_changes(answer)), str(answer["cost"]), score)
        # As Text: a name or a unit in square brackets is no markup.
        table.add_row(*map(Text, cells))
    return table


def _changes(answer: dict[str, Any]) -> list[str]:
    return [
        f"{change['feature']} {change['from']} → {change['to']} {_unit(change['unit'])}".rstrip()
        for change in answer["changes"]
    ]


def _conclusion(last: dict[str, Any]) -> Text:
    if last["type"] == "error":
        return Text(last["problem"]["detail"])
    outcomes = {
        "found": f"{_counted(last['count'], 'minimal set')} of changes found.",
        "already_favourable": "The decision is favourable as it stands: nothing needs to change.",
        "no_recourse": "No set of changes that is allowed turns the decision.",
        "unknown": "No set of changes was found, but the search did not come to its end.",
    }
    trust = "" if last["outcome"] in ("already_favourable", "unknown") else _trust(last)
    return Text(f"{outcomes[last['outcome']]} {trust}".rstrip())


def _trust(last: dict[str, Any]) -> str:
    if not last["complete"]:
        return f"Stopped by {last['stopped_by']}: all of at most {last['complete_up_to']} changes are here."
    if last["guarantee"] == "exact":
        return "This is complete and exact."
    return "This is complete if one more change never hurts; otherwise some may be missing."


def _why(why: dict[str, Any]) -> Text:
    if why["relax"]:
        ways = [
            f"  without {' and '.join(way['items'])}: {', '.join(_changes(way['counterfactual']))}"
            for way in why["relax"]
        ]
        more = [f"  and {why['more']} more"] if why["more"] else []
        return Text("\n".join(["Constraints are in the way:", *ways, *more, *_cut_short(why)]))
    closest = ", ".join(_changes(why["best"])) or "changing nothing"
    told = f"The closest is {closest}: score {_short(why['best']['prediction']['score'])}."
    return Text("\n".join([told, *_cut_short(why)]))


def _cut_short(why: dict[str, Any]) -> list[str]:
    return [] if why["complete"] else ["Not every set of changes could be looked at for this."]


def _unit(unit: str | None) -> str:
    """The unit, where there is one to speak of."""
    return "" if unit in (None, "1") else str(unit)


def _short(score: float) -> str:
    return f"{score:.4g}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
