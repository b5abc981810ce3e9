"""The page on units is true: its example runs, its commands exist."""

import re
from pathlib import Path

from fmpy.validation import validate_fmu

from tests.exchange.units import needs_compiler

PAGE = (Path(__file__).parents[2] / "docs" / "fmu.md").read_text(encoding="utf-8")


@needs_compiler
def test_the_example_of_the_page_on_units_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    exec(compile(code, "docs/fmu.md", "exec"), {})
    assert "co-simulation" in capsys.readouterr().out
    written = sorted(tmp_path.glob("*.fmu"))
    assert [path.stem for path in written] == ["clamping", "joint_1", "kr300", "loaded"]
    for path in written:
        assert validate_fmu(str(path)) == []
