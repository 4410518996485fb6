# SPDX-License-Identifier: GPL-2.0
"""PyTorch's backend over the library and the fake device of selftests/python: what depends on when an op is complete."""

import ctypes
import datetime
import errno
import functools
import gc
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.distributed as dist

import _torcoll_torch
from conftest import Fake
from groups import group_new, is_filled, join_later, milliseconds, started, strided, until, waiting
from torcoll._names import FEATURES, TYPES, Collective


# ---- waiting ----

def test_future__of_a_work_that_a_thread_waits_for(fake: Fake, group: Any) -> None:
    got: list[Any] = []
    x = torch.zeros(4)
    work = group.allreduce([x])
    thread = waiting(fake, work, got)
    begin = time.monotonic()
    future = work.get_future()
    assert time.monotonic() - begin < 5 and not future.done() and not work.is_completed()
    fake.complete()
    assert future.wait()[0] is not None and is_filled(x)
    thread.join(10)
    assert got == [True] and work.is_completed()


def test_wait__a_second_thread_has_its_own_timeout(fake: Fake, group: Any) -> None:
    got: list[Any] = []
    work = group.allreduce([torch.zeros(4)])
    thread = waiting(fake, work, got)
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match="not complete after 50 ms; the call goes on"):
        work.wait(milliseconds(50))
    assert time.monotonic() - begin < 5
    fake.complete()
    thread.join(10)
    assert got == [True] and work.wait(milliseconds(50))


def test_wait__who_gives_up_leaves_it_to_others(fake: Fake, group: Any) -> None:
    first: list[Any] = []
    second: list[Any] = []
    work = group.allreduce([torch.zeros(4)])
    one = waiting(fake, work, first, milliseconds(300))
    other = started(work.wait, second)
    one.join(10)
    assert "not complete after 300 ms" in str(first[0])
    fake.complete()
    other.join(10)
    assert second == [True]


def test_wait__who_gives_up_leaves_it_to_the_future(fake: Fake, group: Any) -> None:
    got: list[Any] = []
    x = torch.zeros(4)
    work = group.allreduce([x])
    thread = waiting(fake, work, got, milliseconds(300))
    future = work.get_future()
    thread.join(10)
    assert "not complete after 300 ms" in str(got[0])
    fake.complete()
    until(future.done)
    assert is_filled(x)


def test_wait__callback_asks_the_same_work(fake: Fake, group: Any) -> None:
    got: list[Any] = []
    work = group.allreduce([torch.zeros(4)])
    thread = waiting(fake, work, got)
    chained = work.get_future().then(lambda future: (work.wait(), work.is_completed(), work.get_future().done()))
    fake.complete()
    assert chained.wait() == (True, True, True)
    thread.join(10)


# ---- the sequence number ----

def test_sequence__is_of_collectives(fake: Fake) -> None:
    """Ranks compare it, in PyTorch 2 with TORCH_DISTRIBUTED_DEBUG=DETAIL; messages are not of all ranks."""
    group, x = group_new(), torch.zeros(4)
    for call in (group.send, group.recv):
        before = group._get_sequence_number_for_group()
        call([x], 0, 0).wait()
        assert group._get_sequence_number_for_group() == before
        group.allreduce([x]).wait()
        assert group._get_sequence_number_for_group() == before + 1


# ---- results in other memory ----

def test_dropped__results_come_to_their_tensors(fake: Fake, group: Any) -> None:
    x, y = strided(), strided()
    group.allreduce([x])
    gc.collect()
    work = group.allreduce([y])
    fake.complete(2)
    # complete when it is dropped
    del work
    gc.collect()
    assert is_filled(y)
    # and afterwards, by a progress thread
    until(lambda: is_filled(x))


def test_refused__results_stay_as_they_are(fake: Fake, group: Any) -> None:
    fake.state.depth = 1
    x, y = strided(), strided()
    with pytest.raises(RuntimeError, match="EBUSY"):
        group.allreduce_coalesced([x, y])
    fake.complete()
    # a progress thread has it, and is about to end it
    until(lambda: not fake.running())
    time.sleep(0.1)
    assert not x.any() and not y.any()


def test_refused__sparse_results_stay_as_they_are(fake: Fake, group: Any) -> None:
    """Indices of all ranks are gathered then, but no values."""
    # valid ones
    fake.state.depth, fake.state.fill = 1, 0
    x = torch.eye(300).to_sparse()
    with pytest.raises(RuntimeError, match="EBUSY"):
        group.allreduce([x], dist.AllreduceOptions())
    assert fake.complete() == 1
    until(lambda: not fake.running())
    time.sleep(0.1)
    assert torch.equal(x.to_dense(), torch.eye(300))


@pytest.mark.parametrize("by_future", [False, True])
def test_inference__results_come_to_their_tensors(fake: Fake, group: Any, by_future: bool) -> None:
    with torch.inference_mode():
        x = strided()
        work = group.allreduce([x])
    fake.complete()
    assert x.is_inference()
    work.get_future().wait() if by_future else work.wait()
    assert is_filled(x)
    # and one of the program's own mode, from inference
    y = strided()
    work = group.allreduce([y])
    fake.complete()
    with torch.inference_mode():
        work.wait()
    assert is_filled(y) and not y.is_inference()


def expanded() -> Any:
    return torch.zeros(1).expand(4)


@pytest.mark.parametrize("call", [
    lambda group: group.allreduce([expanded()]),
    lambda group: group.recv([expanded()], 0, 0),
    lambda group: group.allgather([[expanded()]], [torch.zeros(4)]),
    lambda group: group.allreduce_coalesced([torch.zeros(4), expanded()]),
], ids=["updates", "writes", "writes_list", "second"])
def test_overlap__of_an_output_is_refused_before_it_starts(fake: Fake, group: Any, call: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="torcoll: .* elements that share memory"):
        call(group)
    assert not fake.running() and not fake.calls("submit") and not fake.calls("batch")


def test_overlap__of_an_input_is_none(fake: Fake, group: Any) -> None:
    x = torch.zeros(4)
    work = group._allgather_base(x, expanded())
    fake.complete()
    assert work.wait() and fake.state.sum == 0


# ---- sums of sparse tensors ----

# The fake completes the first step at once, for which the call waits: what others say is what this rank said.

def test_sparse__indices_of_others_are_checked(fake: Fake, group: Any) -> None:
    x = torch.eye(3).to_sparse()
    work = group.allreduce([x], dist.AllreduceOptions())
    assert fake.last.collective == Collective.ALLGATHER and fake.running() == 2
    # the program's tensor may change, the call's does not
    x.zero_()
    # indices, and values: in the order of the program's calls
    later = group.allreduce([torch.zeros(4)], dist.AllreduceOptions())
    assert fake.last.collective == Collective.ALLREDUCE and fake.complete(3) == 3
    with pytest.raises(RuntimeError, match="inconsistent with indices|found index"):
        work.wait()
    assert later.wait() and not x.to_dense().any()


def test_sparse__failure_of_the_first_step(fake: Fake, group: Any) -> None:
    fake.end(errno.EHOSTDOWN)
    with pytest.raises(RuntimeError, match="EHOSTDOWN"):
        group.allreduce([torch.eye(3).to_sparse()], dist.AllreduceOptions())
    assert not fake.running()


# ---- the monitored barrier ----

def test_monitored__no_time_is_no_time(fake: Fake) -> None:
    with pytest.raises(RuntimeError, match="Rank 0 timed out in monitoredBarrier after 0 ms"):
        group_new().monitored_barrier(milliseconds(0), False)
    assert fake.calls("abort") == 1


def pair_new() -> list[Any]:
    store = dist.HashStore()
    got: list[Any] = []
    threads = [started(join_later(store, rank, 2, 20), got) for rank in (0, 1)]
    for thread in threads:
        thread.join()
    return sorted(got, key=lambda group: int(group.rank()))


@pytest.mark.parametrize("timeout, longest", [(5, 10), (None, 40), (0, None)])
def test_monitored__ranks_wait_twice_as_long_for_rank_0(fake: Fake, timeout: Any, longest: Any) -> None:
    group = pair_new()[1]
    before = time.monotonic_ns()
    group.monitored_barrier(milliseconds(-1 if timeout is None else 1000 * timeout), False)
    assert (fake.last.collective, fake.last.peer) == (Collective.RECV, 0)
    if longest is None:
        assert not fake.last.deadline_ns
    else:
        assert before + longest * 10**9 <= fake.last.deadline_ns <= time.monotonic_ns() + longest * 10**9


def test_monitored__signals_are_no_tensors(fake: Fake) -> None:
    """A program's message of a byte would be taken for one of a byte, and its tag for one of TORCOLL_2INT."""
    for group, collective in zip(pair_new(), (Collective.SEND, Collective.RECV)):
        group.monitored_barrier(milliseconds(5000), False)
        assert (fake.last.collective, fake.last.type, fake.last.count) == (collective, TYPES["2int"], 2)


# ---- timeouts ----

@pytest.mark.parametrize("seconds", [0, 30])
def test_timeout__of_a_group(fake: Fake, seconds: int) -> None:
    before = time.monotonic_ns()
    group = _torcoll_torch.backend_new(dist.HashStore(), 0, 1, datetime.timedelta(seconds=seconds))
    group.allreduce([torch.zeros(4)]).wait()
    for deadline_ns in (fake.state.joined.deadline_ns, fake.last.deadline_ns):
        if seconds:
            assert before + seconds * 10**9 <= deadline_ns <= time.monotonic_ns() + seconds * 10**9
        else:
            assert not deadline_ns


# ---- factors ----

def premul(group: Any, x: Any, factor: Any) -> None:
    """By a factor, or by a tensor of one element: PyTorch 1.13 takes one of each device."""
    if torch.is_tensor(factor) and torch.__version__.startswith("1."):
        factor = [factor]
    options = dist.AllreduceOptions()
    options.reduceOp = dist._make_nccl_premul_sum(factor)
    group.allreduce([x], options).wait()


def test_premul__of_integers_by_an_integer(fake: Fake, group: Any) -> None:
    fake.state.hold = False
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        x = torch.ones(4, dtype=dtype)
        premul(group, x, 3.0)
        assert fake.state.scalar == 3
        premul(group, x, torch.tensor([5]))
        assert fake.state.scalar == 5
        for factor in (0.5, -1.25, torch.tensor([1.5]), 1e30, float("nan")):
            with pytest.raises(ValueError, match="all_reduce: the factor of PREMUL_SUM, .* is no element of tensors of"):
                premul(group, x, factor)
    with pytest.raises(ValueError, match="the factor of PREMUL_SUM, -1.0*, is no element of tensors of type Byte"):
        premul(group, torch.ones(4, dtype=torch.uint8), -1.0)


def test_premul__of_floats_is_rounded(fake: Fake, group: Any) -> None:
    fake.state.hold = False
    for dtype, bits in ((torch.float32, 0x3DCCCCCD), (torch.float16, 0x2E66), (torch.bfloat16, 0x3DCD)):
        premul(group, torch.ones(4, dtype=dtype), 0.1)
        assert fake.state.scalar == bits


# ---- the end of the process ----

ENDING = """
import atexit, ctypes, datetime, sys, threading, time
import torch
import torch.distributed as dist
import _torcoll_torch
from conftest import Fake

f = Fake(ctypes.CDLL(_torcoll_torch.__file__))
f.lib.fake_reset()
f.state.rank, f.state.ranks, f.state.in_fabric = 0, 1, True
g = _torcoll_torch.backend_new(dist.HashStore(), 0, 1, datetime.timedelta(seconds=60))
f.state.hold = True

def start():
    x = torch.zeros(4)
    # which has an object of Python to be dropped
    x.mark = 1
    return g.allreduce([x])

def later(function):
    threading.Thread(target=lambda: (time.sleep(0.3), function()), daemon=True).start()

class Late:
    # dropped when the interpreter ends
    def __init__(self):
        self.complete, self.sleep = f.lib.fake_complete, time.sleep

    def __del__(self):
        self.complete(10)
        self.sleep(0.3)
"""

CASES = {
    "callback": ("""
sys.modules["late"] = Late()
kept = start().get_future().then(lambda _: print("never"))
""", ""),
    "dropped": ("""
sys.modules["late"] = Late()
start()
""", ""),
    "callback_runs": ("""
entered = threading.Event()
kept = start().get_future().then(lambda _: (entered.set(), time.sleep(0.5), print("through")))
f.complete()
entered.wait()
""", "through\n"),
    "callback_waits_for_another": ("""
entered = threading.Event()
first, second = start(), start()
other = second.get_future()
kept = first.get_future().then(lambda _: (entered.set(), other.wait(), print("through")))
f.complete()
entered.wait()
later(f.complete)
""", "through\n"),
    "future_of_an_earlier_call": ("""
future = start().get_future()
# dropped when the interpreter ends
work = start()
""", ""),
    "callback_waits_for_ever": ("""
entered, never = threading.Event(), threading.Event()
kept = start().get_future().then(lambda _: (entered.set(), never.wait()))
f.complete()
entered.wait()
""", ""),
    "wait_of_a_later_function": ("""
work = start()
future = work.get_future()
kept.append(lambda: (f.complete(), work.wait(), print("waited")))
""", "waited\n"),
    "call_of_a_later_function": ("""
f.state.wait_completes = True
kept.append(lambda: later(f.complete) or print(start().get_future().wait()[0].sum() > 0))
""", "tensor(True)\n"),
}


@pytest.mark.parametrize("case", CASES)
def test_exit(case: str) -> None:
    code, said = CASES[case]
    if case.endswith("_of_a_later_function"):
        # what is registered first is called last
        code = "import atexit\nkept = []\natexit.register(lambda: kept[0]())\n" + ENDING + code
    else:
        code = ENDING + code
    begin = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (0, said), ended.stderr
    assert time.monotonic() - begin < 50


# ---- no threads ----

def in_a_child(case: Callable[[Fake], None]) -> None:
    """Of fork: it has no progress thread, as a process that has just begun."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            f = Fake(ctypes.CDLL(_torcoll_torch.__file__))
            f.lib.fake_reset()
            f.state.rank, f.state.ranks, f.state.in_fabric = 0, 1, True
            case(f)
            code = 0
        except BaseException as e:
            print(f"{type(e).__name__}: {e}", flush=True)
        finally:
            os._exit(code)
    end = time.monotonic() + 30
    while True:
        gone, status = os.waitpid(pid, os.WNOHANG)
        if gone:
            break
        if time.monotonic() > end:
            os.kill(pid, 9)
        time.sleep(0.01)
    assert os.waitstatus_to_exitcode(status) == 0


def mapped() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()


def slots(fake: Fake, n: int) -> None:
    """The module has so many, and lets the library queue what it has none for; before a group."""
    fake.state.features |= FEATURES["ring"] | FEATURES["try"]
    fake.state.depth = n


class NoThreads:
    """No memory for stacks: threads take those that the C library has left of others, then there is a limit."""

    def __enter__(self) -> None:
        before = mapped()
        while mapped() < before + (4 << 20):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        self.before = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (mapped() + (1 << 20), self.before[1]))

    def __exit__(self, *args: Any) -> None:
        resource.setrlimit(resource.RLIMIT_AS, self.before)


def future_without_threads(fake: Fake) -> None:
    group, x = group_new(), torch.zeros(4)
    fake.state.hold = True
    work = group.allreduce([x])
    with NoThreads(), pytest.raises(RuntimeError, match="Resource temporarily unavailable"):
        work.get_future()
    # it is still there to be waited for, and for a future
    with pytest.raises(RuntimeError, match="not complete after 50 ms"):
        with NoThreads():
            work.wait(milliseconds(50))
    future = work.get_future()
    fake.complete()
    until(future.done)
    assert is_filled(x)


def wait_without_threads(fake: Fake) -> None:
    group, x = group_new(), torch.zeros(4)
    fake.state.hold = True
    work = group.allreduce([x])
    with NoThreads(), pytest.raises(RuntimeError, match="Resource temporarily unavailable"):
        work.get_future()
    fake.complete()
    assert work.wait(milliseconds(5000)) and is_filled(x)


def dropped_without_threads(fake: Fake) -> None:
    group, x = group_new(), strided()
    fake.state.hold = fake.state.wait_completes = True
    work = group.allreduce([x])
    assert not work.is_completed()
    with NoThreads():
        del work
        gc.collect()
    assert is_filled(x)


def queued_without_threads(fake: Fake) -> None:
    got: list[Any] = []
    slots(fake, 1)
    group, x = group_new(), torch.zeros(4)
    fake.state.hold = True
    first = group.allreduce([torch.zeros(4)])
    with NoThreads():
        # it is not refused: the other ranks count on it, and who waits for it starts it
        second = group.allreduce([x])
    fake.complete()
    waiter = started(second.wait, got)
    until(lambda: fake.complete() > 0)
    waiter.join(10)
    assert got == [True] and is_filled(x) and first.wait()


def callback_without_threads(how: str, fake: Fake) -> None:
    """The only progress thread runs it: what it would have to wait for itself is not handed over."""
    made: list[Any] = []
    got: list[Any] = []
    slots(fake, 1)
    group, x = group_new(), torch.zeros(4)
    fake.state.hold = True

    def callback(_: Any) -> None:
        running, queued = group.allreduce([torch.zeros(4)]), group.allreduce([x])
        made.append(running)
        try:
            if how == "future":
                queued.get_future().wait()
        except RuntimeError as e:
            got.append(str(e))
        got.append(queued.wait(milliseconds(10000)))

    chained = group.allreduce([torch.zeros(4)]).get_future().then(callback)
    time.sleep(0.05)
    with NoThreads():
        fake.complete()
        # neither is complete before it has been refused
        until(lambda: bool(got if how == "future" else made))
        until(lambda: bool(fake.complete() and False) or chained.done())
    refused = ["Resource temporarily unavailable"] if how == "future" else []
    assert got == [*refused, True] and is_filled(x)


@pytest.mark.parametrize("case", [future_without_threads, wait_without_threads, dropped_without_threads,
                                  queued_without_threads])
def test_threads__cannot_be_started(fake: Fake, case: Callable[[Fake], None]) -> None:
    in_a_child(case)


@pytest.mark.parametrize("how", ["wait", "future"])
def test_threads__callback_waits_without_another(fake: Fake, how: str) -> None:
    in_a_child(functools.partial(callback_without_threads, how))


# ---- calls that wait for a slot ----

def fails_behind_another_comm(fake: Fake) -> None:
    """What the library fails, since its time has passed, is no event; another comm's call waits before it."""
    slots(fake, 1)
    group, late = group_new(), group_new(0.05)
    fake.state.hold = True
    running, other = group.allreduce([torch.zeros(4)]), group.allreduce([torch.zeros(4)])
    # a thread sleeps until there is a slot
    time.sleep(0.05)
    future = late.allreduce([torch.zeros(4)]).get_future()
    until(future.done)
    with pytest.raises(RuntimeError, match="no slot became free before its deadline"):
        future.wait()
    assert not other.is_completed() and not running.is_completed()
    fake.complete()
    until(lambda: fake.complete() > 0)
    assert other.get_future().wait() and running.wait()


def fails_while_a_thread_sleeps(fake: Fake) -> None:
    """There was none that waits for a slot when the thread began to sleep: it has no end for its sleep."""
    slots(fake, 1)
    group, late = group_new(), group_new(0.05)
    fake.state.hold = True
    running = group.allreduce([torch.zeros(4)]).get_future()
    time.sleep(0.05)
    future = late.allreduce([torch.zeros(4)]).get_future()
    until(future.done)
    with pytest.raises(RuntimeError, match="no slot became free before its deadline"):
        future.wait()
    assert not running.done()
    fake.complete()
    until(running.done)


def handed_over_late(fake: Fake) -> None:
    """Behind calls that wait for a slot: a call that the kernel has, whose future is asked for, or that is dropped, then."""
    slots(fake, 1)
    group, x = group_new(), strided()
    fake.state.hold = True
    for is_dropped in (False, True):
        first = group.allreduce([x.zero_()])
        rest = [group.allreduce([torch.zeros(4)]) for _ in range(2)]
        if not is_dropped:
            first.get_future()
        del first
        gc.collect()
        assert fake.complete() == 1
        until(lambda: is_filled(x))
        for work in rest:
            assert not work.is_completed()
            until(lambda: fake.complete() > 0)
            assert work.wait(milliseconds(10000))


def cost_of_one(fake: Fake, n: int) -> float:
    """Start so many calls, and complete 200 of them, one after another. Return s that other threads take for each."""
    group, done = group_new(), 0
    for _ in range(n):
        group.allreduce([torch.zeros(1)])
    began = time.process_time() - time.thread_time()
    end = time.monotonic() + 10
    while done < 200:
        assert time.monotonic() < end
        done += fake.complete()
        time.sleep(0.00001)
    took = (time.process_time() - time.thread_time() - began) / done
    # nor are the others in the way of what is measured next
    while done < n:
        assert time.monotonic() < end + 20
        done += fake.complete(8)
        time.sleep(0.00001)
    return took


def many_cost_what_few_do(fake: Fake) -> None:
    """Of those that wait the first is looked at."""
    slots(fake, 8)
    fake.state.hold = True
    for _ in range(3):
        few, many = cost_of_one(fake, 250), cost_of_one(fake, 10000)
        print(f"{few * 1e6:.0f} us each of 250, {many * 1e6:.0f} of 10000")
        if many < 3 * few:
            break
    else:
        pytest.fail("each of many is slower")


@pytest.mark.parametrize("case", [fails_behind_another_comm, fails_while_a_thread_sleeps, handed_over_late,
                                  many_cost_what_few_do])
def test_slots(fake: Fake, case: Callable[[Fake], None]) -> None:
    in_a_child(case)
