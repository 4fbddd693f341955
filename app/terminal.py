"""An answer as a person reads it in a terminal."""

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

MARKS = {"normal": "", "low": "▼ low", "high": "▲ high", "unknown": "? no range"}


def show(lines: list[dict[str, Any]], console: Console) -> None:
    """Print the decision, where each value stands, every answer, and how far to trust that these are all."""
    start, last = lines[0], lines[-1]
    answers = [line for line in lines if line["type"] == "counterfactual"]
    console.print(_decision(start))
    console.print(_features(start["features"]))
    if answers:
        console.print(_answers(answers))
    console.print(_conclusion(last))


def _decision(start: dict[str, Any]) -> Text:
    model, prediction = start["model"], start["prediction"]
    said = prediction["label"] or "a value"
    word = "favourable" if prediction["favourable"] else "not favourable"
    ranges = start["normal_ranges"]
    against = f", ranges {ranges['name']} {ranges['version']}" if ranges else ""
    return Text(f"{model['name']} {model['version']}{against}: {said}, {word} (score {prediction['score']})\n")


def _features(features: list[dict[str, Any]]) -> Table:
    table = Table("feature", "value", "unit", "normal range", "", "would move to", title="Where the values stand")
    for feature in features:
        target = "" if feature["target"] is None else str(feature["target"])
        if feature["target"] is not None and not feature["movable"]:
            target = f"may not move: {feature['why_not']}"
        table.add_row(
            feature["name"],
            str(feature["value"]),
            feature["unit"] or "",
            _interval(feature["low"], feature["high"]),
            MARKS[feature["status"]],
            target,
        )
    return table


def _interval(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return ""
    if low is None:
        return f"at most {high}"
    return f"at least {low}" if high is None else f"{low} to {high}"


def _answers(answers: list[dict[str, Any]]) -> Table:
    table = Table("", "change", "cost", "score then", title="What would turn the decision", show_lines=True)
    for answer in answers:
        changes = "\n".join(
            f"{change['feature']} {change['from']} → {change['to']} {change['unit'] or ''}".rstrip()
            for change in answer["changes"]
        )
        table.add_row(str(answer["rank"]), changes, str(answer["cost"]), str(answer["prediction"]["score"]))
    return table


def _conclusion(last: dict[str, Any]) -> Text:
    if last["type"] == "error":
        return Text(last["problem"]["detail"])
    outcomes = {
        "found": f"{last['count']} minimal sets of changes turn the decision.",
        "already_favourable": "The decision is favourable as it stands; nothing needs to change.",
        "no_recourse": "No set of changes turns the decision.",
        "unknown": "No set of changes was found, but the search did not end.",
    }
    if last["complete"] and last["guarantee"] == "exact":
        trust = "Complete and exact: there are no others."
    elif last["complete"]:
        trust = "Complete if the model is monotone; otherwise some may be missing."
    else:
        trust = f"Stopped by {last['stopped_by']}: all of at most {last['complete_up_to']} changes are here."
    return Text(f"{outcomes[last['outcome']]} {trust}")
