/**
 * Several masters at once: which of them gets a request, and what counts as its answer.
 * @module
 */

import { MasterLeftError, NoMasterError, RequestTimeoutError, WireError } from "#lib/errors.ts";
import type { MasterConnection } from "#lib/minion/masters/master_connection.ts";
import { connectedMasters, isMasterTrouble, Masters } from "#lib/minion/masters/masters.ts";
import { unsentReturns } from "#lib/minion/masters/unsent_returns.ts";
import { FROM_MASTER } from "#lib/protocol/own_job.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** Connections by name, each with its answer, or the error that it throws. */
function mastersOf(answers: Readonly<Record<string, Value | Error>>): Masters {
  const all = Object.entries(answers).map(([name, answer]) => {
    const request = (_load: ValueMap) => answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    return { name, connected: name !== "away", listening: name !== "away", request, ask: request };
  });
  return new Masters(all as unknown as MasterConnection[]);
}

const EVENT = map({ cmd: "_minion_event" }), FILE = map({ cmd: "_serve_file" });
const jobOf = (name: string) => map({ [FROM_MASTER]: name });
const silent = (name: string) => new WireError(`${name} refuses`);

Deno.test("an event goes to all connected masters, and one that takes it is enough", async () => {
  await mastersOf({ a: silent("a"), b: true, away: silent("away") }).askAll(EVENT);
  await assertRejects(() => mastersOf({ a: silent("a"), b: silent("b") }).askAll(EVENT), WireError, "a refuses");
  await assertRejects(() => mastersOf({ a: silent("a"), away: true }).askAll(EVENT), WireError, "a refuses");
});

Deno.test("the answer to a request is that of the job's master; for events another one's, if it has none", async () => {
  const masters = mastersOf({ a: 1, b: 2, c: silent("c") });
  for (const load of [EVENT, FILE]) assertEquals(await masters.request(load, jobOf("b")), 2);
  assertEquals(await masters.request(EVENT, jobOf("c")), 1);
  await assertRejects(() => masters.request(FILE, jobOf("c")), WireError, "c refuses");
  assertEquals(await masters.request(FILE, jobOf("gone")), 1);
  await assertRejects(
    () => mastersOf({ a: silent("a"), b: silent("b") }).request(EVENT, jobOf("b")),
    Error,
    "b refuses",
  );
});

Deno.test("each of several masters has its line, and a minion without one says so", () => {
  assertEquals(mastersOf({ a: 1, away: 1 }).describe(), ["a: listening for jobs", "away: signing in"]);
  assertEquals(mastersOf({ a: 1 }).describe(), ["listening for jobs"]);
  assertThrows(() => connectedMasters(undefined), NoMasterError, "This minion has no master (master_type: disable)");
});

Deno.test("a master that is left is trouble with a master as one that does not answer is", () => {
  const errors = [new RequestTimeoutError("tcp://a:4506", 1), new MasterLeftError("left"), new Error("a fault")];
  assertEquals(errors.map(isMasterTrouble), [true, true, false]);
});

Deno.test("a minion without a master logs the outcome of its jobs", () => {
  const { log, lines } = memoryLog(), returns = unsentReturns(log);
  returns.add(map({ fun: "test.ping", retcode: 0, success: true }), map({}));
  returns.add(map({ fun: "test.fail", retcode: 1, success: false }), map({}));
  assertEquals(lines, [
    "INFO test.ping ended with return code 0; it is returned to no master",
    "ERROR test.fail ended with return code 1; it is returned to no master",
  ]);
  assertEquals(returns.jids(), new Set());
});
