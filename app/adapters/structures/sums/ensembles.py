"""Tree ensembles as arrays of nodes, from each of the forms in which ONNX writes them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.adapters.structures.graph import Array, Node, NotUnderstood
from app.core.favourable import Bools
from app.core.through.view import Numbers, Unseen

Ints = NDArray[np.int64]

# The modes of a node, by the numbers that opset 5 gives them.
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
TESTS = (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)
EQUAL, MEMBER = MODES.index("BRANCH_EQ"), MODES.index("BRANCH_MEMBER")
# No way through a tree is longer, and all ways together do not meet more nodes.
MOST_DEPTH = 5_000
MOST_VISITS = 2**22
# In sets of numbers from nought to this one the runtime tells whole numbers from others.
EXACT = 24


@dataclass(frozen=True, slots=True)
class Ensemble:
    """All trees together. A child is the number of a node or, below nought, of a leaf: -1 is leaf 0."""

    columns: Ints
    modes: Ints
    splits: Array
    missing: NDArray[np.bool_]
    yes: Ints
    no: Ints
    roots: Ints
    # A row for each leaf, a column for each target, and whether the file gives the leaf a weight there.
    leaves: Numbers
    weighted: NDArray[np.bool_]
    members: tuple[Array, ...]
    # The nodes that may cut off what stands behind the point of a value.
    cut: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def cutting(self) -> Ints:
        """The nodes that may cut off what stands behind the point of a value; `NotUnderstood` if they join others.

        The runtime makes sets of members, and of tests for equality of one column that stand one where the other fails
        and lead to what it takes for the same.
        """
        nodes = np.flatnonzero(np.isin(self.modes, (EQUAL, MEMBER)) & (self.no >= 0))
        below = self.no[nodes]
        alike, joined = self._same_way(nodes, below)
        joined &= np.isin(self.modes[below], (EQUAL, MEMBER)) & (self.columns[nodes] == self.columns[below])
        nodes, below, alike = nodes[joined], below[joined], alike[joined]
        if not (alike & (self.missing[nodes] == self.missing[below])).all():
            raise NotUnderstood("its trees ask one column for several values, and the runtime may join what differs")
        in_sets: Bools = self.modes == MEMBER
        in_sets[nodes] = in_sets[below] = True
        asked = np.concatenate([self.splits[in_sets & (self.modes == EQUAL)], *self.members])
        return np.flatnonzero(in_sets & ~((asked >= 0) & (asked <= EXACT)).all())

    def _same_way(self, nodes: Ints, others: Ints) -> tuple[Bools, Bools]:
        """Whether two nodes lead the same way where they hold, and whether the runtime may take it for the same."""
        one, other = self.yes[nodes], self.yes[others]
        ends = (one < 0) & (other < 0)
        leaf, rival = np.where(ends, -1 - one, 0), np.where(ends, -1 - other, 0)
        equal = (self.leaves[leaf] == self.leaves[rival]) & (self.weighted[leaf] == self.weighted[rival])
        return (one == other) | (ends & equal.all(axis=1)), (one == other) | (ends & equal.any(axis=1))

    @property
    def sizes(self) -> Numbers:
        """The most that all trees together can add up to, in absolute values, for each target."""
        best = np.zeros((len(self.roots), self.leaves.shape[1]))
        trees, leaves = self.leaves_of_trees()
        np.maximum.at(best, trees, np.abs(self.leaves[leaves]))
        total: Numbers = best.sum(axis=0)
        return total

    def leaves_of_trees(self) -> tuple[Ints, Ints]:
        """Every leaf with its tree; `NotUnderstood` if a way through the nodes does not end."""
        trees, codes = np.arange(len(self.roots)), self.roots
        found: list[tuple[Ints, Ints]] = []
        visited = depth = 0
        while len(codes):
            is_leaf = codes < 0
            found.append((trees[is_leaf], -1 - codes[is_leaf]))
            trees, codes = trees[~is_leaf], codes[~is_leaf]
            visited, depth = visited + len(codes), depth + 1
            # Ways may meet again, but not go round in circles.
            if visited > MOST_VISITS or depth > min(len(self.columns) + 1, MOST_DEPTH):
                raise NotUnderstood("its trees are too deep, or go round in circles")
            trees, codes = np.concatenate([trees, trees]), np.concatenate([self.yes[codes], self.no[codes]])
        return np.concatenate([each for each, _ in found]), np.concatenate([each for _, each in found])

    def tests(self, values: Array) -> NDArray[np.bool_]:
        """Which nodes let these values of the columns go the way of yes."""
        held = values[self.columns].astype(self.splits.dtype)
        if len(self.cut):
            self._check_whole(held)
        passed: NDArray[np.bool_] = np.isnan(held) & self.missing
        for mode in np.unique(self.modes):
            nodes = slice(None) if (self.modes == mode).all() else np.flatnonzero(self.modes == mode)
            passed[nodes] |= self._member(held) if mode == MEMBER else TESTS[mode](held[nodes], self.splits[nodes])
        return passed

    def _check_whole(self, held: Array) -> None:
        """`Unseen` if a value is in one of the sets only without what stands behind its point."""
        whole = np.trunc(held)
        is_in = np.equal(whole, self.splits)
        is_in[self.modes == MEMBER] = self._member(whole)
        if (is_in & (whole != held))[self.cut].any():
            raise Unseen("a value is not whole where the trees ask for whole numbers")

    def _member(self, held: Array) -> NDArray[np.bool_]:
        nodes = np.flatnonzero(self.modes == MEMBER)
        return np.array([bool((held[node] == each).any()) for node, each in zip(nodes, self.members, strict=True)])


def read_ensemble(node: Node, prefix: str, targets: int, dtype: np.dtype[Any]) -> Ensemble:
    """The trees of a TreeEnsembleClassifier (`class`) or a TreeEnsembleRegressor (`target`)."""
    held = node.attributes
    trees, ids = _ints(held, "nodes_treeids"), _ints(held, "nodes_nodeids")
    modes = np.array([_mode(mode) for mode in held.get("nodes_modes", ())], dtype=np.int64)
    if not len(trees) or len({len(trees), len(ids), len(modes)}) > 1:
        raise NotUnderstood("its trees have no nodes, or their lists differ in length")
    starts = np.flatnonzero(np.diff(trees, prepend=trees[0] - 1))
    if len(np.unique(trees[starts])) < len(starts):
        raise NotUnderstood("the nodes of a tree do not stand together")
    is_leaf = modes < 0
    # Nodes and leaves are numbered on their own.
    codes = np.where(is_leaf, -1 * np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    places = {key: place for place, key in enumerate(zip(trees.tolist(), ids.tolist(), strict=True))}
    if len(places) < len(trees):
        raise NotUnderstood("two nodes of a tree have the same number")
    inner = np.flatnonzero(~is_leaf)
    leaves, weighted = _weights(held, prefix, targets, places, codes, dtype)
    return Ensemble(
        columns=_ints(held, "nodes_featureids")[inner],
        modes=modes[inner],
        splits=_numbers(held, "nodes_values", dtype)[inner],
        missing=_flags(held, len(trees))[inner],
        yes=_children(held, "nodes_truenodeids", trees, inner, places, codes),
        no=_children(held, "nodes_falsenodeids", trees, inner, places, codes),
        roots=codes[starts],
        leaves=leaves,
        weighted=weighted,
        members=(),
    )


def _mode(name: str) -> int:
    if name == "LEAF":
        return -1
    if name not in MODES[:MEMBER]:
        raise NotUnderstood(f"its trees have nodes of the mode {name}")
    return MODES.index(name)


def _ints(held: Any, name: str) -> Ints:
    return np.array(held.get(name, ()), dtype=np.int64)


def _numbers(held: Any, name: str, dtype: np.dtype[Any]) -> Array:
    """What is written as a list of float32 or, for more digits, as a tensor."""
    return np.asarray(held[f"{name}_as_tensor"] if f"{name}_as_tensor" in held else held.get(name, ())).astype(dtype)


def _flags(held: Any, count: int) -> NDArray[np.bool_]:
    flags = _ints(held, "nodes_missing_value_tracks_true")
    if ((flags != 0) & (flags != 1)).any():
        raise NotUnderstood("its trees say neither yes nor no to missing values")
    return flags == 1 if len(flags) else np.zeros(count, dtype=np.bool_)


def _children(held: Any, name: str, trees: Ints, inner: Ints, places: dict[tuple[int, int], int], codes: Ints) -> Ints:
    ids = _ints(held, name)[inner]
    keys = zip(trees[inner].tolist(), ids.tolist(), strict=True)
    return np.array([codes[places[key]] for key in keys], dtype=np.int64)


def _weights(
    held: Any,
    prefix: str,
    targets: int,
    places: dict[tuple[int, int], int],
    codes: Ints,
    dtype: np.dtype[Any],
) -> tuple[Numbers, NDArray[np.bool_]]:
    """What each leaf adds to each target."""
    leaves = np.zeros((int((codes < 0).sum()), targets))
    weighted = np.zeros(leaves.shape, dtype=np.bool_)
    keys = zip(held[f"{prefix}_treeids"], held[f"{prefix}_nodeids"], strict=True)
    at = codes[[places[key] for key in keys]]
    ids = _ints(held, f"{prefix}_ids")
    weights = _numbers(held, f"{prefix}_weights", dtype).astype(np.float64)
    # The runtime looks at weights of leaves only.
    at, ids, weights = -1 - at[at < 0], ids[at < 0], weights[at < 0]
    if len(np.unique(at * targets + ids)) < len(at):
        raise NotUnderstood("a leaf of its trees has two weights for the same target")
    leaves[at, ids], weighted[at, ids] = weights, True
    return leaves, weighted


def read_ensemble_5(node: Node, dtype: np.dtype[Any]) -> Ensemble:
    """The trees of a TreeEnsemble."""
    held = node.attributes
    targets = int(held.get("n_targets", 1))
    ids, weights = _ints(held, "leaf_targetids"), np.asarray(held["leaf_weights"]).astype(np.float64)
    leaves = np.zeros((len(ids), targets))
    leaves[np.arange(len(ids)), ids] = weights
    modes = np.asarray(held["nodes_modes"]).astype(np.int64)
    sets = tuple(_members(held, dtype))
    if len(sets) != int((modes == MEMBER).sum()):
        raise NotUnderstood("its trees do not have one set of members for each node that asks for one")
    return Ensemble(
        columns=_ints(held, "nodes_featureids"),
        modes=modes,
        splits=np.asarray(held["nodes_splits"]).astype(dtype),
        missing=_flags(held, len(modes)),
        yes=_branches(held, "true"),
        no=_branches(held, "false"),
        roots=_ints(held, "tree_roots"),
        leaves=leaves,
        weighted=np.ones(leaves.shape, dtype=np.bool_),
        members=sets,
    )


def _branches(held: Any, side: str) -> Ints:
    ids, is_leaf = _ints(held, f"nodes_{side}nodeids"), _ints(held, f"nodes_{side}leafs")
    if (ids < 0).any() or ((is_leaf != 0) & (is_leaf != 1)).any():
        raise NotUnderstood("its trees say neither yes nor no where they end")
    return np.where(is_leaf == 1, -1 - ids, ids)


def _members(held: Any, dtype: np.dtype[Any]) -> Iterator[Array]:
    """The sets of members, one for each node that asks for one; NaN ends a set."""
    values = np.asarray(held.get("membership_values", ())).astype(dtype)
    start = 0
    for end in np.flatnonzero(np.isnan(values)).tolist():
        yield values[start:end]
        start = end + 1
