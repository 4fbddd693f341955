"""Text becomes markup by being escaped, and in no other way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.cohorts.report.markup import Markup, element, joined
from tests.cohorts.report.reading import ElementTree


def test_text_in_attributes_and_in_elements_is_escaped_and_markup_is_not():
    made = element("p", "<b>", Markup("<i></i>"), None, class_='" onload="x', aria_label="'&")
    assert made == '<p class="&quot; onload=&quot;x" aria-label="&#x27;&amp;">&lt;b&gt;<i></i></p>'


def test_markup_put_together_with_text_is_text_again():
    """Whoever forgets that gets something ugly, and nothing dangerous."""
    assert joined(element("b") + "<i>") == "&lt;b&gt;&lt;/b&gt;&lt;i&gt;"


@pytest.mark.parametrize(("number", "written"), [(1.0, "1"), (0.125, "0.12"), (360.5, "360.5"), (-2, "-2")])
def test_numbers_of_a_drawing_are_short(number: float, written: str):
    assert element("g", x=number) == f'<g x="{written}"></g>'


@given(st.text(), st.text())
def test_any_text_stays_in_its_place(inside: str, attribute: str):
    read = ElementTree.fromstring(element("p", inside, title=attribute))
    assert (read.tag, len(read), list(read.attrib)) == ("p", 0, ["title"])
    if inside.isprintable():
        assert (read.text or "") == inside
