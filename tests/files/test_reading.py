"""TOML files made to keep a reader busy, or with what no machine has:
refused by a sentence, and soon.
"""

import re
import time

import pytest

import armtwin as at
from armtwin.robot.files import list_shipped
from armtwin.robot.schema.overrides import apply_overrides

RX90B = list_shipped()["rx90b"].read_text(encoding="utf-8")


def refusal(folder, text, within=5.0):
    (folder / "robot.toml").write_text(text, encoding="utf-8")
    begin = time.process_time()
    with pytest.raises(at.FileError) as caught:
        at.Robot.load(folder / "robot.toml")
    assert time.process_time() - begin < within
    assert len(str(caught.value)) <= 2000
    return str(caught.value)


BUSY = {
    "a key of 20 000 parts": (
        ".".join(["a"] * 20_000) + " = 1",
        "nest tables and lists deeper than 16",
    ),
    "a table of 20 000 parts": (
        "[" + ".".join(["a"] * 20_000) + "]",
        "nest tables and lists deeper than 16",
    ),
    "quoted parts": (
        " . ".join(["'a b'"] * 20_000) + " = 1",
        "nest tables and lists deeper than 16",
    ),
    "brackets": ("a = " + "[" * 100_000, "nest tables and lists deeper than 16"),
    "tables within each other": (
        "a = " + "{a=" * 200 + "1" + "}" * 200,
        "nest tables and lists deeper than 16",
    ),
    "a long word": ("x" * 1_000_000, "is not valid TOML"),
    "an endless integer": (
        "a.b = 0x" + "f" * 100_000,
        "a.b must be a whole number of at most 64 bits",
    ),
    "an endless integer in a list": (
        "a = [1, [0x" + "f" * 9000 + "]]",
        "a.2.1 must be a whole number of at most",
    ),
    "a format without end": (
        "format = 0x" + "f" * 9000,
        "format must be a whole number of at most 64 bits",
    ),
    "thousands of digits": ("a = " + "9" * 9000, "is not valid TOML"),
    "thousands of joints": (
        "format = 2\n" + "[[joint]]\n" * 9000,
        "joint must have at most 300 entries, got 9000",
    ),
    "five megabytes": ("#" * 5_000_000, "a TOML file must be at most 4 MB"),
    "not UTF-8": ("\ud800", "is not a text file in UTF-8"),
}


@pytest.mark.parametrize("name", BUSY)
def test_a_file_that_is_deep_or_long_is_refused_soon(name, tmp_path):
    text, sentence = BUSY[name]
    if name == "not UTF-8":
        (tmp_path / "robot.toml").write_bytes(b"\xff\xfe")
        with pytest.raises(at.FileError, match=sentence):
            at.Robot.load(tmp_path / "robot.toml")
        return
    assert sentence in refusal(tmp_path, text)


def test_twenty_thousand_unknown_keys_are_told_soon_and_counted(tmp_path):
    keys = "\n".join(f"key_{i}.part = 1" for i in range(20_000))
    told = refusal(tmp_path, f"format = 2\nname = 'x'\n{keys}\n")
    assert ": 20002 problems\n" in told
    assert told.endswith("more")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("mass = [0-9.]+", "mass = 1e300", "mass must be at most 1e+09 kg, got 1e+300"),
        ("mass = [0-9.]+", "mass = 1e-300", "mass must be 0 or at least 1e-30 kg, got 1e-300"),
        ("mass = [0-9.]+", 'mass = "1e300 t"', "mass must be at most 1e+09 kg"),
        ("rotor_inertia = .+", "rotor_inertia = 1e300", "must be at most 1e+15 kg m^2"),
        ("\nspeed = .+", "\nspeed = 1e-300", "must be at least 1e-30 rad/s"),
        ('name = "joint_1"', 'name = ""', "is empty"),
        (
            'name = "rx90b"',
            r'name = "a\\u001b[31mb"',
            "name must not hold control characters, got 'a\\x1b[31mb'",
        ),
        (
            'name = "rx90b"',
            r'name = "a\\u202eb"',
            "name must not hold control characters, got 'a\\u202eb'",
        ),
        (r"\[tool\.laser_head", r'[tool."a\\u202eb"', "tool must not hold control characters"),
    ],
)
def test_numbers_and_names_that_no_machine_has_are_refused_without_a_warning(
    old, new, sentence, tmp_path
):
    text = re.sub(old, new, RX90B, count=0 if "tool" in old else 1)
    assert text != RX90B
    assert sentence in refusal(tmp_path, text)


@pytest.mark.parametrize("word", ["²", "٣", "9" * 5000, "-1", "0", "1e3"], ids=range(6))
def test_what_is_no_number_of_a_list_is_refused_in_the_path_of_an_override(word):
    description = at.Robot.load("rx90b").description
    for path in (f"friction.{word}.asperity", f"gravity.{word}"):
        with pytest.raises(at.FileError, match="override"):
            apply_overrides(description, {path: 1.0}, "job")
