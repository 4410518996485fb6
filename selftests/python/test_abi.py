# SPDX-License-Identifier: GPL-2.0
"""The package's constants, structs and prototypes against the headers, by the compiler."""

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

import torcoll
from torcoll import _abi, _names

TOP = Path(__file__).resolve().parents[2]
STRUCTS = {"torcoll_info": _abi.Info, "torcoll_comm_info": _abi.CommInfo, "torcoll_comm_config": _abi.CommConfig,
           "torcoll_op": _abi.Op, "torcoll_request": _abi.Request}
ENUMS = {"torcoll_collective": _names.Collective, "torcoll_type": _names.Type, "torcoll_redop": _names.Redop,
         "torcoll_bits": _names.Bits, "torcoll_algorithm": _names.Algorithm, "torcoll_param": _names.Param}
MACROS = {"PARAM_COUNT", "NAME_MAX", "MAX_DIMS", "BATCH_MAX", "ABI_VERSION", "RANK_SELF", "COLOUR_NONE", "OP_NOWAIT"}


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


UAPI = without_comments(TOP / "uapi/linux/torcoll.h")
HEADER = without_comments(TOP / "lib/torcoll.h")


def enumerators(enum: str) -> list[str]:
    """As the header has them, but for the count."""
    body = re.search(rf"enum {enum} {{(.*?)}};", UAPI, re.S)
    assert body
    names = [entry.split("=")[0].strip() for entry in body[1].split(",")]
    return [name for name in names if name and not name.endswith("_COUNT")]


def members(struct: str) -> list[str]:
    """Names of a struct's members, in their order."""
    body = re.search(rf"struct {struct} {{(.*?)\n}};", UAPI + HEADER, re.S)
    assert body
    return re.findall(r"(\w+)(?:\[\w+\])?;", body[1])


def compiled(tmp_path: Path, lines: list[str]) -> list[int]:
    """What a C program says of expressions."""
    source, program = tmp_path / "say.c", tmp_path / "say"
    body = "".join(f'\tprintf("%lld\\n", (long long)({line}));\n' for line in lines)
    source.write_text("#include <stddef.h>\n#include <stdio.h>\n#include <torcoll.h>\n"
                      f"int main(void)\n{{\n{body}\treturn 0;\n}}\n")
    subprocess.run(["cc", f"-I{TOP}/lib", f"-I{TOP}/uapi", "-o", program, source], check=True)
    said = subprocess.run([program], check=True, capture_output=True, text=True)
    return [int(line) for line in said.stdout.split()]


@pytest.mark.parametrize("enum", ENUMS)
def test_enum__values_are_the_headers(enum: str, tmp_path: Path) -> None:
    names = enumerators(enum)
    assert compiled(tmp_path, names) == [int(member) for member in ENUMS[enum]]


@pytest.mark.parametrize("enum,function", [("torcoll_collective", "collective"), ("torcoll_type", "type"),
                                           ("torcoll_redop", "redop"), ("torcoll_algorithm", "algorithm")])
def test_enum__names_are_the_librarys(enum: str, function: str) -> None:
    name = getattr(_abi.load(), f"torcoll_{function}_name")
    assert [name(member).decode() for member in ENUMS[enum]] == [_names.name_of(member) for member in ENUMS[enum]]


def test_types__sizes_are_the_librarys() -> None:
    size = _abi.load().torcoll_type_size
    assert {kind: size(kind) for kind in _names.Type if kind} == _names.TYPE_SIZE


def test_macros__values_are_the_headers(tmp_path: Path) -> None:
    names = sorted(MACROS)
    values = [getattr(_names, name) for name in names]
    assert compiled(tmp_path, [f"TORCOLL_{name}" for name in names]) == values


def test_features__are_the_headers(tmp_path: Path) -> None:
    names = re.findall(r"#define TORCOLL_FEATURE_(\w+)", UAPI)
    bits = compiled(tmp_path, [f"TORCOLL_FEATURE_{name}" for name in names])
    assert dict(zip([name.lower().replace("_", "-") for name in names], bits)) == _names.FEATURES


@pytest.mark.parametrize("struct", STRUCTS)
def test_struct__layout_is_the_headers(struct: str, tmp_path: Path) -> None:
    layout = STRUCTS[struct]
    fields = [field[0] for field in layout._fields_]
    assert fields == members(struct)
    lines = [f"sizeof(struct {struct})"]
    wanted = [ctypes.sizeof(layout)]
    for field in fields:
        descriptor = getattr(layout, field)
        lines += [f"offsetof(struct {struct}, {field})", f"sizeof(((struct {struct} *)0)->{field})"]
        wanted += [descriptor.offset, descriptor.size]
    assert compiled(tmp_path, lines) == wanted


KINDS = {None: "void", ctypes.c_int: "int", ctypes.c_int32: "int", ctypes.c_uint32: "unsigned", ctypes.c_uint64: "u64",
         ctypes.c_size_t: "u64", ctypes.c_void_p: "pointer", ctypes.c_char_p: "pointer"}


def kind_of(declaration: str) -> str:
    if "*" in declaration:
        return "pointer"
    for pattern, kind in ((r"\benum\b|uint32_t", "unsigned"), (r"uint64_t|size_t", "u64"), (r"\bint(32_t)?\b", "int"),
                          (r"\bvoid\b", "void")):
        if re.search(pattern, declaration):
            return kind
    raise AssertionError(declaration)


def declarations() -> dict[str, list[str]]:
    """Of each function: what it returns and takes."""
    found = {}
    for result, name, arguments in re.findall(r"^([\w \t]+?\**)(torcoll_\w+)\(([^()]*)\);", HEADER, re.M):
        taken = [] if arguments.strip() == "void" else arguments.split(",")
        found[name] = [kind_of(result)] + [kind_of(argument) for argument in taken]
    return found


@pytest.mark.parametrize("function", _abi.PROTOTYPES)
def test_prototype__is_the_headers(function: str) -> None:
    assert [KINDS[kind] for kind in _abi.PROTOTYPES[function]] == declarations()[function]


# What the package does by functions of more options, or itself.
NOT_BOUND = re.compile(
    r"torcoll_(i?(allreduce|reduce|reduce_scatter|allgather|broadcast|gather|scatter|alltoall|halo|scan|exscan|send|recv"
    r"|barrier)v?"
    r"|run|run_until|start|wait|wait_fds|wait_any|wait_all|fabrics|deadline|eventfd|strerror|\w+_by_name)")


def test_functions__all_bound_or_left_out_on_purpose() -> None:
    left = {name for name in declarations() if name not in _abi.PROTOTYPES}
    assert {name for name in left if not NOT_BOUND.fullmatch(name)} == set()


def test_collectives__each_has_both_forms() -> None:
    for member in _names.Collective:
        if member:
            method = member.name.lower()
            assert callable(getattr(torcoll.Comm, method)) and callable(getattr(torcoll.Comm, f"i{method}"))


def test_version__is_that_of_all() -> None:
    version = re.search(r'^#define TOR_VERSION\s+"(.*)"', (TOP / "kmod/core/version.h").read_text(), re.M)
    assert version and torcoll.__version__ == version[1] == _abi.load().torcoll_version().decode()
