"""What holds for the Python clients and is not yet in the suite of TypeScript."""

import json

import pytest
from flipset_client import Client, CutStream, Example, InvalidRequest, NotFound, Unexpected

from tests.clients.conftest import Connect
from tests.clients.made_up import PLANS
from tests.support.live_server import ROOT


def test_a_whole_answer_stays_whole_and_a_part_is_no_whole(connect: Connect):
    client = connect()
    answer = client.ask("plain")
    assert len(answer.read().plans) == len(answer.read().plans) == PLANS
    begun = client.ask("plain")
    next(begun)
    with pytest.raises(ValueError, match="taken already"):
        begun.read()
    begun.close()


def test_a_listing_that_breaks_off_or_is_none_has_an_error_of_its_own(connect: Connect):
    client = connect()
    with pytest.raises(CutStream):
        client.call("model", "broken")
    with pytest.raises(Unexpected):
        client.call("models")


def test_constraints_of_an_example_can_be_given_up(connect: Connect):
    example = Example("strict", {"instance": {"a": 1}, "constraints": {"max_changes": 1}, "limits": {"deadline_ms": 5}})
    with pytest.raises(InvalidRequest) as echoed:
        connect().ask("echo", example, constraints={}, limits={})
    assert json.loads(echoed.value.fields[0].message) == {"instance": {"a": 1}, "constraints": {}, "limits": {}}


def test_a_local_service_without_records_says_how_to_have_them():
    with Client.local(ROOT / "models", ROOT / "normal_ranges") as flipset:
        (example, *_) = flipset.examples("mortgage")
        with pytest.raises(InvalidRequest, match=r"record: .* FLIPSET_RECORDS"):
            flipset.counterfactuals("mortgage", example, record={"subject": "applicant-7"})
        with pytest.raises(NotFound, match="FLIPSET_RECORDS") as refused:
            flipset.records("applicant-7")
    assert refused.value.kind == "records-off"
