"""Colours of the report, seen with normal eyes and with simulated deuteranopia and protanopia."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import armtwin as at

# linear RGB to linear RGB at severity 1 [Machado et al. 2009, table 1]
EYES = {
    "normal": np.eye(3),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)  # of linear sRGB, white D65
WHITE = XYZ.sum(axis=1)
LINES = ("c1", "c2", "c3", "c4", "c5", "c6", "c7", "bad")
SEAM = ("good", "fair", "bad", "off-line")


def linear(text):
    digits = text if len(text) == 7 else "#" + "".join(2 * c for c in text[1:])
    c = np.array([int(digits[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear sRGB."""
    x = XYZ @ np.clip(rgb, 0, 1) / WHITE
    f = np.where(x > 216 / 24389, np.cbrt(x), (24389 / 27 * x + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def palettes():
    """Colours by name, of light and of dark, as the style sheet ships them."""
    sheet = (Path(at.__file__).parent / "report" / "bundle" / "style.css").read_text()
    found = [
        dict(re.findall(r"--([\w-]+): ?(#\w+)", rule)) for rule in re.findall(r"\{[^{}]*\}", sheet)
    ]
    light, dark = [rule for rule in found if "c7" in rule]
    return {"light": light, "dark": dark}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("eyes", EYES)
@pytest.mark.parametrize("names", [LINES, SEAM], ids=["lines", "seam"])
def test_colours_differ_for_all_eyes(scheme, eyes, names):
    """A difference of 2.3 is just noticed side by side; thin lines apart need ten times that."""
    colours = palettes()[scheme]
    seen = {name: lab(EYES[eyes] @ linear(colours[name])) for name in names}
    for a, b in itertools.combinations(names, 2):
        assert np.linalg.norm(seen[a] - seen[b]) > 23, (a, b)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_lines_stand_out_from_the_paper(scheme):
    """Contrast (L1 + 0.05) / (L2 + 0.05) is 2.7 at least, near the 3 of WCAG 2.1."""
    colours = palettes()[scheme]
    paper = XYZ[1] @ linear(colours["paper"])
    for name in LINES:
        line = XYZ[1] @ linear(colours[name])
        assert (max(line, paper) + 0.05) / (min(line, paper) + 0.05) > 2.7, name
