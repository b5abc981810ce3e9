"""A tool that a program brings along: its frame and its load take the place of one in the file."""

import numpy as np
import pytest

import armtwin as at

RAPID = """MODULE Weld
  PERS tooldata tTorch:=[TRUE,[[62,0,344],[1,0,0,0]],[3.5,[10,0,90],[0.70710678,0,0,0.70710678],0.01,0.02,0.03]];
  CONST robtarget pA:=[[600,-100,400],[0,0.707107,0.707107,0],[0,0,0,0],[9E9,9E9,9E9,9E9,9E9,9E9]];
  PROC main()
    MoveAbsJ [[0,-60,90,-120,-90,0],[9E9,9E9,9E9,9E9,9E9,9E9]],v100,fine,tTorch;
    MoveL pA,v100,fine,tTorch;
    MoveL Offs(pA,0,200,0),v100,fine,tTorch;
  ENDPROC
ENDMODULE
"""  # noqa: E501
KRL = """DEF seam ( )
$BASE = $NULLFRAME
$TOOL = TOOL_DATA[3]
$VEL.CP = 0.1
PTP {A1 0,A2 -60,A3 90,A4 -120,A5 -90,A6 0}
LIN {X 600,Y -100,Z 400,A 90,B 0,C 180}
LIN {X 600,Y 100,Z 400,A 90,B 0,C 180}
END
"""
KRL_DATA = """DEFDAT seam
DECL FRAME TOOL_DATA[3]={X 62.0,Y 0.0,Z 344.0,A 0.0,B 0.0,C 0.0}
DECL LOAD LOAD_DATA[3]={M 3.5,CM {X 10.0,Y 0.0,Z 90.0,A 90.0,B 0.0,C 0.0},J {X 0.01,Y 0.02,Z 0.03}}
ENDDAT
"""
URSCRIPT = """def seam():
  set_tcp(p[0.062,0,0.344,0,0,0])
  set_target_payload(3.5, [0.01, 0, 0.09], [0.02, 0.01, 0.03, 0, 0, 0])
  movej([0,-1.0471976,1.5707963,-2.0943951,-1.5707963,0])
  movel(p[0.6,-0.1,0.4,2.2214415,2.2214415,0], v=0.1)
  movel(p[0.6,0.1,0.4,2.2214415,2.2214415,0], v=0.1)
end
"""


def job_of(folder, name, text, **keys):
    path = folder / name
    path.write_text(text)
    return at.Job.from_program(path, "ur10e", tolerance="0.5 mm", **keys)


@pytest.mark.parametrize(
    ("name", "text"), [("seam.mod", RAPID), ("seam.src", KRL), ("seam.script", URSCRIPT)]
)
def test_a_program_brings_its_tool_with_mass_centre_and_turned_axes(tmp_path, name, text):
    """Moments 0.01, 0.02 about axes turned by 90 degrees about z are 0.02, 0.01 of the flange."""
    (tmp_path / "seam.dat").write_text(KRL_DATA)
    job = job_of(tmp_path, name, text)
    robot = job.robot()
    tool = robot.description.tool[robot.description.mounted.tool]
    body = tool.body
    assert np.allclose(tool.tcp.matrix()[:3, 3], [0.062, 0, 0.344], atol=1e-9)
    assert (body.mass, *body.com) == pytest.approx((3.5, 0.01, 0.0, 0.09), abs=1e-12)
    inertia = body.inertia
    moments = inertia.xx, inertia.yy, inertia.zz, inertia.xy
    assert moments == pytest.approx((0.02, 0.01, 0.03, 0.0), abs=1e-9)
    assert any("weighs 3.5 kg" in note for note in job.description.notes)


def test_its_weight_is_felt_and_the_saved_job_carries_it(tmp_path):
    """At rest the torque of joint 2 grows by the moment of 3.5 kg about its axis."""
    job = job_of(tmp_path, "seam.script", URSCRIPT)
    path = tmp_path / "job.toml"
    job.save(path)
    robot, bare = at.Job.load(path).robot(), at.Robot.load("ur10e")
    q = np.radians([0.0, -60, 90, -120, -90, 0])
    T = bare.forward_kinematics(q, frame="flange")
    centre = T[:3, :3] @ [0.01, 0.0, 0.09] + T[:3, 3]
    shoulder = bare.forward_kinematics(q, frame=bare.description.link[1].name)
    axis = shoulder[:3, 2]
    added = axis @ np.cross(centre - shoulder[:3, 3], [0, 0, 3.5 * 9.80665])
    rest = np.zeros(6)
    found = robot.inverse_dynamics(q, rest, rest) - bare.inverse_dynamics(q, rest, rest)
    assert abs(found[1]) == pytest.approx(abs(added), rel=1e-3)
    assert abs(added) > 5


def test_a_side_file_says_what_a_tool_weighs(tmp_path):
    text = "\n".join(line for line in URSCRIPT.splitlines() if "payload" not in line)
    with pytest.raises(at.ArmtwinError, match=r'does not say what it weighs.*load."TCP"'):
        job_of(tmp_path, "seam.script", text)
    side = tmp_path / "side.toml"
    side.write_text(
        'format = 1\n[load.TCP]\nmass = "2 kg"\ncom = ["0 mm", "0 mm", "80 mm"]\n', "utf-8"
    )
    robot = job_of(tmp_path, "seam.script", text, frames=side).robot()
    assert robot.description.tool["TCP"].body.mass == 2.0


def test_a_load_of_minus_one_is_not_given(tmp_path):
    (tmp_path / "seam.dat").write_text(KRL_DATA.replace("M 3.5", "M -1.0"))
    with pytest.raises(at.ArmtwinError, match="does not say what it weighs"):
        job_of(tmp_path, "seam.src", KRL)
