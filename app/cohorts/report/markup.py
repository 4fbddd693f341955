"""Safe markup: text becomes markup only by being escaped."""

import html
import unicodedata

VOID = frozenset({"br", "meta"})
# Characters that turn the direction of what stands around them.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


Content = str | Markup | None


def element(name: str, /, *content: Content, **attributes: str | float | None) -> Markup:
    """One element; text in it is escaped. An attribute's `_` stands for `-`, and one at its end for nothing."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_worded(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{written} />")
    return Markup(f"<{name}{written}>{joined(*content)}</{name}>")


def joined(*content: Content) -> Markup:
    return Markup("".join(one if isinstance(one, Markup) else escaped(one) for one in content if one is not None))


def lines(*content: Content) -> Markup:
    return Markup("\n".join(joined(one) for one in content if one))


def escaped(text: str) -> Markup:
    """Escape a text, so that it cannot begin or end an element, or turn or hide what is beside it."""
    return Markup(html.escape("".join(map(_visible, text)), quote=True))


def _visible(character: str) -> str:
    if character in TURNING or unicodedata.category(character) in ("Cc", "Cs", "Cn", "Zl", "Zp"):
        return character.encode("unicode_escape").decode()
    return character


def _worded(value: str | float) -> str:
    """Numbers as short as a drawing needs them, and always the same."""
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
