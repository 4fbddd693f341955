"""A run that was stopped goes on where it was."""

import numpy as np

from lab.paper.journal import Journal
from lab.paper.questions.asking import Answer, Asked


def asked(person: int) -> Asked:
    rows = np.array([[0.1 + 0.2, -1 / 3], [1e-17, 2.0]])
    answers = {"exact": Answer(rows, (True, False), 0.25), "sns": Answer(rows[:0], (), 5.0)}
    minimal = (frozenset({1}), frozenset({0, 2}))
    return Asked("network 0", person, np.array([0.3, 1e300]), False, False, minimal, answers, {"sns": answers["exact"]})


def as_plain(line: Asked) -> tuple:
    answers = [
        (name, each.rows.tolist(), each.rows.shape, each.valid, each.seconds)
        for answers in (line.answers, line.same_seed)
        for name, each in answers.items()
    ]
    return (line.condition, line.person, line.instance.tolist(), line.favoured, line.monotone, line.minimal, answers)


def test_what_was_written_is_read_back_to_the_last_digit(tmp_path):
    journal = Journal(tmp_path / "answers.jsonl")
    for person in (3, 1):
        journal.write(asked(person))
    assert [as_plain(line) for line in Journal(tmp_path / "answers.jsonl")] == [as_plain(asked(3)), as_plain(asked(1))]


def test_half_a_line_is_dropped_and_the_next_one_starts_afresh(tmp_path):
    file = tmp_path / "answers.jsonl"
    journal = Journal(file)
    journal.write(asked(1))
    whole = file.read_bytes()
    journal.write(asked(2))
    file.write_bytes(file.read_bytes()[:-9])

    again = Journal(file)
    assert file.read_bytes() == whole
    again.write(asked(2))
    assert [line.person for line in again] == [1, 2]
