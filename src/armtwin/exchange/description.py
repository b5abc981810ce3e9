"""modelDescription.xml of a unit, for FMI 2.0 and 3.0: variables, units, structure.

Ref: [FMI 2023]
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from armtwin.exchange.model_code import interface_file
from armtwin.exchange.unit import ExchangeUnit, Variable
from armtwin.maths.units import BASE, parse_unit

VERSIONS = (2, 3)
TOOL = "armtwin"
NO_UNIT = "1"


def model_description(unit: ExchangeUnit, version: int, guid: str) -> str:
    """The file modelDescription.xml of a unit."""
    return _of_version_2(unit, guid) if version == 2 else _of_version_3(unit, guid)


def build_description(unit: ExchangeUnit) -> str:
    """The file buildDescription.xml, by which FMI 3.0 tells how sources are compiled."""
    root = Element("fmiBuildDescription", {"fmiVersion": "3.0"})
    build = SubElement(root, "BuildConfiguration", {"modelIdentifier": unit.identifier})
    files = SubElement(build, "SourceFileSet", {"language": "C99"})
    SubElement(files, "SourceFile", {"name": interface_file(3)})
    return _text(root)


def _of_version_2(unit: ExchangeUnit, guid: str) -> str:
    root = Element(
        "fmiModelDescription",
        {
            "fmiVersion": "2.0",
            "modelName": unit.name,
            "guid": guid,
            "description": unit.title,
            "generationTool": TOOL,
            "variableNamingConvention": "structured",
            "numberOfEventIndicators": str(unit.indicators),
        },
    )
    common = {
        "modelIdentifier": unit.identifier,
        "canNotUseMemoryManagementFunctions": "true",
        "canGetAndSetFMUstate": "true",
        "canSerializeFMUstate": "true",
    }
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
    groups = {"Outputs": outputs, "Derivatives": slopes}
    groups["InitialUnknowns"] = sorted([*outputs, *slopes], key=lambda x: unit.reference[x.name])
    for name, members in groups.items():
        if not members:
            continue
        group = SubElement(structure, name)
        for variable in members:
            SubElement(group, "Unknown", {"index": str(unit.reference[variable.name] + 1)})


def _of_version_3(unit: ExchangeUnit, guid: str) -> str:
    root = Element(
        "fmiModelDescription",
        {
            "fmiVersion": "3.0",
            "modelName": unit.name,
            "instantiationToken": guid,
            "description": unit.title,
            "generationTool": TOOL,
            "variableNamingConvention": "structured",
        },
    )
    can = (
        "canHandleVariableCommunicationStepSize",
        "canGetAndSetFMUState",
        "canSerializeFMUState",
    )
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
        found["initial"] = "exact"
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
    for name in _units(unit.variables):
        factor, powers = parse_unit(name)
        base = {}
        for symbol, power in zip(BASE, powers, strict=True):
            if power and symbol != "cycle":
                base[symbol] = str(power)
        if factor != 1.0:
            base["factor"] = repr(factor)
        SubElement(SubElement(group, "Unit", {"name": name}), "BaseUnit", base)


def _units(variables: Iterable[Variable]) -> list[str]:
    return sorted({x.unit for x in variables} - {NO_UNIT})


def _put_experiment(root: Element, unit: ExchangeUnit) -> None:
    categories = SubElement(root, "LogCategories")
    SubElement(categories, "Category", {"name": "logStatusError"})
    SubElement(root, "DefaultExperiment", {"startTime": "0.0", "stepSize": repr(unit.step)})


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"
