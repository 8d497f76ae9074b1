/** Chunks as the API runs them: which are refused, what their entries are, and what the audit log has of them. */

import type { ApiCaller, RecordedCall } from "#lib/api/calls/caller.ts";
import { asApiError, chunksOf, runChunk } from "#lib/api/calls/run_chunks.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { NoMasterError, RefusedError, TargetError, ThrottledError, UsageError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { API_PASSWORD, apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_calls_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
const users = apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"] });

/** Runs a chunk as alice; what was recorded of it is added to `records`. */
function callerOf({ masterOpts }: Fleet, changes: Partial<ApiCaller["opts"]> = {}) {
  const records: RecordedCall[] = [];
  const caller: ApiCaller = {
    opts: { ...masterOpts, ...changes },
    log: SILENT_LOGGER,
    signal: new AbortController().signal,
    record: (call) => void records.push(call),
    user: "alice",
    proof: map({ username: "alice", password: API_PASSWORD, eauth: "file" }),
  };
  const run = async (low: Readonly<Record<string, unknown>>) => await runChunk(map(low), caller);
  const refusal = async (low: Readonly<Record<string, unknown>>) => {
    const { status, message } = await assertRejects(() => run(low), ApiError, undefined, JSON.stringify(low));
    return `${status} ${message}`;
  };
  return { run, refusal, records };
}

/** Chunks that cannot be run. */
async function checkRefusals(fleet: Fleet): Promise<void> {
  const { refusal, records } = callerOf(fleet);
  const local = { client: "local", tgt: "m1", fun: "test.ping" };
  const runner = { client: "runner", fun: "test.arg" };
  const ssh = { client: "ssh", tgt: "web1", fun: "test.ping" };
  const cases: [low: Record<string, unknown>, refusal: string][] = [
    [{ ...local, client: null }, "400 Invalid client specified: 'None'"],
    [{ ...local, client: "__proto__" }, "400 Invalid client specified: '__proto__'"],
    [{ ...local, raw_shell: true }, "401 Raw shell option not allowed."],
    [{ ...local, tgt: null }, "400 A chunk of the client local needs tgt"],
    [{ ...local, fun: [] }, "400 A chunk of the client local needs fun"],
    [{ ...local, fun: ["test.ping", 1] }, "400 A chunk of the client local needs fun"],
    [{ ...local, kwarg: ["a=1"] }, "400 kwarg must be a map"],
    [{ ...local, jid: 20261128120000000001 }, "400 jid is no job id"],
    [{ ...local, jid: "../../etc" }, "400 jid is no job id"],
    [{ ...local, timeout: "soon" }, "400 timeout must be a number"],
    [{ ...local, timeout: " " }, "400 timeout must be a number"],
    [{ ...local, client: "local_batch", gather_job_timeout: [] }, "400 gather_job_timeout must be a number"],
    [{ ...local, client: "local_subset", subset: -1 }, "400 subset must be a number"],
    [{ client: "runner" }, "400 runner takes at least 1 argument (0 given)"],
    [{ client: "wheel_async", fun: ["key.list_all"] }, "400 wheel takes at least 1 argument (0 given)"],
    [{ ...runner, arg: ["door=red"], door: "blue" }, "400 The argument door is given twice"],
    [{ ...runner, kwarg: { door: "red" }, door: "blue" }, "400 the argument door is given twice"],
    [{ ...runner, arg: ["door=red", "door=blue"] }, "400 the argument door is given twice"],
    [{ ...runner, kwarg: { __kwarg__: "yes" } }, "400 __kwarg__ is not True"],
    [{ ...ssh, tgt: null }, "400 A chunk of the client ssh needs tgt"],
    [{ ...ssh, tgt: ["web1", 2] }, "400 A chunk of the client ssh needs tgt"],
    [{ ...ssh, fun: ["test.ping"] }, "400 A chunk of the client ssh needs fun"],
    [{ ...ssh, kwarg: "a=1" }, "400 kwarg must be a map"],
    [{ ...ssh, jid: "now" }, "400 jid is no job id"],
    [{ ...ssh, roster: ["flat", "scan"] }, "400 The master's configuration does not name the roster scan"],
    // The configuration names this roster, and who has the right is told what is wrong with it.
    [{ ...ssh, roster: "flat" }, `400 No roster can be read: flat: Roster file "${fleet.configDir}/roster" not found`],
  ];
  const withoutSsh = "503 There is no ssh on the host of salt-api";
  for (const [low, text] of cases) {
    const expected = low.client === "ssh" && which("ssh") === undefined ? withoutSsh : text;
    assertEquals(await refusal(low), expected, JSON.stringify(low));
  }
  assertEquals(new Set(records.map(({ outcome }) => outcome)), new Set(["failed"]));
  const without = callerOf(fleet, { netapi_enable_clients: ["local"] });
  assertEquals((await without.refusal(runner)).slice(0, 29), "400 Client disabled: 'runner'");
}

/** Chunks that are run. */
async function checkEntries(fleet: Fleet): Promise<void> {
  const { run, refusal, records } = callerOf(fleet);
  const ping = { tgt: "*", fun: "test.ping", timeout: 1, gather_job_timeout: 1 };
  const counts: unknown[] = [];
  const answer = async (client: string, low: Readonly<Record<string, unknown>> = {}): Promise<Value[]> => {
    const entries = await run({ client, ...ping, ...low });
    const { what, outcome, count } = records.at(-1) ?? {};
    assertEquals(outcome, "done");
    counts.push([what, count]);
    return entries;
  };
  // A minion that has not returned has an outcome, and no return code of a function.
  const [full] = await answer("local", { full_return: true });
  const { m1, m2 } = JSON.parse(dumpJson(full));
  assertEquals([m1.ret, m1.retcode, m1.outcome], [true, 0, undefined]);
  assertEquals([m2.ret.split("\n")[0], m2.outcome], ["Minion did not return. [No response]", "not received"]);
  assert(m1.jid === m2.jid && isJid(m1.jid));
  assertEquals(await answer("local_batch", { tgt: ["m1"], tgt_type: "list", batch: "1" }), [map({ m1: true })]);
  assertEquals(await answer("local_subset", { tgt: "m1", tgt_type: "" }), [map({ m1: true })]);
  // Where nobody matches, each client answers as Salt's.
  const nobody = { tgt: "nobody", tgt_type: "" };
  for (const client of ["local", "local_async", "local_subset"]) {
    assertEquals(await answer(client, nobody), [new Map()]);
  }
  assertEquals(await answer("local_batch", nobody), []);
  await answer("local_async");
  assertEquals(counts, [
    ["local test.ping", 2],
    ["local_batch test.ping", 1],
    ["local_subset test.ping", 1],
    ["local test.ping", 0],
    ["local_async test.ping", 0],
    ["local_subset test.ping", 0],
    ["local_batch test.ping", 0],
    ["local_async test.ping", 2],
  ]);

  const [started] = await run({ client: "wheel_async", fun: "key.list_all" });
  const { tag, jid } = JSON.parse(dumpJson(started));
  assertEquals([tag, isJid(jid), records.at(-1)?.count], [`salt/wheel/${jid}`, true, null]);
  const impatient = callerOf(fleet, { rest_timeout: 0.2 });
  const late = await impatient.refusal({ client: "runner", fun: "test.sleep", arg: [2] });
  assertEquals(late.replace(/'\d+'/, "'JID'"), "504 RunnerClient job 'JID' timed out");

  await fleet.stopMaster();
  for (const low of [{ client: "local", ...ping }, { client: "runner", fun: "test.arg" }]) {
    assertEquals(await refusal(low), "503 Salt Master is not available.");
  }
}

fleetTest(
  "a chunk is refused before anything is sent, or has its entries; the audit log has the number of its minions",
  { master: users, minions: ["m1"] },
  async (fleet) => {
    const published = () => fleet.logs.filter((line) => line.includes(" published ")).length;
    await checkRefusals(fleet);
    assertEquals(published(), 0);
    // A minion whose key is accepted, and that has never come.
    const keys = `${fleet.masterOpts.pki_dir}/minions`;
    Deno.copyFileSync(`${keys}/m1`, `${keys}/m2`);
    await checkEntries(fleet);
  },
);

Deno.test("what is no list of maps has no chunks", () => {
  assertThrows(() => chunksOf(undefined, false), ApiError, "Lowstates must be a list");
  assertThrows(() => chunksOf([1], false), ApiError, "Lowstates must be a list of maps");
});

Deno.test("errors of a call have their status, and who must wait is told how long", () => {
  const cases: [error: Error, status: number, message: string][] = [
    [new NoMasterError("no bus at /var/run"), 503, "Salt Master is not available."],
    [new ThrottledError("Your turn has not come", 1, 1_200), 429, "Your turn has not come"],
    [new RefusedError("TokenAuthenticationError", "of Salt"), 401, "Authentication error occurred."],
    [new RefusedError("AuthorizationError", "Authorization error occurred."), 401, "Authorization error occurred."],
    [new UsageError("too large"), 400, "too large"],
    [new TargetError("no such group", "nodegroup"), 400, "no such group"],
  ];
  for (const [error, status, message] of cases) {
    const problem = asApiError(error);
    assert(problem instanceof ApiError);
    assertEquals([problem.status, problem.message], [status, message]);
    assertEquals(problem.headers, status === 429 ? { "Retry-After": "2" } : {});
  }
  const unexpected = new TypeError("unexpected");
  assertEquals(asApiError(unexpected), unexpected);
});
