"""The pages: all are listed, links lead somewhere, what is made from the sources is up to date."""

import importlib
import re
from pathlib import Path

import pytest

import armtwin

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OUTSIDE = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
PAGES = sorted([*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md"), *OUTSIDE])
LINK = re.compile(r"\]\(([^)\s]+)\)")


@pytest.fixture
def make(monkeypatch):
    """A script of docs/ as a module."""
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module


def is_written(path, text):
    return path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["make_laws", "make_constants", "make_options"])
def test_a_page_that_is_made_from_the_sources_is_up_to_date(make, name):
    script = make(name)
    assert is_written(script.PAGE, script.page()), f"run `python docs/{name}.py`"


def test_the_pictures_are_up_to_date(make):
    for path, drawing in make("make_pictures").pictures():
        assert is_written(path, drawing), f"{path.name}: run `python docs/make_pictures.py`"


def test_the_picture_of_a_tick_explains_every_stage(make):
    script = make("make_pictures")
    stages = script.read_stages(*script.TICK)
    assert len(stages) > 5
    assert [stage.name for stage in stages if not stage.about] == []


def test_the_picture_of_packages_has_no_import_against_the_contracts(make):
    """The same claim as the linter's, from another count of imports."""
    script = make("make_pictures")
    level = {name: k for k, layer in enumerate(script.read_layers()) for name in layer}
    counts = script.count_imports()
    assert len(counts) > 50
    assert [(one, other) for one, other in counts if level[one] >= level[other]] == []


def test_every_package_is_described_in_the_page_on_architecture():
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    packages = {path.parent.name for path in Path(armtwin.__file__).parent.glob("*/__init__.py")}
    assert [name for name in sorted(packages) if f"| `{name}` |" not in text] == []


def test_every_page_is_in_the_index_once():
    links = LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))
    pages = {path.name for path in DOCS.iterdir() if path.suffix in (".md", ".ipynb")}
    listed = sorted(link for link in links if "/" not in link)
    assert listed == sorted(pages - {"index.md"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    """Files that a page names in backticks without a link must exist too."""
    text = page.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        name, _, heading = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / name if name else page
        assert target.exists(), link
        if heading:
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {title.lower().replace(" ", "-") for title in titles}, link


def test_every_page_names_a_picture_that_the_code_makes():
    """Each is in docs/pictures, small, and named by a script or by the tutorial that makes it."""
    folder = DOCS / "pictures"
    makers = [*DOCS.glob("make_*.py"), *(ROOT / "studies").glob("*.py")]
    made = " ".join(path.read_text(encoding="utf-8") for path in makers)
    bare = []
    for page in [*DOCS.glob("*.md"), *DOCS.glob("tutorials/*.md")]:
        text = page.read_text(encoding="utf-8")
        shown = re.findall(r"!\[[^\]]+\]\((?:\.\./)?pictures/(\S+?)(?: \"|\))", text)
        if not shown:
            bare.append(page.name)
        for name in shown:
            words = Path(name).stem, re.sub(r"(_)\w+$", r"\1", Path(name).stem)
            is_made = any(f'"{word}' in made or f"{word}." in made for word in words)
            assert is_made or name.startswith(("tutorial_", "notebook_", "evidence_")), name
    assert bare == []
    assert sum(path.stat().st_size for path in folder.iterdir()) < 6_000_000


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/architecture.md", "docs/adding.md"])
def test_files_that_the_pages_for_contributors_name_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    text = re.sub(r"^New file .*$", "", text, flags=re.MULTILINE)
    folders = (ROOT, ROOT / "src" / "armtwin", DOCS, ROOT / "src/armtwin/drives/friction")
    for file in re.findall(r"[`\s(]((?:\w+/)*\w+\.(?:py|md|toml))\b", text):
        assert any((folder / file).exists() for folder in folders), file


def test_the_changelog_begins_with_the_version_of_the_package():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## (\d+\.\d+\.\d+)", text, re.MULTILINE)
    assert releases[0] == armtwin.__version__
    assert releases == sorted(releases, reverse=True)
