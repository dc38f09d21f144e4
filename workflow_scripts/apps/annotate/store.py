"""The database of a campaign: what is rated, by whom, and every answer, in one SQLite file.

An answer is on disk (write-ahead log, `synchronous=FULL`) before the annotator hears of it, so
neither a killed server nor a power cut loses one. A page is written when it is handed out: it is
the same when its annotator comes back, and no two people are sent to a paraphrase that needs one.
"""

import json
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from workflow_scripts.apps.annotate.allocation import Open, choose
from workflow_scripts.apps.annotate.items import Item, Material, Reference
from workflow_scripts.apps.annotate.modes import Answer
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.stages.judge.annotators import MAX_FAILED_CONTROLS
from workflow_scripts.stages.judge.rating_file import PERFECT

# Seconds that a page which nobody sent in keeps its paraphrases from others.
LEASE = 1800.0
# What the file says of itself, in SQLite's own header.
_APPLICATION = 0x50724C72
_VERSION = 1
_ANSWER = [field.name for field in fields(Answer)]

_TABLES = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE reference (id TEXT PRIMARY KEY, text TEXT NOT NULL, source TEXT);
CREATE TABLE item (
    number INTEGER PRIMARY KEY,
    reference TEXT NOT NULL REFERENCES reference,
    paraphrase TEXT NOT NULL,
    systems TEXT NOT NULL,
    forward_nll REAL,
    backward_nll REAL,
    paraphrase_score REAL,
    UNIQUE (reference, paraphrase)
);
CREATE TABLE annotator (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL UNIQUE
);
CREATE TABLE page (
    number INTEGER PRIMARY KEY,
    annotator INTEGER NOT NULL REFERENCES annotator,
    reference TEXT NOT NULL REFERENCES reference,
    given REAL NOT NULL,
    answered REAL
);
CREATE INDEX page_of_annotator ON page (annotator, answered);
-- A row without an item is a control. Nobody gets a paraphrase twice.
CREATE TABLE slot (
    page INTEGER NOT NULL REFERENCES page,
    position INTEGER NOT NULL,
    annotator INTEGER NOT NULL REFERENCES annotator,
    item INTEGER REFERENCES item,
    score REAL CHECK (score BETWEEN 0 AND 100),
    grammar INTEGER CHECK (grammar BETWEEN 0 AND 2),
    label TEXT CHECK (label IN ('G', 'A', 'B')),
    strength INTEGER CHECK (strength BETWEEN 1 AND 3),
    fluency INTEGER CHECK (fluency BETWEEN 1 AND 3),
    PRIMARY KEY (page, position),
    UNIQUE (annotator, item)
);
CREATE INDEX slot_of_item ON slot (item);
"""


@dataclass(frozen=True)
class Slot:
    """A paraphrase on a page; what was said of it, if the page was answered."""

    text: str
    answer: Answer


@dataclass(frozen=True)
class Page:
    """What a person sees at once: a reference, and paraphrases of it in random order."""

    number: int
    reference: str
    slots: list[Slot]
    answered: bool
    enough: bool
    """Whether enough other people have judged all its paraphrases."""


@dataclass(frozen=True)
class Progress:
    """How far a person is, and the campaign."""

    pages: int
    """That this person answered."""
    judgments: int
    """Of this person."""
    items: int
    finished: int
    """Items that enough people judged."""


@dataclass(frozen=True)
class Judged:
    """An answer with all that belongs to it."""

    annotator: int
    reference: Reference
    item: Item | None
    """None: a control."""
    answer: Answer


class Store:
    """A campaign's database. Threads may share it, and processes may open the same file."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time):
        """Open a database that `create` made.

        Raises:
            InputError: there is none, or the file is something else.
        """
        if not path.is_file():
            raise InputError(f"{path}: no database there; correct --database")
        self.path = path
        self._clock = clock
        self._lock = threading.Lock()
        try:
            self._connection = _connect(path)
            (application,) = self._connection.execute("PRAGMA application_id").fetchone()
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.DatabaseError as error:
            raise InputError(f"{path} is no database of ratings ({error})") from error
        if (application, version) != (_APPLICATION, _VERSION):
            raise InputError(f"{path} is no database of ratings of this version")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Give the connection; all that the block writes is on disk when it ends, or nothing."""
        with self._lock, _writing(self._connection):
            yield self._connection

    def settings(self) -> dict[str, Any]:
        """Return what the campaign was made of."""
        with self._transaction() as database:
            rows = database.execute("SELECT name, value FROM setting").fetchall()
        return {name: json.loads(value) for name, value in rows}

    # --- people ------------------------------------------------------------------------------

    def token(self, name: str) -> str:
        """Return the secret of an annotator, who is written down if the name is new."""
        with self._transaction() as database:
            database.execute(
                "INSERT INTO annotator (name, token) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (name, secrets.token_urlsafe(24)),
            )
            query = "SELECT token FROM annotator WHERE name = ?"
            return str(database.execute(query, (name,)).fetchone()[0])

    def annotator(self, token: str) -> tuple[int, str] | None:
        """Return number and name of the annotator with this secret, None if there is none."""
        with self._transaction() as database:
            query = "SELECT number, name FROM annotator WHERE token = ?"
            row: tuple[int, str] | None = database.execute(query, (token,)).fetchone()
        return row

    def progress(self, annotator: int, wanted: int) -> Progress:
        """Return how far a person is, and the campaign, where `wanted` people judge an item."""
        with self._transaction() as database:
            pages, judgments = database.execute(
                "SELECT COUNT(DISTINCT page.number), COUNT(*) FROM page JOIN slot "
                "ON slot.page = page.number WHERE page.annotator = ? AND answered IS NOT NULL",
                (annotator,),
            ).fetchone()
            (items,) = database.execute("SELECT COUNT(*) FROM item").fetchone()
            (finished,) = database.execute(
                "SELECT COUNT(*) FROM (SELECT item FROM slot JOIN page ON page.number = slot.page "
                "WHERE answered IS NOT NULL AND item IS NOT NULL GROUP BY item "
                "HAVING COUNT(*) >= ?)",
                (wanted,),
            ).fetchone()
        return Progress(pages, judgments, items, finished)

    # --- pages -------------------------------------------------------------------------------

    def next_page(
        self, annotator: int, wanted: int, slots: int, controls: int, seed: int
    ) -> Page | None:
        """Return the page that a person has not answered yet, or else a new one.

        Args:
            annotator: the person's number.
            wanted: people who shall judge each paraphrase.
            slots: paraphrases on a page at most, a control among them.
            controls: one page in this many has a control, for each person; 0: none has.
            seed: of the orders.

        Returns:
            None if this person has judged everything.
        """
        with self._transaction() as database:
            open_page = database.execute(
                "SELECT number FROM page WHERE annotator = ? AND answered IS NULL", (annotator,)
            ).fetchone()
            number = (
                open_page[0] if open_page else self._give(annotator, wanted, slots, controls, seed)
            )
            return None if number is None else self._page(number, wanted)

    def page(self, annotator: int, number: int, wanted: int) -> Page | None:
        """Return a page that a person was given, None if there is no such page of this person."""
        with self._transaction() as database:
            query = "SELECT 1 FROM page WHERE number = ? AND annotator = ?"
            own = database.execute(query, (number, annotator)).fetchone()
            return self._page(number, wanted) if own else None

    def page_before(self, annotator: int, number: int) -> int | None:
        """Return the number of the page that a person answered before another."""
        with self._transaction() as database:
            row = database.execute(
                "SELECT MAX(number) FROM page WHERE annotator = ? AND number < ? "
                "AND answered IS NOT NULL",
                (annotator, number),
            ).fetchone()
        return None if row[0] is None else int(row[0])

    def answer(self, annotator: int, number: int, answers: Sequence[Answer]) -> bool:
        """Write the answers of a page, in its order; they are on disk when this returns.

        Answers to a page that was answered before replace those: a person may change them, and
        a browser may send the same ones twice.

        Returns:
            Whether the page is one of this person, with this number of paraphrases. If not,
            nothing is written.
        """
        with self._transaction() as database:
            (slots,) = database.execute(
                "SELECT COUNT(*) FROM slot WHERE page = ? AND annotator = ?", (number, annotator)
            ).fetchone()
            if not slots or slots != len(answers):
                return False
            columns = ", ".join(f"{name} = ?" for name in _ANSWER)
            database.executemany(
                f"UPDATE slot SET {columns} WHERE page = ? AND position = ?",
                [
                    (*astuple(judged), number, place)
                    for place, judged in enumerate(answers, start=1)
                ],
            )
            database.execute(
                "UPDATE page SET answered = ? WHERE number = ?", (self._clock(), number)
            )
        return True

    def _give(
        self, annotator: int, wanted: int, slots: int, controls: int, seed: int
    ) -> int | None:
        """Write a new page down and return its number."""
        database = self._connection

        def lot(item: Open) -> float:
            # Paraphrases that stand alone come in random order, those on one page together.
            apart = [item.number] if slots == 1 else []
            return fraction(seed, "page", annotator, item.reference, *apart)

        chosen = choose(self._open(annotator), wanted, slots, lot)
        if not chosen:
            return None
        reference = chosen[0].reference
        items: list[int | None] = [chosen_item.number for chosen_item in chosen]
        (pages,) = database.execute(
            "SELECT COUNT(*) FROM page WHERE annotator = ?", (annotator,)
        ).fetchone()
        if controls and self._control_due(annotator, reference, pages, controls, seed):
            items = [*items[: slots - 1], None]
        order = generator(seed, "order", annotator, pages).permutation(len(items))
        number = database.execute(
            "INSERT INTO page (annotator, reference, given) VALUES (?, ?, ?)",
            (annotator, reference, self._clock()),
        ).lastrowid
        assert number is not None
        database.executemany(
            "INSERT INTO slot (page, position, annotator, item) VALUES (?, ?, ?, ?)",
            [(number, place, annotator, items[i]) for place, i in enumerate(order, start=1)],
        )
        return number

    def _control_due(
        self, annotator: int, reference: str, pages: int, controls: int, seed: int
    ) -> bool:
        """Tell whether a person's next page has a control.

        One page of each block of `controls` has, at a place that nobody can tell. A control that
        the person has seen does not count: a later page has another one instead.
        """
        references = [
            shown
            for (shown,) in self._connection.execute(
                "SELECT page.reference FROM slot JOIN page ON page.number = slot.page "
                "WHERE slot.annotator = ? AND slot.item IS NULL",
                (annotator,),
            )
        ]
        block, place = divmod(pages, controls)
        late = place >= generator(seed, "control", annotator, block).integers(controls)
        return len(references) < block + late and reference not in references

    def _open(self, annotator: int) -> list[Open]:
        """Return what a person has not seen, with the judgments that count.

        Those of people who fail their controls don't: they will be left out (judge.ratings).
        """
        database = self._connection
        failing = [
            name
            for name, controls, failed in database.execute(
                "SELECT annotator, COUNT(*), SUM(score < ?) FROM slot "
                "WHERE item IS NULL AND grammar IS NOT NULL GROUP BY annotator",
                (PERFECT,),
            )
            if (failed or 0) > Fraction(str(MAX_FAILED_CONTROLS)) * controls
        ]
        rows = database.execute(
            f"""
            SELECT item.number, item.reference, COUNT(own.item), TOTAL(own.score), COUNT(own.score)
            FROM item LEFT JOIN (
                SELECT slot.item, slot.score FROM slot JOIN page ON page.number = slot.page
                WHERE (page.answered IS NOT NULL OR page.given > ?)
                AND slot.annotator NOT IN ({", ".join("?" * len(failing))})
            ) AS own ON own.item = item.number
            WHERE item.number NOT IN (
                SELECT item FROM slot WHERE annotator = ? AND item IS NOT NULL
            )
            GROUP BY item.number
            """,
            (self._clock() - LEASE, *failing, annotator),
        )
        return [
            Open(number, reference, judgments, points / PERFECT, scores)
            for number, reference, judgments, points, scores in rows
        ]

    def _page(self, number: int, wanted: int) -> Page:
        database = self._connection
        reference, answered = database.execute(
            "SELECT text, answered IS NOT NULL FROM page "
            "JOIN reference ON reference.id = page.reference WHERE number = ?",
            (number,),
        ).fetchone()
        names = ", ".join(f"slot.{name}" for name in _ANSWER)
        rows = database.execute(
            f"SELECT COALESCE(paraphrase, ?), {names} FROM slot "
            "LEFT JOIN item ON item.number = slot.item WHERE page = ? ORDER BY position",
            (reference, number),
        ).fetchall()
        (needed,) = database.execute(
            """
            SELECT COUNT(*) FROM slot AS here WHERE page = ? AND item IS NOT NULL AND (
                SELECT COUNT(*) FROM slot JOIN page ON page.number = slot.page
                WHERE slot.item = here.item AND page.number != ? AND page.answered IS NOT NULL
            ) < ?
            """,
            (number, number, wanted),
        ).fetchone()
        slots = [Slot(text, Answer(*said)) for text, *said in rows]
        return Page(number, reference, slots, bool(answered), enough=not needed)

    # --- export ------------------------------------------------------------------------------

    def judged(self) -> list[Judged]:
        """Return all answers, in the order of their pages."""
        names = ", ".join(f"slot.{name}" for name in _ANSWER)
        with self._transaction() as database:
            rows = database.execute(
                "SELECT page.annotator, reference.id, reference.text, reference.source, "
                "item.paraphrase, item.systems, item.forward_nll, item.backward_nll, "
                f"item.paraphrase_score, {names} "
                "FROM slot JOIN page ON page.number = slot.page "
                "JOIN reference ON reference.id = page.reference "
                "LEFT JOIN item ON item.number = slot.item "
                "WHERE page.answered IS NOT NULL ORDER BY page.number, slot.position"
            ).fetchall()
        judgments = []
        for annotator, *row in rows:
            reference = Reference(*row[:3])
            paraphrase, systems, *numbers = row[3:8]
            item = (
                None
                if paraphrase is None
                else Item(reference.id, paraphrase, tuple(systems.split()), *numbers)
            )
            judgments.append(Judged(annotator, reference, item, Answer(*row[8:])))
        return judgments


def begun(path: Path) -> bool:
    """Return whether a file holds anything; a `create` that was cut off leaves no table."""
    if not path.exists() or not path.stat().st_size:
        return False
    with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as database:
        (tables,) = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        return bool(tables)
    return True  # whatever it is, it is no database


def create(path: Path, settings: Mapping[str, Any], material: Material) -> None:
    """Make the database of a new campaign.

    Where another process made it in the meantime, it stays as it is.

    Raises:
        InputError: the file exists and is no database, or can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        with closing(_connect(path)) as database, _writing(database):
            tables = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            if tables[0]:
                return
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.executemany(
                "INSERT INTO setting VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in settings.items()],
            )
            database.executemany(
                "INSERT INTO reference (id, text, source) VALUES (?, ?, ?)",
                [(item.id, item.text, item.source) for item in material.references],
            )
            database.executemany(
                "INSERT INTO item (reference, paraphrase, systems, forward_nll, backward_nll, "
                "paraphrase_score) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (
                        item.reference,
                        item.paraphrase,
                        " ".join(item.systems),
                        item.forward_nll,
                        item.backward_nll,
                        item.paraphrase_score,
                    )
                    for item in material.items
                ],
            )
            database.execute(f"PRAGMA application_id = {_APPLICATION}")
            database.execute(f"PRAGMA user_version = {_VERSION}")
    except (OSError, sqlite3.DatabaseError) as error:
        raise InputError(f"{path}: no database can be made there ({error})") from error


def _connect(path: Path) -> sqlite3.Connection:
    # Without Python's own transactions; a thread holds the lock of the store while it uses it.
    database = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("PRAGMA foreign_keys = ON")
    return database


@contextmanager
def _writing(database: sqlite3.Connection) -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
