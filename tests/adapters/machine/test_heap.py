"""Memory is kept in few heaps, however many threads there are."""

import subprocess
import sys

import pytest

from app.adapters.machine.heap import ARENAS
from tests.support.live_server import ROOT

# Eight threads ask for memory at the same moment; then glibc tells how many heaps it keeps.
ASK = """
import ctypes, sys, threading
from app.adapters.machine.heap import keep_few_arenas
if sys.argv[1] == "few":
    keep_few_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)
def ask():
    together.wait()
    for _ in range(1000):
        libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=ask) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


# Of many pieces only the last stays: what lies below it is free, and kept. Then it is told how much that was.
FREE = """
import ctypes
from pathlib import Path
from app.adapters.machine.heap import give_back
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
pieces = [libc.malloc(100_000) for _ in range(1000)]
for piece in pieces:
    ctypes.memset(piece, 1, 100_000)
for piece in pieces[:-1]:
    libc.free(piece)
before = resident()
give_back()
print(before - resident())
"""


def heaps(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", ASK, how], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps heaps for threads")
def test_threads_share_few_heaps():
    assert heaps("few") <= ARENAS < heaps("many")


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps what is free")
def test_what_is_free_goes_back_to_the_system():
    done = subprocess.run([sys.executable, "-c", FREE], cwd=ROOT, check=True, capture_output=True, text=True)
    assert int(done.stdout) > 90_000_000
