"""Recipes as files."""

import pytest

import armtwin as at
from armtwin.identification.rigid_body.recipe_file import Written, read_recipe, recipe_text


def test_a_recipe_comes_back_from_its_file(tmp_path):
    recipe = at.Recipe(
        estimator="ridge",
        period=8.0,
        periods=(1, 2),
        rest=0.02,
        robust=True,
        friction="file",
        kept=12,
        zero=("mx1",),
        equal=(("Jm4", "Jm5"),),
        mass={"link_1": (1.0, 2.5)},
    )
    written = Written(recipe, "tau", 12.5)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe_text(written), encoding="utf-8")
    assert read_recipe(path) == written


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("resst = 0.1", r"resst is not known. Did you mean .*rest"),
        ('rest = "0.1"', "rest must be a number in SI units, got '0.1'"),
        ("robust = 1", "robust must be true or false, got 1"),
        ("kept = 2.5", "kept must be a whole number, got 2.5"),
        ('zero = "mx1"', "zero must be a list of parameters, got 'mx1'"),
        ("mass = { link_1 = 3 }", "mass must be lower and upper bounds in kg"),
    ],
)
def test_a_recipe_file_that_says_nonsense_is_refused(tmp_path, text, sentence):
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(at.ArmtwinError, match=sentence):
        read_recipe(path)
