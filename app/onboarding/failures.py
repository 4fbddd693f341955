"""Why a command about a table of people cannot go on."""


class Unfit(Exception):
    """The table, the graph or the options do not do; the text says in one line what is wrong and how to mend it."""
