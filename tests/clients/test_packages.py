"""The packages as users get them, in places where nothing else is; and what a generator makes of /openapi.json."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.clients import node
from tests.support.live_server import ROOT, LiveServer

pytestmark = pytest.mark.slow

LICENSE = (ROOT / "LICENSE").read_bytes()
ASK = """
import sys
from flipset_client import Client, __version__
assert "site-packages" in sys.modules["flipset_client"].__file__ and not [name for name in sys.modules if name == "app"]
with Client(sys.argv[1]) as flipset:
    example = next(one for one in flipset.examples("mortgage") if one.name == "several-ways")
    answer = flipset.counterfactuals("mortgage", example)
    print(len(list(answer)), answer.summary.outcome)
"""
ASK_JS = """
import { Client } from "flipset-client";
const flipset = new Client(process.argv[2]);
const { request } = (await flipset.examples("mortgage")).find((one) => one.name === "several-ways");
const answer = await flipset.counterfactuals("mortgage", request.instance);
const { plans, summary } = await answer.read();
console.log(plans.length, summary.outcome);
"""
TYPED = """
import { Client, type Counterfactual } from "flipset-client";
const answer = await new Client("http://127.0.0.1").counterfactuals("mortgage", { a: 1 }, { max_changes: 1 });
for await (const plan of answer) { const kept: Counterfactual = plan; kept.rank.toFixed(); }
// @ts-expect-error
answer.summary.outcom;
"""
# A client that knows nothing of ours but the types that a generator has made.
GENERATED = """
import type { paths } from "./generated";
type Responses = paths["/v1/models/{model}/counterfactuals"]["post"]["responses"];
type Line = Responses[200]["content"]["application/x-ndjson"];
declare const process: { argv: string[] };
const response = await fetch(`${process.argv[2]}/v1/models/mortgage/counterfactuals`, {
  method: "POST", body: process.argv[3]!, headers: { "Content-Type": "application/json" },
});
let [ranks, outcome] = [0, ""];
for (const text of (await response.text()).trim().split("\\n")) {
  const line: Line = JSON.parse(text);
  if (line.type === "counterfactual") ranks += line.rank;
  else if (line.type === "summary") outcome = line.outcome;
  // @ts-expect-error  a start has no rank
  else if (line.type === "start") line.rank;
}
console.log(ranks, outcome);
"""
STRICT = [
    "--strict",
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--lib",
    "es2022,dom,dom.asynciterable",
]


def test_the_wheel_works_where_nothing_else_is(server: LiveServer, tmp_path: Path):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path)]
    subprocess.run([*wheel, str(ROOT / "clients/python")], check=True, capture_output=True)
    [built] = tmp_path.glob("*.whl")
    held = zipfile.ZipFile(built)
    assert "flipset_client/py.typed" in held.namelist()
    (licence,) = [name for name in held.namelist() if name.endswith(".dist-info/licenses/LICENSE")]
    assert held.read(licence) == LICENSE
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env")], check=True)
    python = str(tmp_path / "env/bin/python")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, str(built)], check=True, capture_output=True)
    done = subprocess.run(
        [python, "-c", ASK, server.url], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("4 found\n", "")


def test_the_tarball_works_where_nothing_else_is(server: LiveServer, tmp_path: Path):
    compiler = str(node.install() / "tsc")
    node.run("npm", "pack", "--silent", "--pack-destination", str(tmp_path))
    [tarball] = tmp_path.glob("*.tgz")
    with tarfile.open(tarball) as held:
        licence = held.extractfile("package/LICENSE")
        assert licence is not None
        assert licence.read() == LICENSE
    (tmp_path / "package.json").write_text('{"type": "module"}')
    node.run("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", str(tarball), folder=tmp_path)
    (tmp_path / "ask.js").write_text(ASK_JS)
    assert node.run("node", "ask.js", server.url, folder=tmp_path) == "4 found\n"
    (tmp_path / "typed.ts").write_text(TYPED)
    assert node.run(compiler, *STRICT, "--noEmit", "typed.ts", folder=tmp_path) == ""


def test_a_generator_types_the_lines_of_a_stream(server: LiveServer, tmp_path: Path):
    """openapi-typescript knows nothing of us but the document; what it makes tells the lines apart."""
    programs = node.install()
    (tmp_path / "package.json").write_text('{"type": "module"}')
    generate = [str(programs / "openapi-typescript"), f"{server.url}/openapi.json", "-o", "generated.d.ts"]
    node.run(*generate, folder=tmp_path)
    (tmp_path / "ask.ts").write_text(GENERATED.replace("./generated", "./generated.js"))
    node.run(str(programs / "tsc"), *STRICT, "ask.ts", folder=tmp_path)
    request = (ROOT / "models/mortgage/examples/several-ways.json").read_text()
    assert node.run("node", "ask.js", server.url, request, folder=tmp_path) == "10 found\n"
