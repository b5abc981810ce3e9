"""Logs as NPZ: plain arrays of numbers and times;
lengths that lie and what is no array are refused.
"""

import io
import time
import zipfile

import numpy as np
import pytest

import armtwin as at

TIME = np.arange(5) / 250
Q = np.sin(np.arange(10.0)).reshape(5, 2)


def saved(folder, **arrays):
    np.savez(folder / "run.npz", **arrays)
    return folder / "run.npz"


def array_file(text, data=b""):
    """An array whose header is a text."""
    head = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + data


def archive(folder, **members):
    with zipfile.ZipFile(folder / "run.npz", "w", zipfile.ZIP_DEFLATED) as out:
        for name, member in members.items():
            out.writestr(f"{name}.npy", member)
    return folder / "run.npz"


def plain(values):
    out = io.BytesIO()
    np.save(out, values)
    return out.getvalue()


@pytest.mark.parametrize("unit", ["ns", "us", "ms"])
def test_a_duration_is_converted_to_seconds_whatever_its_unit(unit, tmp_path):
    ticks = (
        (TIME / {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}[unit]).round().astype(f"timedelta64[{unit}]")
    )
    log = at.Log.read(saved(tmp_path, time=ticks, q=Q))
    np.testing.assert_allclose(log.time, TIME, rtol=0, atol=1e-12)


def test_dates_are_seconds_from_the_first_one(tmp_path):
    dates = np.datetime64("2026-03-01T12:00:00", "ns") + (1e9 * TIME).round().astype(
        "timedelta64[ns]"
    )
    log = at.Log.read(saved(tmp_path, time=dates, q=Q))
    np.testing.assert_allclose(log.time, TIME, rtol=0, atol=1e-12)


def test_the_unit_of_a_columns_file_does_not_count_for_a_duration_that_has_its_own(tmp_path):
    (tmp_path / "columns.toml").write_text('format = 1\nunit = { time = "ms" }\n')
    log = at.Log.read(saved(tmp_path, time=(1e9 * TIME).round().astype("timedelta64[ns]"), q=Q))
    np.testing.assert_allclose(log.time, TIME, rtol=0, atol=1e-12)


def test_an_array_that_is_not_used_may_hold_anything(tmp_path):
    odd = {
        "names": np.array(["a", "b"]),
        "gap": np.full((5, 2), np.nan),
        "state": np.array([None], dtype=object),
    }
    assert (at.Log.read(saved(tmp_path, time=TIME, q=Q, **odd)).q == Q).all()


BAD = {
    "shape that lies": (
        {
            "q": array_file(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (5, 99999999999)}", bytes(80)
            )
        },
        "array 'q' says that it has shape",
    ),
    "shape that no memory holds": (
        {
            "q": array_file(
                "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "9" * 400 + ", 2)}",
                bytes(80),
            )
        },
        "array 'q' says that it has shape",
    ),
    "negative shape": (
        {"q": array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (-5, 2)}", bytes(80))},
        "array 'q' says that it has shape",
    ),
    "pickled objects": (
        {"q": array_file("{'descr': '|O', 'fortran_order': False, 'shape': (5, 2)}", bytes(80))},
        "pickled objects are not read",
    ),
    "header of brackets": ({"q": array_file("(" * 9000)}, "is no NPZ file of plain arrays"),
    "header of an old Python": (
        {"q": array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (5L, 3L)}", bytes(80))},
        "array 'q' says that it has shape",
    ),
    "another version": ({"q": b"\x93NUMPY\x09\x00" + bytes(100)}, "is no NPZ file of plain arrays"),
    "no array": ({"q": b"hello"}, "is no NPZ file of plain arrays"),
    "text": (
        {"q": plain(np.array([["a", "b"]] * 5))},
        "array 'q' must be numbers of one or two dimensions",
    ),
    "long doubles beyond doubles": (
        {"q": plain(Q.astype(np.longdouble) * 2.0**1020 * 2.0**500)},
        "must be finite and",
    ),
    "numbers without end": ({"q": plain(1e300 * (2 + Q))}, "must be finite and at most 1e"),
    "empty time": (
        {"time": plain(np.empty(0)), "q": plain(np.empty((0, 2)))},
        "must be finite numbers, at least one",
    ),
    "duration without a unit": (
        {"time": plain(np.arange(5).astype("timedelta64"))},
        "must say its unit",
    ),
    "time that is not there": (
        {"time": plain(np.array(["NaT"] * 5, dtype="timedelta64[ms]"))},
        "must be finite",
    ),
    "months": ({"time": plain(np.arange(5).astype("timedelta64[M]"))}, "is no NPZ file"),
    "events that are none": (
        {"events": plain(np.array("[[1, 2, 3, 4]]"))},
        "array 'events' must be a JSON list",
    ),
    "events without end": (
        {"events": plain(np.array("[" * 5000))},
        "array 'events' must be a JSON list",
    ),
    "steps of time without length": ({"time": plain(1e-300 * np.arange(5))}, "steps of at least"),
}


@pytest.mark.parametrize("name", BAD)
def test_an_odd_array_is_refused_by_a_sentence_and_without_a_warning(name, tmp_path):
    members, sentence = BAD[name]
    path = archive(tmp_path, **{"time": plain(TIME), "q": plain(Q), **members})
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(path)


def test_an_encrypted_array_is_refused(tmp_path):
    path = archive(tmp_path, time=plain(TIME), q=plain(Q))
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at_ = data.find(mark)
        data[at_ + place] |= 1
    path.write_bytes(data)
    with pytest.raises(at.FileError, match="array 'time' must not be encrypted"):
        at.Log.read(path)


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06" + bytes(18), b"hello"])
def test_an_empty_archive_is_refused(data, tmp_path):
    (tmp_path / "run.npz").write_bytes(data)
    with pytest.raises(at.FileError):
        at.Log.read(tmp_path / "run.npz")


def test_an_archive_that_unpacks_to_gigabytes_is_refused_at_once(tmp_path):
    """A member of three gigabytes of zeros, packed to three megabytes."""
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        out.writestr("time.npy", plain(TIME))
        with out.open("q.npy", "w", force_zip64=True) as member:
            member.write(
                array_file("{'descr': '<f8', 'fortran_order': False, 'shape': (50000000, 3)}")
            )
            for _ in range(1100):
                member.write(bytes(1 << 20))
    begin = time.process_time()
    with pytest.raises(at.FileError, match="a log must be at most 1024 MB"):
        at.Log.read(path)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("code", [0x110000, 0xFFFFFFFF, 0xD800])
def test_a_text_of_characters_that_do_not_exist_is_refused(code, tmp_path):
    """Python ends with a SystemError, or fails to print it, where it meets one."""
    names = np.array([code, code], np.uint32).view("<U1")
    path = saved(tmp_path, time=TIME, q=Q, joint_names=names)
    with pytest.raises(at.FileError, match="'joint_names' must hold texts"):
        at.Log.read(path)
