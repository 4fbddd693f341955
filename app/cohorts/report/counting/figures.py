"""All numbers of a report, gathered from the tables of a run in one pass each, after a first look at the people."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.cohorts.report.counting import answers, holding, people, reasons, rejected
from app.cohorts.report.counting.answers import FeatureTally
from app.cohorts.report.counting.holding import HoldingTally
from app.cohorts.report.counting.people import PeopleTally
from app.cohorts.report.counting.reasons import ReasonTally
from app.cohorts.report.counting.rejected import RejectTally
from app.cohorts.report.counting.survey import survey
from app.cohorts.report.run import Run, batches


@dataclass(frozen=True)
class Figures:
    """What was counted, and the columns that make too many groups to be compared unasked."""

    run: Run
    people: PeopleTally
    features: FeatureTally
    rejects: RejectTally
    left_out: list[str]
    # None if the run does not tell whether plans hold.
    holding: HoldingTally | None = None
    # None if it did not look for reasons.
    reasons: ReasonTally | None = None


def gather(run: Run, by: Sequence[str]) -> Figures:
    """Read the tables part by part; what is held grows with the groups, and not with the people."""
    seen = survey(run, by)
    columns = [grouping.column for grouping in seen.groupings]
    people_tally = PeopleTally(seen.groupings, seen.scale)
    told = [name for name in (reasons.COLUMN,) if name in run.people_columns()]
    reason_tally = ReasonTally.empty(seen.groupings) if told else None
    for batch in batches(run.people, [*columns, *people.COLUMNS, *told]):
        people_tally.add(batch)
        if reason_tally is not None:
            reason_tally.add(batch)
    features = FeatureTally()
    for batch in batches(run.counterfactuals, answers.COLUMNS):
        features.add(batch)
    features.finish()
    rejects = RejectTally()
    for batch in batches(run.rejects, rejected.COLUMNS):
        rejects.add(batch)
    return Figures(run, people_tally, features, rejects, seen.left_out, _holding(run), reason_tally)


def _holding(run: Run) -> HoldingTally | None:
    if holding.COLUMN not in run.answer_columns():
        return None
    tally = HoldingTally()
    for batch in batches(run.counterfactuals, holding.COLUMNS):
        tally.add(batch)
    return tally
