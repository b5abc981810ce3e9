"""docs/api.md says of every public name what its docstring says."""

import importlib.util
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SPEC = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
make_api = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_api)

PUBLIC = make_api.public_values()


def test_the_page_is_up_to_date():
    written = (DOCS / "api.md").read_text(encoding="utf-8")
    assert written == make_api.page(), "run `python docs/make_api.py`"


@pytest.mark.parametrize("name", PUBLIC)
def test_every_argument_of_a_public_name_is_explained(name):
    value = PUBLIC[name]
    assert make_api.Docstring(value).first
    assert make_api.list_undocumented(value) == []


def test_every_public_method_says_what_it_does():
    for name, value in PUBLIC.items():
        if isinstance(value, type):
            for method, function in make_api.methods(value).items():
                assert make_api.Docstring(function).first.endswith((".", ":")), (name, method)
            assert all(make_api.properties(value).values()), name


def test_an_argument_that_is_not_explained_is_found():
    def made_up(known, new):
        """Something.

        Args:
            known: Explained
                on two lines.
        """

    assert make_api.list_undocumented(made_up) == ["new"]
    assert make_api.Docstring(made_up).entries == {"known": "Explained on two lines."}
