"""Files of people, as they are read: what a row is, where it stands, and what is in it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.cohorts.reading.cells import rows_of
from app.cohorts.reading.chunks import CellFormat, Chunk, cut, numbered
from app.cohorts.reading.columns import BadColumns, pairs
from app.cohorts.reading.people_files import BadInput, people_files, read_people


def rows(file: Path, text: str | bytes, wanted: list[str]) -> list[tuple[int, list[object] | str]]:
    """Each row of a file of text: its line, and its values or why it is none."""
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    found = []
    for chunk in read_people(file, None, wanted):
        taken = rows_of(chunk, wanted)
        assert chunk.lines is not None
        for place, line in enumerate(chunk.lines.tolist()):
            values = [taken.cells[name].value(place) for name in wanted if name in taken.cells]
            found.append((line, taken.flaws.get(place, values)))
    return found


def test_a_row_of_csv_begins_on_its_line(tmp_path: Path):
    text = 'a,b\r\n1,x\r\n\r\n2,"y\r\nand more"\r\n3,z'
    assert rows(tmp_path / "p.csv", text, ["a", "b"]) == [(2, [1.0, "x"]), (4, [2.0, "y\r\nand more"]), (6, [3.0, "z"])]


def test_a_quote_that_is_never_closed_spoils_its_own_row_only(tmp_path: Path):
    text = 'a,b\n1,"x\n' + "".join(f"{number},y\n" for number in range(2, 40))
    found = rows(tmp_path / "p.csv", text, ["a", "b"])
    assert found[0] == (2, "has a quote that is not closed")
    assert [values for _, values in found[1:]] == [[float(number), "y"] for number in range(2, 40)]


def test_quotes_in_the_middle_of_a_field_are_a_part_of_it_and_join_no_rows(tmp_path: Path):
    text = 'a,b\n1,5" pipe\n2,6" pipe\n3,"7"" pipe"\n4,\u2028x"y\n'
    assert rows(tmp_path / "p.csv", text, ["a", "b"]) == [
        (2, [1.0, '5" pipe']),
        (3, [2.0, '6" pipe']),
        (4, [3.0, '7" pipe']),
        (5, [4.0, 'x"y']),
    ]


@pytest.mark.parametrize("text", ["a,b\r1,2\r3,4\r", "a" * 200_000 + ',"b\n1,2\n'])
def test_a_heading_that_cannot_be_read_is_told_of_the_file(text: str, tmp_path: Path):
    (tmp_path / "p.csv").write_text(text, newline="")
    [chunk] = read_people(tmp_path / "p.csv", None, ["a"])
    assert (chunk.rows, "header" in (chunk.lost or "")) == (0, True)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_columns_are_separated_by_what_the_heading_is(delimiter: str, tmp_path: Path):
    text = "a,b\n1,2\n".replace(",", delimiter)
    assert rows(tmp_path / "p.csv", text, ["b", "a"]) == [(2, [2.0, 1.0])]


def test_a_byte_order_mark_and_spaces_are_no_part_of_a_name_or_value(tmp_path: Path):
    assert rows(tmp_path / "p.csv", b"\xef\xbb\xbfa, b\n 1 , 2\n", ["a", "b"]) == [(2, [1.0, 2.0])]


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x1F", "1e", "--1", "1.2.3", "1,5", "٣"])
def test_what_only_python_or_nobody_takes_for_a_number_is_text(text: str, tmp_path: Path):
    [(_, values)] = rows(tmp_path / "p.csv", f'a;b\n"{text}";1\n', ["a"])
    assert values == [text]


@pytest.mark.parametrize(("text", "number"), [("-1.5", -1.5), ("+2", 2), (".5", 0.5), ("1e-3", 0.001), ("007", 7)])
def test_what_is_a_number_is_one(text: str, number: float, tmp_path: Path):
    [(_, values)] = rows(tmp_path / "p.csv", f"a\n{text}\n", ["a"])
    assert values == [number]


def test_lines_of_json_that_are_empty_are_no_rows(tmp_path: Path):
    assert rows(tmp_path / "p.jsonl", '{"a": 1}\n\n{"a": null}\n', ["a"]) == [(1, [1]), (3, [None])]


def test_small_row_groups_are_read_together_and_a_chunk_ends_with_its_partition(tmp_path: Path):
    pq.write_table(pa.table({"a": range(1_000)}), tmp_path / "p.parquet", row_group_size=7)
    chunks = list(cut(numbered(read_people(tmp_path / "p.parquet", None, ["a"])), rows=300, partition_rows=400))
    assert [(chunk.first, chunk.rows) for chunk in chunks] == [(1, 300), (301, 100), (401, 300), (701, 100), (801, 200)]
    assert [value for chunk in chunks for value in chunk.table["a"].to_pylist()] == list(range(1_000))


def test_chunks_are_the_same_whatever_pieces_they_are_cut_from():
    def pieces(size: int) -> list[Chunk]:
        table = pa.table({"a": range(100)})
        found = []
        for start in range(0, 100, size):
            part = table.slice(start, size)
            flaws = {17 - start: "spoilt"} if start <= 17 < start + size else {}
            found.append(Chunk("f", CellFormat.TYPED, len(part), part, flaws=flaws))
        return found

    def told(size: int) -> list[tuple[int, list[int], dict[int, str]]]:
        return [
            (chunk.first, chunk.table["a"].to_pylist(), dict(chunk.flaws))
            for chunk in cut(numbered(pieces(size)), rows=30, partition_rows=70)
        ]

    assert told(1) == told(9) == told(100)
    assert told(100)[0][2] == {17: "spoilt"}


def test_a_folder_is_read_in_the_order_of_its_names_and_others_are_refused(tmp_path: Path):
    for name in ("b.csv", "a.parquet", "notes.txt"):
        (tmp_path / name).write_text("a\n1\n")
    assert [file.name for file in people_files(tmp_path, None)] == ["a.parquet", "b.csv"]
    assert [file.name for file in people_files(tmp_path, "csv")] == ["b.csv"]
    for path, words in [(tmp_path / "no.csv", "no such file"), (tmp_path / "notes.txt", "--format")]:
        with pytest.raises(BadInput, match=words):
            people_files(path, None)


def test_pairs_of_names_and_columns_are_read_or_refused():
    assert pairs("--context", ["sex=Geschlecht,age", "region"]) == {
        "sex": "Geschlecht",
        "age": "age",
        "region": "region",
    }
    for bad in ("=x", "x=", "", "a,a"):
        with pytest.raises(BadColumns):
            pairs("--context", [bad])
