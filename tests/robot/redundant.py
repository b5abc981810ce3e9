"""Made-up redundant arms as robot files, written by hand."""

import armtwin as at

# of each joint: kind, axis, place on the link before [m]; then the flange on the last link
ARMS = {
    "spherical": [  # shoulder and wrist of three axes that meet, as most arms of seven axes
        ("revolute", (0, 0, 1), (0, 0, 0.31)),
        ("revolute", (0, 1, 0), (0, 0, 0)),
        ("revolute", (0, 0, 1), (0, 0, 0.2)),
        ("revolute", (0, -1, 0), (0, 0, 0.2)),
        ("revolute", (0, 0, 1), (0, 0, 0.19)),
        ("revolute", (0, 1, 0), (0, 0, 0.2)),
        ("revolute", (0, 0, 1), (0, 0, 0.08)),
    ],
    "offset": [  # no two axes beyond the second meet
        ("revolute", (0, 0, 1), (0, 0, 0.3)),
        ("revolute", (0, 1, 0), (0.03, 0, 0.05)),
        ("revolute", (0, 0, 1), (0.01, 0, 0.3)),
        ("revolute", (0, -1, 0), (0.08, 0, 0.02)),
        ("revolute", (0, 0, 1), (-0.08, 0.01, 0.36)),
        ("revolute", (0, -1, 0), (0.005, 0, 0.02)),
        ("revolute", (0, 0, -1), (0.09, 0, -0.02)),
    ],
    "on a rail": [
        ("prismatic", (0, 1, 0), (0, 0, 0.1)),
        ("revolute", (0, 0, 1), (0, 0, 0.3)),
        ("revolute", (0, 1, 0), (0.1, 0, 0.1)),
        ("revolute", (0, 1, 0), (0, 0, 0.5)),
        ("revolute", (1, 0, 0), (0.2, 0, 0.1)),
        ("revolute", (0, 1, 0), (0.3, 0, 0)),
        ("revolute", (1, 0, 0), (0.1, 0, 0)),
        ("revolute", (0, 1, 0), (0.1, 0, 0)),
    ],
}
FLANGE = (0, 0, 0.09)
LIMITS = {
    "revolute": 'limits = { lower = "-150 deg", upper = "150 deg", velocity = "200 deg/s" }',
    "prismatic": 'limits = { lower = "-500 mm", upper = "500 mm", velocity = "1 m/s" }',
}


def write(name, folder):
    """The robot file of a made-up arm, complete, in a folder; its path."""
    lines = ["format = 2", f'name = "{name.replace(" ", "_")}"']
    for i, (kind, axis, place) in enumerate(ARMS[name], 1):
        parent = f"link_{i - 1}" if i > 1 else "base"
        mass = 9 - i
        inertia = 0.01 * mass
        lines += [
            "[[joint]]",
            f'name = "joint_{i}"',
            f'type = "{kind}"',
            f'parent = "{parent}"',
            f'child = "link_{i}"',
            'source = "assumed: made up"',
            f"axis = {list(axis)}",
            f"origin = {{ position = {list(place)} }}",
            LIMITS[kind],
            "[[link]]",
            f'name = "link_{i}"',
            'source = "assumed: made up"',
            f"body = {{ mass = {mass}, com = [0.01, 0.02, 0.06], "
            f"inertia = {{ xx = {inertia}, yy = {inertia}, zz = {0.7 * inertia} }} }}",
        ]
    lines += [
        "[flange]",
        f'link = "link_{len(ARMS[name])}"',
        'source = "assumed: made up"',
        f"origin = {{ position = {list(FLANGE)} }}",
    ]
    path = folder / f"{name.replace(' ', '_')}.toml"
    path.write_text("\n".join(lines) + "\n")
    at.complete(at.Robot.load(path)).robot.save(path)
    return path
