/**
 * Returners in Python on a master: `event_return` and `master_return`.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually, startFleet } from "#tests/support/fleet/fleet.ts";

const RETURNER = `
import json
def _write(kind, value):
    with open(__opts__["own.path"], "a") as file:
        file.write(json.dumps([kind, value, __opts__["id"], "test.ping" in __salt__, list(__salt__), dict(__grains__)]) + "\\n")
def _texts():
    import salt.output, salt_bridge
    try:
        refused = salt_bridge.JOB.ask("fire", data={}, tag="t", here=True)
    except Exception as error:
        refused = str(error)
    return [salt.output.out_format({"a": 1}, "nested"), refused]
def event_return(events):
    for event in events:
        _write("event", [event["tag"], event["data"].get("n"), *_texts()])
def returner(ret):
    _write("return", [ret["id"], ret["fun"], ret["return"]])
`;

/** What each call knows: the master's id, and no functions or grains. */
const KNOWN = ["fleet_master", false, [], {}];

Deno.test("a returner in Python gets a master's events, and the returns of its minions", async () => {
  const path = Deno.makeTempFileSync();
  try {
    await using fleet = await startFleet({
      master: {
        "event_return": "own",
        "master_return": "own",
        "event_return_whitelist": ["own/*"],
        "own.path": path,
      },
    });
    const directory = `${fleet.masterOpts.extension_modules}/returners`;
    Deno.mkdirSync(directory, { recursive: true });
    Deno.writeTextFileSync(`${directory}/own.py`, RETURNER);
    await fleet.stopMaster();
    await fleet.startMaster();
    await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
    await fleet.fire("own/1", map({ n: 1 }));
    await fleet.salt("web1", "test.echo", "hi");
    const stored = () =>
      Deno.readTextFileSync(path).trim().split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    await eventually(() => stored().length >= 2, { what: "both" });
    const lines = stored();
    assertEquals(lines.find(([kind]) => kind === "event"), [
      "event",
      ["own/1", 1, "a:\n    1", "a returner of a master cannot use fire"],
      ...KNOWN,
    ]);
    assertEquals(lines.find(([kind]) => kind === "return"), ["return", ["web1", "test.echo", "hi"], ...KNOWN]);
  } finally {
    Deno.removeSync(path);
  }
});
