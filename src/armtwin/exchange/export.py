"""A unit as a file: description, sources, documentation, and a binary where it can be made."""

from __future__ import annotations

import hashlib
import html
import io
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.exchange.confinement import run_in
from armtwin.exchange.unit import ExchangeUnit, Variable, interface_file, model_code, source_files
from armtwin.files.atomic import write_file
from armtwin.maths.batch import Names, Sentences
from armtwin.maths.units import BASE, parse_unit
from armtwin.notebook.sections import Facts, Report, Section, Text
from armtwin.report.result import Result

VERSIONS = (2, 3)
TOOL = "armtwin"
NO_UNIT = "1"


def model_description(unit: ExchangeUnit, version: int, guid: str) -> str:
    """The file modelDescription.xml of a unit."""
    return _of_version_2(unit, guid) if version == 2 else _of_version_3(unit, guid)


def build_description(unit: ExchangeUnit) -> str:
    """The file buildDescription.xml, by which FMI 3.0 describes how sources are compiled."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = SubElement(root, "BuildConfiguration", {"modelIdentifier": unit.identifier})
    files = SubElement(build, "SourceFileSet", {"language": "C99"})
    SubElement(files, "SourceFile", {"name": interface_file(3)})
    return _text(root)


def _root(unit: ExchangeUnit, version: int, **more: str) -> Element:
    """A description with what both versions say of a unit."""
    said = {"fmiVersion": f"{version}.0", "modelName": unit.name, "description": unit.title}
    said |= {"generationTool": TOOL, "variableNamingConvention": "structured"}
    return Element("fmiModelDescription", said | more)


def _of_version_2(unit: ExchangeUnit, guid: str) -> str:
    root = _root(unit, 2, guid=guid, numberOfEventIndicators=str(unit.indicators))
    can = ("NotUseMemoryManagementFunctions", "GetAndSetFMUstate", "SerializeFMUstate")
    common = {"modelIdentifier": unit.identifier} | {f"can{word}": "true" for word in can}
    kinds = []
    if unit.states:
        kinds.append(SubElement(root, "ModelExchange", common))
    interpolates = any(variable.rate for variable in unit.variables)
    stepping = {
        "canHandleVariableCommunicationStepSize": "true",
        "canInterpolateInputs": "true" if interpolates else "false",
    }
    kinds.append(SubElement(root, "CoSimulation", common | stepping))
    for kind in kinds:
        files = SubElement(kind, "SourceFiles")
        SubElement(files, "File", {"name": interface_file(2)})
    _put_units(root, unit)
    _put_experiment(root, unit)
    variables = SubElement(root, "ModelVariables")
    for k, variable in enumerate(unit.variables):
        scalar = SubElement(variables, "ScalarVariable", _common(variable, k))
        SubElement(scalar, "Real", _numbers(variable) | _derivative(unit, variable))
    _put_structure_2(SubElement(root, "ModelStructure"), unit)
    return _text(root)


def _put_structure_2(structure: Element, unit: ExchangeUnit) -> None:
    outputs = [x for x in unit.variables if x.causality == "output"]
    slopes = [unit.variables[unit.reference[x.slope]] for x in unit.states]
    computed = [x for x in unit.states if x.start is None]
    groups = {"Outputs": outputs, "Derivatives": slopes}
    unknown = [*outputs, *slopes, *computed]
    groups["InitialUnknowns"] = sorted(unknown, key=lambda x: unit.reference[x.name])
    for name, members in groups.items():
        if not members:
            continue
        group = SubElement(structure, name)
        for variable in members:
            SubElement(group, "Unknown", {"index": str(unit.reference[variable.name] + 1)})


def _of_version_3(unit: ExchangeUnit, guid: str) -> str:
    root = _root(unit, 3, instantiationToken=guid)
    can = ("canHandleVariableCommunicationStepSize", "canGetAndSetFMUState", "canSerializeFMUState")
    kind = {"modelIdentifier": unit.identifier} | dict.fromkeys(can, "true")
    SubElement(root, "CoSimulation", kind)
    _put_units(root, unit)
    _put_experiment(root, unit)
    variables = SubElement(root, "ModelVariables")
    for k, variable in enumerate(unit.variables):
        SubElement(variables, "Float64", _common(variable, k) | _numbers(variable))
    structure = SubElement(root, "ModelStructure")
    for name in ("Output", "InitialUnknown"):
        for k, variable in enumerate(unit.variables):
            if variable.causality == "output":
                SubElement(structure, name, {"valueReference": str(k)})
    return _text(root)


def _common(variable: Variable, reference: int) -> dict[str, str]:
    found = {
        "name": variable.name,
        "valueReference": str(reference),
        "causality": variable.causality,
        "variability": "fixed" if variable.causality == "parameter" else "continuous",
        "description": variable.description,
    }
    if variable.slope:
        found["initial"] = "calculated" if variable.start is None else "exact"
    return found


def _numbers(variable: Variable) -> dict[str, str]:
    found = {}
    if variable.unit != NO_UNIT:
        found["unit"] = variable.unit
    if np.isfinite(variable.least):
        found["min"] = repr(float(variable.least))
    if variable.slope:
        found["nominal"] = repr(float(variable.nominal))
    if variable.start is not None:
        found["start"] = repr(float(variable.start))
    return found


def _derivative(unit: ExchangeUnit, variable: Variable) -> dict[str, str]:
    for state in unit.states:
        if state.slope == variable.name:
            return {"derivative": str(unit.reference[state.name] + 1)}
    return {}


def _put_units(root: Element, unit: ExchangeUnit) -> None:
    """Every unit in base units of SI."""
    group = SubElement(root, "UnitDefinitions")
    for name in sorted({x.unit for x in unit.variables} - {NO_UNIT}):
        factor, powers = parse_unit(name)
        base = {}
        for symbol, power in zip(BASE, powers, strict=True):
            if power and symbol != "cycle":
                base[symbol] = str(power)
        if factor != 1.0:
            base["factor"] = repr(factor)
        SubElement(SubElement(group, "Unit", {"name": name}), "BaseUnit", base)


def _put_experiment(root: Element, unit: ExchangeUnit) -> None:
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", {"name": "logStatusError"})
    SubElement(root, "DefaultExperiment", {"startTime": "0.0", "stepSize": repr(unit.step)})


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


COMPILERS = ("cc", "gcc", "clang")
# -O3 does the sines of a robot's joints side by side, which -O2 does not with every compiler
OPTIONS = ("-std=c99", "-O3", "-fPIC", "-fvisibility=hidden")
LONGEST = 300.0  # time that compiling may take [s]
ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}
# folders of FMI 2.0 and parts of those of FMI 3.0
SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
OLD_SYSTEMS = {"linux": "linux64", "darwin": "darwin64", "win32": "win64"}
PROCESSORS = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


def c_compiler() -> list[str] | None:
    """The command of a C compiler: $CC, or one of the usual names; None where none is found."""
    given = shlex.split(os.environ.get("CC", ""))
    if given:
        return given if shutil.which(given[0]) else None
    for name in COMPILERS:
        found = shutil.which(name)
        if found:
            return [found]
    return None


def binary_place(identifier: str, version: int) -> str:
    """Where the binary of this platform lies in the archive of a unit."""
    system = sys.platform if sys.platform in SYSTEMS else "linux"
    machine = platform.machine().lower()
    folder = OLD_SYSTEMS[system]
    if version == 3:
        folder = f"{PROCESSORS.get(machine, machine)}-{SYSTEMS[system]}"
    return f"binaries/{folder}/{identifier}{ENDINGS[system]}"


def compile_binary(command: list[str], sources: Mapping[str, str], main: str) -> bytes:
    """The shared library of sources.

    Args:
        command: The compiler.
        sources: Texts by file name.
        main: The file that is compiled; it includes the others.
    """
    with tempfile.TemporaryDirectory(prefix="armtwin-unit-") as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        flag = "-dynamiclib" if sys.platform == "darwin" else "-shared"
        built = [*command, *OPTIONS, flag, main, "-o", "unit.bin", "-lm"]
        try:
            code, words = run_in(folder, built, LONGEST)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ArmtwinError(f"C compiler {command[0]}: could not be run ({error})") from None
        if code:
            said = words.strip().splitlines()[:1] or ["it said nothing"]
            raise ArmtwinError(f"C compiler {command[0]}: failed on the unit's sources: {said[0]}")
        return Path(folder, "unit.bin").read_bytes()


LONG_AGO = (1980, 1, 1, 0, 0, 0)  # of all members, so that one unit gives one file


@dataclass(frozen=True, eq=False, repr=False)
class Exported(Result):
    """A unit as a file.

    Attributes:
        path: Its file.
        version: Version of FMI, 2 or 3.
        kinds: What it can be used for.
        binary: Where its binary lies in it; "" for a unit of sources.
        content: What the file holds.
    """

    path: Path
    version: int
    kinds: Names
    binary: str
    content: bytes

    @property
    def remarks(self) -> Names:
        """What it is for, and what of it is compiled."""
        use = f"FMI {self.version}.0, {' and '.join(self.kinds)}"
        if self.binary:
            return use, f"binary for this platform: {self.binary}"
        if c_compiler() is not None:
            return use, "a unit of sources, as asked for: a host must compile it"
        return (
            use,
            "no C compiler (CC, cc, gcc, clang) is found: a unit of sources",
            "a host must compile it; sources/ holds all that is needed",
        )

    def sections(self) -> Report:
        """What was written, and what of it is compiled."""
        facts = Facts((("file", str(self.path)), ("binary", self.binary or "none, sources alone")))
        verdict = Text(f"{self.path.name}: {self.remarks[0]}.")
        return Report("A Functional Mock-up Unit", "", (Section("", (facts,)),), (verdict,))


def pack_unit(
    unit: ExchangeUnit, path: Path, *, version: int = 2, sources_only: bool = False
) -> Exported:
    """A unit as a file; nothing is written.

    Args:
        unit: The unit.
        path: The file, .fmu.
        version: Version of FMI: 2, co-simulation and model exchange, or 3, co-simulation.
        sources_only: Whether to make no binary, even where a C compiler is found.
    """
    if version not in VERSIONS:
        raise ArmtwinError(f"fmi must be 2 or 3, got {version}")
    guid = _guid(unit, version)
    sources = source_files(unit, version, guid)
    members = {"modelDescription.xml": model_description(unit, version, guid).encode()}
    for name, text in sources.items():
        members[f"sources/{name}"] = text.encode()
    if version == 3:
        members["sources/buildDescription.xml"] = build_description(unit).encode()
    members["documentation/index.html"] = documentation(unit, version).encode()
    binary = ""
    command = None if sources_only else c_compiler()
    if command is not None:
        binary = binary_place(unit.identifier, version)
        members[binary] = compile_binary(command, sources, interface_file(version))
    kinds = ["co-simulation"]
    if version == 2 and unit.states:
        kinds.append("model exchange")
    return Exported(path, version, tuple(kinds), binary, _pack(members))


def write_unit(
    unit: ExchangeUnit, path: Path, *, version: int = 2, sources_only: bool = False
) -> Exported:
    """Write a unit, whole or not at all; arguments as of pack_unit."""
    packed = pack_unit(unit, path, version=version, sources_only=sources_only)
    write_file(path, lambda file: file.write(packed.content))
    return packed


def _guid(unit: ExchangeUnit, version: int) -> str:
    """A name of the unit's contents."""
    digest = hashlib.sha256(model_code(unit, "").encode())
    digest.update(model_description(unit, version, "").encode())
    word = digest.hexdigest()
    return f"{{{word[:8]}-{word[8:12]}-{word[12:16]}-{word[16:20]}-{word[20:32]}}}"


def _pack(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            entry = zipfile.ZipInfo(name, LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return packed.getvalue()


def documentation(unit: ExchangeUnit, version: int) -> str:
    """The page that travels with a unit."""
    return "\n".join(_page(unit, version)) + "\n"


def _page(unit: ExchangeUnit, version: int) -> Sentences:
    name = html.escape(unit.name)
    yield f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
    yield "<style>body{font-family:sans-serif;max-width:60em;margin:2em auto}"
    yield "td,th{text-align:left;padding:.2em .8em;border-bottom:1px solid #ccc}</style></head>"
    yield f"<body><h1>{name}</h1><p>{html.escape(unit.title)} FMI {version}.0.</p>"
    for remark in unit.remarks:
        yield f"<p>{html.escape(remark)}</p>"
    yield "<table><tr><th>variable</th><th>is</th><th>unit</th><th>start</th><th>what</th></tr>"
    for variable in unit.variables:
        start = "" if variable.start is None else f"{variable.start:g}"
        cells = (variable.name, variable.causality, variable.unit, start, variable.description)
        row = "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        yield f"<tr>{row}</tr>"
    yield "</table><p>The folder sources holds its C; compile the interface file alone, it "
    yield "includes the others.</p></body></html>"
