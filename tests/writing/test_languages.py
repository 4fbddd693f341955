"""The choice of a language, and every sentence in German and in Spanish."""

from dataclasses import dataclass
from typing import cast

import pytest

from app.adapters.locales.language import IN_ENGLISH, Language
from app.adapters.locales.languages import Languages
from app.adapters.locales.messages import Messages
from app.clinic.plans import Plans, findings
from app.core.constraints import Direction
from app.core.problem import Move
from app.writing.languages import choose_language
from app.writing.sentences import Clause, Sentences

LANGUAGES = Languages()


def spoken(tag: str) -> Language:
    found = LANGUAGES.closest(tag)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("accept", "tag"),
    [
        (None, "en"),
        ("", "en"),
        ("*", "en"),
        ("fr", "en"),
        ("de", "de"),
        ("DE", "de"),
        ("de-DE", "de-DE"),
        ("de-AT, en;q=0.8", "de-AT"),
        ("es-mx", "es-MX"),
        ("es-XX", "es"),
        ("de-Latn-DE-x-private", "de-DE"),
        ("en-US, de", "en"),
        ("en;q=0.3, de;q=0.7", "de"),
        ("fr, es;q=0.5, de;q=0.4", "es"),
        ("de;q=0, es;q=0.1", "es"),
        ("en;q=0", "en"),
        ("de;q=much", "en"),
        ("de;q=nan", "en"),
        ("de;q=-1", "en"),
        ("de ; q=0.5 , es", "es"),
        ("fr-CH, *;q=0.5, de;q=0.2", "en"),
        (",,;;q=,de", "de"),
    ],
)
def test_the_language_that_is_liked_best_is_chosen(accept: str | None, tag: str):
    assert choose_language(accept, LANGUAGES).tag == tag


@pytest.mark.parametrize(
    "accept",
    [
        "x" * 100_000,
        "de-" * 50_000,
        ",".join(f"x{n}" for n in range(50_000)),
        "../../etc/passwd",
        "de\0",
        "de_DE",
        "\udcff",
        "de;q=" + "9" * 5_000,
        "{feature}",
        "i-klingon, sgn-BE-FR, zh-cmn-Hans-CN, a-DE, root, C, POSIX",
    ],
)
def test_a_header_that_nobody_means_gets_an_answer_in_a_language_that_there_is(accept: str):
    assert choose_language(accept, LANGUAGES).name in {"en", "de", "es"}


UP, DOWN = Direction.INCREASE, Direction.DECREASE
SENTENCES = {
    "en": [
        "Raise iron from 31.3 to 44 g/L.",
        "Lower pH from 8 to 7 and change smoker from yes to no.",
        "Provide iron: 44 g/L (now missing), raise iron from 31.3 to 44 g/L and lower pH from 8 to 7.",
        "Raise iron from 31.3 to 40 g/L (step 1 of 3).",
        "Change nothing.",
    ],
    "de": [
        "Iron von 31.3 auf 44 g/L erhöhen.",
        "pH von 8 auf 7 senken und smoker von yes auf no ändern.",
        "Iron angeben: 44 g/L (fehlt bisher), iron von 31.3 auf 44 g/L erhöhen und pH von 8 auf 7 senken.",
        "Iron von 31.3 auf 40 g/L (Stufe 1 von 3) erhöhen.",
        "Nichts ändern.",
    ],
    "es": [
        "Aumentar iron de 31.3 a 44 g/L.",
        "Reducir pH de 8 a 7 y cambiar smoker de yes a no.",
        "Aportar iron: 44 g/L (ahora falta), aumentar iron de 31.3 a 44 g/L y reducir pH de 8 a 7.",
        "Aumentar iron de 31.3 a 40 g/L (paso 1 de 3).",
        "No cambiar nada.",
    ],
}


@pytest.mark.parametrize("tag", SENTENCES)
def test_every_form_of_a_plan_is_said_in_every_language(tag: str):
    sentences = Sentences(spoken(tag).messages)
    iron = sentences.clause(UP, "iron", "31.3", "44 g/L")
    acid, smoker = sentences.clause(DOWN, "pH", "8", "7"), sentences.clause(None, "smoker", "yes", "no")
    new = sentences.clause(None, "iron", None, "44 g/L")
    step = sentences.with_step("40 g/L", Move(0, 40.0, 1.0, step=1, steps=3))
    stepped = sentences.clause(UP, "iron", "31.3", step)
    made = [[iron], [acid, smoker], [new, iron, acid], [stepped], []]
    assert [sentences.of(each) for each in made] == SENTENCES[tag]


def test_a_change_that_begins_with_its_value_is_said_by_that_value():
    increase = "{after} statt {before} bei {feature}"
    first, second = Messages(increase=increase), Messages(increase=increase, last_before={"i": " e "})
    assert Sentences(first).clause(UP, "pH", "low", "high") == Clause(
        "High statt low bei pH", "high statt low bei pH", " and high statt low bei pH"
    )
    assert Sentences(second).clause(UP, "pH", "1", "iv").last == " e iv statt 1 bei pH"


def test_braces_in_a_name_and_in_a_template_are_said_as_they_are():
    sentences = Sentences(Messages(increase="raise {feature} {{up}} from {before} to {after}"))
    for _ in range(2):
        assert sentences.clause(UP, "a{0}", "{1}", "2").further == "raise a{0} {up} from {1} to 2"


def test_a_spanish_y_is_an_e_before_the_sound_of_an_i():
    joined = Sentences(spoken("es").messages).joined
    assert joined(["la ALT", "la AST", "la GGT"]) == "la ALT, la AST y la GGT"
    assert joined(["hierro", "insulina"]) == "hierro e insulina"
    assert joined(["hierro", "hígado"]) == "hierro e hígado"
    assert joined(["insulina", "hierro"]) == "insulina y hierro"
    assert joined(["insulina"]) == "insulina"


@dataclass
class Ended:
    """How a search ended, as far as sentences tell of it."""

    outcome: str
    count: int = 0
    complete: bool = True


ENDINGS = [
    Ended("found", 1),
    Ended("found", 6, complete=False),
    Ended("found", 12345),
    Ended("already_favourable"),
    Ended("no_recourse"),
    Ended("unknown"),
]
FINDINGS = {
    "de": [
        "Eine Kombination anderer Werte ändert die Entscheidung des Modells. Es wurden nachweislich alle gefunden.",
        "6 minimale Kombinationen anderer Werte ändern die Entscheidung des Modells. Möglicherweise gibt es weitere.",
        "12.345 minimale Kombinationen anderer Werte ändern die Entscheidung des Modells. "
        "Es wurden nachweislich alle gefunden.",
        "Die Entscheidung des Modells ist bereits günstig.",
        "Keine Werte innerhalb der Referenzbereiche ändern die Entscheidung des Modells. Das ist nachgewiesen.",
        "Es wurden keine Werte gefunden, die die Entscheidung des Modells ändern. "
        "Möglicherweise gibt es dennoch welche.",
    ],
    "es": [
        "Una combinación de otros valores cambia la decisión. Está demostrado que se han encontrado todas.",
        "6 combinaciones mínimas de otros valores cambian la decisión. Puede haber otras.",
        "12.345 combinaciones mínimas de otros valores cambian la decisión. "
        "Está demostrado que se han encontrado todas.",
        "La decisión del modelo ya es favorable.",
        "Ningún valor dentro de los rangos de referencia cambia la decisión del modelo. Está demostrado.",
        "No se han encontrado valores que cambien la decisión del modelo. Puede haberlos.",
    ],
}


@pytest.mark.parametrize("tag", FINDINGS)
def test_every_ending_of_a_search_is_told_with_its_plural(tag: str):
    @dataclass
    class Found:
        summary: Ended

    told = [" ".join(findings(cast(Plans, Found(ended)), spoken(tag))) for ended in ENDINGS]
    assert told == FINDINGS[tag]
    assert [IN_ENGLISH.counted(IN_ENGLISH.messages.more, count) for count in (1, 2)] == ["1 more.", "2 more."]
