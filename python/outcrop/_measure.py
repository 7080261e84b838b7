"""Measuring: plans, profiles and one-offs, with progress. Ctrl-C ends the trial that is measured and keeps the run."""

from __future__ import annotations

import os
import sys

from outcrop import _outcrop

# What only annotations need, and what only measuring needs, would take longer to import than all of Outcrop.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Literal

    from outcrop._outcrop import Event, Run, Table

    _PathLike = str | os.PathLike[str]
    _OnEvent = Callable[[Event], object]

# Key-value engines hold each database in a process of its own: this interpreter again, with nothing but this package.
if sys.executable:
    _HOLD = "import sys; sys.path.insert(0, sys.argv[1]); from outcrop._outcrop import _hold_database as hold; hold()"
    _FOLDER = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    _outcrop._start_workers_by(sys.executable, ["-I", "-S", "-c", _HOLD, _FOLDER])


def _shown(progress: bool, on_event: _OnEvent | None) -> AbstractContextManager[_OnEvent | None]:
    """What hears of events: the caller's function, else the screen."""
    from contextlib import nullcontext

    from outcrop._progress import Progress

    if on_event is None and progress:
        return Progress()
    return nullcontext(on_event)


def run(
    plans: _PathLike | Sequence[_PathLike],
    *,
    effort: Literal["quick", "default", "full"] | None = None,
    out: _PathLike = "runs",
    path: _PathLike | None = None,
    data: _PathLike | None = None,
    server: str | None = None,
    size: str | int | None = None,
    repetitions: int | None = None,
    warm_up: str | float | None = None,
    duration: str | float | None = None,
    budget: str | float | None = None,
    max_written: str | int | None = None,
    seed: int | str | None = None,
    progress: bool = True,
    on_event: _OnEvent | None = None,
) -> Run:
    """Measures plans, by the names of those that ship or by file, in a new folder in `out`.

    `path` is the directory for scratch files, `data` what plans for data measure. Sizes are bytes or text such as
    `"64MiB"`, times seconds or text such as `"500ms"`. `on_event` is called with each `Event`, in this thread,
    instead of a progress bar.

    Raises `PlanError` for a wrong plan, `RunError` if nothing could be measured. Ctrl-C raises `KeyboardInterrupt`
    once the trial has ended; `resume` measures the rest.
    """
    several = [plans] if isinstance(plans, (str, os.PathLike)) else list(plans)
    with _shown(progress, on_event) as heard:
        return _outcrop._run(
            several,
            out,
            heard,
            effort=effort,
            path=path,
            data=data,
            server=server,
            size=size,
            repetitions=repetitions,
            warm_up=warm_up,
            duration=duration,
            budget=budget,
            max_written=max_written,
            seed=seed,
        )


def resume(path: _PathLike, *, progress: bool = True, on_event: _OnEvent | None = None) -> Run:
    """Measures what is missing in a run folder. Finished trials are neither lost nor repeated."""
    with _shown(progress, on_event) as heard:
        return _outcrop._resume(path, heard)


def profile(
    path: _PathLike = ".",
    *,
    layer: str | Sequence[str] | None = None,
    effort: Literal["quick", "default", "full"] = "default",
    out: _PathLike = "runs",
    data: _PathLike | None = None,
    server: str | None = None,
    size: str | int | None = None,
    repetitions: int | None = None,
    warm_up: str | float | None = None,
    duration: str | float | None = None,
    budget: str | float | None = None,
    max_written: str | int | None = None,
    seed: int | str | None = None,
    progress: bool = True,
    on_event: _OnEvent | None = None,
) -> Run:
    """Measures the storage stack at `path`: all layers, or those named.

    With effort `"quick"` it takes at most 90 seconds, by default at most ten minutes. `server` is the URL of a running
    cache. The rest is as for `run`.
    """
    layers = [] if layer is None else [layer] if isinstance(layer, str) else list(layer)
    with _shown(progress, on_event) as heard:
        return _outcrop._profile(
            layers,
            out,
            heard,
            path=path,
            effort=effort,
            data=data,
            server=server,
            size=size,
            repetitions=repetitions,
            warm_up=warm_up,
            duration=duration,
            budget=budget,
            max_written=max_written,
            seed=seed,
        )


def codec(
    data: _PathLike | None = None,
    *,
    repetitions: int | None = None,
    warm_up: str | float | None = None,
    duration: str | float | None = None,
    budget: str | float | None = None,
    seed: int | str | None = None,
    progress: bool = False,
    on_event: _OnEvent | None = None,
    **factors: Any,
) -> Table:
    """Measures codecs on `data`, or on the built-in sample, and returns a row per cell; nothing is kept.

    `factors` are those of the compression layer, each one value or several: `codec=["lz4", "zstd:3"]`,
    `compression_block_size=["4KiB", "64KiB"]`, `threads=2`. Several values make the factor vary. Ctrl-C keeps nothing.
    """
    import tempfile

    with tempfile.TemporaryDirectory(prefix="outcrop-") as out, _shown(progress, on_event) as heard:
        try:
            return _outcrop._codec(
                factors,
                out,
                heard,
                data=data,
                repetitions=repetitions,
                warm_up=warm_up,
                duration=duration,
                budget=budget,
                seed=seed,
            )
        except KeyboardInterrupt:
            # The sentence of a run names a folder to resume, which is removed here.
            raise KeyboardInterrupt("nothing is kept") from None
