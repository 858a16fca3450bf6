"""Packs build/release/python, which 'make python' made, into a wheel. It needs nothing but Python,
so that pip installs without a network."""

import base64
import hashlib
import os
import pathlib
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("TENDRIL_BUILD", HERE.parent / "build" / "release"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = BUILD / "python" / "tendril"
    if not (package / "_api.py").exists():
        raise SystemExit(f"there is no package in {package}: run 'make python' first, or tell "
                         "where the build is by TENDRIL_BUILD")
    version = (BUILD / "python" / "version").read_text().strip()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag = f"py3-none-{platform}"
    info = f"tendril-{version}.dist-info"
    files = {f"tendril/{path.relative_to(package)}": path.read_bytes()
             for path in sorted(package.rglob("*"))
             if path.is_file() and "__pycache__" not in path.parts}
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: tendril\nVersion: {version}\nLicense: Apache-2.0\n"
        "Requires-Python: >=3.9\nRequires-Dist: numpy\n").encode()
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: tendril\nRoot-Is-Purelib: false\n"
                              f"Tag: {tag}\n").encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    name = f"tendril-{version}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
