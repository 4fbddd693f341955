"""Units: exact factors within a dimension, molar masses between mass and substance, and nothing else."""

from fractions import Fraction

import pytest

from app.adapters.codes.ucum import OtherDimension, UnknownUnit, factor_between, is_known, unit_of

EXACT = {
    ("g/dL", "g/L"): "10",
    ("mg/dL", "g/L"): "0.01",
    ("ukat/L", "U/L"): "60",
    ("nkat/L", "U/L"): "0.06",
    ("U/mL", "kU/L"): "1",
    ("10*3/uL", "10*9/L"): "1",
    ("10^12/L", "10*6/uL"): "1",
    ("m[IU]/L", "u[IU]/mL"): "1",
    ("mm[Hg]", "kPa"): "0.133322",
    ("%", "1"): "0.01",
    ("/min", "min-1"): "1",
    ("[lb_av]", "kg"): "0.45359237",
    ("[in_i]", "cm"): "2.54",
    ("wk", "d"): "7",
    ("{score}", "1"): "1",
    ("mL/min/{1.73_m2}", "L/h"): "0.06",
    ("kg/m2", "g/cm2"): "0.1",
}


@pytest.mark.parametrize(("units", "factor"), EXACT.items())
def test_a_factor_is_exact_and_so_is_the_way_back(units: tuple[str, str], factor: str):
    sent, wanted = units
    assert factor_between(sent, wanted) == Fraction(factor)
    assert factor_between(wanted, sent) == 1 / Fraction(factor)


def test_mass_and_substance_convert_only_with_a_molar_mass():
    creatinine = Fraction("113.12")
    assert factor_between("mg/dL", "umol/L", creatinine) == Fraction(10_000) / creatinine
    assert factor_between("umol/L", "mg/dL", creatinine) == creatinine / 10_000
    with pytest.raises(OtherDimension):
        factor_between("mg/dL", "umol/L")


@pytest.mark.parametrize(
    ("sent", "wanted"),
    [("U/L", "[IU]/L"), ("g/L", "U/L"), ("Cel", "K"), ("m[IU]/L", "mmol/L"), ("g", "g/L"), ("meq/L", "mmol/L")],
)
def test_other_dimensions_do_not_convert(sent: str, wanted: str):
    with pytest.raises(OtherDimension):
        factor_between(sent, wanted, Fraction(100))


@pytest.mark.parametrize(
    "text", ["", "IU/L", "mg%", "g//L", "/", "g/", "10*99999", "k%", "²", "g" * 61, "{", "0", "(g)/L", "g.", "µg/L"]
)
def test_what_is_no_known_unit_is_refused(text: str):
    assert not is_known(text)
    with pytest.raises(UnknownUnit):
        unit_of(text)
