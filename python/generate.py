"""Writes tendril/_api.py, the library's structs, enumerations and functions as ctypes sees them,
from include/tendril/*.h. What the headers say of a field becomes its documentation."""

import pathlib
import re
import subprocess
import sys
import tempfile

from pycparser import c_ast, c_parser

# In the place of the C library's headers, of which ours need only types.
LIBC = {
    "stdbool.h": "typedef _Bool bool;",
    "stddef.h": "typedef unsigned long size_t;",
    "stdint.h": "typedef unsigned long uint64_t; typedef unsigned int uint32_t; typedef long int64_t;",
    "stdio.h": "typedef struct FILE FILE;",
    "math.h": "",
}
PLAIN = {
    "double": "c_double",
    "float": "c_float",
    "int": "c_int",
    "long": "c_long",
    "long long": "c_longlong",
    "char": "c_char",
    "unsigned char": "c_ubyte",
    "unsigned int": "c_uint",
    "unsigned long": "c_ulong",
    "_Bool": "c_bool",
}


def preprocessed(include, compiler):
    with tempfile.TemporaryDirectory() as fake:
        for name, text in LIBC.items():
            (pathlib.Path(fake) / name).write_text(text)
        return subprocess.run(
            [compiler, "-E", "-P", "-nostdinc", "-U__GNUC__", f"-I{fake}", f"-I{include}", "-"],
            input="#include <tendril/tendril.h>\n#include <tendril/io.h>\n",
            check=True, capture_output=True, text=True).stdout


def comments(include):
    """(struct, field) -> what the header says of it; (struct, None) -> of the struct."""
    found = {}
    for path in sorted((include / "tendril").glob("*.h")):
        text = path.read_text()
        pattern = r"((?:///[^\n]*\n)*)typedef (?:struct|enum) (\w+) \{\n(.*?)\n\} \2;"
        for match in re.finditer(pattern, text, re.S):
            about, struct, body = match.groups()
            found[struct, None] = one_line(about.replace("///", ""))
            before, last = "", []
            for line in body.split("\n"):
                code, mark, said = line.partition("//")
                said = said.lstrip("/").strip() if mark else ""
                names = re.findall(r"(\w+)(?:\[[^\]]*\])?(?=\s*[,;=]|\s*$)", code)
                names = [n for n in names if not n.isdigit()] if code.strip() else []
                if names:
                    last = [(struct, n) for n in names]
                    for key in last:
                        found[key] = one_line(f"{before} {said}")
                    before = ""
                elif last and code.strip() == "" and mark and len(line) - len(line.lstrip()) > 6:
                    for key in last:
                        found[key] = one_line(f"{found[key]} {said}")
                else:
                    before = f"{before} {said}" if mark else ""
    return found


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


def short(name):
    return name[3:] if name.startswith("Tdl") else name


class Writer:
    def __init__(self, tree, told):
        self.told = told
        self.types = {n.name: n.type for n in tree.ext if isinstance(n, c_ast.Typedef)}
        self.constants = {}
        self.structs, self.enums, self.functions = [], [], []
        for node in tree.ext:
            self.take(node)

    def take(self, node):
        inner = getattr(node, "type", None)
        if isinstance(node, c_ast.Typedef) and isinstance(inner.type, c_ast.Enum):
            self.take_enum(node.name, inner.type)
        elif isinstance(node, c_ast.Decl) and isinstance(inner, c_ast.Enum):
            self.take_enum(None, inner)
        elif isinstance(node, c_ast.Typedef) and isinstance(inner.type, c_ast.Struct):
            self.structs.append((node.name, inner.type.decls))
        elif isinstance(node, c_ast.Decl) and isinstance(inner, c_ast.FuncDecl):
            self.functions.append((node.name, inner))

    def take_enum(self, name, node):
        value = -1
        members = []
        for item in node.values.enumerators:
            value = value + 1 if item.value is None else self.number(item.value)
            self.constants[item.name] = value
            members.append((item.name, value))
        if name:
            self.enums.append((name, members))

    def number(self, node):
        if isinstance(node, c_ast.Constant):
            return int(node.value, 0)
        if isinstance(node, c_ast.ID):
            return self.constants[node.name]
        if isinstance(node, c_ast.UnaryOp) and node.op == "-":
            return -self.number(node.expr)
        raise ValueError(f"no number: {node}")

    def plain(self, node):
        """The name of a type without pointers and arrays, typedefs of plain types seen through."""
        if isinstance(node.type, c_ast.IdentifierType):
            name = " ".join(node.type.names)
            known = self.types.get(name)
            if known is not None and isinstance(known.type, c_ast.IdentifierType):
                return self.plain(known)
            return name
        return node.type.name

    def is_enum(self, name):
        known = self.types.get(name)
        return known is not None and isinstance(known.type, c_ast.Enum)

    def ctype(self, node, pointer="POINTER({})"):
        if isinstance(node, c_ast.PtrDecl):
            inside = node.type
            if isinstance(inside, c_ast.FuncDecl):
                return self.callback(inside)
            if isinstance(inside, c_ast.PtrDecl):
                return "POINTER(c_void_p)" if pointer != "c_void_p" else "c_void_p"
            name = self.plain(inside)
            if name == "char":
                return "c_char_p"
            known = self.types.get(name)
            opaque = known is not None and isinstance(known.type, c_ast.Struct) and (
                not known.type.decls and name not in dict(self.structs) or not dict(self.structs).get(name))
            if name == "void" or opaque or (known is None and name not in PLAIN):
                return "c_void_p"
            return pointer.format(self.ctype(inside))
        if isinstance(node, c_ast.ArrayDecl):
            return f"{self.ctype(node.type)} * {self.number(node.dim)}"
        name = self.plain(node)
        known = self.types.get(name)
        if isinstance(known, c_ast.PtrDecl):
            return name[3:]  # a named type of functions
        if self.is_enum(name):
            return "c_int"
        return PLAIN.get(name) or short(name)

    def callback(self, node):
        """The type of a function that the library calls."""
        result = self.result(node.type)
        arguments = [self.argument(p.type) for p in self.parameters(node)]
        return f"CFUNCTYPE({', '.join([result] + arguments)})"

    def parameters(self, node):
        if node.args is None:
            return []
        return [p for p in node.args.params if not (
            isinstance(p.type, c_ast.TypeDecl) and self.plain(p.type) == "void")]

    def result(self, node):
        if isinstance(node, c_ast.TypeDecl) and self.plain(node) == "void":
            return "None"
        return self.ctype(node)

    def argument(self, node):
        if isinstance(node, c_ast.ArrayDecl):
            return "c_void_p"
        text = self.ctype(node, "c_void_p")
        return "c_void_p" if text.startswith("POINTER") else text

    def union(self, node):
        return [(m.name, self.ctype(m.type)) for m in node.decls]

    def write_struct(self, out, name, decls):
        fields, enums, unions = [], {}, []
        for d in decls:
            if isinstance(d.type, c_ast.Union):
                unions = self.union(d.type)
                fields.append(("_of_kind", f"_{short(name)}Union"))
                continue
            fields.append((d.name, self.ctype(d.type)))
            base = d.type
            while isinstance(base, (c_ast.PtrDecl, c_ast.ArrayDecl)):
                base = base.type
            if isinstance(base, c_ast.TypeDecl) and self.is_enum(self.plain(base)):
                enums[d.name] = short(self.plain(base))
        if unions:
            out(f"class _{short(name)}Union(Union):")
            out(f"    _fields_ = [{', '.join(f'({n!r}, {t})' for n, t in unions)}]\n\n")
        out(f"{short(name)}._fields_ = [")
        for n, t in fields:
            out(f"    ({n!r}, {t}),")
        out("]")
        if enums:
            out(f"{short(name)}._enums_ = {{{', '.join(f'{n!r}: {e}' for n, e in enums.items())}}}")
        docs = {n: self.told.get((name, n), "") for n, _ in fields}
        out(f"{short(name)}._docs_ = {docs!r}\n")

    def write(self, out):
        out('"""Written by generate.py from the headers; not to be changed by hand."""\n')
        out("from ctypes import (CFUNCTYPE, POINTER, Structure, Union, c_bool, c_char, c_char_p, "
            "c_double, c_float,\n    c_int, c_long, c_longlong, c_ubyte, c_uint, c_ulong, c_void_p)")
        out("from enum import IntEnum\n\n")
        for name, members in self.enums:
            self.write_enum(out, name, members)
        whole = [(n, d) for n, d in self.structs if d]
        for name, decls in whole:
            anonymous = any(isinstance(d.type, c_ast.Union) for d in decls)
            about = self.told.get((name, None), "")
            out(f"class {short(name)}(Structure):")
            out(f"    {about or 'See the headers.'!r}" if about else "    pass")
            if anonymous:
                out('    _anonymous_ = ("_of_kind",)')
            out("\n")
        done = set()
        pending = list(whole)
        callbacks = [(n, t) for n, t in self.types.items()
                     if isinstance(t, c_ast.PtrDecl) and isinstance(t.type, c_ast.FuncDecl)]
        # what is inside by value comes first
        def needs(decls):
            found = set()
            def walk(node):
                if isinstance(node, c_ast.ArrayDecl):
                    walk(node.type)
                elif isinstance(node, c_ast.TypeDecl):
                    if isinstance(node.type, c_ast.IdentifierType):
                        found.add(" ".join(node.type.names))
                elif isinstance(node, c_ast.Union):
                    for d in node.decls:
                        walk(d.type)
            for d in decls:
                walk(d.type)
            return found & {n for n, _ in whole}
        by_value = {n: needs(d) for n, d in whole}
        # functions may take structs by value, so they come where all of those are complete
        def ready(arguments):
            return not (arguments & ({n for n, _ in whole} - done))
        waiting = {n: {self.plain(p.type) for p in self.parameters(t.type)
                              if isinstance(p.type, c_ast.TypeDecl)} for n, t in callbacks}
        waits_for = {n: {" ".join(d.type.type.names) for d in decls
                         if isinstance(d.type, c_ast.TypeDecl)
                         and isinstance(d.type.type, c_ast.IdentifierType)} & waiting.keys()
                     for n, decls in whole}
        told = set()
        while pending or waiting.keys() - told:
            before = (len(pending), len(told))
            for n in [n for n in waiting if n not in told and ready(waiting[n])]:
                out(f"{short(n)} = {self.callback(self.types[n].type)}\n")
                told.add(n)
            for n, decls in list(pending):
                if ready(by_value[n]) and waits_for[n] <= told:
                    self.write_struct(out, n, decls)
                    done.add(n)
                    pending.remove((n, decls))
            if before == (len(pending), len(told)):
                raise ValueError(f"these need each other: {[n for n, _ in pending]}")
        out("\nFUNCTIONS = {")
        for name, node in self.functions:
            arguments = [self.argument(p.type) for p in self.parameters(node)]
            out(f"    {name!r}: ({self.result(node.type)}, [{', '.join(arguments)}]),")
        out("}\n")
        sizes = {n: v for n, v in self.constants.items()
                 if n.endswith(("_SIZE", "_LIMIT")) or n.startswith("TDL_LED")}
        for n, v in sizes.items():
            out(f"{n[4:]} = {v}")

    def write_enum(self, out, name, members):
        names = [n for n, _ in members if not n.endswith("_COUNT")]
        prefix = names[0]
        for n in names[1:]:
            while not n.startswith(prefix):
                prefix = prefix[:-1]
        prefix = prefix[: prefix.rfind("_") + 1] if len(names) > 1 else names[0].rsplit("_", 1)[0] + "_"
        out(f"class {short(name)}(IntEnum):")
        if self.told.get((name, None)):
            out(f"    {self.told[name, None]!r}\n")
        for n, v in members:
            if n in names:
                member = n[len(prefix):]
                out(f"    {member if not member[0].isdigit() else '_' + member} = {v}")
        out("\n")


def main():
    include, target = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    compiler = sys.argv[3] if len(sys.argv) > 3 else "cc"
    tree = c_parser.CParser().parse(preprocessed(include, compiler))
    lines = []
    Writer(tree, comments(include)).write(lines.append)
    target.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
