"""A tiny predictor that speaks the Open Inference Protocol, and lies, dawdles or dies when it is told to."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import onnxruntime

from tests.support.live_server import ROOT

Score = Callable[[np.ndarray], np.ndarray]
LENGTH = "inference-header-content-length"


def onnx_scores(file: Path = ROOT / "models/hcv/model.onnx", output: str = "probabilities") -> Score:
    """Scores by ONNX Runtime, with one thread, as Flipset itself would."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name

    def score(rows: np.ndarray) -> np.ndarray:
        # As Flipset does: a row alone may go another way through the matrices.
        asked = rows if len(rows) > 1 else np.repeat(rows, 2, axis=0)
        return session.run([output], {name: asked})[0][: len(rows)]

    return score


class FakePredictor:
    """One model behind HTTP. Change its attributes, and the next call sees it."""

    def __init__(self, score: Score, columns: int, *, binary: bool = True) -> None:
        self.score = score
        self.columns = columns
        self.binary = binary
        self.delay = 0.0
        self.version: str | None = "1"
        self.describes = True
        # What it says of its inputs in place of the truth.
        self.described_inputs: Any = None
        # What becomes of the answer to a question: (status, JSON object, bytes behind it) to the same.
        self.spoil: Callable[[int, dict[str, Any], bytes], tuple[int, Any, bytes]] | None = None
        # How many calls are dropped without a word, from now on.
        self.drops = 0
        self.key: str | None = None
        self.sizes: list[int] = []
        self.most_at_once = self.at_once = 0
        self._writers: set[asyncio.StreamWriter] = set()

    @contextmanager
    def running(self) -> Iterator[str]:
        loop = asyncio.new_event_loop()
        thread = Thread(target=loop.run_forever, daemon=True)
        thread.start()
        self._loop = loop
        self.port = 0
        self.start()
        try:
            yield f"http://127.0.0.1:{self.port}"
        finally:
            self.kill()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def start(self) -> None:
        """Listen, at the port that it had before if it had one."""
        self._server = self._now(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        self.port = self._server.sockets[0].getsockname()[1]

    def kill(self) -> None:
        """Close the port, and every connection in the middle of whatever it does."""
        self._now(self._end())

    async def _end(self) -> None:
        self._server.close()
        for writer in [*self._writers]:
            writer.transport.abort()
        await asyncio.sleep(0)

    def _now(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=30)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if self.drops and body:
            self.drops -= 1
            return False
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if body and self.delay and await _has_left(reader, self.delay):
                return False
            status, answer, behind = self._answer(lines[0].split()[1], headers, body)
        finally:
            self.at_once -= 1
        head = json.dumps(answer).encode()
        extra = f"{LENGTH}: {len(head)}\r\n" if behind else ""
        first = f"HTTP/1.1 {status} Whatever\r\ncontent-length: {len(head) + len(behind)}\r\n{extra}\r\n"
        writer.write(first.encode() + head + behind)
        await writer.drain()
        return True

    def _answer(self, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any, bytes]:
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            return 401, {"error": "no"}, b""
        if path == "/v2":
            return 200, {"name": "fake", "version": "0", "extensions": ["binary_tensor_data"] * self.binary}, b""
        if not path.startswith("/v2/models/there"):
            return 404, {"error": "no such model"}, b""
        if not path.endswith("/infer"):
            return 200, self._description(), b""
        answer = self._scored(headers, body)
        return answer if self.spoil is None else self.spoil(*answer)

    def _description(self) -> dict[str, Any]:
        if not self.describes:
            return {"name": "there", "platform": "", "inputs": [], "outputs": []}
        inputs = [{"name": "rows", "datatype": "FP32", "shape": [-1, self.columns]}]
        return {
            "name": "there",
            "inputs": inputs if self.described_inputs is None else self.described_inputs,
            "outputs": [{"name": "scores", "datatype": "FP32", "shape": [-1, 2]}],
        }

    def _scored(self, headers: dict[str, str], body: bytes) -> tuple[int, dict[str, Any], bytes]:
        length = int(headers.get(LENGTH, len(body)))
        (tensor,) = (question := json.loads(body[:length]))["inputs"]
        if "data" in tensor:
            flat = np.array(tensor["data"], dtype=np.float32)
        else:
            flat = np.frombuffer(body[length:], dtype="<f4")
        rows = flat.reshape(tensor["shape"])
        self.sizes.append(len(rows))
        scores = self.score(rows)
        output: dict[str, Any] = {"name": "scores", "datatype": "FP32", "shape": list(scores.shape)}
        answer = {"model_name": "there", "model_version": self.version, "outputs": [output]}
        if question.get("parameters", {}).get("binary_data_output"):
            behind = scores.astype("<f4").tobytes()
            output["parameters"] = {"binary_data_size": len(behind)}
            return 200, answer, behind
        output["data"] = scores.ravel().tolist()
        return 200, answer, b""


async def _has_left(reader: asyncio.StreamReader, seconds: float) -> bool:
    """Wait so long, unless the client goes."""
    if seconds < 0.1:
        await asyncio.sleep(seconds)
        return False
    try:
        return await asyncio.wait_for(reader.read(1), seconds) == b""
    except TimeoutError:
        return False


def write_remote(folder: Path, url: str, original: Path = ROOT / "models/hcv", **settings: Any) -> Path:
    """A copy of a model's description that says where the model lives, instead of a graph."""
    folder.mkdir(parents=True)
    table = "".join(
        f"{name} = {json.dumps(value)}\n" for name, value in {"url": url, "model": "there", **settings}.items()
    )
    lines = (original / "model.toml").read_text().splitlines(keepends=True)
    kept = "".join(line for line in lines if not line.startswith(("sha256 =", "tensor =")))
    (folder / "model.toml").write_text(kept.replace("[output]\n", f"[predictor]\n{table}\n[output]\n", 1))
    return folder
