"""Columns files and NPZ: what a machine wrote becomes the same log, whatever its headers,
units and commas.
"""

import numpy as np
import pytest

import armtwin as at

PLAIN = (
    "time,q1,q2,v1,v2,tau_m1,tau_m2\n0.0,0.1,-0.2,1.0,2.0,3.0,4.0\n0.004,0.2,-0.4,1.5,2.5,3.5,4.5\n"
)


def written(folder, name, text, columns=None):
    (folder / name).write_text(text, encoding="utf-8")
    if columns is not None:
        (folder / f"{name.partition('.')[0]}.columns.toml").write_text(
            f"format = 1\n{columns}", encoding="utf-8"
        )
    return folder / name


def same(a, b):
    """Whether two logs are equal to rounding."""
    return (
        np.allclose(a.time, b.time, rtol=0, atol=1e-15)
        and set(a.channels) == set(b.channels)
        and all(
            np.allclose(a.channels[k], b.channels[k], rtol=1e-15, atol=1e-15) for k in a.channels
        )
    )


@pytest.fixture
def plain(tmp_path):
    return at.Log.read(written(tmp_path, "plain.csv", PLAIN))


def test_headers_units_semicolons_and_decimal_commas_of_a_machine(plain, tmp_path):
    """Degrees, milliseconds, rpm-like numbers: read to the log that SI gives."""
    d = np.degrees
    text = "Zeit;A1;A2;dA1;dA2;M_1;M_2\n" + "".join(
        ";".join(f"{x!r}".replace(".", ",") for x in row) + "\n"
        for row in [
            [0.0, float(d(0.1)), float(d(-0.2)), 1.0, 2.0, 3000.0, 4000.0],
            [4.0, float(d(0.2)), float(d(-0.4)), 1.5, 2.5, 3500.0, 4500.0],
        ]
    )
    columns = (
        'time = "Zeit"\ndelimiter = ";"\ndecimal = ","\n'
        'unit = { time = "ms", q = "deg", tau_m = "mNm" }\n'
        '[columns]\nq = ["A1", "A2"]\nv = "dA{}"\ntau_m = "M_{}"\n'
    )
    assert same(at.Log.read(written(tmp_path, "m.csv", text, columns)), plain)


def test_signs_and_zeros_of_the_controllers_angles(plain, tmp_path):
    """q = sign angle + offset; speeds take the sign, motor torques do not."""
    log = at.Log.read(
        written(tmp_path, "s.csv", PLAIN, 'sign = [1, -1]\noffset = ["0 deg", "90 deg"]\n')
    )
    assert np.allclose(log.q[:, 1], np.pi / 2 - plain.q[:, 1])
    assert np.allclose(log.q[:, 0], plain.q[:, 0])
    assert np.allclose(log.v[:, 1], -plain.v[:, 1])
    assert np.array_equal(log.tau_m, plain.tau_m)


def test_a_columns_file_serves_a_folder_or_is_given(plain, tmp_path):
    text = PLAIN.replace("q1", "A1").replace("q2", "A2")
    (tmp_path / "columns.toml").write_text('format = 1\n[columns]\nq = "A{}"\n')
    assert same(at.Log.read(written(tmp_path, "any.csv", text)), plain)
    other = tmp_path / "other"
    other.mkdir()
    assert same(at.Log.read(written(other, "any.csv", text), tmp_path / "columns.toml"), plain)


def test_temperatures_may_be_in_celsius(tmp_path):
    log = at.Log.read(
        written(
            tmp_path, "t.csv", "time,temperature1\n0,20\n1,30\n", 'unit = { temperature = "degC" }'
        )
    )
    assert log.temperature[:, 0].tolist() == [293.15, 303.15]


def test_npz_is_the_same_log(plain, tmp_path):
    plain.write(tmp_path / "log.npz")
    assert same(at.Log.read(tmp_path / "log.npz"), plain)


def test_pickled_objects_are_not_read(tmp_path):
    np.savez(tmp_path / "evil.npz", time=np.array([{"a": 1}], dtype=object))
    with pytest.raises(at.FileError, match="pickled objects are not read"):
        at.Log.read(tmp_path / "evil.npz")


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"q": np.zeros((2, 2))}, "needs an array 'time' of times, got q"),
        ({"time": np.array([0.0, 0.0]), "q": np.zeros((2, 2))}, "sample 2 .* must increase"),
        (
            {"time": np.array([0.0, 1.0]), "q": np.full((2, 2), np.nan)},
            "sample 1 of array 'q' must be finite",
        ),
        (
            {"time": np.array([0.0, 1.0]), "q": np.zeros((2, 2, 2))},
            "array 'q' must be numbers of one or two dimensions",
        ),
        ({"time": np.array([0.0, 1.0])}, "no array is a known channel"),
    ],
)
def test_a_bad_npz_is_refused_with_the_array(arrays, sentence, tmp_path):
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(tmp_path / "bad.npz")


def test_a_file_that_is_no_npz_is_refused(tmp_path):
    (tmp_path / "bad.npz").write_bytes(b"PK nothing")
    with pytest.raises(at.FileError, match="is no NPZ file of plain arrays"):
        at.Log.read(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("text", "columns", "sentence"),
    [
        (
            "time;q1\n0;0,5\n1;0,6\n",
            'delimiter = ";"',
            r'got \'0,5\'; say decimal = "," in a columns file',
        ),
        (PLAIN, 'decimal = ","', 'decimal "," needs another delimiter'),
        (PLAIN, 'unit = { q = "mm" }', "unit.q must be in rad"),
        (PLAIN, 'unit = { qq = "deg" }', "unit.qq is no channel. Did you mean 'q'"),
        (
            PLAIN,
            '[columns]\nq = ["A1", "A2"]',
            "column 'A1' of the columns file is not in the header",
        ),
        (PLAIN, "sign = [1]", "sign of the columns file must have 2 numbers, got 1"),
        (PLAIN, "sign = [1, 0.5]", r"sign must be 1 or -1 for each joint, got \[1.0, 0.5\]"),
        (
            PLAIN,
            'delimeter = ";"',
            "delimeter is not a key of a columns file. Did you mean 'delimiter'",
        ),
        (PLAIN, 'time = "t"', "column 't' of the columns file is not in the header"),
    ],
)
def test_a_bad_columns_file_is_told_in_one_sentence(text, columns, sentence, tmp_path):
    path = written(tmp_path, "bad.csv", text, columns)
    with pytest.raises(at.FileError, match=sentence) as caught:
        at.Log.read(path)
    assert "\n" not in str(caught.value)
