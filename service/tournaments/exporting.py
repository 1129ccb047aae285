"""Results of a tournament as files, made by a process of their own: it is a lot of arithmetic."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

from tavolata.service.refusals import invalid_field
from tavolata.service.tables import refuse as refuse_call
from tavolata.service.tournaments.process import NICE
from tavolata.service.tournaments.shelf import EXPORT, Shelf
from tavolata.v1.tournament_service_pb2 import TournamentExport

PIECE_BYTES = 32_768
SINGLE_FILE = "results.json"
FORMATS = {
    TournamentExport.TOURNAMENT_EXPORT_JSON: "json",
    TournamentExport.TOURNAMENT_EXPORT_CSV: "csv",
    TournamentExport.TOURNAMENT_EXPORT_RECORDS: "records",
}


class ExportFailed(RuntimeError):
    """The files could not be made."""


class Exporting:
    """Makes exports, one at a time; others wait for their turn."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._turn = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._is_closed = False

    async def pieces(
        self, tournament_id: str, form: TournamentExport.ValueType
    ) -> AsyncIterator[tuple[str, bytes]]:
        """File names with pieces of the files, in order. Refused with INVALID_FIELD for a format
        that there isn't."""
        if form not in FORMATS:
            names = [TournamentExport.Name(each) for each in FORMATS]
            raise invalid_field("format", f"is {form}", ", ".join(names))
        root = Path(tempfile.mkdtemp(prefix=EXPORT, dir=self._shelf.root))
        try:
            async with self._turn:
                await self._write(self._shelf.folder(tournament_id), root, FORMATS[form])
            for path in await asyncio.to_thread(_files, root):
                pieces = _pieces(path)
                while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
                    yield path.name, piece
        finally:
            await asyncio.to_thread(shutil.rmtree, root, ignore_errors=True)

    async def _write(self, folder: Path, root: Path, form: str) -> None:
        if self._is_closed:
            raise refuse_call.shutting_down()
        to = root / SINGLE_FILE if form == "json" else root
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "tavolata", "tournament", "export"),
            *(str(folder), str(to), "--as", form),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
            _, errors = await process.communicate()
        finally:
            self._kill()
        if self._is_closed:
            raise refuse_call.shutting_down()
        if process.returncode != 0:
            raise ExportFailed(errors.decode(errors="replace"))

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.kill()

    def close(self) -> None:
        """End what is under way."""
        self._is_closed = True
        self._kill()


def _files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def _pieces(path: Path) -> Iterator[bytes]:
    """The content of a file, at least one piece."""
    with path.open("rb") as file:
        yield file.read(PIECE_BYTES)
        while piece := file.read(PIECE_BYTES):
            yield piece
