"""What an answer must be, whatever was asked: a success to its last line, or a refusal that says how to mend it."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from app.api.describing.reasons import Reasons
from app.api.describing.shared import Problem
from app.api.describing.whole import Subsets

# What uvicorn says to a client that does not speak HTTP; the app never hears of it.
NOT_HTTP = b"Invalid HTTP request received."


class Defect(Exception):
    """An answer that should not have been given."""


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        return self.headers.get("content-type", "").split(";")[0]


def judge(method: str, path: str, reply: Reply) -> None:
    """Raise `Defect` unless the answer is one that may be given."""
    if reply.status >= 500 and not (reply.status == 503 and reply.headers.get("retry-after", "").isdigit()):
        raise Defect(f"a status {reply.status}: {reply.body[:300]!r}")
    if method == "HEAD":
        return
    if reply.status >= 400:
        _judge_refusal(reply)
    elif reply.content_type == "application/fhir+json":
        if strict_json(reply.body)["resourceType"] != "RiskAssessment":
            raise Defect("another resource than a RiskAssessment")
    elif path.startswith("/cds-services/"):
        if not all(card["summary"] and card["detail"] for card in strict_json(reply.body)["cards"]):
            raise Defect("a card that says nothing")
    elif path.endswith("/counterfactuals"):
        _judge_success(reply)
    elif path.endswith("/subsets"):
        Subsets.model_validate(strict_json(reply.body))
    elif path.endswith("/reasons"):
        Reasons.model_validate(strict_json(reply.body))


def _judge_refusal(reply: Reply) -> None:
    if reply.status == 400 and reply.body == NOT_HTTP:
        return
    if reply.content_type != "application/problem+json":
        raise Defect(f"a refusal as {reply.content_type!r}")
    problem = Problem.model_validate(strict_json(reply.body))
    if problem.status != reply.status or not problem.detail:
        raise Defect("a refusal that does not say what it is")


def _judge_success(reply: Reply) -> None:
    if reply.content_type == "application/json":
        whole = strict_json(reply.body)
        last = whole["summary"] if "summary" in whole else whole["error"]
    else:
        lines = reply.body.decode().splitlines()
        if reply.content_type == "text/event-stream":
            lines = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        last = [strict_json(line) for line in lines][-1]
    if last["type"] == "error" and last["problem"]["status"] >= 500:
        raise Defect("a stream that broke down on the way")
    if last["type"] not in ("summary", "error"):
        raise Defect("a stream without its last line")


def strict_json(text: bytes | str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise Defect(f"an answer that holds {constant}, which is no JSON")
