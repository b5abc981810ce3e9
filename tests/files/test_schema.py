"""The file format on a file that has nothing to do with robots:
what is declared is read and written.
"""

import tomllib
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import pytest

from armtwin.errors import FileError
from armtwin.files.fields import OneOf, Source
from armtwin.files.overrides import with_values
from armtwin.files.schema import Schema
from armtwin.files.shape import DERIVED, FLAT, differing_from, kind_from
from armtwin.files.writing import to_tables, to_toml
from armtwin.maths.quantities import Length, Mass


@dataclass(frozen=True)
class Round:
    radius: Length
    law: Literal["round"] = "round"


@dataclass(frozen=True)
class Square:
    side: Length
    height: Length = 1.0
    law: Literal["square"] = "square"


@dataclass(frozen=True)
class Hot:
    plate: Length = 0.2
    kind: Literal["hot"] = field(default="hot", metadata=DERIVED)


@dataclass(frozen=True)
class Cold:
    drawer: Length = 0.3
    kind: Literal["cold"] = field(default="cold", metadata=DERIVED)


@dataclass(frozen=True)
class Pot:
    name: str
    source: Source
    bottom: Annotated[Round | Square, OneOf("law")] = field(metadata=FLAT)
    lid: Annotated[Round | Square, OneOf("law")] | None = field(
        default=None, metadata=differing_from("bottom")
    )
    use: Literal["hot", "cold"] = "hot"
    place: Annotated[Hot | Cold, OneOf("kind")] | None = field(
        default=None, metadata=kind_from("use")
    )
    mass: Mass | None = None


@dataclass(frozen=True)
class Kitchen:
    pot: tuple[Pot, ...] = ()
    shelf: dict[str, Pot] = field(default_factory=dict)

    format_number: ClassVar[int] = 1


SCHEMA = Schema(Kitchen, "kitchen file")
TEXT = """
[[pot]]
name = "stew"
source = "measured: with a ruler"
law = "square"
side = "30 cm"
lid = { side = "31 cm" }
place = { plate = "25 cm" }

[[pot]]
name = "ice"
source = "assumed: by eye"
law = "round"
radius = 0.1
use = "cold"
place = { drawer = 0.4 }

[shelf.top]
name = "spare"
source = "assumed: by eye"
law = "round"
radius = 0.1
"""


def read(text):
    return SCHEMA.read(tomllib.loads(text), "kitchen.toml")


def test_keys_of_a_flat_group_stand_in_the_table_around_it():
    kitchen = read(TEXT)
    assert kitchen.pot[0].bottom == Square(side=0.3)
    assert kitchen.shelf["top"].bottom == Round(radius=0.1)


def test_a_table_of_differences_takes_the_other_keys_from_the_field_it_differs_from():
    assert read(TEXT).pot[0].lid == Square(side=0.31)


@pytest.mark.parametrize("lid", [Square(side=0.3, height=1.0), Round(radius=0.2)])
def test_a_difference_survives_where_it_is_a_default_or_another_kind(lid):
    """The bottom is 2 m high: a lid of 1 m, the default, says so; a round lid has no side."""
    pot = replace(read(TEXT).pot[0], bottom=Square(side=0.3, height=2.0), lid=lid)
    kitchen = Kitchen(pot=(pot,))
    assert read(to_toml(to_tables(kitchen)).replace("format = 1\n", "")) == kitchen


def test_a_key_beside_a_group_says_what_kind_it_is():
    assert [pot.place for pot in read(TEXT).pot] == [Hot(plate=0.25), Cold(drawer=0.4)]


def test_what_is_written_is_read_again_and_holds_no_derived_key():
    kitchen = read(TEXT)
    text = to_toml(to_tables(kitchen)).replace("format = 1\n", "")
    assert read(text) == kitchen
    assert "kind" not in text
    assert "height" not in text  # at its default
    assert 'lid = { law = "square"' not in text  # the same as the bottom's


NO_KEY = "is not a key of a kitchen file"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("side = ", "sied = ", f"pot.1.sied ('stew') {NO_KEY}. Did you mean 'side'"),
        ('use = "cold"', "mas = 1", f"pot.2.mas ('ice') {NO_KEY}. Did you mean 'mass'"),
        ("drawer", "drawr", f"pot.2.place.drawr {NO_KEY}. Did you mean 'drawer'"),
        ("31 cm", '31 cm", hieght = "1 m', f"pot.1.lid.hieght {NO_KEY}. Did you mean 'height'"),
        ("plate", "zzz", f"pot.1.place.zzz {NO_KEY}. Known: plate."),
        ("[shelf.top]", "[shelf.top]\nsauce = 1", "Did you mean 'source'"),
        ('"square"', '"squar"', "pot.1.law: 'squar' is not known. Did you mean 'square'"),
        ('law = "square"\n', "", "pot.1: key 'law' is missing, which says what kind it is"),
        ("place = { drawer = 0.4 }", "place = 3", "pot.2.place ('ice') must be a table, got 3"),
    ],
)  # fmt: skip
def test_a_slip_is_told_with_its_place_and_the_keys_of_its_group(old, new, sentence):
    with pytest.raises(FileError) as caught:
        read(TEXT.replace(old, new, 1))
    assert sentence in str(caught.value)


def test_a_replaced_value_says_so_and_the_rest_stays():
    tables = tomllib.loads(TEXT)
    new = with_values(tables, {"pot.ice.radius": "20 cm"}, Kitchen, "assumed: a guess", "test")
    kitchen, before = SCHEMA.read(new, "test"), read(TEXT)
    assert kitchen.pot[1].bottom == Round(radius=0.2)
    assert kitchen.pot[1].source["radius"] == "assumed: a guess"
    assert kitchen.pot[1].source["use"] == "assumed: by eye"
    assert kitchen.pot[0] == before.pot[0]
    assert kitchen.shelf == before.shelf
    assert tables == tomllib.loads(TEXT)


def test_an_override_of_a_group_lists_its_keys_with_those_the_file_leaves_out():
    with pytest.raises(FileError, match=r"must name one key of a group. Known: height, law, side"):
        with_values(tomllib.loads(TEXT), {"pot.1.lid": 1}, Kitchen, "assumed: x", "test")
