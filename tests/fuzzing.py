"""Mutations of valid files: what a slip, a damaged disk or an unkind hand makes of them."""

import gzip
import io
import re
import sqlite3
import unicodedata
import zipfile

_WORDS = """
0 -0.0 -1 1e300 -1e300 1e-300 5e-324 1e308 1e999 -1e999 nan inf -inf 2147483648
9223372036854775808 1e15 1e20 0.1.2 1,5
+-1 0b1 1_000 ² ٣ true [] {} '' x 1e 1e5000 0xfff 00012 1e9 1e-9
3.14159265358979323846264338327950288
"""
EXTREMES = _WORDS.split()
LONG = (
    "9" * 5000,
    "0x" + "f" * 5000,
    "1e" + "9" * 500,
    " " * 3000,
    "[" * 3000,
    "a." * 3000,
    "{a=" * 800,
    "-" * 3000,
)
NASTY = (
    "\x00",
    "\x1b[31m",
    "\x07",
    "\u202e",
    "\u2066",
    "\ufeff",
    "\x85",
    "\u2028",
    "\r",
    "\n",
    "\t",
    '"',
    "'",
    "\\",
    "<",
    "&x;",
    "]]>",
    "<!DOCTYPE a>",
    "#",
    "=",
    "[[",
    ",,,,",
    ";",
    "é",
    "😀",
    "../../x",
    "%s{}",
)
_NUMBER = re.compile(rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
_TOKEN = re.compile(rb"[A-Za-z_]+|\d[\d.eE+-]*|[^\w\s]")


def mutated(rng, data):
    """A file with one to three changes."""
    for _ in range(rng.integers(1, 4)):
        change = CHANGES[rng.integers(len(CHANGES))]
        data = change(rng, data)
    return data


def _place(rng, data):
    return int(rng.integers(len(data) + 1))


def _flipped(rng, data):
    changed = bytearray(data)
    for _ in range(rng.integers(1, 8)):
        if changed:
            changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed)


def _cut(rng, data):
    return data[: _place(rng, data)]


def _without_a_block(rng, data):
    start = _place(rng, data)
    return data[:start] + data[start + int(rng.integers(1, 200)) :]


def _with_a_block_again(rng, data):
    start, other = _place(rng, data), _place(rng, data)
    block = data[start : start + int(rng.integers(1, 400))]
    return data[:other] + block * int(rng.integers(1, 6)) + data[other:]


def _with_a_line_again(rng, data):
    lines = data.split(b"\n")
    line, place = lines[rng.integers(len(lines))], rng.integers(len(lines))
    return b"\n".join([*lines[:place], *[line] * int(rng.integers(1, 50)), *lines[place:]])


def _with_tokens_swapped(rng, data):
    tokens = list(_TOKEN.finditer(data))
    if len(tokens) < 2:
        return data
    first, second = sorted(rng.choice(len(tokens), 2, replace=False))
    a, b = tokens[first], tokens[second]
    return data[: a.start()] + b[0] + data[a.end() : b.start()] + a[0] + data[b.end() :]


def _with_an_extreme_number(rng, data):
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    chosen = numbers[rng.integers(len(numbers))]
    words = EXTREMES if rng.random() < 0.9 else LONG
    word = words[rng.integers(len(words))].encode()
    return data[: chosen.start()] + word + data[chosen.end() :]


def _with_a_nasty_text(rng, data):
    place = _place(rng, data)
    words = NASTY if rng.random() < 0.8 else LONG
    word = words[rng.integers(len(words))]
    times = int(rng.choice([1, 1, 1, 3, 300]))
    return data[:place] + (word * times).encode() + data[place:]


def _with_a_huge_length(rng, data):
    """Four or eight bytes as a length would stand there."""
    place = _place(rng, data)
    size = int(rng.choice([4, 8]))
    value = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**62])) % 256**size
    return data[:place] + value.to_bytes(size, "little") + data[place + size :]


CHANGES = (
    _flipped,
    _cut,
    _without_a_block,
    _with_a_block_again,
    _with_a_line_again,
    _with_tokens_swapped,
    _with_an_extreme_number,
    _with_an_extreme_number,
    _with_a_nasty_text,
    _with_a_huge_length,
)


def mutated_inside_gzip(rng, data):
    """A gzip file with changes of what it holds, or of itself."""
    if rng.random() < 0.3:
        return mutated(rng, data)
    return gzip.compress(mutated(rng, gzip.decompress(data)), mtime=0)


def mutated_inside_zip(rng, data):
    """An archive with changes of one of its members, or of itself."""
    if rng.random() < 0.3:
        return mutated(rng, data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    chosen = list(members)[rng.integers(len(members))]
    members[chosen] = (
        _with_another_head(rng, members[chosen])
        if rng.random() < 0.5
        else mutated(rng, members[chosen])
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return out.getvalue()


def _with_another_head(rng, member):
    """An array whose type or shape is another than its numbers have."""
    heads = (
        b"'<f8'",
        b"'<f4'",
        b"'<f2'",
        b"'|O'",
        b"'<m8[ms]'",
        b"'<M8[ns]'",
        b"'<m8'",
        b"'<c16'",
        b"'<U9'",
        b"'|b1'",
    )
    member = re.sub(rb"'<f8'", lambda m: heads[rng.integers(len(heads))], member, count=1)
    shapes = (
        b"()",
        b"(0,)",
        b"(-1,)",
        b"(99999999999,)",
        b"(3,)",
        b"(1, 1, 1)",
        b"(2, 2)",
        b"(1e3,)",
    )
    if rng.random() < 0.5:
        member = re.sub(
            rb"'shape': \([^)]*\)",
            lambda m: b"'shape': " + shapes[rng.integers(len(shapes))],
            member,
        )
    return member


_STATEMENTS = (
    "UPDATE run SET {column} = {value}",
    "UPDATE run SET {column} = {value} WHERE ratio < 0.5",
    "UPDATE about SET value = {value}",
    "UPDATE about SET value = {value} WHERE name = 'sweep'",
    "UPDATE made_by SET versions = {value}",
    "DELETE FROM about WHERE name = 'armtwin'",
    "DELETE FROM run",
    "DROP TABLE {table}",
    "ALTER TABLE run DROP COLUMN {column}",
    "ALTER TABLE run RENAME COLUMN {column} TO another",
    "ALTER TABLE {table} RENAME TO another",
    "ALTER TABLE run ADD COLUMN another TEXT",
    "CREATE VIEW another AS SELECT * FROM run",
    "CREATE TRIGGER another AFTER INSERT ON run BEGIN DELETE FROM run; END",
    "CREATE INDEX another ON run ({column})",
    "CREATE UNIQUE INDEX another ON run ({column})",
    "CREATE TABLE another AS SELECT * FROM run",
    "DROP TABLE run; CREATE TABLE run ({column})",
    "DROP TABLE run; CREATE VIEW run AS SELECT * FROM about",
    "PRAGMA user_version = 7",
    "PRAGMA application_id = 7",
)
_VALUES = (
    "NULL",
    "0",
    "-1",
    "1e300",
    "9e999",
    "-9e999",
    "9223372036854775807",
    "'x'",
    "''",
    "'=1+1'",
    "x'ff00'",
    "zeroblob(1000)",
    "'NaN'",
    "'1e999'",
    "char(0)",
    "char(27, 91, 51, 49, 109)",
    "char(8238)",
    "CAST(x'fffe' AS TEXT)",
    "printf('%3000d', 1)",
)


def mutated_inside_sqlite(rng, data):
    """A database with changes of its rows and tables, or of its bytes."""
    if rng.random() < 0.5:
        return mutated(rng, data)
    connection = sqlite3.connect(":memory:")
    connection.deserialize(data)
    columns = [row[1] for row in connection.execute("PRAGMA table_info(run)")]
    for _ in range(rng.integers(1, 3)):
        words = {
            "column": columns[rng.integers(len(columns))],
            "value": _VALUES[rng.integers(len(_VALUES))],
            "table": ("run", "about", "made_by")[rng.integers(3)],
        }
        try:
            connection.executescript(_STATEMENTS[rng.integers(len(_STATEMENTS))].format(**words))
        except sqlite3.Error:  # as what a constraint forbids
            continue
    changed = connection.serialize()
    connection.close()
    return changed


def check_message(text):
    """Refuse a message that is long or holds what a terminal would obey."""
    assert len(text) <= 2000, f"{len(text)} characters: {text[:200]}"
    odd = [
        c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert not [c for c in odd if c not in "\u200c\u200d\u00ad"], repr(text[:300])
