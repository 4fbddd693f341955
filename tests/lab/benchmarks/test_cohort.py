"""The parts of the bench for registers that measure no time."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from lab.benchmarks.cohorts.anatomy import anatomy
from lab.benchmarks.cohorts.cohort import rounded
from lab.benchmarks.cohorts.cohort_requests import bodies
from lab.benchmarks.cohorts.cohort_runs import memory_of
from lab.benchmarks.registers.register import register
from lab.benchmarks.requests.load import Load
from lab.benchmarks.searches.rows_alone import ONE_BY_ONE, calls_of, share

PARTS = {"reading", "model", "rest_of_the_search", "sending_between_processes", "writing"}


def test_the_rows_of_a_run_are_everybody_once_and_all_subsets_of_the_refused(tmp_path: Path):
    pq.write_table(register("hcv", 60, 7), tmp_path / "people.parquet")
    found = anatomy("hcv", tmp_path / "people.parquet", ("sex", "age"), tmp_path / "answers")
    people = pq.read_table(tmp_path / "answers" / "people").to_pylist()
    lattices = [2 ** each["complete_up_to"] for each in people if each["outcome"] != "already_favourable"]
    assert found.people == 60
    assert len(lattices) > 0
    assert found.rows.shape == (60 + sum(lattices), 10)
    assert found.rows_of_a_person.sum() == 60 - len(lattices) + sum(lattices)
    assert found.seconds.keys() == PARTS
    assert all(spent > 0 for spent in found.seconds.values())


def test_calls_are_shared_out_whole_and_none_is_lost():
    plans = calls_of(5_000, np.array([1, 4, 1, 1, 16]))
    assert plans["1024"].tolist() == [0, 1024, 2048, 3072, 4096, 5000]
    assert plans["16384"].tolist() == [0, 5000]
    assert plans[ONE_BY_ONE].tolist() == [0, 1, 5, 6, 7, 23]
    for calls in plans.values():
        parts = [part.tolist() for part in share(calls, 2)]
        assert parts[0][-1] == parts[1][0]
        assert parts[0] + parts[1][1:] == calls.tolist()
    assert [part.tolist() for part in share(np.arange(0, 11), 2)] == [[0, 1, 2, 3, 4, 5], [5, 6, 7, 8, 9, 10]]


def test_requests_ask_for_the_people_of_the_register():
    people = register("hcv", 5, 7)
    asked = [json.loads(body) for body in bodies(people, "hcv", ("sex", "age"), 2)]
    assert [body["context"]["age"] for body in asked] == people["age"].to_pylist()[:2]
    assert [body["instance"]["ALT"] for body in asked] == people["ALT"].to_pylist()[:2]
    assert len(asked[0]["instance"]) == 10


def test_a_load_asks_for_each_body_with_its_own_length():
    first, second = Load(80, "/path", ("{}", '{"a": "é"}'), "application/json", 1.0).requests()
    assert first.endswith(b"Content-Length: 2\r\n\r\n{}")
    assert b"Content-Length: 11\r\n" in second


def test_memory_is_counted_for_those_that_are_there():
    assert memory_of([os.getpid()]) > 2**20
    assert memory_of([2**22 + 1]) == 0


def test_details_keep_four_digits():
    assert rounded({"a": {"b": 0.123456}, "c": 123456}) == {"a": {"b": 0.1235}, "c": 123456}
