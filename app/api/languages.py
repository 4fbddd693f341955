"""In which language an answer is, by the header Accept-Language, and what the answer says of that."""

from typing import TypeVar

from fastapi import Request
from fastapi.responses import Response

from app.adapters.catalog import Catalog
from app.adapters.locales.language import Language
from app.writing.languages import choose_language

R = TypeVar("R", bound=Response)


def language_of(request: Request, catalog: Catalog) -> Language:
    return choose_language(", ".join(request.headers.getlist("accept-language")), catalog.languages)


def in_language(response: R, language: Language) -> R:
    """The response with its language, so that a cache does not serve it to readers of another."""
    response.headers["Content-Language"] = language.tag
    response.headers.add_vary_header("Accept-Language")
    return response
