"""Logs recorded by the recipes of docs/logging.md: `armtwin check` says what the page says of each.

None is of a real controller: each file is made here in the layout that its recipe names.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.app.test_job_commands import call
from tests.logs.test_formats import write_bag, write_trace

PAGE = Path(__file__).parents[2] / "docs" / "logging.md"
TIME = np.arange(200) * 0.004
Q = np.sin(TIME[:, None] + np.arange(6))
V = np.cos(TIME[:, None] + np.arange(6))
ROW = re.compile(r"^\| ([^|]+) \| [^|]+ \| [^|]+ \| ([^|]+; channels [^|]+) \|$", re.M)
RECIPES = dict(ROW.findall(PAGE.read_text(encoding="utf-8")))


def table(path, columns, sep):
    """Signals (word with {} for the number, first number, values) over time, as a table."""
    words, values = [], []
    for word, first, signal in columns:
        signal = signal.reshape(len(TIME), -1)
        words += [word.format(first + j) for j in range(signal.shape[1])]
        values.append(signal)
    np.savetxt(path, np.hstack(values), "%.9g", sep, header=sep.join(words), comments="")
    return path


def by_rtde(folder):
    names = ("target_q", "actual_q", "actual_qd", "actual_current", "joint_temperatures")
    signals = zip(names, (Q + 1e-4, Q, V, 3 * V, 30 + 0 * Q), strict=True)
    columns = [(f"{name}_{{}}", 0, values) for name, values in signals]
    return table(folder / "record.csv", [("timestamp", 0, TIME), *columns], " ")


def by_trace(folder):
    for j, q in enumerate(np.degrees(Q).T, 1):
        signals = [
            (f"Sollposition_Achse{j}", "Grad", q + 0.01),
            (f"Istposition_Achse{j}", "Grad", q),
            (f"Istmoment_Achse{j}", "Nm", 3 * q),
            (f"Motortemperatur_Achse{j}", "K", 0 * q + 310),
        ]
        write_trace(folder, j, signals)
    return folder


def by_rsi(folder):
    def row(tag, values):
        return f"<{tag} " + " ".join(f'A{j}="{x:.4f}"' for j, x in enumerate(values, 1)) + "/>"

    lines = []
    for k, q in enumerate(np.degrees(Q)):
        parts = row("AIPos", q), row("ASPos", q + 0.01), row("MACur", q / 50)
        lines.append(f'<Rob Type="KUKA">{"".join(parts)}<IPOC>{4 * k}</IPOC></Rob>')
    (folder / "rsi.xml").write_text("\n".join(lines))
    return folder / "rsi.xml"


def by_egm(folder):
    (folder / "columns.toml").write_text(
        'format = 1\nunit = { time = "ms", q = "deg", q_ref = "deg" }\n'
    )
    columns = [("time", 0, 1e3 * TIME)]
    columns += [("q{}", 1, np.degrees(Q)), ("q_ref{}", 1, np.degrees(Q) + 0.01)]
    return table(folder / "egm.csv", columns, ",")


def positions(folder):
    return table(folder / "positions.csv", [("time", 0, TIME), ("q{}", 1, Q)], ",")


def by_bag(folder):
    names = tuple(f"joint_{j}" for j in range(1, 7))
    return write_bag(folder / "bag", 20 * Q, names=names, time=TIME)


def by_franka(folder):
    names = {"q": Q, "q_d": Q + 1e-4, "dq": V, "tau_J": 5 * V}
    columns = [(f"state.{name}[{{}}]", 0, values) for name, values in names.items()]
    return table(folder / "franka.csv", [("time", 0, 1e3 * TIME), *columns], ",")


RECORDED = {
    "Universal Robots": by_rtde,
    "KUKA KR C4, KR C5": by_trace,
    "KUKA with RSI": by_rsi,
    "ABB": by_egm,
    "Stäubli CS8, CS9": positions,
    "Fanuc R-30iB": positions,
    "ROS 2": by_bag,
    "Franka": by_franka,
}


def test_every_recipe_of_the_page_is_followed_here():
    assert set(RECIPES) == set(RECORDED)


@pytest.mark.parametrize("controller", RECORDED)
def test_check_says_of_a_log_what_its_recipe_says(tmp_path, controller):
    recorded = RECORDED[controller](tmp_path)
    done = call(tmp_path, "check", recorded, "--json")
    assert done.code == 0, done.err
    shown = json.loads(done.out)
    layout, channels, *words = [part.strip() for part in RECIPES[controller].split(";", 2)]
    # what is in quotation marks may hold any sign
    quoted = re.findall('"([^"]+)"', " ".join(words))
    uses = [part.strip() for part in re.sub('"[^"]+"', "", " ".join(words)).split(";")]
    assert shown["layout"] == layout
    held = {record["channel"].partition(":")[0] for record in shown["channels"]}
    assert held == set(channels.removeprefix("channels ").split(", "))
    said = {record["use"]: record["needs"] for record in shown["uses"]}
    for use in filter(None, uses):
        name, _, needs = use.partition(" ")
        assert said[name] == needs
    for sentence in quoted:
        assert sentence in done.out
    assert len(uses) >= 2
