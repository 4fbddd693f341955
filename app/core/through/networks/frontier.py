"""The subsets that may be favourable, size by size: a frontier that leaves out what bounds rule out.

The moves are ordered by their influence. A node decides the first of them; the subsets below it are a box. A node is
dropped, with all below it, once a bound says that no subset of its box is favourable, once its moves contain an
answer, or once they break a rule that further moves cannot mend. What is left in the end are blocks: the last moves
are open in them, and a plane over the block says which of its subsets need to be asked about.

Every node and every block waits until the search reaches the smallest size that the bound above it allows below it,
so that small sizes come first, and many nodes have come to contain an answer by then.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.core.favourable import Bools
from app.core.subsets.frontier import SubsetChunk
from app.core.subsets.masks import Indices, Masks, as_truths, single, sizes
from app.core.through.networks.bounds import Boxes, Planes
from app.core.through.networks.known import KnownAnswers
from app.core.through.networks.margins import Margins
from app.core.through.networks.order import Reordered, unions
from app.core.through.networks.person import Person

# The last moves, which are open in a block: 1,024 subsets.
BLOCK_MOVES = 10
# How many moves a step down decides.
STRIDE = 4
# Down to here hidden layers are bounded by planes. Below, the nodes are too many for that, and take over the bounds of
# the node above them.
DEEPEST_WITH_PLANES = 16
# So many nodes are bounded together at the most; fewer if their planes would not fit the processor's cache.
NODES = 32
PLANE_NUMBERS = 2**17
# So many subsets of blocks are looked at together, in so many blocks at the most.
VALUES = 2**18
BLOCKS = 1024
# Planes are kept in single precision: this share of their size makes up for what is lost.
PLANE_SHARE = 2.0**-18

# A size that no search reaches.
NEVER = 1 << 16

Plane = NDArray[np.float32]
Sizes = NDArray[np.intp]


class _Blocks(NamedTuple):
    """Blocks with as many moves made: their moves, and for each margin the plane, constant first."""

    masks: Masks
    planes: Plane

    @property
    def nbytes(self) -> int:
        return self.masks.nbytes + self.planes.nbytes

    def part(self, rows: slice | Bools) -> "_Blocks":
        return _Blocks(self.masks[rows], self.planes[rows])


class PossibleSubsets:
    """A `Frontier` over the subsets that may be favourable; others are never made.

    `order` has the moves that a subset may make, the most influential first. `allowed` says which subsets can still
    become feasible as moves are added. It counts the nodes it has bounded.
    """

    is_full = False
    # Subsets of one size come in no order.
    is_ordered = False

    def __init__(
        self, person: Person, margins: Margins, order: Indices, allowed: Callable[[Masks], Bools] | None = None
    ) -> None:
        self.size = 0
        self.nodes = 0
        self._moves = moves = len(order)
        self._person = person
        self._steps = person.steps[order]
        self._margins = margins
        self._allowed = allowed
        # In here the first move is the one with the most influence.
        self._reordered = Reordered(order, len(person.steps))
        self._singles = single(moves)
        self._depths = _depths(moves)
        self._low = _LowSubsets(self._singles[self._depths[-1] :])
        self._known = KnownAnswers(moves, self._low.moves)
        # By depth and by the size that they wait for: nodes that are not bounded yet.
        self._waiting: dict[int, dict[int, list[Masks]]] = {depth: defaultdict(list) for depth in self._depths}
        # By the size that they wait for, and by the number of moves made.
        self._later: dict[int, dict[int, list[_Blocks]]] = defaultdict(lambda: defaultdict(list))
        # By the number of moves made: blocks whose turn has come.
        self._blocks: dict[int, list[_Blocks]] = defaultdict(list)
        # Counted as they come and go: there are very many small arrays.
        self._nodes_held, self._blocks_held = 0, Counter[int]()
        self._wait(self._depths[0], 1, np.zeros(1, dtype=np.uint64))
        for _ in self._activated():
            pass

    @property
    def held(self) -> int:
        return self._nodes_held + self._blocks_held.total() + self._known.held

    def forget_next(self) -> None:
        """There is nothing to forget: nodes are held for all sizes together."""

    def most_next(self) -> int:
        """An upper bound of the number of subsets of the next size; nought if none of any larger size is left."""
        waiting = sum(len(masks) for nodes in self._waiting.values() for parts in nodes.values() for masks in parts)
        held = [self._blocks, *self._later.values()]
        blocks = sum(len(each.masks) for blocks in held for parts in blocks.values() for each in parts)
        return (waiting + blocks) << BLOCK_MOVES

    def chunks(self) -> Iterator[SubsetChunk]:
        """Subsets of the next size that may be favourable; an empty chunk where other work may run."""
        for _ in self._activated():
            yield SubsetChunk(np.zeros(0, dtype=np.uint64))
        for made, blocks in self._later.pop(self.size + 1, {}).items():
            self._blocks[made] += blocks
        for made in sorted(self._blocks):
            added = self.size + 1 - made
            if 0 <= added <= self._low.moves:
                yield from self._subsets(made, added)

    def settle(self, chunk: SubsetChunk, closed: Bools) -> None:
        self._known.add(self._reordered.there(chunk.masks[closed]))

    def rise(self) -> None:
        self.size += 1
        self._known.take_in()
        for made in [made for made in self._blocks if made + self._low.moves <= self.size]:
            self._blocks_held[made] -= sum(blocks.nbytes for blocks in self._blocks.pop(made))

    def _wait(self, depth: int, size: int, masks: Masks) -> None:
        self._waiting[depth][size].append(masks)
        self._nodes_held += masks.nbytes

    def _activated(self) -> Iterator[None]:
        """Bound all nodes whose turn comes with the next size, from the top down; yields now and then."""
        for place, depth in enumerate(self._depths):
            nodes = self._waiting[depth].pop(self.size + 1, [])
            masks = np.concatenate(nodes) if nodes else np.zeros(0, dtype=np.uint64)
            together = min(NODES, max(1, PLANE_NUMBERS // ((self._moves - depth + 1) * self._person.widest)))
            for start in range(0, len(masks), together):
                self._bound(place, self._open(masks[start : start + together]))
                yield
            self._nodes_held -= masks.nbytes

    def _open(self, masks: Masks) -> Masks:
        masks = masks[~self._known.inside(masks)]
        return masks if self._allowed is None else masks[self._allowed(self._reordered.back(masks))]

    def _bound(self, place: int, masks: Masks) -> None:
        """Bound nodes of one depth, and put in line what is below those that are left."""
        if not len(masks):
            return
        depth = self._depths[place]
        boxes = self._boxes(depth, masks)
        boxes.tighten()
        planes = self._planes(boxes, masks)
        if depth == self._depths[-1]:
            self._keep(masks, planes)
        else:
            self._extend(place, masks, boxes, planes)

    def _extend(self, place: int, masks: Masks, boxes: Boxes, planes: Planes) -> None:
        depth, below = self._depths[place], self._depths[place + 1]
        extensions = unions(self._singles[depth:below])
        children, due = masks[:, None] | extensions, self._due(masks, planes, below - depth)
        if below == self._depths[-1] and below > DEEPEST_WITH_PLANES:
            self._shortcut(below, children, boxes, due)
            return
        for each in np.unique(due[due < NEVER]).tolist():
            self._wait(below, each, children[due == each])

    def _shortcut(self, below: int, children: Masks, boxes: Boxes, due: Sizes) -> None:
        """Turn the children of nodes into blocks at once, with the intervals of the nodes."""
        rows, columns = np.nonzero(due < NEVER)
        masks = children[rows, columns]
        kept = ~self._known.inside(masks)
        rows, masks = rows[kept], masks[kept]
        if len(masks):
            below_them = self._boxes(below, masks)
            below_them.tighten([interval.of(rows) for interval in boxes.intervals], with_planes=False)
            self._keep(masks, self._planes(below_them, masks))

    def _due(self, masks: Masks, planes: Planes, decided: int) -> Sizes:
        """For each node and each choice of the moves that it decides next, the smallest size that may succeed."""
        bits = _bits(decided)
        constants = planes.constant[:, :, None] + planes.coefficients[:, :, :decided] @ bits.T
        left = planes.coefficients[:, :, decided:]
        # The best that each number of further moves can add.
        gains = np.cumsum(-np.sort(-np.maximum(left, 0.0), axis=2), axis=2)
        needed = (constants < 0.0) + (gains[:, :, None] < -constants[:, :, :, None]).sum(axis=3)
        needed[needed > left.shape[2]] = NEVER
        due = self._margins.least(needed.swapaxes(1, 2)) + sizes(masks)[:, None] + bits.sum(axis=1)
        # Smaller sizes are done.
        later: Sizes = np.maximum(due, self.size + 1)
        return later

    def _boxes(self, depth: int, masks: Masks) -> Boxes:
        truths = as_truths(masks, self._moves)[:, :depth]
        return Boxes(self._person, self._person.start + truths @ self._steps[:depth], self._steps[depth:])

    def _planes(self, boxes: Boxes, masks: Masks) -> Planes:
        self.nodes += len(masks)
        planes = boxes.planes(self._margins.forms)
        return Planes(planes.constant + self._margins.offsets, planes.coefficients)

    def _keep(self, masks: Masks, planes: Planes) -> None:
        """Keep blocks that may succeed, each with its planes rounded up to single precision."""
        made = sizes(masks)
        due = self._due(masks, planes, 0)[:, 0]
        scale = np.abs(planes.constant) + np.abs(planes.coefficients).sum(axis=2)
        joined = np.concatenate([(planes.constant + PLANE_SHARE * scale)[:, :, None], planes.coefficients], axis=2)
        for each in np.unique(due[due < NEVER]).tolist():
            for count in np.unique(made[due == each]).tolist():
                rows = (due == each) & (made == count)
                blocks = _Blocks(masks[rows], joined[rows].astype(np.float32))
                self._later[each][count].append(blocks)
                self._blocks_held[count] += blocks.nbytes

    def _subsets(self, made: int, added: int) -> Iterator[SubsetChunk]:
        """The subsets of blocks with so many moves made, and so many of the open moves added."""
        numbers, choices = self._low.of_size(added)
        blocks, still_open = self._in_order(made), []
        step = min(BLOCKS, max(1, VALUES // (len(numbers) * blocks.planes.shape[1])))
        for start in range(0, len(blocks.masks), step):
            part = blocks.part(slice(start, start + step))
            closed = self._known.closed_in(part.masks)
            still_open.append(~closed[:, 0])
            possible = self._possible(part.planes, choices) & ~closed[:, numbers]
            rows, columns = np.nonzero(possible)
            subsets = self._reordered.back(part.masks[rows] | self._low.masks[numbers[columns]])
            yield SubsetChunk(subsets if self._allowed is None else subsets[self._allowed(subsets)])
        # Where the moves made contain an answer, so do all subsets of the block.
        left = blocks.part(np.concatenate([*still_open, np.zeros(0, dtype=np.bool_)]))
        self._blocks_held[made] -= blocks.nbytes - left.nbytes
        self._blocks[made] = [left]

    def _possible(self, planes: Plane, choices: Plane) -> Bools:
        """Whether each choice in each block may be favourable."""
        blocks, forms, width = planes.shape
        # One product for all margins: the planes of a block are rows of one matrix.
        values = (planes.reshape(-1, width) @ choices).reshape(blocks, forms, -1)
        return self._margins.possible(values.swapaxes(1, 2))

    def _in_order(self, made: int) -> _Blocks:
        """The blocks with so many moves made, neighbours beside each other."""
        parts = self._blocks[made]
        if len(parts) == 1:
            return parts[0]
        masks, planes = np.concatenate([each.masks for each in parts]), np.concatenate([each.planes for each in parts])
        order = np.argsort(masks)
        return _Blocks(masks[order], planes[order])


class _LowSubsets:
    """The subsets of the moves that are open in a block, by their size."""

    def __init__(self, singles: Masks) -> None:
        self.moves = len(singles)
        # By their number: one bit a move, the first highest.
        self.masks = unions(singles)
        # With a column of ones for the constants.
        bits = _bits(self.moves)
        self._choices = np.hstack([np.ones((len(bits), 1), dtype=np.int64), bits]).astype(np.float32)
        self._sizes = bits.sum(axis=1)

    def of_size(self, size: int) -> tuple[Indices, Plane]:
        """The numbers of the subsets of one size, and what a plane is multiplied with to tell their bounds."""
        numbers = np.flatnonzero(self._sizes == size)
        return numbers, self._choices[numbers].T


def _bits(moves: int) -> Sizes:
    """Every subset of so many moves by its number, the first move highest: a one for each move that it makes."""
    return np.arange(2**moves)[:, None] >> np.arange(moves - 1, -1, -1) & 1


def _depths(moves: int) -> list[int]:
    """How many moves are decided, step by step: none at first, in the end all but those of a block."""
    last = max(0, moves - BLOCK_MOVES)
    return [0, *range(last % STRIDE or STRIDE, last + 1, STRIDE)] if last else [0]
