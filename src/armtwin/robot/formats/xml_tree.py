"""A safe XML reader that keeps line numbers: no entities, no document types, limited nesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError, FileError, blame
from armtwin.files.opening import URDF, read_bytes
from armtwin.maths.batch import NamedTexts

DEEPEST = 50  # levels of elements
MOST_ELEMENTS = 200_000  # of a file
LONGEST_TEXT = 200  # characters between two elements that are kept


@dataclass
class Node:
    """An XML element with its line number."""

    tag: str
    attributes: NamedTexts
    line: int
    children: list[Node] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Node]:
        """Child elements with a tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Node | None:
        """First child element with a tag, or None."""
        return next(self.all(tag), None)

    def walk(self) -> Iterator[Node]:
        """This element and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class _Target:
    """Builds nodes from the parser's events."""

    def __init__(self) -> None:
        self.open: list[Node] = []
        self.root: Node | None = None
        self.parser: Any = None
        self.count = 0

    def start(self, tag: str, attributes: NamedTexts) -> None:
        node = Node(tag, dict(attributes), self.parser.CurrentLineNumber)
        if len(self.open) >= DEEPEST:
            contract = f"elements must not be nested deeper than {DEEPEST}"
            raise ArmtwinError(f"line {node.line}: {contract}")
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise ArmtwinError(f"line {node.line}: must have at most {MOST_ELEMENTS} elements")
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        self.open.append(node)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        """Text between elements is not used by URDF, except mechanicalReduction."""
        if self.open and text.strip():
            before = self.open[-1].attributes.get("#text", "")
            self.open[-1].attributes["#text"] = (before + text)[:LONGEST_TEXT]

    def close(self) -> Node:
        assert self.root is not None
        return self.root


def read_xml(path: Path) -> Node:
    """Root element of a file; a file that is not plain XML is refused with the reason."""
    from xml.etree.ElementTree import ParseError

    from defusedxml.common import DTDForbidden, EntitiesForbidden, ExternalReferenceForbidden
    from defusedxml.ElementTree import DefusedXMLParser

    text = read_bytes(path, URDF)
    target = _Target()
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.parser = parser.parser
    try:
        with blame(path):
            parser.feed(text)
            root: Node = parser.close()
    except (DTDForbidden, EntitiesForbidden, ExternalReferenceForbidden):
        contract = "must not declare a document type or entities (they can expand without end)"
        raise FileError(path, contract) from None
    # the latter two: an encoding that is not known
    except (ParseError, ValueError, LookupError) as error:
        raise FileError(path, f"is not valid XML: {error}") from None
    return root
