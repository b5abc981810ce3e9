"""Loading and saving: shipped robots by name, TOML and URDF by path."""

from dataclasses import replace
from functools import cache
from pathlib import Path

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.atomic import check_file, write_files
from armtwin.files.covariance import beside, covariance_content, read_covariance
from armtwin.files.kinds import check_name, check_tables
from armtwin.files.meshes import meshes_beside, meshes_content, read_meshes
from armtwin.files.opening import DH_TABLE, read_text
from armtwin.files.reading import list_shipped_files, read_tables
from armtwin.files.shape import Tables
from armtwin.files.staging import Contents
from armtwin.files.writing import read_back, to_tables
from armtwin.robot.formats.denavit_hartenberg import Convention, read_table
from armtwin.robot.formats.reading import of_table, read_robot
from armtwin.robot.plausibility import refuse_mistakes
from armtwin.robot.schema.checks import problems
from armtwin.robot.schema.description import Description


def list_shipped() -> dict[str, Path]:
    """Names and files of the robots that come with the package."""
    return dict(_library())


@cache
def _library() -> tuple[tuple[str, Path], ...]:
    """Names and files of the shipped robots, read once: they do not change."""
    return tuple(list_shipped_files("armtwin.robot", "library").items())


def path_of(name_or_path: str | Path) -> Path:
    """File of a shipped robot, or the path itself."""
    return list_shipped().get(str(name_or_path), Path(name_or_path))


def load(
    name_or_path: str | Path, allow_unphysical: bool = False, tip: str = ""
) -> tuple[Description, str]:
    """Description of a shipped robot or of a file, and where it came from; of a URDF to a tip.

    A file that one mistake explains and that no arm can be is refused, unless unphysical bodies
    are allowed as well.
    """
    known = list_shipped()
    name = str(name_or_path)
    if name in known:
        return _read(known[name], allow_unphysical), str(known[name])
    check_name(name_or_path, "robot")
    path = Path(name_or_path)
    if path.suffix not in {".toml", ".urdf", ".xacro", ".xml"}:
        hint = did_you_mean(name, known)
        raise ArmtwinError(f"robot '{name}' is neither shipped nor a .toml or .urdf file. {hint}")
    description = _read(path, allow_unphysical, tip)
    if not allow_unphysical:
        refuse_mistakes(description, str(path))
    return description, str(path)


def _read(path: Path, allow_unphysical: bool, tip: str = "") -> Description:
    """Description of a robot file, or of a URDF to a tip."""
    if path.suffix == ".toml":
        tables = read_tables(path)
        check_tables(tables, "robot", str(path))
        return _with_files_beside(read_robot(tables, str(path)), path)
    from armtwin.robot.formats.urdf_reading import read_urdf

    return read_urdf(path, allow_unphysical, tip)


def _links(description: Description) -> list[str]:
    """Names of all links, the base included."""
    parents = [joint.parent for joint in description.joint]
    return [*(link.name for link in description.link), *parents]


def _with_files_beside(description: Description, path: Path) -> Description:
    """The description with meshes and covariance beside its file, or with why it has none."""
    meshes = read_meshes(path, _links(description))
    description = replace(description, meshes=meshes)
    given = description.standard_deviation
    if given is None:
        return description
    found, remark = read_covariance(path)
    deviation = replace(given, covariance=found, remark=remark)
    return replace(description, standard_deviation=deviation)


def contents(description: Description, name: str) -> Contents:
    """What a robot is saved as: its file by this name, covariance and meshes beside it.

    The first two are read again first; what does not read back as it is is refused.
    """
    what = f"robot '{description.name}'"

    def read(tables: Tables) -> Description:
        again = read_robot(tables, name)
        found = problems(again)
        if found:
            raise FileError(name, found)
        return again

    text = read_back(to_tables(description), read, what)
    files: Contents = {name: text}
    given = description.standard_deviation
    if given is not None and given.covariance is not None:
        files[beside(Path(name)).name] = covariance_content(given.covariance, text)
    if description.meshes is not None and description.meshes.links:
        files[meshes_beside(Path(name)).name] = meshes_content(description.meshes)
    return files


def save(description: Description, path: Path) -> None:
    """Write a robot file, and its covariance and meshes beside it."""
    check_file(path)
    files = contents(description, path.name)
    for name in files:
        check_file(path.parent / name)
    write_files(path.parent, files)


def load_dh(path: Path, convention: Convention) -> tuple[Description, str]:
    """Description of a robot of a Denavit-Hartenberg table (.csv) alone, and where it came from."""
    table = read_table(read_text(path, DH_TABLE), convention, str(path))
    description = of_table({"name": path.stem}, table, str(path))
    refuse_mistakes(description, str(path))
    return description, str(path)
