"""Progress of a run on the screen: tqdm where it is installed, else one line that is written again."""

from __future__ import annotations

import importlib
import sys
from types import TracebackType
from typing import Any

from outcrop._outcrop import Event


class Progress:
    """Shows the events of a run on standard error."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._width = 0

    def __enter__(self) -> Progress:
        try:
            tqdm = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            return self
        self._bar = tqdm(unit="trial", leave=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._width:
            print(file=sys.stderr)

    def __call__(self, event: Event) -> None:
        if event.remaining_s is None:
            self._say(f"{event.kind}: {event.text}")
        elif self._bar is not None:
            is_bytes = event.kind == "preparing"
            self._bar.unit, self._bar.unit_scale = ("B", True) if is_bytes else ("trial", False)
            self._bar.total, self._bar.n = event.total, event.done
            self._bar.set_description_str(event.text)
        else:
            left = f"{event.remaining_s:.0f} s left"
            self._write(f"\r{100 * event.done // max(event.total, 1):3} %  {left} · {event.text}")

    def _say(self, line: str) -> None:
        if self._bar is not None:
            self._bar.write(line, file=sys.stderr)
        else:
            self._write(f"\r{line}")
            print(file=sys.stderr)
            self._width = 0

    def _write(self, line: str) -> None:
        print(line.ljust(self._width), end="", file=sys.stderr, flush=True)
        self._width = len(line)
