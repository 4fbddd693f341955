"""Reading the options of the key commands: times, rules and models."""

import re
import sys
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from app.adapters.files.flaws import BrokenFiles, Flaw
from app.adapters.files.names import ended, suggestion
from app.adapters.files.toml_files import read_toml
from app.adapters.keys.key_file import RulesEntry
from app.adapters.keys.key_rules import KeyRules
from app.adapters.rules.constraints import read_constraints
from app.adapters.rules.formulas import FormulaLimits

MOST_DAYS = 36_500


def span_of(text: str) -> timedelta:
    """Read a number of days or hours: 90d, 12h."""
    found = re.fullmatch(r"(\d{1,6})([dh])", text)
    if not found or int(found[1]) > MOST_DAYS:
        raise ValueError("must be days or hours, such as 90d or 12h")
    return timedelta(**{"d": {"days": int(found[1])}, "h": {"hours": int(found[1])}}[found[2]])


def end_of(text: str, now: datetime) -> datetime:
    """Read a time to come: days or hours from now, a day (its end), or a time; UTC, unless it has an offset."""
    try:
        end = now + span_of(text) if re.fullmatch(r"\d+[dh]", text) else _moment(text)
    except (ValueError, OverflowError):
        day = "a day such as 2027-01-31, a time such as 2027-01-31T12:00Z"
        raise ValueError(f"must be {day}, days or hours such as 90d or 12h, or never") from None
    if end <= now:
        raise ValueError("is over already; to end a key now, use flipset keys revoke")
    return end


def _moment(text: str) -> datetime:
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return datetime.combine(date.fromisoformat(text), time(), UTC) + timedelta(days=1)
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def rules_in(file: Path) -> Mapping[str, KeyRules]:
    """The rules in a file, by model; `BrokenFiles` if it holds none."""
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BrokenFiles([Flaw(file, "", error.strerror or "cannot be read")]) from None
    rules = read_toml(file, content, RulesEntry).rules
    if not rules:
        raise BrokenFiles([Flaw(file, "rules", "is missing; write rules for each model, such as [rules.hcv.policy]")])
    return rules


def mention_unknown(models: list[str], folder: Path) -> None:
    """Warn of unknown models: a misspelt name makes a useless key, but the models may be on another machine."""
    served = sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    for name in models:
        if served and name not in served:
            print(f"Note: there is no model {name!r} in {folder}; {suggestion(name, served)}", file=sys.stderr)


def mention_unfit(rules: Mapping[str, KeyRules], folder: Path) -> None:
    """Warn of rules that do not fit their model: with such a key every request for it is refused."""
    # Imported here: with the models comes the runtime, which takes a while to load, and most keys have no rules.
    from app.adapters.graphs.features import ModelFeature  # noqa: PLC0415
    from app.adapters.graphs.models import ModelEntry  # noqa: PLC0415

    for name, rule in rules.items():
        file = folder / name / "model.toml"
        if not file.is_file():
            continue
        try:
            features = [ModelFeature.of(entry) for entry in read_toml(file, file.read_bytes(), ModelEntry).features]
        except BrokenFiles:
            continue
        for mistake in read_constraints(rule.constraints, features, FormulaLimits())[1]:
            where = f"rules.{name}.constraints.{mistake.field}"
            print(
                f"Note: {where}: {ended(mistake.message)} Until you fix it, this key is useless for {name}.",
                file=sys.stderr,
            )
