"""Rows and scores as the Open Inference Protocol, version 2, has them: in JSON, or as bytes behind the JSON."""

import json
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.adapters.graphs.feeds import SCORES, TEXT, Feed, Offer
from app.adapters.predictors.failures import UntrustedReply
from app.core.favourable import Floats

TYPES = {
    "FP32": "tensor(float)",
    "FP64": "tensor(double)",
    "INT64": "tensor(int64)",
    "INT32": "tensor(int32)",
    "BOOL": "tensor(bool)",
    "BYTES": TEXT,
}
DATATYPES = {
    np.dtype(np.float32): "FP32",
    np.dtype(np.float64): "FP64",
    np.dtype(np.int64): "INT64",
    np.dtype(np.int32): "INT32",
    np.dtype(np.bool_): "BOOL",
    np.dtype(object): "BYTES",
}
# In this order of bytes, whatever the machine's is.
SCORE_TYPES: dict[str, np.dtype[Any]] = {"FP32": np.dtype("<f4"), "FP64": np.dtype("<f8")}
JSON_LENGTH = "inference-header-content-length"


class Body(NamedTuple):
    """What is sent: the bytes, and how many of them are JSON where others follow."""

    content: bytes
    json_length: int | None


class Scores(NamedTuple):
    """What came back: the scores of the rows, and which version of the model gave them, if it says so."""

    matrix: Floats
    version: str | None


def offer_of(tensor: Any) -> Offer:
    """A tensor as the server describes it; `UntrustedReply` if that is no description."""
    try:
        name, datatype, shape = tensor["name"], tensor["datatype"], tensor["shape"]
        sides = tuple(int(side) if int(side) >= 0 else None for side in shape)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise UntrustedReply("describes a tensor without name, datatype and shape") from None
    return Offer(str(name), TYPES.get(str(datatype), str(datatype)), sides)


def offers_of(described: Mapping[str, Any], which: str) -> list[Offer]:
    """The tensors of a model as the server describes them; none if it does not."""
    tensors = described.get(which) or ()
    if not isinstance(tensors, Sequence):
        raise UntrustedReply(f"describes no list of {which}")
    return [offer_of(tensor) for tensor in tensors]


def as_body(feeds: Sequence[Feed], rows: NDArray[Any], output: str | None, binary: bool) -> Body:
    """A question about these rows."""
    tensors = [(feed.name, feed.tensor(rows)) for feed in feeds]
    wanted = {} if output is None else {"outputs": [{"name": output}]}
    if not binary:
        inputs = [{**_head(name, tensor), "data": tensor.ravel().tolist()} for name, tensor in tensors]
        return Body(json.dumps({"inputs": inputs, **wanted}, allow_nan=False).encode(), None)
    pieces = [_bytes_of(tensor) for _, tensor in tensors]
    inputs = [
        {**_head(name, tensor), "parameters": {"binary_data_size": len(piece)}}
        for (name, tensor), piece in zip(tensors, pieces, strict=True)
    ]
    head = json.dumps({"inputs": inputs, "parameters": {"binary_data_output": True}, **wanted}).encode()
    return Body(b"".join((head, *pieces)), len(head))


def _head(name: str, tensor: NDArray[Any]) -> dict[str, Any]:
    return {"name": name, "shape": list(tensor.shape), "datatype": DATATYPES[tensor.dtype]}


def _bytes_of(tensor: NDArray[Any]) -> bytes:
    if tensor.dtype != object:
        return tensor.astype(tensor.dtype.newbyteorder("<"), copy=False).tobytes()
    texts = [str(text).encode() for text in tensor.ravel()]
    return b"".join(len(text).to_bytes(4, "little") + text for text in texts)


def scores_of(content: bytes, headers: Mapping[str, str], rows: int, output: str | None) -> Scores:
    """The scores in a reply, one row for each; `UntrustedReply` if it does not answer the question."""
    length = headers.get(JSON_LENGTH, "")
    behind = int(length) if length.isdecimal() else len(content)
    try:
        reply = json.loads(content[:behind])
        outputs = reply["outputs"]
        places = _places(outputs)
        chosen = _chosen(outputs, output)
        described, place = outputs[chosen], places[chosen]
        dtype = SCORE_TYPES[described["datatype"]]
        shape = [int(side) for side in described["shape"]]
        values = _from_json(described["data"], dtype) if place is None else _from_bytes(content[behind:], place, dtype)
    except UntrustedReply:
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError):
        raise UntrustedReply("is not a reply of the protocol with scores of type FP32 or FP64") from None
    if not shape or shape[0] != rows or prod(shape) != len(values):
        raise UntrustedReply("does not give scores for each row, and for no other")
    version = reply.get("model_version")
    return Scores(values.reshape(rows, -1), None if version is None else str(version))


def _chosen(outputs: Sequence[Any], name: str | None) -> int:
    usable = [place for place, described in enumerate(outputs) if TYPES.get(described["datatype"]) in SCORES]
    if name is not None:
        usable = [place for place in usable if outputs[place]["name"] == name]
    if len(usable) != 1:
        raise UntrustedReply("has no such output of scores" if name else "has not exactly one output of scores")
    return usable[0]


def _places(outputs: Sequence[Any]) -> list[slice | None]:
    """Where the bytes of each output stand behind the JSON; None where its values are in it."""
    places: list[slice | None] = []
    taken = 0
    for described in outputs:
        size = (described.get("parameters") or {}).get("binary_data_size")
        places.append(None if size is None else slice(taken, taken + int(size)))
        taken += 0 if size is None else int(size)
    return places


def _from_bytes(content: bytes, place: slice, dtype: np.dtype[Any]) -> Floats:
    piece = content[place]
    if place.start < 0 or len(piece) != place.stop - place.start:
        raise UntrustedReply("ends before its last byte")
    return np.frombuffer(piece, dtype).astype(dtype.newbyteorder("="))


def _from_json(data: Any, dtype: np.dtype[Any]) -> Floats:
    """Numbers, flat or row by row."""
    flat = data
    while flat and isinstance(flat[0], list):
        flat = [value for part in flat for value in part]
    # A text would pass for a number, and null for NaN.
    if not all(type(value) in (float, int) for value in flat):
        raise UntrustedReply("gives something else than numbers")
    return np.array(flat, dtype=dtype).astype(dtype.newbyteorder("="))
