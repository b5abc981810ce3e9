"""Recipes as files."""

import pytest

import armtwin as at
from armtwin.identification.rigid_body.recipe import RecipeFile, read_recipe, recipe_text


def test_a_recipe_comes_back_from_its_file(tmp_path):
    recipe = at.Recipe(
        estimator="ridge",
        period=8.0,
        periods=(1, 2),
        rest=0.02,
        robust=True,
        friction="file",
        tilt="file",
        kept=12,
        zero=("mx1",),
        equal=(("Jm4", "Jm5"),),
        mass={"link_1": (1.0, 2.5)},
    )
    written = RecipeFile(recipe, "tau", 12.5, "laser_head", "ballast", (9.81, 0.0, 0.0))
    path = tmp_path / "recipe.toml"
    path.write_text(recipe_text(written), encoding="utf-8")
    assert read_recipe(path) == written


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("resst = 0.1", r"resst is not a key of a recipe. Did you mean .*rest"),
        ('rest = "0.1"', "rest must be a number, not text, got '0.1'"),
        ('rate = "100 mm"', "rate must be in Hz or a unit of that kind, got '100 mm'"),
        ("gravity = [0, -9.81]", "gravity.3 is missing"),
        ('gravity = [0, 0, "1 kg"]', "gravity.3 must be in m/s\\^2 or a unit of that kind"),
        ('equal = [["Jm1"]]', "equal.1.2 is missing"),
        ("robust = 1", "robust must be true or false, got 1"),
        ("kept = 2.5", "kept must be a whole number, got 2.5"),
        ('zero = "mx1"', "zero must be a list, got 'mx1'"),
        ("mass = { link_1 = 3 }", "mass.link_1 must be a list, got 3"),
    ],
)
def test_a_recipe_file_that_says_nonsense_is_refused(tmp_path, text, sentence):
    path = tmp_path / "recipe.toml"
    path.write_text(f"format = 1\n{text}", encoding="utf-8")
    with pytest.raises(at.ArmtwinError, match=sentence):
        read_recipe(path)


def test_a_recipe_says_quantities_with_units(tmp_path):
    path = tmp_path / "recipe.toml"
    text = 'rate = "0.1 kHz"\nperiod = "8000 ms"\nmass = { link_1 = ["900 g", 2] }\n'
    path.write_text(f"format = 1\n{text}", encoding="utf-8")
    recipe = read_recipe(path).recipe
    assert recipe.rate == pytest.approx(100.0, rel=1e-12)
    assert recipe.period == pytest.approx(8.0, rel=1e-12)
    assert recipe.mass["link_1"] == pytest.approx((0.9, 2.0), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("rest = 0.1", "format is missing; write format = 1 on its first line"),
        ("format = 2", "format 2 is newer than this armtwin reads"),
    ],
)
def test_a_recipe_file_of_another_format_is_refused(tmp_path, text, sentence):
    path = tmp_path / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(at.ArmtwinError, match=sentence):
        read_recipe(path)
