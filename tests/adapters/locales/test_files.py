"""The files of `locales/`: what is refused, what a file leaves out, and that German and Spanish leave out nothing."""

from pathlib import Path

import pytest

from app.adapters.catalog import Catalog, catalog_of
from app.adapters.files.flaws import BrokenFiles
from app.adapters.files.snapshots import Snapshot, take_snapshot
from app.adapters.locales.files import LocaleEntry, ModelTexts, load_locale, shipped
from app.adapters.locales.lacking import lacking
from app.adapters.locales.languages import Languages
from app.adapters.locales.messages import Messages
from tests.support.live_server import ROOT

LOCALES = ROOT / "locales"


def read(name: str, text: str) -> LocaleEntry:
    file = Path(f"{name}.toml")
    return load_locale(file, Snapshot(file, file, {file: text.encode()}, {}, (), ()))


def flaw(name: str, text: str) -> str:
    with pytest.raises(BrokenFiles) as broken:
        read(name, text)
    (only,) = broken.value.flaws
    return f"{only.field}: {only.reason}" if only.field else only.reason


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return catalog_of(take_snapshot(ROOT / "models", ROOT / "normal_ranges", locales_dir=LOCALES))


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("deutsch", "", "is not named like a language: call it de.toml or pt-BR.toml"),
        ("en", "", "is English, which has no file: the models have their own texts"),
        ("en-GB", "", "is English, which has no file: the models have their own texts"),
        ("fr", "messages.plann = ''", "messages.plann: is not a known key; did you mean 'plan'?"),
        ("fr", "messages.plan = '.'", "messages.plan: must fill in {changes}"),
        ("fr", "messages.plan = '{changes} {x}'", "messages.plan: fills in {x}; known: changes"),
        ("fr", "messages.no_change = '{x}'", "messages.no_change: fills in {x}; nothing is filled in here"),
        ("fr", "messages.plan = '{changes'", "messages.plan: has a brace that is not closed, or not opened"),
        ("fr", "messages.plan = '{changes}{changes}'", "messages.plan: fills in the same thing twice"),
        (
            "fr",
            "messages.plan = '{changes:>99999}'",
            "messages.plan: must hold names alone in its braces, without ! and :",
        ),
        ("fr", "messages.plan = '{changes.x}'", "messages.plan: fills in {changes.x}; known: changes"),
        ("fr", "messages.sets = { one = 'un' }", "messages.sets: needs the form `other`"),
        (
            "fr",
            "messages.more = { other = '{count}', few = '{count}' }",
            "messages.more.few: is no plural form of this language; known: many, one, other",
        ),
        ("fr", "models.hcv.titel = ''", "models.hcv.titel: is not a known key; did you mean 'title'?"),
        ("fr", "models.hcv.title = ''", "models.hcv.title: must not be empty"),
        ("fr", "models.hcv.title = 1", "models.hcv.title: must be text"),
    ],
)
def test_a_file_that_nobody_could_speak_from_is_refused_by_name(name: str, text: str, why: str):
    assert flaw(name, text) == why


def test_german_and_spanish_say_all_that_english_says():
    for entry in shipped().values():
        assert set(Messages.model_fields) - set(entry.said) <= {"last_before"}
    assert set(shipped()) == {"de", "es"}


def test_the_shipped_models_and_registries_are_translated_to_the_last_text(catalog: Catalog):
    assert [str(gap) for gap in lacking(sorted(LOCALES.glob("*.toml")), catalog)] == []


def test_what_a_file_leaves_in_english_is_listed_and_what_it_misspells(catalog: Catalog):
    classes = "models.mortgage.classes = { denied = 'refusé', aproved = 'accordé' }"
    said = f"{classes}\nmodels.mortgage.features.pirat.title = 'x'"
    file, served = Path("fr.toml"), {name: catalog.models[name] for name in ("mortgage",)}
    french = Catalog(served, {"mortgage": catalog.registries["mortgage"]}, {}, Languages({"fr": read("fr", said)}))
    messages, model, registry, misspelt = lacking([file], french)
    assert messages.reason.startswith("leaves in English: between, last, either, change, increase, ")
    assert model.field == "models.mortgage"
    assert model.reason.startswith("leaves in English: title, classes.approved, features.hirat.title, ")
    assert registry.reason.startswith("leaves in English: title, features.pirat.reason, ")
    assert str(misspelt) == "fr.toml: models.mortgage.classes.aproved: is not there; did you mean 'approved'?"


def test_each_message_that_a_file_leaves_out_is_said_in_the_wider_language_or_in_english():
    whole = dict(Messages())
    for name, own in whole.items():
        german = Languages({"de": read("de", ""), "fr": read("fr", "")})
        french = german.closest("fr")
        assert french is not None
        assert getattr(french.messages, name) == own
    swiss = Languages({"de-CH": read("de-CH", "messages.no_change = 'Nüt ändere.'")}).closest("de-CH")
    assert swiss is not None
    assert swiss.messages.no_change == "Nüt ändere."
    assert swiss.messages.plan == shipped()["de"].messages.plan
    assert swiss.messages.increase == shipped()["de"].messages.increase


def test_a_version_of_a_model_has_the_texts_of_its_name_but_for_those_that_it_has_itself(catalog: Catalog):
    german = catalog.languages.closest("de")
    assert german is not None
    second = catalog.models["hcv@2"]
    assert german.title(second) == "Hepatitis C anhand von Blutwerten, Version 2"
    assert german.features(second)[2].spoken == "ALT (GPT)"
    assert german.texts.models["hcv@2"].classes == german.texts.models["hcv"].classes
    only = Languages({"fr": LocaleEntry(models={"hcv": ModelTexts(title="Hépatite C")})}).closest("fr")
    assert only is not None
    assert only.title(second) == "Hépatite C"


def test_a_folder_that_was_named_must_be_there_and_the_usual_one_need_not(tmp_path: Path):
    folders = ROOT / "models", ROOT / "normal_ranges"
    with pytest.raises(BrokenFiles, match="set FLIPSET_LOCALES_DIR to the right one"):
        take_snapshot(*folders, locales_dir=tmp_path / "nowhere")
    assert take_snapshot(*folders).locales == ()


def test_a_broken_file_keeps_the_service_from_starting(tmp_path: Path):
    (tmp_path / "fr.toml").write_text("messages.plan = 1")
    with pytest.raises(BrokenFiles, match=r"fr\.toml: messages\.plan: must be text"):
        catalog_of(take_snapshot(ROOT / "models", ROOT / "normal_ranges", locales_dir=tmp_path))
