"""Elements of HTML and SVG as text; words and attributes are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape


def element(tag: str, style: str = "", inside: str = "", **attributes: str | float) -> str:
    """An element.

    Args:
        tag: Its name.
        style: Its classes.
        inside: Markup that it holds.
        **attributes: Its attributes; an underscore becomes a hyphen.
    """
    named = dict(attributes)
    if style:
        named["class"] = style
    parts = [tag]
    for name, value in named.items():
        text = escape(str(value), quote=True)
        parts.append(f'{name.replace("_", "-")}="{text}"')
    return f"<{' '.join(parts)}>{inside}</{tag}>"


def words(text: str) -> str:
    """Words as markup that shows just them."""
    return escape(text)


def prose(text: str) -> str:
    """Sentences as markup; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", words(text))


def join_markup(parts: Iterable[str]) -> str:
    """Markup one after another."""
    return "".join(parts)


def percent(share: float) -> str:
    """A share of a width or a height."""
    return f"{100 * share:.2f}%"
