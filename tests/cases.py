"""Many cases in one test, where the overhead of a test each would be most of its time."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

Test = Callable[..., Any]


def each(names: str | tuple[str, ...], cases: Iterable[Any] | Callable[[], Iterable[Any]]) -> Callable[[Test], Test]:
    """Run a test with each of its cases, as `pytest.mark.parametrize` does, but as one test that lists all failures.

    cases: a function is called when the test runs, for cases that take time to find. Fixtures are made once for all the
    cases: not for tests to which a case leaves something behind.
    """
    given = tuple(name.strip() for name in names.split(",") if name.strip()) if isinstance(names, str) else names
    alone = isinstance(names, str) and len(given) == 1

    fixed = () if callable(cases) else tuple(cases)

    def read_cases() -> list[dict[str, Any]]:
        found = [*cases()] if callable(cases) else fixed
        if not found:
            pytest.skip("there are no cases")
        return [dict(zip(given, (case,) if alone else case, strict=True)) for case in found]

    def decorate(test: Test) -> Test:
        if inspect.iscoroutinefunction(test):

            @functools.wraps(test)
            async def run_all(*args: Any, **fixtures: Any) -> None:
                failures: list[BaseException] = []
                for row in (rows := read_cases()):
                    with _gather(failures, row):
                        await test(*args, **row, **fixtures)
                _report(failures, len(rows))

        else:

            @functools.wraps(test)
            def run_all(*args: Any, **fixtures: Any) -> None:
                failures: list[BaseException] = []
                for row in (rows := read_cases()):
                    with _gather(failures, row):
                        test(*args, **row, **fixtures)
                _report(failures, len(rows))

        asked = inspect.signature(test)
        left = [parameter for name, parameter in asked.parameters.items() if name not in given]
        run_all.__signature__ = asked.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate


@contextmanager
def _gather(failures: list[BaseException], row: Mapping[str, Any]) -> Iterator[None]:
    try:
        yield
    except (Exception, pytest.fail.Exception) as error:
        error.add_note("case: " + ", ".join(f"{name}={value!r}" for name, value in row.items()))
        failures.append(error)


def _report(failures: list[BaseException], count: int) -> None:
    __tracebackhide__ = True
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {count} cases", failures)
