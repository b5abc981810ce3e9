"""Drawings for a report as SVG: points over a logarithmic axis, and a matrix as coloured squares.

Colours are classes of the page's style, so that a drawing follows light, dark and paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from armtwin.maths.batch import Floats

WIDTH, HEIGHT = 1000, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 16, 14, 40


def log_points(
    values: Sequence[tuple[str, Floats]],
    rule: tuple[float, str],
    cut: tuple[int, str],
    labels: tuple[str, str],
) -> str:
    """Series over their index 1, 2, .. on a logarithmic axis.

    Args:
        values: For each series its label and its values.
        rule: A value with a dashed line, and its label.
        cut: An index after which a vertical line stands, and its label.
        labels: Labels of the x and the y axis.
    """
    count = max(len(x) for _, x in values)
    every = np.concatenate([np.abs(x) for _, x in values] + [np.array([rule[0]])])
    shown = np.log10(every[every > 0])
    low, high = np.floor(shown.min()), np.ceil(shown.max() + 1e-9)
    high = max(high, low + 1)

    def across(i: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (i - 0.5) / count

    def down(x: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (high - np.log10(x)) / (high - low)

    parts = []
    for decade in np.arange(low, high + 1, max(1, (high - low) // 8)):
        y = down(10.0**decade)
        parts.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
        parts.append(_text(LEFT - 8, y + 4, f"1e{decade:.0f}", "end"))
    for i in range(5, count + 1, 5):
        parts.append(_text(across(i), HEIGHT - 22, str(i), "middle"))
    x, y = across(cut[0] + 0.5), down(rule[0])
    parts.append(f'<line class="cut" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
    parts.append(_text(x + 6, TOP + 12, cut[1], "start"))
    parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
    parts.append(_text(WIDTH - RIGHT - 4, y - 6, rule[1], "end"))
    for k, (label, series) in enumerate(values, 1):
        places = [(across(i), down(abs(v))) for i, v in enumerate(series, 1) if v != 0]
        if k == 1:
            parts += [
                f'<circle class="c{k} dot" cx="{a:.1f}" cy="{b:.1f}" r="4"/>' for a, b in places
            ]
        else:
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            parts.append(f'<polyline class="c{k} line" points="{path}"/>')
        parts.append(
            f'<rect class="c{k} dot" x="{LEFT + 10}" y="{HEIGHT - BOTTOM - 18 * k - 4}" width="12" height="6"/>'
        )
        parts.append(_text(LEFT + 28, HEIGHT - BOTTOM - 18 * k + 3, label, "start"))
    parts.append(_text((LEFT + WIDTH) / 2, HEIGHT - 4, labels[0], "middle"))
    told = f"{labels[1]} over {labels[0]}: {cut[1]}"
    return _svg(WIDTH, HEIGHT, parts, told)


def matrix(values: Floats, rows: Sequence[str], threshold: float, told: str) -> str:
    """A matrix as squares: above the threshold, below minus it, and what lies between is left empty.

    Args:
        values: The matrix, (rows, columns).
        rows: Labels of the rows.
        threshold: Size from which on a value is drawn.
        told: What is seen, for those who cannot see it.
    """
    side, left, top = 11, 110, 22
    width, height = left + side * values.shape[1] + 8, top + side * len(rows) + 8
    parts = []
    for i, label in enumerate(rows):
        parts.append(_text(left - 6, top + side * i + 9, label, "end", small=True))
    for j in range(4, values.shape[1], 5):
        parts.append(_text(left + side * j + side / 2, top - 6, str(j + 1), "middle", small=True))
    parts.append(
        f'<rect class="frame" x="{left}" y="{top}" width="{side * values.shape[1]}" height="{side * len(rows)}"/>'
    )
    for i, j in np.argwhere(np.abs(values) >= threshold):
        kind = "plus" if values[i, j] > 0 else "minus"
        parts.append(
            f'<rect class="{kind}" x="{left + side * j}" y="{top + side * i}" width="{side - 1}" height="{side - 1}"/>'
        )
    return _svg(width, height, parts, told)


def _text(x: float, y: float, words: str, anchor: str, small: bool = False) -> str:
    size = ' class="small"' if small else ""
    return f'<text{size} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def _svg(width: float, height: float, parts: Sequence[str], told: str) -> str:
    head = f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(told, quote=True)}">'
    return head + "".join(parts) + "</svg>"
