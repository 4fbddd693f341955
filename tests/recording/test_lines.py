"""What of an answer is recorded, and what is left out."""

import hashlib
import json

import rfc8785

from app.adapters.records.sealing import canonical, sealed
from app.recording.lines import Transcript, timeless
from app.writing.lines import SERVICE
from tests.support.records import new_record


def test_only_what_differs_from_time_to_time_is_left_out():
    start = f'{{"type":"start","features":[{{"name":"service"}}],"service":{SERVICE},"rules":[]}}'
    assert timeless("start", start) == '{"type":"start","features":[{"name":"service"}],"rules":[]}'
    summary = '{"count":1,"elapsed_ms":{"total":1.5,"search":0.1},"changed_in":{"elapsed_ms":1}}'
    assert timeless("summary", summary) == '{"count":1,"changed_in":{"elapsed_ms":1}}'
    plan = f'{{"rank":1,"instance":{{"elapsed_ms":1,"service":{SERVICE}}}}}'
    assert timeless("counterfactual", plan) == plan


def test_the_digest_is_of_all_lines_and_the_first_plans_are_kept():
    taken = Transcript(2)
    plans = [json.dumps({"rank": rank}) for rank in range(1, 5)]
    taken.take("start", '{"type":"start"}')
    for plan in plans:
        taken.take("counterfactual", plan)
        taken.take("progress", '{"elapsed_ms":1}')
    until = "".join(f"{line}\n" for line in ('{"type":"start"}', *plans))
    assert taken.sha256_of_plans() == hashlib.sha256(until.encode()).hexdigest()
    taken.take("summary", '{"count":4}')
    assert taken.sha256 == hashlib.sha256(f'{until}{{"count":4}}\n'.encode()).hexdigest()
    assert taken.sha256_of_plans() == hashlib.sha256(until.encode()).hexdigest()
    assert (taken.plans, taken.count) == (plans[:2], 4)


def test_what_is_sealed_is_canonical_json():
    text = sealed(new_record(model="Zoë"), 7, "0" * 64)
    assert text.encode() == rfc8785.dumps(json.loads(text))
    odd = {"b": 'a"\\\u0007\n\u2028', "a": [True, None, 2**53 - 1], "é": {"z": -1, "y": []}}
    assert canonical(odd).encode() == rfc8785.dumps(odd)
