"""The shape of the sources may improve and never get worse: the numbers stand in shape.toml."""

import ast
import collections
import tomllib
from pathlib import Path

import pytest

import armtwin

ROOT = Path(armtwin.__file__).parent
KERNELS = {"compiled", "inlined", "kernel"}
RENDERERS = ROOT / "report"
REGISTRY = ROOT / "drives" / "friction" / "laws.py"  # imports every law, which nobody else needs to


def sources():
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")}


def imports_of(tree):
    """Modules of armtwin that a file imports names from."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return [node.module for node in nodes if (node.module or "").startswith("armtwin")]


def repeated_class_names(trees):
    names = collections.Counter(
        node.name
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return sum(count > 1 for count in names.values())


def single_caller_modules(trees):
    callers = collections.defaultdict(set)
    for path, tree in trees.items():
        for module in imports_of(tree):
            callers[module].add(path)
    found = 0
    for path in trees:
        if path.name != "__init__.py":
            parts = path.relative_to(ROOT).with_suffix("").parts
            users = callers[".".join(("armtwin", *parts))]
            found += len(users) == 1 and users != {REGISTRY}
    return found


def arguments(node):
    given = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return [argument for argument in given if argument.arg not in ("self", "cls")]


def is_kernel(node):
    names = (ast.unparse(decorator).partition("(")[0] for decorator in node.decorator_list)
    return bool(KERNELS & set(names))


def functions(trees):
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                yield path, node


def wide_functions(trees):
    return sum(
        len(arguments(node)) > 6 and not is_kernel(node) and "app" not in path.parts
        for path, node in functions(trees)
    )


def untyped_arguments(trees):
    found = 0
    for _, node in functions(trees):
        annotations = (argument.annotation for argument in arguments(node))
        found += sum(isinstance(x, ast.Name) and x.id == "Any" for x in annotations)
    return found


def results_that_renderers_import(trees):
    """Modules above the renderers that one of them imports."""
    below = ("armtwin.report", "armtwin.notebook", "armtwin.files", "armtwin.maths")
    below += ("armtwin.errors",)
    found = set()
    for path, tree in trees.items():
        if RENDERERS in path.parents:
            found |= {module for module in imports_of(tree) if not module.startswith(below)}
    return len(found)


MEASURES = {
    "repeated_class_names": repeated_class_names,
    "single_caller_modules": single_caller_modules,
    "wide_functions": wide_functions,
    "untyped_arguments": untyped_arguments,
    "results_that_renderers_import": results_that_renderers_import,
}


@pytest.fixture(scope="module")
def trees():
    return sources()


@pytest.fixture(scope="module")
def allowed():
    text = Path(__file__).with_name("shape.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@pytest.mark.parametrize("name", MEASURES)
def test_the_shape_of_the_sources_does_not_get_worse(name, trees, allowed):
    """One that must rise is raised in the file, with a reason beside it."""
    now = MEASURES[name](trees)
    most = allowed[name]["most"]
    assert now <= most, f"{name} rose from {most} to {now}: give a reason in shape.toml, or mend it"


def test_a_number_that_rose_has_a_reason(allowed):
    for name, entry in allowed.items():
        assert entry["most"] <= entry["first"] or entry["reason"].strip(), name
