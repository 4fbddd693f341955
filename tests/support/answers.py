"""The whole answer to one request, as events and as the lines that are sent."""

import json
from typing import Any

from app.answering.events import Event
from app.answering.service import Service
from app.api.problems import problem
from app.asking.schemas import CounterfactualsRequest
from app.writing.forms import JsonLines
from app.writing.lines import Presenter


def events_of(service: Service, body: Any, model: str) -> list[Event]:
    with service.answering(CounterfactualsRequest.model_validate(body), service.model(model)) as answer:
        return [event for event in answer.events() if event is not None]


def lines_of(service: Service, body: Any, model: str) -> list[dict[str, Any]]:
    with service.answering(CounterfactualsRequest.model_validate(body), service.model(model)) as answer:
        present = Presenter(answer.question, JsonLines(), problem).text
        return [json.loads(text) for text in map(present, answer.events()) if text]
