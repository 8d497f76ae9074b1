/**
 * Runners and wheel modules in Python: with `salt-run`, in the master for a client, and what they can ask of it.
 * @module
 */

import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";

const RUNNER = `
import salt.client
import salt.runner
import salt.wheel
import salt.utils.event
import salt.utils.minions
import own_part
def fn(a, b=2, **kwargs):
    "Tells."
    print("printed")
    return [a, b, sorted(k for k in kwargs if not k.startswith("__pub_")), __opts__["id"], __opts__["__role"], own_part.part()]
def ping(tgt):
    local = salt.client.LocalClient(__opts__["conf_file"])
    return [local.cmd(tgt, "test.ping"), local.cmd(tgt, "test.echo", ["x"], full_return=True)[tgt]["retcode"]]
def started(tgt):
    return salt.client.get_local_client(__opts__["conf_file"]).cmd_async(tgt, "test.ping")
def others():
    return [
        __salt__["test.arg"]("x", k=1)["args"],
        "own.fn" in __salt__, "no.such" in __salt__,
        salt.runner.RunnerClient(__opts__).cmd("own_part.part", []),
        sorted(salt.wheel.WheelClient(__opts__).cmd("key.list", ["accepted"])),
        salt.utils.minions.CkMinions(__opts__).check_minions("web*", "glob")["minions"],
        salt.client.Caller().cmd("test.echo", "here"),
    ]
def listed():
    import salt_bridge
    names = list(__salt__)
    try:
        missing = salt_bridge.JOB.ask("call", fun="no.such", args=[], kwargs={})
    except Exception as error:
        missing = str(error)
    text = salt_bridge.JOB.ask("format", value=[1], out="json")
    return ["own.fn" in names, "test.arg" in names, bool(__salt__["test.arg"].__doc__), missing, text]
def shows():
    __jid_event__.fire_event({"message": "on the way"}, "progress")
    salt.utils.event.get_master_event(__opts__, __opts__["sock_dir"], listen=False).fire_event({"n": 5}, "own/fired")
    __context__["retcode"] = 3
    return "shown"
def fails():
    raise ValueError("went wrong")
def asks(what):
    import salt_bridge
    return salt_bridge.JOB.ask(what)
`;

const REFUSED = `
def __virtual__():
    try:
        __salt__["test.arg"]("x")
    except Exception as error:
        return (False, "needs the moon: %s" % error)
def f(): pass
`;

const WAITS = `
import salt.client
def fn(tgt, seconds):
    return salt.client.LocalClient(__opts__["conf_file"]).cmd(tgt, "test.ping", timeout=seconds)
`;

function write(fleet: Fleet, path: string, text: string): void {
  const to = `${fleet.root}/${path}`;
  Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(to, text);
}

async function json(fleet: Fleet, ...words: string[]): Promise<unknown> {
  const { out, err } = await fleet.saltRun("--out=json", ...words);
  if (out === "") throw new Error(err);
  return JSON.parse(out);
}

fleetTest(
  "a runner in Python runs with salt-run, and asks the master and its minions",
  { minions: ["web1"] },
  async (fleet) => {
    write(fleet, "srv/_runners/own.py", RUNNER);
    write(fleet, "srv/_runners/own_part.py", "def part(): return 'part'\n");
    write(fleet, "srv/_runners/broken.py", "def (\n");
    write(fleet, "srv/_runners/refused.py", REFUSED);
    assertEquals(await json(fleet, "saltutil.sync_runners"), [
      "runners.broken",
      "runners.own",
      "runners.own_part",
      "runners.refused",
    ]);
    assertEquals(await json(fleet, "own.fn", "1", "c=3"), [1, 2, ["c"], "fleet_master", "master", "part"]);
    assertStringIncludes((await fleet.saltRun("own.fn", "1")).err, "printed\n");
    assertEquals(await json(fleet, "own.ping", "web1"), [{ web1: true }, 0]);
    assertMatch(String(await json(fleet, "own.started", "web1")), /^\d{20}$/);
    assertEquals(await json(fleet, "own.others"), [["x"], true, false, "part", ["minions"], ["web1"], "here"]);
    assertEquals(await json(fleet, "own.listed"), [true, true, true, "'no.such'", "[\n    1\n]"]);

    using events = await fleet.listen("salt/run/"), fired = await fleet.listen("own/");
    const shown = await fleet.saltRun("own.shows");
    assertEquals(shown.code, 3);
    assertStringIncludes(shown.out, "on the way");
    const tags = [await events.next(5000), await events.next(5000)].map((event) => event?.tag.split("/").at(-1));
    assertEquals(tags, ["new", "progress"]);
    assertEquals((await fired.next(5000))?.data.get("n"), 5);

    const failed = await fleet.saltRun("own.fails");
    assertEquals(failed.code, 1);
    assertMatch(failed.out, /Exception occurred in runner own\.fails: Traceback [^]*own\.py", line \d+, in fails\n/);
    const asked = await fleet.saltRun("own.asks", "nonsense");
    assertEquals(asked.code, 1);
    assertStringIncludes(asked.out, "the bridge has no answer to nonsense");
    assertStringIncludes((await fleet.saltRun("own.fn")).out, "Passed invalid arguments");
    assertStringIncludes(
      (await fleet.saltRun("refused.f")).out,
      "needs the moon: a plugin cannot use call while it is loaded",
    );
    assertMatch((await fleet.saltRun("broken.f")).out, /broken\.py, line 1/);
    assertStringIncludes((await fleet.saltRun("-d", "own.fn")).out, "own.fn:\nTells.");
    assertEquals((await fleet.saltRun("test.arg", "x")).code, 0);
  },
);

fleetTest(
  "a runner in Python says how long its LocalClient waits",
  // The default would be longer than the test.
  { minions: [], master: { timeout: 3_600, gather_job_timeout: 1 } },
  async (fleet) => {
    write(fleet, "srv/_runners/waits.py", WAITS);
    await json(fleet, "saltutil.sync_runners");
    const { pki_dir } = fleet.masterOpts;
    Deno.mkdirSync(`${pki_dir}/minions`, { recursive: true });
    Deno.copyFileSync(`${pki_dir}/master.pub`, `${pki_dir}/minions/gone`);
    assertEquals(await json(fleet, "waits.fn", "gone", "1"), {});
  },
);

fleetTest(
  "a wheel module in Python, and a runner of a directory of runner_dirs that a minion asks for",
  { minions: ["web1"], master: { peer_run: { ".*": [".*"] } } },
  async (fleet) => {
    const extmods = fleet.masterOpts.extension_modules;
    assert(extmods.startsWith(fleet.root));
    write(fleet, "srv/_wheel/ownw.py", "def fn(a):\n    return ['wheel', __opts__['id'], a]\n");
    assertEquals(await json(fleet, "saltutil.sync_wheel"), ["wheel.ownw"]);
    assertEquals(await json(fleet, "salt.wheel", "ownw.fn", "a=1"), ["wheel", "fleet_master", 1]);
    Deno.mkdirSync(`${extmods}/runners`, { recursive: true });
    Deno.writeTextFileSync(`${extmods}/runners/own.py`, "def fn(a):\n    return ['runner', a]\n");
    const asked = await fleet.saltJson("web1", "publish.runner", "own.fn", "arg=5");
    assertEquals(asked, map({ web1: ["runner", 5] }));
  },
);
