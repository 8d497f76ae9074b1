/**
 * Plugins in Python that send what they like to the minion, or start more processes than they may: their job ends with
 * a name, and others are served.
 * @module
 */

import { packPython } from "#lib/python_bridge/link/messages.ts";
import { frame } from "#lib/protocol/frames.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { sleep } from "#lib/os/sleep.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { str } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { PythonPool } from "./python_pool.ts";

const LIAR = `
import os, time
import salt_bridge
def raw(data, times=1):
    for _ in range(times):
        salt_bridge.JOB.link._connection.sendall(data)
    time.sleep(60)
def honest():
    time.sleep(0.5)
    return "honest"
`;

function json(fields: unknown): Uint8Array {
  return frame(0, new TextEncoder().encode(JSON.stringify(fields)));
}

const HEAD = (size: number) => frame(1, new Uint8Array()).map((byte, i) => i < 4 ? size >> (24 - 8 * i) & 255 : byte);

/** Frames, how often they are sent, and how the job ends. */
const FORGED: Readonly<Record<string, readonly [Uint8Array, number, string]>> = {
  "a frame that is too long": [HEAD(0x7fffffff), 1, "it sent an invalid message: a message of 2147483647 bytes"],
  "bytes that are no message": [frame(1, new Uint8Array(100).fill(0xc1)), 1, "it sent an invalid message: "],
  "a message of no kind": [packPython({ kind: "run" }), 1, "a message of no known kind"],
  "a question without a name": [
    packPython({ kind: "ask", id: 1, during: 0, what: 5 }),
    1,
    "it sent an invalid message",
  ],
  "a second process": [json({ started: 1 }), 1, "it sent an invalid message: a second start"],
  "a path of its own": [json({ real: "/nowhere" }), 1, "it sent an invalid message: a path that was not asked for"],
  "an end of its own": [json({ ended: "it is over" }), 1, "it is over"],
  "a thousand questions": [
    packPython({ kind: "ask", id: 1, during: 0, what: "call", fun: "test.sleep", args: [5], kwargs: {} }),
    1000,
    "it sent an invalid message: too many questions",
  ],
};

Deno.test("a plugin in Python that forges frames ends its own job, with a name", async (t) => {
  await using pool = new PythonPool({ "modules/liar.py": LIAR });
  const honest = pool.start("liar.honest");
  for (const [what, [bytes, times, named]] of Object.entries(FORGED)) {
    await t.step(what, async () => {
      const told = str(await pool.run("liar.raw", bytes, times));
      assertStringIncludes(told, "The module's process ended: ");
      assertStringIncludes(told, named);
    });
  }
  assertEquals((await honest.outcome).get("return"), "honest");
  assertEquals(await pool.run("test.ping"), true);
});

Deno.test("an outcome that a plugin in Python forges is its own job's", async () => {
  await using pool = new PythonPool({ "modules/liar.py": LIAR });
  const honest = pool.start("liar.honest");
  // The requests of a job are numbered.
  const forged = [1, 2, 3, 4, 5].map((id) => packPython({ kind: "done", id, retcode: 0, value: "forged" }));
  assertEquals(await pool.run("liar.raw", joinBytes(forged)), "forged");
  assertEquals((await honest.outcome).get("return"), "honest");
});

const BOMB = `
import os, time
def bomb():
    print("a bomb")
    while True:
        if os.fork() == 0:
            time.sleep(300)
            os._exit(0)
        time.sleep(0.002)
`;

Deno.test("a plugin in Python that starts processes without end is ended with all of them", async () => {
  await using pool = new PythonPool({ "modules/bomb.py": BOMB, "modules/liar.py": LIAR }, { processes: 40 });
  const { jid, outcome } = pool.start("bomb.bomb");
  const pidOf = () => pool.pool.running().find((job) => job.jid === jid)?.pid ?? null;
  const pid = await eventually(pidOf, { what: "the job's process" });
  const told = str((await outcome).get("return") ?? null);
  assertMatch(told, /^ERROR: The module's process ended: it started more than 40 processes; .* was: a bomb$/);
  await eventually(() => inGroup(pid) === 0, { what: "the end of the processes" });
  assertEquals(await pool.run("liar.honest"), "honest");
  assert(pool.lines.every((line) => !line.includes("died")), "no thread has died");
});

/** How many processes of a group run. */
function inGroup(group: number): number {
  return [...Deno.readDirSync("/proc")].filter(({ name }) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const [state, , pgrp] = Deno.readTextFileSync(`/proc/${name}/stat`).replace(/^.*\) /s, "").split(" ");
      return Number(pgrp) === group && state !== "Z";
    } catch {
      return false;
    }
  }).length;
}

const CLOSER = `
import os, time
def _wait(path):
    for _ in range(1500):
        if os.path.exists(path):
            return
        time.sleep(0.02)
def closes(begun, told):
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    open(begun, "w").close()
    _wait(told)
    return "closed"
def answers(begun, told):
    open(begun, "w").close()
    _wait(told)
    return __salt__["test.echo"]("answered")
`;

Deno.test("a plugin in Python that closes its output and ends later ends no job that began meanwhile", async () => {
  await using pool = new PythonPool({ "modules/closer.py": CLOSER });
  const start = async (fun: string, name: string) => {
    const begun = `${pool.root}/${name}_begun`, told = `${pool.root}/${name}_told`;
    const { outcome } = pool.start(`closer.${fun}`, [begun, told]);
    await eventually(() => isFile(begun), { what: `the beginning of ${name}` });
    return async () => {
      Deno.writeTextFileSync(told, "");
      return (await outcome).get("return");
    };
  };
  const endLong = await start("answers", "long");
  const endCloser = await start("closes", "closer");
  await sleep(300); // the zygote has seen the end of its output
  const endNext = await start("answers", "next");
  assertEquals(await endCloser(), "closed");
  await sleep(300); // the zygote has seen its end
  assertEquals([await endNext(), await endLong()], ["answered", "answered"]);
});

/** Loads a file with a short limit of time, and says why it does not load. */
const LOADS = `
import logging, sys
logging.disable(logging.CRITICAL)
sys.path[:0] = [sys.argv[1] + "/standins", sys.argv[1]]
from salt_bridge import loader
loader.LOAD_SECONDS = 0.3
class Job:
    may_be_elsewhere = False
    def starts_loading(self, loaded): pass
    def dunder(self, name): return {}
    def has(self, name): return False
family = loader.Family(Job(), "modules", {"endless": sys.argv[2], "after": sys.argv[3]})
for one in family.all():
    print(one.name, one.refused, one.problem)
`;

Deno.test("a file in Python whose loading never ends is named, and the next one loads", () =>
  withTemporaryDirectory(async (root) => {
    const helper = decodeURIComponent(new URL("../../../lib/python_bridge/helper", import.meta.url).pathname);
    Deno.writeTextFileSync(`${root}/loads.py`, LOADS);
    Deno.writeTextFileSync(`${root}/after.py`, "def f(): return 1\n");
    for (
      const loop of [
        "while True: pass",
        "while True:\n    try:\n        import time; time.sleep(9)\n    except Exception: pass",
      ]
    ) {
      Deno.writeTextFileSync(`${root}/endless.py`, `x = 1\n${loop}\n`);
      const words = [`${root}/loads.py`, helper, `${root}/endless.py`, `${root}/after.py`];
      const { code, out, err } = await run(["python3", "-B", ...words]);
      assertEquals([code, err], [0, ""]);
      const [after, endless] = out.trim().split("\n");
      assertEquals(after, "after False None");
      assertMatch(endless, /^endless True .*endless\.py:\d: TooSlow: it did not load in 0\.3 seconds$/);
    }
  }));
