"""The source files that kernels depend on, and a stamp over their contents.

A kernel is what its own file says, what the files say that it imports, and so on down. Files above
all kernels (the command line, reports) do not change them: an edit there keeps what was compiled.
"""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

# what a file imports if it makes kernels, writes their parts or leaves them on a tape
MAKERS = {
    "maths/compiled": {"compiled", "inlined", "exactly"},
    "maths/machine_code": {"staged", "stretch_kernel"},
    "maths/traced_rows": {"Formula"},
    "maths/tape": {"Tape", "Symbol", "as_symbols"},
}
_SIGNS = [f"armtwin.{name.replace('/', '.')} import".encode() for name in MAKERS]
_IMPORT = re.compile(rb"from armtwin\.([\w.]+) import +(\([^)]*\)|[^\n]*)")
_WORD = re.compile(rb"\w+")


def source_stamp(package: Path, *first: str) -> str:
    """Short hash of the contents of every file of a package that something depends on.

    Args:
        package: Folder of the package.
        first: Files, as "sweeps/work", that are stamped with all that they import; by default
            those that make kernels.
    """
    texts = _texts(package)
    digest = hashlib.sha1(usedforsecurity=False)
    for name in sorted(_with_imports(texts, list(first) or _makers(texts))):
        digest.update(name.encode())
        digest.update(texts[name])
    return digest.hexdigest()[:12]


def sources_of_kernels(package: Path) -> set[str]:
    """Names of the files that kernels depend on, as "maths/compiled"."""
    texts = _texts(package)
    return _with_imports(texts, _makers(texts))


def _texts(package: Path) -> dict[str, bytes]:
    """Contents of every Python file below a folder by its name."""
    texts = {}
    for path in package.rglob("*.py"):
        name = path.relative_to(package).with_suffix("").as_posix()
        texts[name] = path.read_bytes()
    return texts


def _makers(texts: dict[str, bytes]) -> list[str]:
    """Files that make kernels or parts of them."""
    found = []
    for name, text in texts.items():
        if not any(sign in text for sign in _SIGNS):
            continue
        for module, names in _imports(text):
            if not MAKERS.get(module, set()).isdisjoint(names):
                found.append(name)
                break
    return found


def _with_imports(texts: dict[str, bytes], first: list[str]) -> set[str]:
    """Files with all that they import, at once or when needed, and so on down."""
    waiting = list(first)
    seen = set(first)
    while waiting:
        for module, names in _imports(texts[waiting.pop()]):
            inner = [f"{module}/{name}" for name in names]
            for name in (module, f"{module}/__init__", *inner):
                if name in texts and name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return seen


def _imports(text: bytes) -> Iterator[tuple[str, set[str]]]:
    """Modules of the package that a file imports from, as "maths/compiled", with the names."""
    for module, names in _IMPORT.findall(text):
        yield module.decode().replace(".", "/"), {word.decode() for word in _WORD.findall(names)}
