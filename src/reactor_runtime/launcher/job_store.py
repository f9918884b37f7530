"""JobStore: jobs and agents in one SQLite file; each change is one transaction."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reactor_runtime.errors import SettingError, UnknownJobError
from reactor_runtime.launcher.agent_messages import NodeOffer
from reactor_runtime.launcher.job_record import JobRecord

_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    job_id TEXT PRIMARY KEY, number INTEGER UNIQUE NOT NULL,
    is_settled INTEGER NOT NULL, record TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS live_jobs ON jobs (is_settled, number);
CREATE TABLE IF NOT EXISTS agents (agent_id TEXT PRIMARY KEY, offer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL);
"""


class JobStore:
    """The control plane's memory. Safe to use from any thread; ``change`` nests in none."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        """Open the file at *path* for nobody else, making it when there is none.

        Raises:
            SettingError: Another control plane has it, or it is no file of one.
        """
        self._lock = threading.RLock()
        try:
            self._database = _opened(path)
        except sqlite3.DatabaseError as error:
            wanted = "a state file that no other control plane has, or a new one"
            raise SettingError("--state", f"{path} ({error})", wanted) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make everything inside one transaction, which an exception undoes."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def next_number(self, name: str) -> int:
        """Return 1, 2, 3 … under *name*; also after a restart."""
        row = self._row(
            "INSERT INTO counters VALUES (?, 1) "
            "ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value",
            name,
        )
        return int(row[0]) if row else 1

    def save_job(self, record: JobRecord) -> None:
        """Write *record* in place of what stood there."""
        self._row(
            "INSERT INTO jobs VALUES (?, ?, ?, ?) ON CONFLICT (job_id) DO UPDATE "
            "SET is_settled = excluded.is_settled, record = excluded.record",
            record.job_id,
            record.number,
            int(record.is_settled),
            record.model_dump_json(),
        )

    def job(self, job_id: str) -> JobRecord:
        """Return one job.

        Raises:
            UnknownJobError: There is none of that id.
        """
        row = self._row("SELECT record FROM jobs WHERE job_id = ?", job_id)
        if row is None:
            raise UnknownJobError(job_id)
        return JobRecord.model_validate_json(row[0])

    def live_jobs(self) -> list[JobRecord]:
        """Return the jobs that are not over or still hold processes, in the order of the queue."""
        return self._jobs("WHERE is_settled = 0")

    def jobs(self) -> list[JobRecord]:
        """Return every job, in the order of the queue."""
        return self._jobs("")

    def save_agent(self, offer: NodeOffer) -> None:
        """Write what an agent offers in place of what it offered before."""
        self._row(
            "INSERT INTO agents VALUES (?, ?) ON CONFLICT (agent_id) DO UPDATE "
            "SET offer = excluded.offer",
            offer.agent_id,
            offer.model_dump_json(),
        )

    def agents(self) -> dict[str, NodeOffer]:
        """Return every agent that has ever registered and was not forgotten."""
        with self._lock:
            rows = self._database.execute("SELECT offer FROM agents ORDER BY rowid").fetchall()
        offers = (NodeOffer.model_validate_json(row[0]) for row in rows)
        return {offer.agent_id: offer for offer in offers}

    def forget_agent(self, agent_id: str) -> None:
        """Drop an agent."""
        self._row("DELETE FROM agents WHERE agent_id = ?", agent_id)

    def _jobs(self, where: str) -> list[JobRecord]:
        with self._lock:
            rows = self._database.execute(
                f"SELECT record FROM jobs {where} ORDER BY number"
            ).fetchall()
        return [JobRecord.model_validate_json(row[0]) for row in rows]

    def _row(self, statement: str, *values: str | int) -> tuple[str, ...] | None:
        with self._lock:
            row: tuple[str, ...] | None = self._database.execute(statement, values).fetchone()
            return row


def _opened(path: Path | str) -> sqlite3.Connection:
    database = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        database.execute("PRAGMA locking_mode = EXCLUSIVE")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(f"BEGIN EXCLUSIVE; {_SCHEMA} COMMIT;")  # now, not at the first job
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
