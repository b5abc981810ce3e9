"""Numbers of identifiable parameters: the rank facts recomputed from the documents."""

import numpy as np
import pytest

from armtwin.mechanics.inertia import transform_to_parent
from tests.oracles import as_robot, random_arm

# Rank by an absolute threshold on the singular values, as the documents' counts need it.
THRESHOLD = 1e-8


def excitation(n, seed=0):
    """Ten harmonics of π/4 rad/s, 200 samples of one period."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 8, 200, endpoint=False)[:, None]
    q, v, a = np.zeros((3, 200, n))
    for k in range(1, 11):
        w = k * np.pi / 4
        s, c = rng.normal(size=(2, 1, n)) / (2 * k)
        q += s * np.sin(w * t) + c * np.cos(w * t)
        v += w * (s * np.cos(w * t) - c * np.sin(w * t))
        a -= w * w * (s * np.sin(w * t) + c * np.cos(w * t))
    return q, v, a


def rank(robot, groups):
    Y = robot.regressor(*excitation(robot.n))
    columns = [i for i, p in enumerate(robot.parameter_table) if p.group in groups]
    W = Y.reshape(-1, Y.shape[-1])[:, columns]
    return len(columns), int(np.sum(np.linalg.svd(W, compute_uv=False) > THRESHOLD))


@pytest.mark.parametrize(
    ("groups", "columns", "expected"),
    [
        (("link",), 60, 36),
        (("link", "rotor"), 66, 40),
        (("link", "rotor", "balancer"), 68, 41),
        (("link", "rotor", "balancer", "friction"), 82, 55),
    ],
)
def test_rx90b_has_the_ranks_of_document_000(robots, groups, columns, expected):
    assert rank(robots["rx90b"], groups) == (columns, expected)


def test_powerball_has_66_columns_of_rank_40(robots):
    assert rank(robots["lwa4p"], ("link", "rotor")) == (66, 40)


# Document 004, eq. 12, as (link, index of the ten in our order): first moments, then products of
# inertia.
EQ_12 = [(1, 1), (1, 3), (2, 2), (3, 1), (4, 1), (5, 1), (6, 1), (6, 2)]
EQ_12 += [
    (1, 7),
    (1, 8),
    (1, 9),
    (2, 7),
    (2, 9),
    (3, 7),
    (3, 8),
    (4, 7),
    (4, 8),
    (5, 7),
    (5, 8),
    (6, 7),
    (6, 8),
    (6, 9),
]


def test_powerball_with_the_zeros_of_document_004_has_rank_23(robots):
    """Eq. 12 speaks of the Denavit-Hartenberg frames at the far ends of the links (table 1)."""
    robot = robots["lwa4p"]
    table = [
        (0, 90, 0),
        (0.35, 180, 0),
        (0, 90, 0),
        (0, -90, 0.305),
        (0, 90, 0),
        (0, 0, 0),
    ]  # a, alpha, d
    offsets = np.radians([0, 90, 90, 0, 0, 0])
    Y = robot.regressor(*excitation(6))[..., :66]
    X_DH = np.eye(4)
    ours = [robot.forward_kinematics(np.zeros(6), f"link_{i}") for i in range(1, 7)]
    blocks = []
    for i, (a, alpha, d) in enumerate(table):
        th, al = offsets[i], np.radians(alpha)
        c, s = np.cos(th), np.sin(th)
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, d], [0, 0, 0, 1]])
        twist = np.array(
            [
                [1, 0, 0, a],
                [0, np.cos(al), -np.sin(al), 0],
                [0, np.sin(al), np.cos(al), 0],
                [0, 0, 0, 1],
            ]
        )
        X_DH = X_DH @ turn @ twist
        X = np.linalg.inv(ours[i]) @ X_DH
        T = np.column_stack(
            [transform_to_parent(X, e) for e in np.eye(10)]
        )  # ten in the DH frame -> ten in ours
        blocks.append(Y[..., 10 * i : 10 * i + 10] @ T)
    kept = np.concatenate(
        [
            np.delete(B, [k for link, k in EQ_12 if link == i], axis=-1)
            for i, B in enumerate(blocks, 1)
        ]
        + [Y[..., 60:]],
        axis=-1,
    )
    W = kept.reshape(-1, kept.shape[-1])
    assert W.shape[1] == 44
    assert np.sum(np.linalg.svd(W, compute_uv=False) > THRESHOLD) == 23


@pytest.mark.parametrize(
    ("n", "tilted", "expected"), [(6, False, 36), (7, False, 43), (7, True, 45)]
)
def test_generic_arms_have_the_known_ranks(n, tilted, expected):
    """Joint axes alternate as on real arms;
    wall-mounted, the first axis is perpendicular to gravity.
    """
    arm = random_arm(np.random.default_rng(5), n)
    arm.parents, arm.slides = list(range(-1, n - 1)), [False] * n
    order = "zyyzyz" if n == 6 else "zyzyzyz"
    for i, letter in enumerate(order):
        arm.axes[i] = np.eye(3)["xyz".index(letter)]
        arm.origins[i, :3, :3] = np.eye(3)
        arm.origins[i, :3, 3] = [0, 0, 0.3] if n == 7 or i in (2, 4) else [0, 0, 0]
    arm.gravity = np.array([0.0, 9.81, 0.0] if tilted else [0.0, 0.0, -9.81])
    assert rank(as_robot(arm), ("link",)) == (10 * n, expected)
