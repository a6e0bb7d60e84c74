"""Vectors are found by nearness, among those of some scopes and no others, however many there are."""

import threading

import pytest

np = pytest.importorskip("numpy", reason="vectors are compared with numpy, which is not installed")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from kenobot.cognitive.recall.vectors.matrix import Floats, VectorMatrix, partition_key  # noqa: E402 - needs numpy

A, B = partition_key("owner"), partition_key("user:telegram-9")


def vectors(count: int, dimensions: int = 96, *, seed: int = 1, cone: float = 3.0) -> Floats:
    """Vectors of length 1 as models give them: in a narrow cone, so that all cosines are high, and of few themes."""
    rng = np.random.default_rng(seed)
    themes = rng.normal(size=(12, dimensions))
    found = rng.normal(size=(count, 12)) @ themes / 3 + 0.1 * rng.normal(size=(count, dimensions))
    found += cone * rng.normal(size=(1, dimensions)).astype(np.float32)
    rows: Floats = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return rows


def exactly(rows: Floats, sought: Floats, limit: int) -> list[int]:
    return [int(at) for at in np.argsort(-(rows @ sought), kind="stable")[:limit]]


@pytest.mark.parametrize(("count", "exact"), [(300, 1000), (6000, 500)])
def test_the_nearest_are_found(count: int, exact: int) -> None:
    """One by one where there are few; where there are many, by signs first, and nearly all of them still."""
    rows, wanted = np.split(vectors(count + 40), [count])
    matrix = VectorMatrix(96, exact, 600)
    for at in range(0, count, 250):
        matrix.put(range(at, min(count, at + 250)), rows[at : at + 250], [A] * len(rows[at : at + 250]))
    hits = 0
    for sought in wanted:
        found = matrix.find_nearest(sought, 10, [A])
        assert [round(cosine, 2) for _, cosine in found] == sorted((round(c, 2) for _, c in found), reverse=True)
        assert all(abs(cosine - float(rows[number] @ sought)) < 0.01 for number, cosine in found)
        hits += len({number for number, _ in found} & set(exactly(rows, sought, 10)))
    assert hits >= 0.93 * 400


def test_a_scope_is_never_starved_by_another() -> None:
    """Ten thousand nearer vectors of somebody else hide nothing of mine, and none of them is found."""
    rows = vectors(10_000)
    sought = rows[0]
    order = np.argsort(-(rows @ sought))
    far = set(order[-5:].tolist())
    matrix = VectorMatrix(96, 500, 100)
    matrix.put(range(10_000), rows, [A if number in far else B for number in range(10_000)])
    assert {number for number, _ in matrix.find_nearest(sought, 10, [A])} == far
    assert far.isdisjoint(number for number, _ in matrix.find_nearest(sought, 100, [B]))
    assert matrix.find_nearest(sought, 10, []) == []
    assert matrix.find_nearest(sought, 1, None)[0][0] == 0


@pytest.mark.parametrize("share", [2, 5])
def test_the_nearest_of_a_scope_are_found_whatever_its_share(share: int) -> None:
    """Mine among others' that are as near: half of all, or so few that they are picked out first."""
    rows, wanted = np.split(vectors(10_040), [10_000])
    mine = list(range(0, 10_000, share))
    matrix = VectorMatrix(96, 500, 600)
    matrix.put(range(10_000), rows, [B if number % share else A for number in range(10_000)])
    hits = 0
    for sought in wanted:
        found = [number for number, _ in matrix.find_nearest(sought, 10, [A])]
        assert not any(number % share for number in found)
        hits += len({*found} & {mine[at] for at in exactly(rows[mine], sought, 10)})
    assert hits >= 0.93 * 400


def test_a_topic_is_never_starved_either() -> None:
    """What is said of one subject is found though all the rest of the scope is nearer."""
    rows = vectors(3000)
    order = np.argsort(-(rows @ rows[0])).tolist()
    last = order[-1]
    matrix = VectorMatrix(96, 200, 50)
    matrix.put(range(3000), rows, [A] * 3000, [7 if number == last else 8 for number in range(3000)])
    assert [number for number, _ in matrix.find_nearest(rows[0], 5, [A], 7)] == [last]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 60)), max_size=80), st.integers(0, 1000))
def test_whatever_comes_and_goes(steps: list[tuple[bool, int]], seed: int) -> None:
    """After any puts and drops it holds what a dictionary would, each vector the last one put."""
    rows = vectors(200, 16, seed=seed)
    matrix = VectorMatrix(16, 12, 8)  # so that both ways of looking are taken
    held: dict[int, Floats] = {}
    for at, (comes, number) in enumerate(steps):
        if comes:
            matrix.put([number], rows[at : at + 1], [A])
            held[number] = rows[at]
        else:
            matrix.drop([number, 10_000])
            held.pop(number, None)
    assert len(matrix) == len(held)
    assert sorted(matrix._ids[: len(matrix)].tolist()) == sorted(held)
    found = matrix.cosines(rows[0], range(61))
    assert found.keys() == held.keys()
    assert all(abs(found[number] - float(row @ rows[0])) < 0.02 for number, row in held.items())
    for number, row in held.items():
        best = matrix.find_nearest(row, 1, [A])
        assert abs(best[0][1] - 1) < 0.02, f"{number} is not found by its own vector"


def test_a_number_out_of_all_bounds_costs_no_memory() -> None:
    """Numbers come from imported files too: one that would need gigabytes to look up is left out."""
    matrix = VectorMatrix(96, 100, 10)
    matrix.put([5, 10**15, -3], vectors(3), [A, A, A], [1, 2, 3])
    assert matrix._ids[: len(matrix)].tolist() == [5]
    assert matrix.vector(10**15) is None
    matrix.drop([10**15, -3])


def test_threads_may_look_while_others_write() -> None:
    """Readers of the database ask while the worker puts in what is new."""
    rows = vectors(4000)
    matrix = VectorMatrix(96, 300, 100)
    matrix.put(range(1000), rows[:1000], [A] * 1000)
    failures: list[Exception] = []

    def look() -> None:
        try:
            for sought in rows[:60]:
                assert matrix.find_nearest(sought, 5, [A])[0][1] > 0.99
        except Exception as error:
            failures.append(error)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for thread in lookers:
        thread.start()
    for at in range(1000, 4000, 100):
        matrix.put(range(at, at + 100), rows[at : at + 100], [A] * 100)
        matrix.drop(range(at, at + 50))
    for thread in lookers:
        thread.join()
    assert not failures
    assert len(matrix) == 1000 + 1500


def test_scopes_are_counted_as_vectors_come_change_scope_and_go() -> None:
    """Whether all are of the scopes that are asked for is told by counts: they follow every change."""
    rows = vectors(40)
    matrix = VectorMatrix(96, 10, 5)
    matrix.put(range(40), rows, [A] * 40)
    assert len(matrix.find_nearest(rows[0], 40, [A, A])) <= 40
    matrix.put([3, 4], rows[[3, 4]], [B, B])
    matrix.drop([5, 4])
    exact = VectorMatrix(96, 1000, 5)
    exact.put(range(40), rows, [A] * 40)
    exact.put([3, 4], rows[[3, 4]], [B, B])
    exact.drop([5, 4])
    assert {number for number, _ in exact.find_nearest(rows[0], 100, [A])} == set(range(40)) - {3, 4, 5}
    assert {number for number, _ in exact.find_nearest(rows[0], 100, [B])} == {3}
    assert {number for number, _ in exact.find_nearest(rows[0], 100, [A, B])} == set(range(40)) - {4, 5}
    assert 3 not in {number for number, _ in matrix.find_nearest(rows[3], 5, [A])}
    assert matrix._rows_of == {A: 37, B: 1}
    matrix.drop([3])
    assert matrix._rows_of == {A: 37}
