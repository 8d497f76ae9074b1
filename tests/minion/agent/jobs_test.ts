/** The jobs of a minion, without a master: what is kept, traced and taken over. */

import { MinionJobs } from "#lib/minion/agent/jobs.ts";
import type { ProcState } from "#lib/minion/worker/proc_files.ts";
import { detachedCommands, detachedDirectory, writeDetached } from "#lib/programs/detached_commands.ts";
import { NO_LOG } from "#lib/protocol/no_log.ts";
import { SCHEDULED } from "#lib/protocol/own_job.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20261128000000000001";

type Parts = ConstructorParameters<typeof MinionJobs>[0];

/** Jobs whose functions all return this. */
function openJobs(
  { cachedir, outcome, left = [], waiting = [], run }: {
    readonly cachedir: string;
    readonly outcome: ValueMap;
    readonly left?: readonly { readonly load: ValueMap; readonly state: ProcState }[];
    /** The jobs whose returns wait. */
    readonly waiting?: readonly string[];
    readonly run?: Parts["pool"]["run"];
  },
) {
  const { log, lines } = memoryLog();
  const spooled: ValueMap[] = [], noted: string[] = [], removed: string[] = [], spans: string[] = [];
  const resumed: boolean[] = [], given: (readonly [ValueMap, ValueMap])[] = [];
  const jobs = new MinionJobs({
    opts: testOpts({ id: "web1", cachedir }),
    log,
    pool: {
      size: 0,
      run: run ?? ((_load, _write, how) => {
        resumed.push(how?.resumed ?? false);
        return Promise.resolve(outcome);
      }),
    },
    spool: { add: (returned: ValueMap) => void spooled.push(returned), jids: () => new Set(waiting) },
    returners: { give: (load: ValueMap, returned: ValueMap) => void given.push([load, returned]) },
    proc: { add: (jid: string) => void noted.push(jid), remove: (jid: string) => void removed.push(jid), left },
    fireMaster: () => Promise.resolve(false),
    fireLocal: () => Promise.resolve(true),
    maxRequestBytes: () => undefined,
    onStateRun: () => {},
    tracer: {
      start: (name: string) => ({
        context: { traceId: "1".repeat(32), spanId: "2".repeat(16), isSampled: true },
        end: ({ error }: { error?: string } = {}) => void spans.push(error === undefined ? name : `${name}: ${error}`),
      }),
    },
  } as unknown as Parts);
  return { jobs, lines, spooled, noted, removed, spans, resumed, given };
}

Deno.test("a scheduled job without a proc file runs, and its end is told", () =>
  withTemporaryDirectory(async (cachedir) => {
    const site = openJobs({ cachedir, outcome: map({ return: true, retcode: 0, success: true }) });
    let ended = 0;
    const load = (jid: string) => map({ jid, fun: "test.ping", [SCHEDULED]: map({ schedule: "job1" }) });
    site.jobs.beginScheduled(load("1"), false, () => ended++);
    site.jobs.beginScheduled(load("2"), true, () => ended++);
    await eventually(() => ended === 2, { what: "the ends" });
    assertEquals(site.noted, ["2"]);
  }));

Deno.test("a state run has a span for each state, with its error; one with no_log has none", () =>
  withTemporaryDirectory(async (cachedir) => {
    const states = map({
      "test_|-a_|-a_|-nop": map({ result: true, comment: "fine", duration: 1 }),
      "test_|-b_|-b_|-fail_without_changes": map({ result: false, comment: "wrong", duration: 1 }),
    });
    const outcome = map({ return: states, retcode: 2, success: false });
    const site = openJobs({ cachedir, outcome });
    const run = ["salt.minion.recv.state.apply", "salt.minion.exec.state.apply: return code 2"];
    site.jobs.take(map({ jid: "1", fun: "state.apply" }));
    await eventually(() => site.removed.length === 1, { what: "the end" });
    assertEquals(site.spans, [run[0], "state: a | test.nop", "state: b | test.fail_without_changes: wrong", run[1]]);
    site.spans.length = 0;
    site.jobs.take(map({ jid: "2", fun: "state.apply", [NO_LOG]: true }));
    await eventually(() => site.removed.length === 2, { what: "the second end" });
    assertEquals(site.spans, run);
  }));

Deno.test("output that the master did not take is kept before the return of its job", () =>
  withTemporaryDirectory(async (cachedir) => {
    const outcome = map({ return: "out", retcode: 0, success: true });
    const site = openJobs({
      cachedir,
      outcome,
      run: (_load, write) => {
        write?.({ command: 1, stream: "stdout", bytes: new TextEncoder().encode("line\n"), encoding: null });
        return Promise.resolve(outcome);
      },
    });
    site.jobs.take(map({ jid: "1", fun: "cmd.run", live: true }));
    await eventually(() => site.removed.length === 1, { what: "the end" });
    assertEquals(site.spooled.map((load) => load.get("cmd")), ["_minion_event", "_return"]);
    assertStringIncludes(dumpJson(site.spooled[0].get("data") ?? null), "line\\n");
  }));

Deno.test("a job whose command went on without the minion is taken over, and its files are removed at its end", () =>
  withTemporaryDirectory(async (cachedir) => {
    Deno.mkdirSync(detachedDirectory(cachedir), { recursive: true });
    const gone = { pid: 2 ** 22, at: "0" };
    writeDetached(cachedir, { jid: JID, number: 1, words: ["sleep", "9"], process: gone, keeper: gone });
    const other = "20261128000000000002";
    const left = [JID, other].map((jid) => ({ load: map({ jid, fun: "cmd.run" }), state: "running" as const }));
    const site = openJobs({ cachedir, outcome: map({ return: "done", retcode: 0, success: true }), left });
    await site.jobs.returnLeft();
    await eventually(() => site.removed.length === 2, { what: "both ends" });
    assertEquals(site.resumed, [true]);
    assertEquals(
      new Map(site.spooled.map((load) => [load.get("jid"), load.get("interrupted") ?? false])),
      new Map([[JID, false], [other, true]]),
    );
    assertEquals(detachedCommands(cachedir, JID), []);
    assertEquals(site.lines.some((line) => line.includes(`Job ${JID}, whose command kept running`)), true);
  }));

Deno.test("an interrupted job is returned to its returners too, unless its own return waits", () =>
  withTemporaryDirectory(async (cachedir) => {
    const jids = [JID, "20261128000000000002"];
    const left = jids.map((jid) => ({
      load: map({ jid, fun: "test.sleep", ret: "redis" }),
      state: "running" as const,
    }));
    const site = openJobs({ cachedir, outcome: new Map(), left, waiting: [jids[1]] });
    await site.jobs.returnLeft();
    assertEquals(
      site.given.map((
        [load, returned],
      ) => [load, returned.get("jid"), returned.get("interrupted"), returned.get("retcode")]),
      [[left[0].load, JID, true, 1]],
    );
    assertEquals([site.spooled, site.removed], [site.given.map(([, returned]) => returned), jids]);
  }));
