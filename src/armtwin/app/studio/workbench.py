"""What one tab of the page works on: a job in its present state, and what is known of it so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from armtwin.app.studio.controls import METHOD
from armtwin.app.studio.opening import Opened, SentFiles, Source, open_source
from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.maths.batch import OnProgress, Record
from armtwin.notebook.sections import Report
from armtwin.prediction.advise import advise
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band import assess
from armtwin.prediction.causes import explain
from armtwin.prediction.compare import compare_run
from armtwin.prediction.correct import correct
from armtwin.prediction.predict import Prediction, Progress
from armtwin.prediction.update import update
from armtwin.report.page import page_parts

Ask = Literal["", "advice", "correction"]
REMEDY = "Advise searches changes with which it holds, Correct corrects the set-points."
FEW = 16  # variants of the first interval


@dataclass(frozen=True)
class Request:
    """What a tab wants to see: all of its state, so that a new connection needs nothing else.

    Attributes:
        id: Its number; answers have it.
        source: What is opened.
        settings: Values of controls that are not as the job has them, by key.
        log: A logged run to lay over the prediction; "" for none.
        shown: Titles of the sections that are open.
        ask: What is searched after the interval.
    """

    id: int
    source: Source
    settings: Record = field(default_factory=dict)
    log: str = ""
    shown: frozenset[str] = frozenset()
    ask: Ask = ""

    @property
    def state(self) -> tuple[object, ...]:
        """All that its run depends on."""
        return self.source, self.settings, self.log


_REQUEST = TypeAdapter(Request)


def read_request(values: object) -> Request:
    """The request of a message."""
    try:
        return _REQUEST.validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        why = f"{place}: {first['msg']}"
        raise ArmtwinError(f"the page asks for what is not understood: {why}") from None


@dataclass(frozen=True)
class Step:
    """Work on an answer that follows its run.

    Attributes:
        name: What it finds.
        work: What it makes of an answer.
        text: What is said of it when it is done.
        asked: What the tab must have asked for; "" where it follows by itself.
    """

    name: str
    work: Callable[[Answer, OnProgress], Answer]
    text: Callable[[Answer], str] = lambda answer: "up to date"
    asked: Ask = ""


def _find_causes(answer: Answer, say: OnProgress) -> Answer:
    return replace(answer, explanations=explain(answer.prediction, say), is_brief=False)


def _estimate_interval(answer: Answer, say: OnProgress) -> Answer:
    return replace(answer, band=assess(answer.prediction, draws=FEW, progress=say))


def _find_interval(answer: Answer, say: OnProgress) -> Answer:
    return replace(answer, band=assess(answer.prediction, progress=say))


def _advise(answer: Answer, say: OnProgress) -> Answer:
    return replace(answer, advice=advise(answer.prediction, answer.band, progress=say))


def _correct(answer: Answer, say: OnProgress) -> Answer:
    return replace(answer, correction=correct(answer.prediction.job, progress=say))


def _describe_interval(answer: Answer) -> str:
    return "" if answer.band is None else f"{len(answer.band.ensemble)} variants"


FIRST_INTERVAL = "first interval"
STEPS = (
    Step("causes", _find_causes),
    Step(FIRST_INTERVAL, _estimate_interval, _describe_interval),
    Step("interval", _find_interval, _describe_interval),
    Step("advice", _advise, asked="advice"),
    Step("correction", _correct, asked="correction"),
)
OF_WHOLE_RUNS = ("interval", FIRST_INTERVAL, "correction")  # of a run that stops there is none


class Workbench:
    """The work of a tab; one piece of it at a time.

    Attributes:
        files: Files that the page has sent.
        opened: What is opened; None before.
        answer: What is known of its present state; None where it could not be run.
    """

    def __init__(self, files: SentFiles) -> None:
        self.files = files
        self.opened: Opened | None = None
        self.answer: Answer | None = None
        self._request: Request | None = None
        self._before: Prediction | None = None  # of the last state that could be run
        self._report: Report | None = None
        self._log: tuple[str, Log] | None = None
        self._change = Lock()  # a step that is given up may still be under way
        self._done: dict[str, str] = {}  # what is said of the steps that are done

    def run(self, request: Request, say: Progress) -> Record:
        """Open, change and run what a tab wants to see, as far as it is not known; as shown."""
        start = time.perf_counter()
        is_new = self.opened is None or self.opened.source != request.source
        if is_new:
            say("open", 0.0)
            self.opened = open_source(request.source, self.files)
        opened, last = self.opened, self._request
        assert opened is not None
        is_same = not is_new and last is not None and request.state == last.state
        with self._change:
            self._request = request
            if not is_same:
                self.answer, self._done = None, {}
        if self.answer is None:
            self._answer_to(opened, request, say)
            self._done["run"] = f"{1e3 * (time.perf_counter() - start):.0f} ms"
        found = self.show()
        if is_new:
            found["opened"] = _describe_opened(opened)
        return found

    def _answer_to(self, opened: Opened, request: Request, say: Progress) -> None:
        """Run the job as it is set."""
        settings = dict(request.settings)
        method = opened.settings.read_method(settings.pop(METHOD, None))
        job = opened.settings.apply(settings)
        prediction = update(self._before, job, method=method, say=say)
        self._before = prediction
        comparison = None
        if request.log:
            say("log", 0.0)
            comparison = compare_run(prediction, self._read_log(request.log))
        self._know(Answer(prediction, comparison=comparison, is_brief=True, remedy=REMEDY))

    def _read_log(self, name: str) -> Log:
        if self._log is None or self._log[0] != name:
            self._log = name, Log.read(self.files.path(name))
        return self._log[1]

    @property
    def settings(self) -> Record:
        """Values of controls that are not as the job has them."""
        return {} if self._request is None else self._request.settings

    def _know(self, answer: Answer) -> None:
        self.answer, self._report = answer, answer.sections()

    def next_step(self) -> Step | None:
        """What is to be found next of the present state."""
        if self.answer is None or self._request is None:
            return None
        without = set(self._done)
        if self.answer.prediction.verdict.stopped is not None:
            without.update(OF_WHOLE_RUNS)
        wanted = ("", self._request.ask)
        return next((x for x in STEPS if x.asked in wanted and x.name not in without), None)

    def take(self, step: Step, say: Progress) -> Record:
        """Take a step; what is shown then."""
        request, before = self._request, self.answer
        assert before is not None
        found = step.work(before, lambda share: say(step.name, share))
        with self._change:
            say(step.name, 1.0)
            if self._request is request:
                self._know(found)
                self._done[step.name] = step.text(found)
        return self.show()

    def show(self) -> Record:
        """What is known, in the parts of a page."""
        assert self._report is not None
        assert self._request is not None
        parts = page_parts(self._report, self._request.shown)
        return {
            "id": self._request.id,
            "title": self._report.title,
            "subtitle": self._report.subtitle,
            "front": parts.front,
            "folds": [asdict(fold) for fold in parts.folds],
            "data": parts.data,
            "fresh": self.describe_freshness(),
        }

    def shorten(self, sentence: str) -> str:
        """A sentence without the file of what is opened, which the page shows."""
        where = "" if self.opened is None else f"{self.opened.job.where}: "
        return sentence.removeprefix(where)

    def describe_freshness(self, busy: str = "") -> list[Record]:
        """How fresh each part of what is shown is: its name, a text, and whether it is known.

        Args:
            busy: The step that is worked on.
        """
        found = [{"name": "run", "text": self._done.get("run", ""), "is_known": True}]
        for step in STEPS:
            if step.name == FIRST_INTERVAL:
                continue
            text, is_known = self._done.get(step.name, ""), step.name in self._done
            if step.name == "interval" and not is_known:
                text = self._done.get(FIRST_INTERVAL, "")
            if busy == step.name or (busy == FIRST_INTERVAL and step.name == "interval"):
                text = f"{text}, working" if text else "working"
            if not text:
                text = "on request" if step.asked else "at rest"
            found.append({"name": step.name, "text": text, "is_known": is_known})
        return found


def _describe_opened(opened: Opened) -> Record:
    """What the page must know of what is opened."""
    job = opened.job
    tolerance = job.description.tolerance
    return {
        "name": job.name,
        "source": asdict(opened.source),
        "controls": [asdict(control) for control in opened.settings.controls.values()],
        "is_program": opened.plain.source is not None,
        # of a program that is opened next
        "changes": {
            "robot": job.bare_robot().origin,
            "tool": job.description.tool,
            "tolerance": f"{1e3 * tolerance.lateral:g} mm",
        },
    }
