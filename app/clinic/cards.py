"""An answer as a card of CDS Hooks: the finding, and the first plans in plain words."""

from typing import Any

from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.messages import Messages
from app.clinic.plans import Plans, findings
from app.core.facts import Found
from app.writing.variations import Variations

MOST_PLANS = 3
# The standard wants fewer than 140 characters.
LONGEST_SUMMARY = 139


def cards_of(plans: Plans, link: str | None, name: str | None, language: Language = IN_ENGLISH) -> dict[str, Any]:
    """One card; none where the decision is favourable, since there is nothing to tell a busy person.

    `link` is the address of the page, `name` that of the card where feedback on it can be kept.
    """
    if bool(plans.prediction.favourable[0]):
        return {"cards": []}
    model, messages = plans.question.model, language.messages
    card = {
        **({} if name is None else {"uuid": name}),
        "summary": _shortened(_summary(plans, language)),
        "indicator": "info",
        "detail": _detail(plans, language),
        "source": {"label": f"Flipset, model {model.name} {model.version}", **({} if link is None else {"url": link})},
        **({} if link is None else {"links": [{"label": messages.open_page, "url": link, "type": "absolute"}]}),
    }
    return {"cards": [card]}


def _said(plans: Plans, language: Language) -> str:
    model = plans.question.model
    return (
        language.label(model, int(plans.prediction.label[0])) if model.classes else language.messages.unfavourable_value
    )


def _summary(plans: Plans, language: Language) -> str:
    """With the title of the model, unless that is too long."""
    title, label, finding = language.title(plans.question.model), _said(plans, language), findings(plans, language)[0]
    whole = language.messages.card.format(title=title, label=label, finding=finding)
    return whole if len(whole) <= LONGEST_SUMMARY else f"{language.messages.model_says.format(label=label)} {finding}"


def _shortened(text: str) -> str:
    """Cut behind a word."""
    return text if len(text) <= LONGEST_SUMMARY else f"{text[: LONGEST_SUMMARY - 1].rpartition(' ')[0]}…"


def _detail(plans: Plans, language: Language) -> str:
    speaking, shown, messages = Variations(plans.question, language), plans.first[:MOST_PLANS], language.messages
    listed = [f"{rank}. {_would_say(found, speaking, messages)}" for rank, found in enumerate(shown, start=1)]
    rest = plans.summary.count - len(shown)
    more = [language.counted(messages.more, rest)] if rest > 0 else []
    said = messages.model_says.format(label=_said(plans, language))
    return "\n\n".join([said, *findings(plans, language), *listed, *more, messages.no_cause])


def _would_say(found: Found, speaking: Variations, messages: Messages) -> str:
    label = speaking.label(found) or messages.favourable_value
    return messages.model_would_say.format(values=speaking.values(found), label=label)
