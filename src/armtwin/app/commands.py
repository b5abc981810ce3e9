"""The command `armtwin`: chooses a command, and turns errors into exit codes.

Only the file of the command that is called is loaded; the help of all is read from their sources.
"""

import ast
import gc
import os
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from armtwin import ArmtwinError, __version__
from armtwin.app.streams import patient_streams, print_json, readable_streams

# The commands, and groups of them, as MODULE.NAME of this package, in the order of the help.
COMMANDS = (
    "robot_commands.robots",
    "check_command.check",
    "robot_commands.import_robot",
    "export_commands.export",
    "export_commands.log",
    "actuator_commands.actuator",
    "friction_commands.friction",
    "job_commands.demo",
    "job_commands.predict",
    "job_commands.compare",
    "studio_command.studio",
    "job_commands.jobs",
    "job_command.job",
    "identify_command.identify",
    "renewal_commands.complete",
    "renewal_commands.servo",
    "analyse_command.analyse",
    "correct_command.correct",
    "excite_command.excite",
    "payload_command.payload",
    "experiment_commands.simulate",
    "experiment_commands.experiments",
    "experiment_commands.clamp",
    "experiment_commands.transmission",
    "renewal_commands.calibrate",
    "experiment_commands.frequency",
    "sensitivity_command.sensitivity",
    "sweep_command.sweep",
    "friction_commands.warmup",
)
PLACES = {
    name.removesuffix("_robot"): (f"armtwin.app.{module}", name)
    for module, name in (place.split(".") for place in COMMANDS)
}

BAD_INPUT, UNEXPECTED, INTERRUPTED = 2, 3, 130  # exit codes; 130 is that of a shell after Ctrl-C
STOPS = {"SIGTERM": 143, "SIGHUP": 129}  # signals that stop a command, and those of a shell then
WrongUse: Any = typer.BadParameter.__base__  # every error of arguments and options


class LoadedWhenCalled(Mapping[str, Any]):
    """Commands, and groups of them, by what they are called."""

    def __getitem__(self, called: str) -> Any:
        from armtwin.app.options import command_of

        module, name = PLACES[called]
        command = getattr(import_module(module), name)
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        if isinstance(command, typer.Typer):
            group.add_typer(command, name=called)
        else:
            command_of(group, called)(command)
        return get_group(group).commands[called]

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


def read_help(called: str) -> str:
    """The line of help of a command or group, from its source."""
    module, name = PLACES[called]
    found: Any = find_spec(module)
    for node in ast.parse(found.loader.get_source(module)).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return (ast.get_docstring(node) or "").partition("\n")[0]
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            words = {word.arg: word.value for word in getattr(node.value, "keywords", ())}
            return str(ast.literal_eval(words["help"]))
    return ""


class Commands(TyperGroup):
    """The commands by name: listed from their sources, loaded when one is called."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands: Any = LoadedWhenCalled()

    def list_commands(self, ctx: object) -> list[str]:
        """Names of the commands, in the order of the help."""
        return list(PLACES)

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        """A command as it is listed."""
        if cmd_name not in PLACES:
            return None
        return TyperCommand(cmd_name, short_help=read_help(cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command that the first word calls, and the words that are left for it."""
        name, listed, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, listed, rest
        command = self.commands[name]
        gc.freeze()  # what was loaded stays until the end: no waste is looked for in it
        gc.enable()
        _watch_kernels()
        return name, command, rest


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # brackets in help texts are brackets
    context_settings={"max_content_width": 110},
    help="The dynamic twin of an industrial robot arm.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"armtwin {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def _watch_kernels() -> None:
    """Say what the cache of kernels remarks, and when they are compiled."""
    from armtwin.maths.compiled import before_compiling, take_remark

    remark = take_remark()
    if remark and sys.stderr is not None:
        print(f"armtwin: {remark}", file=sys.stderr)
    if sys.stderr is not None and sys.stderr.isatty():
        before_compiling(_say_that_it_compiles)


def main() -> None:
    """Run the command line: 0 or 1 done, 2 bad input with one clear message, 3 an error of ours."""
    readable_streams()
    with patient_streams(), _stopping_in_order():
        code = _code()
    raise SystemExit(code)


@contextmanager
def _stopping_in_order() -> Iterator[None]:
    """Within it a signal to stop ends a command as Ctrl-C does: what it began is removed."""

    def stop(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        raise SystemExit(STOPS[signal.Signals(number).name])

    def end_at_once(lost: "sys.UnraisableHookArgs") -> None:
        """A destructor loses what is raised within it, and a lock of LLVM may stay held."""
        if isinstance(lost.exc_value, SystemExit):
            os._exit(int(lost.exc_value.code or 0))
        sys.__unraisablehook__(lost)

    taken = []
    sys.unraisablehook = end_at_once
    if threading.current_thread() is threading.main_thread():  # others take no signals
        for name in STOPS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, stop)
                taken.append(number)
    try:
        yield
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _say_that_it_compiles() -> None:
    print("armtwin: compiling kernels, once; this takes up to half a minute", file=sys.stderr)


def _code() -> Any:
    """The exit code of the command that was asked for."""
    try:
        code = _run()
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except ArmtwinError as error:
        return _fail(str(error), BAD_INPUT)
    except WrongUse as error:
        error.show()
        return _fail(error.format_message(), error.exit_code, is_said=True)
    except Exception as error:  # the one net: whatever it is, it must not look like a verdict
        return _fail(describe_crash(error), UNEXPECTED)


def _run() -> Any:
    try:
        code = app(standalone_mode=False)
    except SystemExit as done:
        code = done.code
    return _fail("stopped", code) if code in (INTERRUPTED, *STOPS.values()) else code


def _fail(sentence: str, code: int, is_said: bool = False) -> int:
    """Say why a command failed, and as a JSON object where one was asked for."""
    if not is_said:
        print(f"armtwin: {sentence}", file=sys.stderr)
    if "--json" in sys.argv:
        with suppress(ArmtwinError):  # an output that cannot be written was the reason
            print_json({"error": sentence, "exit": code})
    return code


def describe_crash(error: Exception) -> str:
    """A sentence on an error that is ours, and where its traceback is."""
    head = f"an unexpected error of armtwin ({type(error).__name__}), not of your input"
    text = "".join(traceback.format_exception(error))
    try:
        handle, name = tempfile.mkstemp(prefix="armtwin-error-", suffix=".txt")
        with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"armtwin {__version__}, {' '.join(sys.argv[1:])}\n{text}")
    except OSError as full:
        return f"{head}; its traceback could not be written ({full.strerror})"
    return f"{head}; its traceback is in {name}"
