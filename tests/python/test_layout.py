"""Structs as ctypes sees them lie as the compiler lays them, every field of them, and every
function of the headers is in the library."""

import ctypes
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from tendril import api

SOURCE = pathlib.Path(os.environ["TENDRIL_SOURCE"])


class Layout(unittest.TestCase):
    def test_structs(self):
        lines = ["#include <stddef.h>", "#include <tendril/tendril.h>",
                 "#include <tendril/io.h>"]
        for name, kind in vars(api).items():
            if name.startswith("_") or not isinstance(kind, type) or kind is ctypes.Structure \
                    or not issubclass(kind, ctypes.Structure):
                continue
            size = ctypes.sizeof(kind)
            lines.append(f'_Static_assert(sizeof(Tdl{name}) == {size}, "{name}");')
            lines += [f'_Static_assert(offsetof(Tdl{name}, {field}) == '
                      f'{getattr(kind, field).offset}, "{name}.{field}");'
                      for field, *_ in kind._fields_ if not field.startswith("_")]
        self.assertGreater(len(lines), 800)
        with tempfile.TemporaryDirectory() as work:
            path = pathlib.Path(work) / "layout.c"
            path.write_text("\n".join(lines) + "\n")
            said = subprocess.run([os.environ["TENDRIL_CC"], "-std=c17", "-fsyntax-only",
                                   f"-I{SOURCE / 'include'}", path], capture_output=True, text=True)
        self.assertEqual(said.returncode, 0, said.stderr)

    def test_enumerations(self):
        for path in (SOURCE / "include" / "tendril").glob("*.h"):
            text = re.sub(r"//[^\n]*", "", path.read_text())
            for body, name in re.findall(r"typedef enum \w+ \{(.*?)\} (\w+);", text, re.S):
                there = [e.partition("=")[0].strip() for e in body.split(",") if e.strip()]
                count = sum(not e.endswith("_COUNT") for e in there)
                self.assertEqual(len(getattr(api, name[3:]).__members__), count, name)

    def test_functions(self):
        told = set()
        for path in (SOURCE / "include" / "tendril").glob("*.h"):
            told |= set(re.findall(r"TDL_API [^;(]*?(tdl_\w+)\(", path.read_text()))
        self.assertEqual(told, set(api.FUNCTIONS))

    def test_every_definition_says_what_it_means(self):
        for name in ("WorldDef", "RodDef", "RigidDef", "ColliderDef", "ClothDef", "GrainsDef"):
            kind = getattr(api, name)
            told = [f for f, *_ in kind._fields_ if kind._docs_[f]]
            self.assertGreater(len(told), 0.6 * len(kind._fields_), name)


if __name__ == "__main__":
    unittest.main()
