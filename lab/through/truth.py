"""The truth, by another way: every subset of the moves that matter is scored, and the minimal ones are picked.

Written without the service's own reading and searching. Trees and weights are read from the graph's attributes. The
sums are added up in one large array, held against ONNX Runtime on samples, and wherever a score is close to the
decision, ONNX Runtime itself is asked.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime

# Scores that are so close to a tie are asked of the runtime.
CLOSE = 1e-4
# Beyond so many moves that matter the array of all subsets is too large.
MOST_MOVES = 30
# Subsets of so many moves are added up together.
AT_ONCE = 18
SAMPLES = 20

Sums = dict[frozenset[int], float]


class Judge:
    """A graph, by itself and by the runtime."""

    def __init__(self, content: bytes) -> None:
        self._nodes = list(onnx.load_from_string(content).graph.node)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        self._input = self._session.get_inputs()[0].name
        self._output = self._session.get_outputs()[1].name

    def favours(self, rows: np.ndarray) -> np.ndarray:
        """What the runtime decides: the second class must win."""
        scores = np.concatenate(
            [
                self._session.run([self._output], {self._input: rows[at : at + 4096]})[0]
                for at in range(0, len(rows), 4096)
            ]
        )
        return np.asarray(scores[:, 1] > scores[:, 0])

    def sums(self, now: np.ndarray, then: np.ndarray) -> Sums:
        """How far a set of changes leads beyond the tie: what each set adds to what its subsets add."""
        for node in self._nodes:
            held = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
            if node.op_type == "Scaler":
                now, then = (
                    (each - held["offset"]) * held["scale"] for each in (now.astype(float), then.astype(float))
                )
            elif node.op_type == "LinearClassifier":
                return _linear(held, now, then)
            elif node.op_type in ("TreeEnsembleClassifier", "TreeEnsembleRegressor"):
                return _trees(held, now, then)
        raise ValueError("no sum in this graph")


def _linear(held: dict[str, Any], now: np.ndarray, then: np.ndarray) -> Sums:
    """The second class's score; with two rows of weights, less that of the first."""
    weights = np.array(held["coefficients"]).reshape(-1, len(now))
    bias = np.array(held["intercepts"])
    gap, start = (weights[1] - weights[0], bias[1] - bias[0]) if len(weights) == 2 else (weights[0], bias[0])
    steps = (then - now) * gap
    found = {frozenset([place]): float(step) for place, step in enumerate(steps) if step}
    return {frozenset(): float(start + now @ gap), **found}


def _trees(held: dict[str, Any], now: np.ndarray, then: np.ndarray) -> Sums:
    keys = list(zip(held["nodes_treeids"], held["nodes_nodeids"], strict=True))
    place = {key: at for at, key in enumerate(keys)}
    prefix = "class" if "class_ids" in held else "target"
    weights = defaultdict(float)
    one_sided = set(held[f"{prefix}_ids"]) == {0}
    listed = [held[f"{prefix}_{name}"] for name in ("treeids", "nodeids", "ids", "weights")]
    for tree, node, target, weight in zip(*listed, strict=True):
        weights[tree, node] += weight if one_sided or target == 1 else -weight
    total: Sums = defaultdict(float)
    total[frozenset()] += sum(held.get("base_values", ()))
    # One score for two classes: a sum that is no margin ties at one half.
    if one_sided and held.get("post_transform") in (b"NONE", None):
        total[frozenset()] -= 0.5
    for tree in dict.fromkeys(held["nodes_treeids"]):
        ways = _ways(held, place, tree, now, then)
        moves = sorted({move for way in ways for move in way})
        _add(total, moves, {tuple(sorted(way.items())): weights[key] for way, key in _leaves(ways)})
    return total


def _ways(held: dict[str, Any], place: dict[Any, int], tree: int, now: np.ndarray, then: np.ndarray) -> list[Any]:
    """Every way to a leaf that some set of changes takes: which moves it makes and leaves out, and the leaf."""
    going: list[tuple[int, dict[int, bool]]] = [(0, {})]
    ends: list[Any] = []
    while going:
        node, chosen = going.pop()
        at = place[tree, node]
        mode, column = held["nodes_modes"][at].decode(), held["nodes_featureids"][at]
        if mode == "LEAF":
            ends.append(_End(chosen, (tree, node)))
            continue
        split = np.float32(held["nodes_values"][at])
        passes = [_passes(mode, np.float32(each[column]), split) for each in (now, then)]
        for made in (False, True):
            if passes[0] == passes[1] and made:
                continue
            if chosen.get(column, made) != made and passes[0] != passes[1]:
                continue
            after = chosen if passes[0] == passes[1] else {**chosen, column: made}
            names = "nodes_truenodeids" if passes[made] else "nodes_falsenodeids"
            going.append((held[names][at], after))
    return ends


class _End(dict[int, bool]):
    """The moves of a way, and the leaf at its end."""

    def __init__(self, chosen: dict[int, bool], leaf: tuple[int, int]) -> None:
        super().__init__(chosen)
        self.leaf = leaf


def _leaves(ways: list[Any]) -> list[tuple[dict[int, bool], tuple[int, int]]]:
    return [(way, way.leaf) for way in ways]


def _passes(mode: str, value: np.float32, split: np.float32) -> bool:
    return bool(
        {
            "BRANCH_LEQ": value <= split,
            "BRANCH_LT": value < split,
            "BRANCH_GTE": value >= split,
            "BRANCH_GT": value > split,
        }[mode]
    )


def _add(total: Sums, moves: list[int], leaves: dict[Any, float]) -> None:
    """A leaf is reached if some moves are made and others are not: a product that is multiplied out."""
    for way, weight in leaves.items():
        made = frozenset(move for move, chosen in way if chosen)
        left = [move for move, chosen in way if not chosen]
        for signs in product((False, True), repeat=len(left)):
            more = frozenset(move for move, taken in zip(left, signs, strict=True) if taken)
            total[made | more] += weight * (-1) ** len(more)


def minimal_sets(judge: Judge, now: np.ndarray, then: np.ndarray) -> set[frozenset[int]] | None:
    """Every minimal favourable set of positions that change; None if too many of them matter."""
    sums = _that_matter(judge, now, then)
    moves = _moves(sums)
    if len(moves) > MOST_MOVES:
        return None
    parts = [_packed(judge, now, then, moves, part) for part in _parts(sums, moves)]
    favourable, close = (np.concatenate(bits) for bits in zip(*parts, strict=True))
    # What contains a set that is surely favourable is not minimal, whatever the runtime says of it.
    asked = _numbers(close & ~_larger(favourable, len(moves)), len(moves))
    for at in range(0, len(asked), 2**16):
        some = asked[at : at + 2**16]
        hits = some[judge.favours(_rows(now, then, moves, some))]
        np.bitwise_or.at(favourable, hits >> 3, (1 << (hits & 7)).astype(np.uint8))
    found = _numbers(favourable & ~_larger(favourable, len(moves)), len(moves))
    return {frozenset(move for bit, move in enumerate(moves) if number >> bit & 1) for number in found.tolist()}


def that_matter(judge: Judge, now: np.ndarray, then: np.ndarray) -> int:
    """How many changes matter: all their subsets are looked at."""
    return len(_moves(_that_matter(judge, now, then)))


def _that_matter(judge: Judge, now: np.ndarray, then: np.ndarray) -> Sums:
    sums = {key: value for key, value in judge.sums(now, then).items() if not key or abs(value) > 1e-12}
    if all(len(key) <= 1 for key in sums):
        # Without a move that lowers a plain sum the sum is higher: no minimal set has one.
        sums = {key: value for key, value in sums.items() if not key or value > -CLOSE}
    return sums


def _moves(sums: Sums) -> list[int]:
    return sorted({move for key in sums for move in key})


class _Part(NamedTuple):
    """How far all subsets with the same later moves lead beyond the tie, and the number of the first of them."""

    first: int
    margin: np.ndarray


def _parts(sums: Sums, moves: list[int]) -> Iterator[_Part]:
    place = {move: at for at, move in enumerate(moves)}
    numbers = np.array([sum(1 << place[move] for move in key) for key in sums])
    values, low = np.array(list(sums.values())), max(3, min(len(moves), AT_ONCE))
    # The first moves go as one small matrix: element by element they would take longest.
    first = np.ones((1, 1))
    for _ in range(3):
        first = np.kron([[1.0, 1.0], [0.0, 1.0]], first)
    for later in range(2 ** (max(3, len(moves)) - low)):
        within = numbers >> low & ~later == 0
        margin = np.bincount(numbers[within] & (2**low - 1), values[within], 2**low)
        margin = (margin.reshape(-1, len(first)) @ first).reshape(-1)
        for bit in range(3, low):
            halves = margin.reshape(-1, 2, 1 << bit)
            halves[:, 1] += halves[:, 0]
        yield _Part(later << low, margin)


def _packed(
    judge: Judge, now: np.ndarray, then: np.ndarray, moves: list[int], part: _Part
) -> tuple[np.ndarray, np.ndarray]:
    """Which of these subsets are surely favourable, and of which only the runtime knows: a bit each."""
    _hold_samples(judge, now, then, moves, part)
    favourable, possible = part.margin >= CLOSE, part.margin > -CLOSE
    return np.packbits(favourable, bitorder="little"), np.packbits(possible & ~favourable, bitorder="little")


def _larger(bits: np.ndarray, moves: int) -> np.ndarray:
    """Those that contain another one. The first three moves are the bits of a byte."""
    without = (0x55, 0x33, 0x0F)
    above = bits.copy()
    for bit in range(min(3, moves)):
        above |= (above & without[bit]) << (1 << bit)
    for bit in range(3, moves):
        halves = above.reshape(-1, 2, 1 << (bit - 3))
        halves[:, 1] |= halves[:, 0]
    larger = np.zeros_like(above)
    for bit in range(min(3, moves)):
        larger |= (above & without[bit]) << (1 << bit)
    for bit in range(3, moves):
        shape = (-1, 2, 1 << (bit - 3))
        larger.reshape(shape)[:, 1] |= above.reshape(shape)[:, 0]
    return larger


def _numbers(bits: np.ndarray, moves: int) -> np.ndarray:
    """The numbers of the subsets whose bit is set."""
    there = np.flatnonzero(bits)
    rows, places = np.nonzero(np.unpackbits(bits[there, None], axis=1, bitorder="little"))
    numbers = there[rows] * 8 + places
    return numbers[numbers < 2**moves]


def _rows(now: np.ndarray, then: np.ndarray, moves: list[int], numbers: np.ndarray) -> np.ndarray:
    rows = np.tile(now, (len(numbers), 1))
    for bit, move in enumerate(moves):
        rows[numbers >> bit & 1 == 1, move] = then[move]
    return rows


def _hold_samples(judge: Judge, now: np.ndarray, then: np.ndarray, moves: list[int], part: _Part) -> None:
    some = np.random.default_rng(0).integers(0, len(part.margin), SAMPLES)
    some = some[np.abs(part.margin[some]) >= CLOSE]
    if (judge.favours(_rows(now, then, moves, part.first + some)) != (part.margin[some] > 0)).any():
        raise AssertionError("the sums are not what the runtime computes")
