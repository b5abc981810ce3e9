"""docs/chain.md is run: a robot with logs, and a bare URDF, from file to verdict."""

import json
import shlex
import shutil
from dataclasses import replace

import pytest

import armtwin as at
from tests.app.test_job_commands import call
from tests.test_readme import ROOT, blocks

PAGE = "docs/chain.md"
# peak torques and reflected rotor inertias of the PUMA 560 [Armstrong 1986]
PUMA_TORQUE = (97.6, 186.4, 89.4, 24.2, 20.1, 21.3)
PUMA_ROTOR = (1.14, 4.71, 0.83, 0.2, 0.179, 0.193)


def run(folder, section, verdict=0):
    """The commands of a section of the page in a folder with its job.

    All must succeed; the last ends with the code of its verdict.
    """
    (job,) = blocks(PAGE, "toml")
    (folder / "bead.toml").write_text(job, encoding="utf-8")
    lines = blocks(PAGE, "sh")[section].splitlines()
    done = [call(folder, *shlex.split(line)[1:]) for line in lines]
    for one in done[:-1]:
        assert one.code == 0, one.err
    assert done[-1].code == verdict, done[-1].err
    return done


def test_the_ur10e_goes_from_its_urdf_and_logs_to_a_verdict(shared_data, tmp_path):
    folder = shared_data / "ur10e"
    for name in (
        "ur10e.urdf",
        "ident_20_02_10_30sec_12harm.csv.gz",
        "ident_20_01_31_unload.csv.gz",
    ):
        shutil.copy(folder / name, tmp_path)
    *_, predicted = run(tmp_path, 0)
    assert predicted.out.startswith("WITHIN TOLERANCE (nominal run, no interval). ")
    assert "; assumed servo, structure not known; " in " ".join(predicted.out.split())
    completed = json.loads((tmp_path / "twin.result.json").read_text(encoding="utf-8"))
    lacking = [phrase.partition(":")[0] for phrase in completed["lacking"]]
    assert lacking == ["servo.cascade", "friction.presliding", "motor.current_limit"]
    verdict = json.loads((tmp_path / "armtwin_out/bead/result.json").read_text())["verdict"]
    assert verdict["servo"]["basis"] == "assumed"
    assert verdict["servo"]["structure"] == "not known"
    identified, twin = (at.Robot.load(tmp_path / x) for x in ("identified.toml", "twin.toml"))
    assert (twin.parameters == identified.parameters).all()


def test_the_kr300_goes_from_its_logs_to_a_verdict_on_its_own_servo(shared_data, tmp_path):
    """The twin with the fitted servo explains where the tool of the machine went on a run that no
    fit saw; the seam leaves its tolerance, as the machine's runs do by millimetres.
    """
    for name in ("ident_A.csv.gz", "valid_B.csv.gz"):
        shutil.copy(shared_data / "kuka_kr300" / name, tmp_path)
    *_, predicted = run(tmp_path, 1, verdict=1)
    fit = at.Robot.load(tmp_path / "fitted.toml").description.servo["fitted"].fit
    assert fit.judged_on == ("valid_B.csv.gz",)
    told = f"; fitted servo, {100 * min(fit.share):.0f} % of an unseen run explained"
    assert predicted.out.startswith("EXCEEDS TOLERANCE (nominal run, no interval). ")
    assert told in " ".join(predicted.out.split())
    folder = tmp_path / "armtwin_out" / "kr300_valid_B_recorded_compared"
    rows = json.loads((folder / "result.json").read_text())["comparison"]["rows"]
    explained = {row["name"]: row["variance_explained"] for row in rows}
    assert explained["lateral"] > 0.9
    assert explained["vertical"] > 0.9


def test_a_bare_puma_560_gets_drives_of_the_published_size(tmp_path):
    """By rules alone, from bodies and speeds: each torque within a factor of 4 of the published,
    each rotor within 3; sizes of arms span four decades.
    """
    shutil.copy(ROOT / "docs" / "puma560.urdf", tmp_path)
    *_, predicted = run(tmp_path, 2)
    assert predicted.out.startswith("WITHIN TOLERANCE (nominal run, no interval). ")
    assert "; assumed servo, structure not known; " in " ".join(predicted.out.split())
    motors = at.Robot.load(tmp_path / "puma.toml").description.motor
    for motor, torque, rotor in zip(motors, PUMA_TORQUE, PUMA_ROTOR, strict=True):
        assert torque / 4 < motor.current_limit * motor.torque_constant < 4 * torque
        assert rotor / 3 < motor.rotor_inertia < 3 * rotor
    assert motors[0].current_limit == pytest.approx(36, abs=1)  # as the page says
    assert motors[1].current_limit == pytest.approx(205, abs=1)


def test_a_verdict_says_what_an_unseen_run_shows_of_a_fitted_servo(tmp_path):
    from armtwin.prediction.sections.headline import state_verdict
    from armtwin.robot.schema.servo import ServoFitRecord

    robot = at.Robot.load("rx90b")
    d = robot.description
    fit = ServoFitRecord(
        logs=("a.csv",), judged_on=("b.csv",), share=(0.99, 0.98, 0.97, 0.99, 0.935, 0.99)
    )
    fitted = replace(d.servo["cascade"], fit=fit)
    at.Robot(replace(d, servo={"cascade": fitted})).save(tmp_path / "fitted.toml")
    kept = at.Robot.load(tmp_path / "fitted.toml")
    assert kept.description.servo["cascade"].fit == fit
    p = at.predict(at.Job.load("rx90b_line"), kept)
    told = "; fitted servo, 94 % of an unseen run explained (joint_5 least); "
    assert told in state_verdict(p)[1]
    parts = replace(d.servo["cascade"], fit=replace(fit, judged_on=("left-out parts",)))
    other = replace(p, robot=at.Robot(replace(d, servo={"cascade": parts})))
    assert "; fitted servo, 94 % of left-out parts explained" in state_verdict(other)[1]
    unjudged = replace(d.servo["cascade"], fit=replace(fit, judged_on=()))
    other = replace(p, robot=at.Robot(replace(d, servo={"cascade": unjudged})))
    assert "; fitted servo, not validated on an unseen run; " in state_verdict(other)[1]
    documented = replace(d.servo["cascade"], source="document: x")
    documented = replace(documented, rule=replace(documented.rule, source="document: x"))
    given = replace(p, robot=at.Robot(replace(d, servo={"cascade": documented})))
    assert "servo" not in state_verdict(given)[1]
