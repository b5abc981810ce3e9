"""Messages: safe to print whatever a file holds, short however long it is,
and made again in another process.
"""

import pickle

import pytest

import armtwin as at
from armtwin.errors import FileError, did_you_mean, printable


def test_control_and_direction_characters_of_an_input_are_shown_as_escapes():
    told = str(at.ArmtwinError("joint '\x1b[31m\u202edaeh\x00\x85'"))
    assert told == r"joint '\x1b[31m\u202edaeh\x00\x85'"


def test_letters_of_all_languages_stay_as_they_are():
    text = "Schweißkopf 溶接 نوک می‌خواهم 😀 ±0.1 µm"
    assert printable(text) == text


def test_a_new_line_of_a_file_does_not_make_a_new_problem():
    error = FileError("a\nb", ["name 'x\n  joint: all is well'"])
    assert "\n" not in str(error)


def test_a_message_of_a_megabyte_is_cut():
    assert len(str(at.ArmtwinError("x" * 1_000_000))) <= 2000
    assert len(str(FileError("f" * 1_000_000, ["x" * 1_000_000] * 100))) <= 2000


def test_of_many_problems_twenty_are_shown_and_the_others_counted():
    words = ["".join("abcdefghij"[int(digit)] for digit in str(i)) for i in range(500)]
    told = str(FileError("robot.toml", [f"{word} is missing" for word in words], more=1500))
    assert told.startswith("robot.toml: 2000 problems\n  a is missing\n")
    assert "bj is missing" in told
    assert "ca is missing" not in told
    assert told.endswith("and 1980 more")


def test_problems_that_differ_in_names_and_numbers_are_shown_once():
    same = [f"joint.{i} ('joint_{i}') must be at most 6.3 rad, got {90 + i}" for i in range(12)]
    told = str(FileError("robot.toml", [*same, "speed is missing"])).splitlines()
    assert told[0] == "robot.toml: 13 problems"
    assert told[1] == f"  {same[0]} (11 more like this)"
    assert told[2:] == ["  speed is missing"]


def test_one_problem_stands_behind_the_name_of_its_file():
    assert str(FileError("robot.toml", ["speed is missing"])) == "robot.toml: speed is missing"


@pytest.mark.parametrize("word", ["wrst", "w" * 1_000_000], ids=["short", "long"])
def test_a_suggestion_is_found_soon_among_many_and_for_long_words(word):
    import time

    begin = time.process_time()
    hint = did_you_mean(word, ["wrist", *(f"link_{i}" for i in range(100_000))])
    assert time.process_time() - begin < 1
    assert len(hint) < 2000
    assert ("Did you mean 'wrist'?" in hint) == (len(word) < 10)


def test_an_error_of_a_file_survives_the_way_from_another_process():
    error = FileError("robot.toml", ["a is missing", "b is missing"], more=3)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems, again.origin) == (str(error), error.problems, error.origin)
