"""The house: what is public is exported, what is cited is listed."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import armtwin

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def test_every_public_name_exists_and_has_a_docstring():
    for name in armtwin.__all__:
        value = getattr(armtwin, name)
        assert name == "__version__" or value.__doc__


def test_every_reference_key_has_an_entry():
    listed = set(
        re.findall(
            r"^- \*\*\[(.+?)\]\*\*", (ROOT / "docs" / "references.md").read_text(), re.MULTILINE
        )
    )
    cited = {}
    for path in SOURCES:
        for block in re.findall(r"Ref:(.*?)(?:\n\n|\"\"\")", path.read_text(), re.DOTALL):
            for key in re.findall(r"\[([A-Z][A-Za-z-]+ \d{4})", block):
                cited[key] = path.name
    assert len(cited) > 10
    missing = {key: name for key, name in cited.items() if key not in listed}
    assert not missing


def test_only_two_files_know_numba_and_only_the_app_prints():
    """Kernels are compiled in one place; the other writes the instructions of traced ones."""
    with_numba = set()
    for path in SOURCES:
        text = path.read_text()
        if "numba" in re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE):
            with_numba.add(path.name)
        assert "/app/" in path.as_posix() or not re.search(r"\bprint\(", text)
    assert with_numba == {"compiled.py", "machine_code.py"}


def test_slow_libraries_are_not_imported_with_the_package():
    """What costs time is imported where it is used, so that `import armtwin` stays quick."""
    slow = ("scipy.signal", "scipy.optimize", "pydantic", "defusedxml", "rich")
    slow += ("matplotlib", "pandas")
    script = f"import sys, armtwin; armtwin.Robot; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_package_imports_only_what_it_declares():
    """A core install has the declared packages and what they cannot be without;
    nothing of the development extras.
    """
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    allowed = {re.match(r"[\w-]+", name)[0] for name in declared} | {
        "pydantic_core",
        "llvmlite",
        "armtwin",
    }
    allowed |= {
        "rosbags",
        "h5py",
        "apsw",
        "lz4",
    }  # the extra `logs`, whose lack logs/bag_files.py says in a sentence
    allowed |= {"distributed", "pyarrow"}  # whose lack sweeps/ says in a sentence
    allowed |= {"matplotlib", "pandas"}  # whose lack notebook/ says in a sentence
    allowed |= {"fmpy"}  # the extra `fmi`, whose lack exchange/ says in a sentence
    allowed |= {"mujoco", "trimesh", "fast_simplification"}  # said by the check, and by an import
    allowed |= {"starlette", "uvicorn", "websockets"}  # said by the command
    found = set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            found |= {name.partition(".")[0] for name in names}
    assert found - allowed - set(sys.stdlib_module_names) == set()


def test_no_study_is_taken_for_a_library():
    """A script's own folder comes first: numba looks for a module called coverage, as others do."""
    script = f"""
import sys
sys.path.insert(0, {str(ROOT / "studies")!r})
import numba, numpy, scipy.signal, scipy.optimize
print([x.__file__ for x in [*sys.modules.values()] if "studies" in str(getattr(x, "__file__", ""))])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (b"[]", b"")


def test_no_module_imports_itself_by_way_of_others():
    """Lazy imports inside of functions count too."""
    import grimp

    graph = grimp.build_graph("armtwin")
    waiting = {name: set(graph.find_modules_directly_imported_by(name)) for name in graph.modules}
    while True:  # modules whose imports are all done with are done with too
        done = {name for name, imports in waiting.items() if not imports}
        if not done:
            break
        waiting = {name: imports - done for name, imports in waiting.items() if name not in done}
    assert sorted(waiting) == []
