/**
 * One job with minions in each of the outcomes: all functions and commands that show jobs agree.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { BEYOND, OUTCOMES, silenceText } from "#lib/protocol/outcome.ts";
import { formerPresenceTopic } from "#lib/fleet/presence.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { failedText } from "#tests/support/fleet/salt_texts.ts";
import { asMap, ScriptedMinion, testKey } from "#tests/support/fleet/scripted_minion.ts";

const LIST = "away,bad,busy,dead,ghost,good,mute,queued";

/** The outcome of each minion, until the test opens the gate. */
const EXPECTED = {
  away: "not connected",
  bad: "failed",
  busy: "running",
  dead: "interrupted",
  ghost: "no such minion",
  good: "returned",
  mute: "not received",
  queued: "received",
} as const;

/** A custom module of the minion: `act.it` waits for the gate if asked, and then succeeds or fails. */
function writeModule(fleet: Fleet, id: string, how: "waits" | "fails" | "returns"): void {
  const directory = `${fleet.minionConfigDir(id)}/var/cache/salt/minion/extmods/modules`;
  Deno.mkdirSync(directory, { recursive: true });
  const wait = `
    for (;;) {
      try {
        Deno.statSync(${JSON.stringify(`${fleet.root}/gate`)});
        break;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }`;
  Deno.writeTextFileSync(
    `${directory}/act.js`,
    `export async function it() {
      ${how === "waits" ? wait : ""}
      ${how === "fails" ? 'throw new Error("it went wrong");' : "return true;"}
    }
    it.permissions = { read: true };`,
  );
}

function scripted(fleet: Fleet, id: string, key: ScriptedMinion["key"]): ScriptedMinion {
  return new ScriptedMinion(id, key, async (frame) => {
    using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
    return await channel.request(frame, { timeoutMs: WITHIN_MS, tries: 1 });
  });
}

/** A connected minion that never replies. */
async function startMute(fleet: Fleet): Promise<Disposable> {
  const minion = scripted(fleet, "mute", await testKey("mute"));
  await minion.signIn();
  const inbox = Inbox.subscriber({ highWaterMark: 0 });
  inbox.subscribe(formerPresenceTopic("mute", minion.session?.keyString ?? ""));
  inbox.connect(`tcp://127.0.0.1:${fleet.masterOpts.publish_port}`);
  const reading = (async () => {
    while (await inbox.receive() !== undefined);
  })();
  await eventually(() => readPresence(fleet.masterOpts.cachedir).present.has("mute"), { what: "mute" });
  return {
    [Symbol.dispose]() {
      inbox.close();
      void reading;
    },
  };
}

async function runner(fleet: Fleet, ...words: string[]): Promise<ValueMap> {
  const { out, err } = await fleet.saltRun("--out=json", ...words);
  assert(out !== "", err);
  return asMap(parseJson(out));
}

/** A map of ids as a plain object, sorted. */
function sorted(answer: Value | undefined, value: (item: Value) => unknown = (item) => item): Record<string, unknown> {
  const entries = [...asMap(answer ?? null)].map(([id, item]) => [String(id), value(item)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => a < b ? -1 : 1));
}

async function outcomes(fleet: Fleet, jid: string): Promise<Record<string, unknown>> {
  return sorted(await runner(fleet, "jobs.outcomes", jid), (item) => asMap(item).get("outcome"));
}

fleetTest("a job with every outcome has the same outcomes in jobs.* and in the output of salt", {
  master: { timeout: 2, gather_job_timeout: 2, job_ttl: 0 },
}, async (fleet) => {
  const start = {
    good: "returns",
    bad: "fails",
    busy: "waits",
    dead: "waits",
    queued: "waits",
    away: "returns",
  } as const;
  const ids = Object.keys(start);
  await fleet.untilServing(ids, async () => {
    for (const [id, how] of Object.entries(start)) {
      fleet.minionOpts(id);
      writeModule(fleet, id, how);
      await fleet.startMinion(id, id === "queued" ? { process_count_max: 1 } : {});
    }
  });
  using _mute = await startMute(fleet);
  await fleet.stopMinion("away");
  await eventually(() => readPresence(fleet.masterOpts.cachedir).gone.has("away"), { what: "that away is away" });

  // The minion "queued" is busy with another job.
  const before = /\d{20}/.exec((await fleet.salt("--async", "queued", "act.it")).out)?.[0] ?? "";
  await eventually(async () => (await outcomes(fleet, before)).queued === "running", { what: "the other job" });

  let text = "";
  const running = fleet.saltWith(
    { onOutput: (some) => void (text += some) },
    "--summary",
    "--show-jid",
    "-L",
    LIST,
    "act.it",
  );
  const jid = await eventually(() => /\d{20}/.exec(text)?.[0], { what: "the job's id" });
  await eventually(async () => (await outcomes(fleet, jid)).dead === "running", { what: "a job to interrupt" });
  await fleet.stopMinion("dead");
  await fleet.untilServing(["dead"], () => fleet.startMinion("dead"));
  await eventually(async () => {
    assertEquals(await outcomes(fleet, jid), EXPECTED);
    return true;
  }, { what: "every outcome" });
  // tests/operators has jobs that a minion refuses, tests/cluster those that do not reach another master, and
  // tests/master/requests/flow_test.ts those that are cancelled.
  const others: readonly string[] = ["cancelled", "refused", BEYOND];
  assertEquals(Object.values(EXPECTED).sort(), OUTCOMES.filter((outcome) => !others.includes(outcome)).sort());

  // The functions that show the whole job.
  const returned = ["bad", "dead", "good"];
  const job = await runner(fleet, "jobs.list_job", jid);
  const printed = asMap((await runner(fleet, "jobs.print_job", jid)).get(jid) ?? null);
  for (const shown of [job, printed]) {
    assertEquals(sorted(shown.get("Outcomes")), EXPECTED);
    assertEquals(Object.keys(sorted(shown.get("Result"))), returned);
    assertEquals(
      Object.entries(sorted(shown.get("Result"), (item) => asMap(item).get("interrupted"))).filter(([, is]) => is),
      [["dead", true]],
    );
  }
  assertEquals(Object.keys(sorted(await runner(fleet, "jobs.lookup_jid", jid))), returned);
  const missing = sorted(await runner(fleet, "jobs.lookup_jid", jid, "missing=True", "returned=False"));
  assertEquals(missing, {
    away: "Minion did not return. [Not connected]",
    busy: "Minion did not return. [Running]",
    ghost: "Minion did not return. [No such minion]",
    mute: "Minion did not return. [No response]",
    queued: "Minion did not return. [Received]",
  });
  const active = asMap((await runner(fleet, "jobs.active")).get(jid) ?? null);
  const at = active.get("Running");
  assertEquals(Array.isArray(at) && at.map((one) => isMap(one) ? [...one.keys()] : []), [["busy"]]);
  assertEquals(active.get("Returned"), returned);
  const attached = fleet.saltRun("--out=json", "jobs.attach", jid);

  // The output of salt, when all minions that reply have replied.
  Deno.writeTextFileSync(`${fleet.root}/gate`, "");
  const { code, out, err } = await running;
  assertEquals(code, 1);
  assertEquals(
    err,
    "Not connected: away. The others are waited for.\n" +
      failedText("1 (bad), interrupted (dead), no such minion (ghost), not connected (away), not received (mute)"),
  );
  for (const id of ["good", "busy", "queued"]) assertStringIncludes(out, `\n${id}:\n    True\n`);
  assertStringIncludes(out, "\ndead:\n    The minion ended while it ran this job\n");
  for (const id of ["away", "ghost", "mute"] as const) {
    assertStringIncludes(out, `\n${id}:\n    ${silenceText(EXPECTED[id])}\n`);
  }
  assertStringIncludes(
    out,
    "# of minions targeted: 8\n# of minions returned: 5\n# of minions that did not return: 3\n" +
      "# of minions with errors: 2\n" +
      "outcome         code  minions  which\n" +
      "returned           0        3  busy, good, queued\n" +
      "failed             1        1  bad\n" +
      "interrupted        1        1  dead\n" +
      "not received       -        1  mute\n" +
      "not connected      -        1  away\n" +
      "no such minion     -        1  ghost\n",
  );
  const ended = { ...EXPECTED, busy: "returned", queued: "returned" };
  assertEquals(await outcomes(fleet, jid), ended);
  const followed = await attached;
  assertEquals(sorted(parseJson(followed.out)), ended);
  assertEquals(followed.code, 1);
});

fleetTest(
  "if a minion returns twice, the first return is stored, and both events have it",
  {},
  async (fleet) => {
    const minion = scripted(fleet, "twice", await testKey("twice"));
    await minion.signIn();
    const jid = /\d{20}/.exec((await fleet.salt("--async", "twice", "test.ping")).out)?.[0] ?? "";
    using events = await fleet.listen(`salt/job/${jid}/ret`);
    const load = { cmd: "_return", id: "twice", jid, fun: "test.ping", fun_args: [], success: true, retcode: 0 };
    // Also at the same time from several connections: only one return is stored.
    const values = [1, 2, 3, 4, 5, 6];
    await Promise.all(values.map((value) => minion.request({ ...load, return: value })));
    const stored = (await runner(fleet, "jobs.lookup_jid", jid)).get("twice");
    assert(values.includes(Number(stored)), String(stored));
    assertEquals(await minion.request({ ...load, return: "changed", retcode: 1, success: false }), "");
    const eventReturns: unknown[] = [];
    while (eventReturns.length < values.length + 1) {
      const event = await events.next(WITHIN_MS);
      assert(event !== undefined, "an event is missing");
      eventReturns.push(event.data.get("return"));
    }
    assertEquals(new Set(eventReturns), new Set([stored]));
    assertEquals((await runner(fleet, "jobs.lookup_jid", jid)).get("twice"), stored);
    assertEquals(await outcomes(fleet, jid), { twice: "returned" });
  },
);

for (
  const [outcome, label] of [["running", "Running"], ["received", "Received"], ["not received", "No response"]] as const
) {
  Deno.test(`a minion whose outcome is "${outcome}" did not return, for salt: [${label}]`, () =>
    assertEquals(silenceText(outcome), `Minion did not return. [${label}]`));
}
