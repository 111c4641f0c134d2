"""What the tools of ecosystems say of packages: ecosystems.py FOLDER, which holds FORM/digits/ for each form.

PlatformIO builds and runs the library's example, with SCons and the compiler of this machine, and reads the metadata of Arduino's library as well. The manager of
ESP-IDF's components reads the component's manifest. Kconfiglib, which Zephyr uses, evaluates the module's options. Nothing is downloaded.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import kconfiglib
import SCons
from idf_component_tools.manager import ManifestManager, UploadMode
from platformio.dependencies import get_core_dependencies
from platformio.package.manifest.parser import ManifestParserFactory
from platformio.package.manifest.schema import ManifestSchema
from ruamel.yaml import YAML

FOLDER = Path(sys.argv[1])


def check(good: bool, what: str) -> None:
    if not good:
        sys.exit(f"package: {what}")


def platformio_metadata() -> None:
    for form in ("platformio", "arduino"):
        folder = FOLDER / form / "digits"
        if folder.exists():  # Arduino's needs a cross compiler
            read = ManifestSchema().load_manifest(ManifestParserFactory.new_from_dir(str(folder)).as_dict())
            check(read["name"] == "digits" and read["version"] == "2.3.4" and read["headers"] == ["digits_c.h"], f"PlatformIO reads of {form}: {read}")


def platformio_build(work: Path) -> None:
    """A project with the library, for a platform that is this machine. PlatformIO finds what it would download where it looks first."""
    core, project = work / "core", work / "project"

    def install(kind: str, name: str, version: str, owner: str | None) -> Path:
        at = core / kind / name
        at.mkdir(parents=True)
        spec = {"owner": owner, "id": None, "name": name, "requirements": None, "uri": None}
        (at / ".piopm").write_text(json.dumps({"type": "tool" if owner else "platform", "name": name, "version": version, "spec": spec}))
        (at / ("package.json" if owner else "platform.json")).write_text(
            json.dumps({"name": name, "title": name, "version": version, "description": name, **({} if owner else {"packages": {}})}))
        return at

    scons = install("packages", "tool-scons", get_core_dependencies()["tool-scons"].lstrip("~"), "platformio")
    (scons / "scons.py").write_text(f"import sys\nsys.path.insert(0, {str(Path(SCons.__file__).parents[1])!r})\nimport SCons.Script\nSCons.Script.main()\n")
    builder = install("platforms", "here", "1.0.0", None) / "builder"
    builder.mkdir()
    (builder / "main.py").write_text(
        'from SCons.Script import Default, DefaultEnvironment\nenvironment = DefaultEnvironment()\n'
        'environment.Replace(CC="gcc", CXX="g++", AR="ar", RANLIB="ranlib", PROGSUFFIX="")\nDefault(environment.BuildProgram())\n')
    (project / "src").mkdir(parents=True)
    (project / "platformio.ini").write_text("[env:here]\nplatform = here\n")
    library = FOLDER / "platformio/digits"
    shutil.copytree(library, project / "lib/digits")
    shutil.copy(library / "examples/run/main.cpp", project / "src")
    quiet = {"PLATFORMIO_CORE_DIR": str(core), "PLATFORMIO_SETTING_ENABLE_TELEMETRY": "no", "PLATFORMIO_SETTING_CHECK_PLATFORMIO_INTERVAL": "99999"}
    run = subprocess.run([Path(sys.executable).parent / "pio", "run", "-d", project], env=os.environ | quiet, capture_output=True, text=True, timeout=600)
    check(run.returncode == 0, f"PlatformIO does not build it:\n{run.stdout}{run.stderr}")
    said = subprocess.run([project / ".pio/build/here/program"], capture_output=True, text=True, check=True).stdout
    check(said.startswith("digits: ok\n"), f"the program that PlatformIO built says {said!r}")


def esp_idf() -> None:
    read = ManifestManager(FOLDER / "esp-idf/digits", "digits", upload_mode=UploadMode.component).load()
    check(str(read.version) == "2.3.4", f"ESP-IDF's component manager reads {read}")


def zephyr(work: Path) -> None:
    root = FOLDER / "zephyr/digits"
    module = YAML(typ="safe").load((root / "zephyr/module.yml").read_text())
    check((root / module["build"]["cmake"] / "CMakeLists.txt").is_file(), "module.yml names no CMakeLists.txt")
    for sample in module["samples"]:
        tests = YAML(typ="safe").load((root / sample / "sample.yaml").read_text())["tests"]
        check(all(test["harness_config"]["regex"] == ["digits: ok"] for test in tests.values()), f"sample.yaml: {tests}")
    kconfig = work / "Kconfig"
    kconfig.write_text(f'config CPP\n\tbool "C++"\nsource "{root / module["build"]["kconfig"]}"\n')
    options = kconfiglib.Kconfig(str(kconfig), warn=False)
    options.load_config(str(root / "sample/prj.conf"))
    check(options.syms["DIGITS"].str_value == "y", "the sample's options do not include the module")
    options.syms["CPP"].set_value(0)
    check(options.syms["DIGITS"].str_value == "n", "the module is there without C++")


with tempfile.TemporaryDirectory() as scratch:
    platformio_metadata()
    esp_idf()
    zephyr(Path(scratch))
    platformio_build(Path(scratch))
print(", ".join(f"{name} {metadata.version(name)}" for name in ("platformio", "idf-component-manager", "kconfiglib")) + ": packages are as they should be")
