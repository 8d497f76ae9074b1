/**
 * Returners in Python, of a minion's jobs and of `salt-call`.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, fleetTest } from "#tests/support/fleet/fleet.ts";

const RETURNER = `
import json
import salt.returners
__virtualname__ = "own"
def __virtual__():
    return __virtualname__
def _path():
    options = salt.returners.get_returner_options(__virtualname__, None, {"path": "path"}, __salt__=__salt__, __opts__=__opts__)
    return options["path"]
def returner(ret):
    if ret["return"] == "refused":
        raise ValueError("went wrong")
    with open(_path(), "a") as file:
        file.write(json.dumps([ret["id"], ret["fun"], ret["return"], __grains__["id"]]) + "\\n")
def get_fun(fun):
    return {__opts__["id"]: fun}
`;

fleetTest(
  "a returner in Python gets the returns of jobs, and is read with ret.*",
  { minions: ["web1"] },
  async (fleet) => {
    Deno.mkdirSync(`${fleet.root}/srv/_returners`, { recursive: true });
    Deno.writeTextFileSync(`${fleet.root}/srv/_returners/own_file.py`, RETURNER);
    Deno.writeTextFileSync(`${fleet.root}/srv/_returners/broken.py`, "def (\n");
    const stored = `${fleet.root}/stored`;
    await fleet.stopMinion("web1");
    await fleet.untilServing(["web1"], () => fleet.startMinion("web1", { "own.path": stored, return_retry_timer: 60 }));
    assertEquals(
      await fleet.saltJson("web1", "saltutil.sync_returners"),
      map({ web1: ["returners.broken", "returners.own_file"] }),
    );
    const lines = () => Deno.readTextFileSync(stored).trim().split("\n").map((line) => JSON.parse(line));
    await fleet.salt("web1", "test.echo", "hi", "--return", "own");
    await eventually(() => lines().length === 1, { what: "the return" });
    assertEquals(lines(), [["web1", "test.echo", "hi", "web1"]]);
    assertEquals(
      await fleet.saltJson("web1", "ret.get_fun", "own", "test.ping"),
      map({ web1: map({ web1: "test.ping" }) }),
    );

    await fleet.salt("web1", "test.echo", "hi", "--return", "broken");
    await eventually(() => fleet.logs.some((line) => /broken/.test(line) && /not|could/.test(line)), {
      what: "the log",
    });
    await fleet.salt("web1", "test.echo", "refused", "--return", "own");
    await eventually(() => fleet.logs.some((line) => line.includes("ValueError: went wrong")), { what: "the refusal" });
    assertEquals(lines().length, 1);

    const call = await fleet.saltCall("web1", "--return", "own", "--out=json", "test.echo", "called");
    assertStringIncludes(call.out, "called");
    assertMatch(JSON.stringify(lines().at(-1)), /"called"/);
  },
);
