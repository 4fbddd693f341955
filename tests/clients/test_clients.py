"""One suite for every client: sync, async and local here, TypeScript in clients/typescript/test, by the same names."""

import math
import time
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from flipset_client import (
    AnswerFailed,
    Busy,
    CutStream,
    Erased,
    InvalidRequest,
    NotAllowed,
    NotFound,
    StillSearching,
    TimedOut,
    Unexpected,
    Unreachable,
)

from app.adapters.records.receipts import check_receipt
from tests.clients.conftest import Connect
from tests.clients.kinds import Waiting
from tests.clients.made_up import FIELDS, HOUR, PLANS
from tests.live import endless
from tests.support.live_server import PATIENCE
from tests.support.waiting import eventually

MANY = 100_000
PAGE_BYTES = 4096
IDLE = "\nflipset_searches_in_flight 0.0\n"


def memory() -> float:
    """What this process holds, in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES / 2**20


def with_several_ways(real: Waiting) -> Any:
    """An applicant with several ways."""
    (example,) = [each for each in real.call("examples", "mortgage") if each.name == "several-ways"]
    return example


def recorded(real: Waiting) -> tuple[Any, str]:
    """A whole answer, and whom it is about. Its record may be kept a moment later, where the search was slow."""
    subject = f"applicant-{uuid4()}"
    answer = real.ask("mortgage", with_several_ways(real), record={"subject": subject}).read()
    eventually(lambda: real.call("record", answer.start.record).state == "kept")
    return answer, subject


def test_the_first_plan_comes_before_the_summary(connect: Connect):
    client = connect()
    answer = client.ask("pausing")
    assert next(answer).rank == 1
    with pytest.raises(StillSearching):
        _ = answer.summary
    client.get("go/pausing")
    assert [plan.rank for plan in answer] == [2, 3]
    assert (answer.summary.outcome, answer.summary.count) == ("found", PLANS)


def test_every_line_is_there_for_those_who_want_them(connect: Connect):
    answer = connect().ask("plain")
    kinds = [type(line).__name__ for line in answer.lines()]
    assert kinds == ["Start", *["Counterfactual"] * PLANS, "Progress", "Summary"]
    assert answer.progress.model_rows == 3
    assert answer.request_id == "made-up-1"


def test_a_whole_answer_can_be_kept(connect: Connect):
    client = connect()
    answer = client.ask("plain")
    whole = answer.read()
    assert answer.read() is whole
    assert [plan.rank for plan in whole.plans] == [1, 2, 3]
    assert whole.start.prediction.label == "no"
    assert whole.summary.complete is True
    begun = client.ask("plain")
    next(begun)
    with pytest.raises(ValueError, match="taken already"):
        begun.read()


def test_a_stream_that_is_cut_says_so_after_its_plans(connect: Connect):
    client = connect()
    for model in ("cut", "half", "unfinished"):
        answer = client.ask(model)
        assert next(answer).rank == 1
        with pytest.raises(CutStream):
            next(answer)


def test_a_line_that_is_none_is_unexpected(connect: Connect):
    answer = connect().ask("strange")
    assert next(answer).rank == 1
    with pytest.raises(Unexpected):
        next(answer)


def test_a_client_may_wait_without_end(connect: Connect):
    assert len(list(connect(timeout=math.inf).ask("plain"))) == PLANS


def test_what_no_request_can_hold_is_refused_at_once(connect: Connect):
    kind = type(connect().client)
    with pytest.raises(ValueError, match="the key holds") as refused:
        kind("http://127.0.0.1:8000", key="flipset\nsecret")
    assert "secret" not in str(refused.value)
    with pytest.raises(ValueError, match="http"):
        kind("127.0.0.1:8000")


def test_an_answer_that_fails_midway_says_why(connect: Connect):
    answer = connect().ask("failing")
    assert next(answer).rank == 1
    with pytest.raises(AnswerFailed) as failed:
        next(answer)
    assert failed.value.problem.kind == "unexpected"


def test_a_client_that_asks_too_often_waits_and_asks_again(connect: Connect):
    client = connect()
    assert len(list(client.ask("limited"))) == PLANS
    assert client.get("asked/limited") == 2


def test_a_busy_service_is_asked_again(connect: Connect):
    client = connect()
    assert len(list(client.ask("busy"))) == PLANS
    assert client.get("asked/busy") == 2


def test_patience_has_an_end(connect: Connect):
    client = connect(retries=2)
    with pytest.raises(Busy) as refused:
        client.ask("full")
    assert (refused.value.status, refused.value.kind) == (503, "busy")
    assert client.get("asked/full") == 3


def test_a_service_that_asks_for_more_time_than_there_is_is_not_waited_for(connect: Connect):
    client = connect()
    with pytest.raises(Busy) as refused:
        client.ask("closed-for-an-hour")
    assert refused.value.retry_after == HOUR
    assert client.get("asked/closed-for-an-hour") == 1


def test_nothing_is_asked_again_after_the_first_byte(connect: Connect):
    client = connect()
    with pytest.raises(CutStream):
        list(client.ask("cut:once"))
    assert client.get("asked/cut:once") == 1


def test_a_refusal_says_which_fields_are_wrong(connect: Connect):
    with pytest.raises(InvalidRequest) as refused:
        connect().ask("strict")
    assert [(error.field, error.message) for error in refused.value.fields] == [tuple(each.values()) for each in FIELDS]


def test_each_refusal_has_a_name(connect: Connect):
    client = connect()
    refused = {"secret": NotAllowed, "nowhere": NotFound, "proxied": Unexpected, "login": Unexpected}
    for model, error in refused.items():
        with pytest.raises(error):
            client.ask(model)


def test_no_redirect_is_followed(connect: Connect):
    client = connect()
    with pytest.raises(Unexpected):
        client.ask("moved")
    assert [client.get(f"asked/{model}") for model in ("moved", "plain:elsewhere")] == [1, 0]


def test_a_silent_service_is_given_up(connect: Connect):
    client = connect(timeout=0.05, retries=0)
    with pytest.raises(TimedOut):
        client.ask("silent")
    answer = client.ask("endless-silence")
    assert next(answer).rank == 1
    with pytest.raises(TimedOut):
        next(answer)
    # The service knows that nobody waits any more, and ends its search.
    patient = connect()
    eventually(lambda: patient.get("sent/silent") == 1)


def test_a_service_that_is_not_there_is_unreachable(lost: Waiting):
    with pytest.raises(Unreachable):
        lost.ask("plain")


def test_keys_and_lines_of_the_future_are_passed_over(connect: Connect):
    answer = connect().ask("future")
    plans = list(answer)
    assert [plan.rank for plan in plans] == [1, 2, 3]
    assert plans[0].instance["b"] == "é"
    assert answer.summary.elapsed_ms.total == 1.0


def test_constraints_and_limits_stand_alone_or_together(connect: Connect):
    client = connect()
    question: dict[str, Any] = {
        "immutable": ["a"],
        "constraints": {"max_changes": 2, "immutable": ["b"]},
        "deadline_ms": 500,
        "registry": None,
        "one_day": {"more": True},
    }
    with pytest.raises(InvalidRequest) as echoed:
        client.ask("echo", **question)
    (sent,) = echoed.value.fields
    assert eval(sent.message, {"null": None, "true": True}) == {  # noqa: S307  # JSON that this test has sent
        "instance": {"a": 1},
        "constraints": {"immutable": ["a"], "max_changes": 2},
        "limits": {"deadline_ms": 500},
        "registry": None,
        "one_day": {"more": True},
    }


def test_a_slow_reader_gets_everything_and_holds_up_the_service(connect: Connect):
    client = connect()
    model = f"many-of-{MANY}:slowly"
    answer = client.ask(model)
    assert next(answer).rank == 1
    looks: list[int] = []
    # Until the service has stopped sending: nobody reads.
    eventually(lambda: looks.append(client.get(f"sent/{model}")) or (len(looks) > 1 and looks[-1] == looks[-2]))
    assert looks[-1] < MANY
    assert next(answer).rank == 2
    answer.close()


@pytest.mark.slow
def test_a_hundred_thousand_plans_need_no_more_memory_than_a_few(connect: Connect):
    answer = connect().ask(f"many-of-{MANY}")
    before = most = 0.0
    ranks = 0
    for plan in answer:
        ranks += plan.rank
        if plan.rank == MANY // 100:
            before = memory()
        if plan.rank % 1000 == 0:
            most = max(most, memory())
    assert ranks == MANY * (MANY + 1) // 2
    assert answer.summary.count == MANY
    print(f"memory grew by {most - before:.1f} MB")  # noqa: T201  # measured, not judged
    # Kept, they would take more than a hundred.
    assert most - before < 30


def test_closing_an_answer_frees_its_place_in_the_service(real: Waiting):
    def is_idle() -> bool:
        return IDLE in real.text("metrics")

    eventually(is_idle)
    answer = real.ask("endless", endless.INSTANCE, engine="lattice", deadline_ms=endless.HOUR_MS)
    assert next(answer).rank == 1
    assert not is_idle()
    began = time.perf_counter()
    answer.close()
    while not is_idle():
        assert time.perf_counter() - began < PATIENCE
    print(f"the place was free after {(time.perf_counter() - began) * 1000:.0f} ms")  # noqa: T201  # the same
    assert list(answer) == []


def test_what_is_served_is_listed(real: Waiting):
    names = [model.name for model in real.call("models")]
    assert {"hcv", "mortgage", "synthetic", "thyroid"} <= set(names)
    model = real.call("model", "hcv")
    assert [feature.name for feature in model.features][:2] == ["ALB", "ALP"]
    assert real.call("normal_ranges", "hcv").features["ALT"].ranges[0].when == {"sex": "female"}
    assert "several-ways" in [example.name for example in real.call("examples", "mortgage")]


def test_examples_can_be_asked_as_they_are(real: Waiting):
    outcomes = {}
    for example in real.call("examples", "mortgage"):
        answer = real.ask("mortgage", example)
        plans = list(answer)
        assert answer.summary.count == len(plans)
        assert all(later.rank == earlier.rank + 1 for earlier, later in pairwise(plans))
        outcomes[example.name] = answer.summary.outcome
    assert outcomes == {
        "already-favourable": "already_favourable",
        "exactly-one-way": "found",
        "no-way-out": "no_recourse",
        "several-ways": "found",
    }


def test_predictions_for_one_and_for_several(real: Waiting):
    person = with_several_ways(real).request["instance"]
    one = real.call("prediction", "mortgage", person)
    plan = next(iter(real.ask("mortgage", person)))
    several = real.call("predictions", "mortgage", [person, plan.instance], target={"threshold": 0.5})
    assert one.prediction == several.predictions[0]
    assert several.predictions[1] == plan.prediction


def test_all_subsets_can_be_seen(real: Waiting):
    example = with_several_ways(real)
    seen = real.call("subsets", "mortgage", example)
    assert len(seen.subsets) == 2 ** len(seen.features)
    minimal = [set(subset.features) for subset in seen.subsets if subset.role == "minimal"]
    plans = [{change.feature for change in plan.changes} for plan in real.ask("mortgage", **example.request)]
    assert sorted(map(sorted, minimal)) == sorted(map(sorted, plans))


def test_what_the_real_service_refuses_has_a_name(real: Waiting):
    with pytest.raises(NotFound):
        real.call("model", "hcw")
    with pytest.raises(InvalidRequest) as refused:
        real.ask("mortgage", {"pirat": "much"})
    assert "instance.pirat" in [error.field for error in refused.value.fields]


def test_reasons_are_told_from_all_minimal_sets(real: Waiting):
    person = with_several_ways(real).request["instance"]
    told = real.call("reasons", "mortgage", person, immutable=["pirat"])
    sets = [{change.feature for change in plan.changes} for plan in real.ask("mortgage", person)]
    assert (told.outcome, told.complete, told.minimal_sets) == ("found", True, len(sets))
    assert told.set_aside == ("immutable[0]",)
    for reason in told.reasons:
        assert reason.necessity.sets == sum(reason.feature in each for each in sets)
        assert reason.feature in [change.feature for change in reason.variation.changes]
        assert reason.variation.prediction.favourable


def test_sentences_come_in_the_language_that_was_asked_for(real: Waiting, monkeypatch: pytest.MonkeyPatch):
    person = with_several_ways(real).request["instance"]
    monkeypatch.setattr(real.client, "_service", replace(real.client._service, language="de"))
    first = next(iter(real.ask("mortgage", person)))
    assert first.sentence.startswith("Schuldendienstquote von 0,42 auf 0,36 senken und ")
    assert first.changes[0].feature == "pirat"


def test_an_answer_that_is_recorded_can_be_looked_up_and_asked_again(real: Waiting):
    answer, subject = recorded(real)
    record = real.call("record", answer.start.record)
    assert (record.state, record.subject, record.outcome) == ("kept", subject, "found")
    assert record.request["record"] == {"subject": subject}
    assert [plan["sentence"] for plan in record.plans] == [plan.sentence for plan in answer.plans]
    listed = real.call("records", subject)
    assert (listed.records, listed.after) == ((record,), None)
    assert real.call("records", subject, after=record.seq).records == ()
    again = real.call("replay", record.id)
    assert (again.same, again.differences, again.compared) == (True, (), "answer")


def test_what_became_of_a_plan_is_kept(real: Waiting):
    record = recorded(real)[0].start.record
    said = real.call("feedback", record, plan=2, outcome="declined", reason="too_costly")
    for kept in (said, *real.call("record", record).feedback):
        assert (kept.record, kept.plan, kept.outcome, kept.reason) == (record, 2, "declined", "too_costly")
    with pytest.raises(InvalidRequest) as refused:
        real.call("feedback", record, plan=99, outcome="achieved")
    assert [error.field for error in refused.value.fields] == ["plan"]


def test_a_person_can_be_erased(real: Waiting):
    answer, subject = recorded(real)
    assert real.call("erase", subject).records == 1
    left = real.call("record", answer.start.record)
    assert (left.state, left.subject, left.request, left.plans) == ("erased", None, None, None)
    for call in ("replay", "feedback"):
        with pytest.raises(Erased) as refused:
            real.call(call, left.id, **({"plan": 1, "outcome": "tried"} if call == "feedback" else {}))
        assert refused.value.kind == "record-erased"
    assert real.call("records", subject).records == ()


def test_a_receipt_proves_a_record(real: Waiting):
    record = real.call("record", recorded(real)[0].start.record)
    receipt = real.call("receipt", record.id)
    said = check_receipt(receipt.text, real.get(".well-known/flipset-keys")["keys"])
    assert (said["hash"], said["record"], said["salt"]) == (record.hash, record.sealed, record.salt)


def test_a_record_that_is_not_there_has_a_name(real: Waiting):
    for call in ("record", "receipt", "replay"):
        with pytest.raises(NotFound) as refused:
            real.call(call, "0" * 32)
        assert refused.value.kind == "unknown-record"
    with pytest.raises(InvalidRequest) as wrong:
        real.call("records", "two words & more")
    assert [error.field for error in wrong.value.fields] == ["subject"]


def test_a_store_that_is_away_is_asked_again_and_one_that_is_off_is_not(connect: Connect):
    client = connect()
    assert client.call("replay", "away").same is True
    assert client.get("asked/away") == 2
    with pytest.raises(Busy) as refused:
        connect(retries=0).call("replay", "away:once")
    assert refused.value.kind == "records-unavailable"
    with pytest.raises(NotFound) as off:
        client.call("record", "off")
    assert off.value.kind == "records-off"
    assert client.get("asked/off") == 1
