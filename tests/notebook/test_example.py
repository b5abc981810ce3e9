"""docs/example.ipynb runs from top to bottom."""

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

NOTEBOOK = Path(__file__).parents[2] / "docs" / "example.ipynb"


def test_the_example_notebook_runs_and_shows_tables_and_plots(tmp_path):
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    interpreter = new_code_cell("import sys; print(sys.executable)")
    notebook.cells.append(interpreter)
    resources = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    shown, written = set(), ""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.output_type != "error"
            assert output.get("name") != "stderr", output.text
            shown |= set(output.get("data", {}))
            written = output.get("text", written)
    assert {"text/html", "image/png"} <= shown
    assert written.strip() == sys.executable
    assert not list(tmp_path.iterdir())
