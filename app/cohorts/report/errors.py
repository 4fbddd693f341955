"""Why there is no report.

NoReport
├── NoSuchFolder      there is nothing at this place
├── NotARun           there is a folder, and no run has written it
├── DamagedRun        a run has written it, and a part of it is gone or cannot be read
├── UnknownColumn     a column to group by that the run has not kept
├── NotGroupable      a column whose values name no groups: lists, structures, bytes
├── TooManyGroups     a column with more values than anyone could compare
└── NotWritten        the page could not be written where it was to go
"""


class NoReport(Exception):
    """A report could not be made; the message says why, and what to do."""


class NoSuchFolder(NoReport):
    """There is nothing at this place."""


class NotARun(NoReport):
    """There is a folder, and no run has written it."""


class DamagedRun(NoReport):
    """A run has written it, and a part of it is gone or cannot be read."""


class UnknownColumn(NoReport):
    """A column to group by that the run has not kept."""


class NotGroupable(NoReport):
    """A column whose values name no groups."""


class TooManyGroups(NoReport):
    """A column with more values than anyone could compare."""


class NotWritten(NoReport):
    """The page could not be written where it was to go."""
