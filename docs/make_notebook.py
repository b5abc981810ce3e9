"""Run docs/example.ipynb, keep its outputs, and write docs/tutorials/notebook.md from it.

`python docs/make_notebook.py`; needs nbformat, nbclient, ipykernel, matplotlib and Pillow. The page
has code, texts and pictures; the cards of results are in the notebook alone.
"""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).parent
NOTEBOOK = DOCS / "example.ipynb"
PAGE = DOCS / "tutorials" / "notebook.md"
COLOURS, WIDTH = 32, 640  # pixels
NEXT = "\nThe notebook itself, with the cards of its results: [example.ipynb](../example.ipynb).\n"


def run(path: Path) -> Any:
    """A notebook with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it was run
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = shrink(output.data["image/png"])
    return notebook


def shrink(picture: str) -> str:
    """A picture, in base64, of fewer colours and pixels."""
    from PIL import Image

    small = io.BytesIO()
    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        image.thumbnail((WIDTH, image.height))
        image.convert("RGB").quantize(COLOURS).save(small, "PNG", optimize=True)
    return base64.b64encode(small.getvalue()).decode("ascii")


def write_lines(notebook: Any) -> Iterator[str]:
    """The page of a notebook; its pictures are written beside the others."""
    number = 0
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            yield f"{cell.source}\n"
            continue
        source = cell.source.replace(");", ")")  # which only hides a value
        yield f"```python\n{source}\n```\n"
        for output in cell.outputs:
            data = output.get("data", {})
            text = output.get("text", data.get("text/plain", ""))
            if "image/png" in data:
                number += 1
                name = f"notebook_{number}.png"
                (DOCS / "pictures" / name).write_bytes(base64.b64decode(data["image/png"]))
                yield f"![What the cell draws](../pictures/{name})\n"
            elif text:
                yield f"```text\n{text.strip()}\n```\n"


def main() -> None:
    """Renew notebook and page."""
    notebook = run(NOTEBOOK)
    nbformat.write(notebook, NOTEBOOK)
    PAGE.write_text("\n".join(write_lines(notebook)) + NEXT, encoding="utf-8")


if __name__ == "__main__":
    main()
