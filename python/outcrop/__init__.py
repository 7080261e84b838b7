"""Outcrop: string columns in small, searchable files, and measurements of every layer of a storage stack.

`Column` encodes, opens and searches columns. `run`, `profile` and `codec` measure; `open_run` and `compare` read what
was measured. `Cache` is a cache server for tests, `CacheClient` its client. Tables and arrays go to pyarrow, Polars,
pandas and DuckDB without a copy. Importing this package imports no other.
"""

from outcrop._measure import codec, profile, resume, run
from outcrop._outcrop import (
    Array,
    Cache,
    CacheClient,
    CacheError,
    Column,
    ColumnError,
    Comparison,
    ConditionMet,
    DamagedError,
    EncodeReport,
    Event,
    OutcropError,
    PlanError,
    Run,
    RunError,
    Selection,
    Table,
    __version__,
    compare,
    open_run,
)

__all__ = [
    "Array",
    "Cache",
    "CacheClient",
    "CacheError",
    "Column",
    "ColumnError",
    "Comparison",
    "ConditionMet",
    "DamagedError",
    "EncodeReport",
    "Event",
    "OutcropError",
    "PlanError",
    "Run",
    "RunError",
    "Selection",
    "Table",
    "__version__",
    "codec",
    "compare",
    "open_run",
    "profile",
    "resume",
    "run",
]
