"""Tables put together into few larger ones, so that bounds on their sum are tight and cheap."""

from collections.abc import Iterable, Sequence

import numpy as np

from app.core.through.view import Numbers, Table

# A group's table has a row for each subset of its moves.
MOST_MOVES = 12


def merged(tables: Iterable[Table], most: int = MOST_MOVES) -> list[Table]:
    """The same sum in fewer tables."""
    by_moves = {table.moves: table for table in _by_moves(tables)}
    return [total(group, [by_moves[moves] for moves in members]) for group, members in gathered(by_moves, most)]


Moves = tuple[int, ...]


def gathered(scopes: Iterable[Moves], most: int = MOST_MOVES) -> list[tuple[Moves, list[Moves]]]:
    """Different sets of moves in few groups: the largest first, each joins the group that it shares most moves with."""
    groups: list[set[int]] = []
    members: list[list[Moves]] = []
    for scope in sorted(scopes, key=lambda scope: (-len(scope), scope)):
        moves = set(scope)
        fits = [place for place, group in enumerate(groups) if len(group | moves) <= max(most, len(group))]
        if not fits:
            groups.append(moves)
            members.append([scope])
            continue
        best = max(fits, key=lambda place: (len(groups[place] & moves), -len(groups[place]), -place))
        groups[best] |= moves
        members[best].append(scope)
    return [(tuple(sorted(group)), parts) for group, parts in zip(groups, members, strict=True)]


def _by_moves(tables: Iterable[Table]) -> Iterable[Table]:
    """One table for each set of moves."""
    alike: dict[tuple[int, ...], Numbers] = {}
    for table in tables:
        known = alike.get(table.moves)
        alike[table.moves] = table.values if known is None else known + table.values
    return [Table(moves, values) for moves, values in alike.items()]


def total(moves: tuple[int, ...], parts: Sequence[Table]) -> Table:
    """The sum of tables over some of these moves, as one table over all of them."""
    forms = parts[0].values.shape[1]
    values = np.zeros((*[2] * len(moves), forms))
    for part in parts:
        shape = [2 if move in part.moves else 1 for move in moves]
        values += part.values.reshape(*shape, forms)
    return Table(moves, values.reshape(-1, forms))
