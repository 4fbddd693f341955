"""All numbers of a report, gathered from the tables of a run in one pass each, after a first look at the people."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.cohorts.report.counting import answers, people, rejected
from app.cohorts.report.counting.answers import FeatureTally
from app.cohorts.report.counting.people import PeopleTally
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


def gather(run: Run, by: Sequence[str]) -> Figures:
    """Read the tables part by part; what is held grows with the groups, and not with the people."""
    seen = survey(run, by)
    columns = [grouping.column for grouping in seen.groupings]
    people_tally = PeopleTally(seen.groupings, seen.scale)
    for batch in batches(run.people, [*columns, *people.COLUMNS]):
        people_tally.add(batch)
    features = FeatureTally()
    for batch in batches(run.counterfactuals, answers.COLUMNS):
        features.add(batch)
    features.finish()
    rejects = RejectTally()
    for batch in batches(run.rejects, rejected.COLUMNS):
        rejects.add(batch)
    return Figures(run, people_tally, features, rejects, seen.left_out)
