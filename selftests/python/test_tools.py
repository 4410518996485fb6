# SPDX-License-Identifier: GPL-2.0
"""python -m torcoll, the benchmark, and the package as such."""

import errno
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import torcoll
from conftest import Fake
from torcoll import __main__ as show
from torcoll import _abi, _names, bench, errors

PYTHON = Path(torcoll.__file__).resolve().parents[1]


def test_show__all_is_there(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main() == 0
    out = capsys.readouterr().out
    assert f"package  {torcoll.__version__}" in out and "module   fake, interface 1, features: alloc" in out


def test_show__no_module(fake: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    fake.state.open_error = -2
    assert show.main() == 1
    assert "module   cannot open /dev/torcoll: the torcoll module is not loaded" in capsys.readouterr().out


def test_show__no_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(_abi, "_library", None)
    monkeypatch.setenv("TORCOLL_LIBRARY", "/nowhere")
    assert show.main() == 1
    assert "library  libtorcoll.so.0 cannot be loaded" in capsys.readouterr().out


@pytest.fixture
def env(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> Fake:
    monkeypatch.setenv("TORCOLL_FABRIC", "1")
    fake.state.rank = 0
    return fake


@pytest.mark.parametrize("collective", bench.COLLECTIVES)
def test_bench__every_collective(env: Fake, capsys: pytest.CaptureFixture[str], collective: str) -> None:
    env.state.fill = 0x40
    assert bench.main([collective, "-b", "16", "-e", "64", "-f", "2", "-n", "3", "-w", "1", "--algorithm", "ring"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"# torcoll.bench {torcoll.__version__}: {collective}")
    assert "4 ranks on 4 nodes" in lines[0]
    rows = [line.split() for line in lines if not line.startswith("#")]
    assert [row[:3] for row in rows] == ([["0", "0", "ring"]] if collective == "barrier" else
                                         [["16", "4", "ring"], ["32", "8", "ring"], ["64", "16", "ring"]])


def test_bench__others_are_silent(env: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    env.state.rank, env.state.fill = 1, 0x40
    assert bench.main(["-e", "8", "--dtype", "bf16", "--op", "max"]) == 0
    assert capsys.readouterr().out == ""


def test_bench__sizes() -> None:
    assert list(bench.sizes(bench.options(["-b", "8", "-e", "4K"]), 4)) == [4, 8, 32, 128, 512]
    assert [bench.size_of(text) for text in ("8", "4K", "1m", "2G")] == [8, 4096, 1 << 20, 2 << 30]


def test_bench__refusals(env: Fake, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["-b", "16", "-e", "8"])
    env.fail("submit", 95, "ring does not serve this")
    assert bench.main(["-e", "8"]) == 1
    assert "torcoll.bench: allreduce: ring does not serve this" in capsys.readouterr().err


def test_document__names_all_types_operators_and_exceptions() -> None:
    text = (PYTHON.parent / "docs/python.md").read_text()
    named = set(re.findall(r"`([A-Za-z0-9-]+)`", text))
    assert set(_names.TYPES) | set(_names.REDOPS) <= named | {"none"}
    for err, kind in errors.CLASSES.items():
        row = re.search(rf"^\|.*`{kind.__name__}`.*$", text, re.M)
        assert row and ("EOPNOTSUPP" if err == errno.EOPNOTSUPP else errno.errorcode[err]) in row[0]
    assert {e.__name__ for e in vars(errors).values() if isinstance(e, type) and issubclass(e, torcoll.Error)} <= (
        named | {"Error"})


def test_document__methods_exist() -> None:
    text = (PYTHON.parent / "docs/python.md").read_text()
    used = set(re.findall(r"\b(?:comm|torcoll\.Comm)\.(\w+)\(", text))
    assert used and all(hasattr(torcoll.Comm, name) for name in used)
    named = set(re.findall(r"\btorcoll\.([A-Za-z_]+)", text)) - {"bench", "h"}
    assert all(hasattr(torcoll, name) for name in named)


def test_wheel__builds_offline(tmp_path: Path) -> None:
    source = tmp_path / "source"
    subprocess.run(["cp", "-r", PYTHON, source], check=True)
    code = f"from setuptools import build_meta; print(build_meta.build_wheel({str(tmp_path)!r}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True, text=True)
    name = done.stdout.split()[-1]
    assert name == f"torcoll-{torcoll.__version__}-py3-none-any.whl"
    packed = {entry for entry in zipfile.ZipFile(tmp_path / name).namelist() if entry.startswith("torcoll/")}
    assert packed == {f"torcoll/{file.name}" for file in (PYTHON / "torcoll").iterdir() if file.is_file()}
