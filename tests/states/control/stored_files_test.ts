/**
 * What is stored of runs: requests for pauses, requests for runs and records, also where they are damaged or of other
 * runs.
 * @module
 */

import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { openTree, withoutTimes } from "#tests/support/calls/state_tree.ts";
import { CommandError, CommandLostError } from "#lib/errors.ts";
import { appendFrame, frameRecord } from "#lib/os/record_file.ts";
import { disabledTexts } from "#lib/states/control/disabling.ts";
import { formerRun, interruptedRunLines, survivingCommands } from "#lib/states/control/interrupted_run.ts";
import { ALL_STATES, knownPauses, pauseRun, resumeRun } from "#lib/states/control/pauses.ts";
import { readRun, RunRecord } from "#lib/states/control/record.ts";
import { readRequests } from "#lib/states/control/requests.ts";
import { chunkTag } from "#lib/states/compiler/chunks.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { encode } from "#lib/values/msgpack.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20260101000000000000";
const OTHER = "20260102000000000000";

/** A record of these batches, as a run writes it. */
function writeRecord(cachedir: string, jid: string, ...batches: Value[]): void {
  Deno.mkdirSync(`${cachedir}/state_runs`, { recursive: true });
  using file = Deno.openSync(`${cachedir}/state_runs/${jid}`, { append: true, create: true });
  for (const batch of batches) appendFrame(file, frameRecord(encode(batch, "disk"), { checked: false }));
}

const BEGIN = map({ kind: "begin", jid: JID, fun: "state.sls", begun: 1 });

Deno.test("a glob of functions disables those of its module alone", () => {
  const context = { grains: map({ state_runs_disabled: ["net.*", "web"] }) };
  assertEquals(disabledTexts(["net.up", "network.up", "web"], context), [
    'The state file "net.up" is currently disabled by "net.*", to re-enable, run state.enable net.*.',
    'The state file "web" is currently disabled, to re-enable, run state.enable web.',
  ]);
  assertEquals(disabledTexts(["net.up"], { grains: new Map() }), []);
});

Deno.test("state.disable and state.enable keep a grain, and say what was so already", async () => {
  const call = async (fun: string, states: Value, disabled: readonly string[] = []) => {
    await using tree = await openTree({ files: {}, context: { grains: map({ state_runs_disabled: [...disabled] }) } });
    const { returned } = await tree.call(fun, [states]);
    return [isMap(returned) && returned.get("msg"), tree.context.grains.get("state_runs_disabled")];
  };
  assertEquals(await call("state.disable", "a,b"), ["Info: a state disabled.\nInfo: b state disabled.", ["a", "b"]]);
  assertEquals(await call("state.disable", ["a"], ["a"]), ["Info: a state already disabled.", ["a"]]);
  const both = "Info: a state enabled.\nInfo: c state already enabled.";
  assertEquals(await call("state.enable", "a,c", ["a", "b"]), [both, ["b"]]);
});

Deno.test("a run is resumed before one state, or before all", () =>
  withTemporaryDirectory(async (cachedir) => {
    const job = { jid: JID, fun: "state.sls", pid: 1, arg: [], tgt: "*", tgt_type: "glob", ret: "", user: "root" };
    const jobs = {
      ...testContext().jobs,
      running: () => Promise.resolve([job, { ...job, jid: OTHER, fun: "test.ping" }]),
    };
    const opts = { ...testContext().opts, cachedir };
    const known = async (jids: Value = null) => {
      const pauses = (await knownPauses(jids, { opts, jobs })).get(JID);
      return isMap(pauses ?? null) ? [...(pauses as Map<Value, Value>).keys()] : pauses;
    };
    assertEquals(await known(), undefined);
    pauseRun(cachedir, JID, { id: "a" });
    pauseRun(cachedir, JID, { id: "b" });
    assertEquals(await known(), ["a", "b"]);
    resumeRun(cachedir, JID, "a");
    assertEquals(await known([JID]), ["b"]);
    resumeRun(cachedir, JID, ALL_STATES);
    assertEquals(await known(JID), []);
    // That of a job that is no run of states, or is over, is removed.
    pauseRun(cachedir, OTHER, { id: "a" });
    await knownPauses(OTHER, { opts, jobs });
    assertEquals([...Deno.readDirSync(`${cachedir}/state_pause`)].map(({ name }) => name), [JID]);
    // A file that is no list of pauses pauses nothing.
    for (const bytes of [new Uint8Array([0xc1]), encode(["a"], "disk")]) {
      await Deno.writeFile(`${cachedir}/state_pause/${JID}`, bytes);
      assertEquals(await known(), []);
    }
    assertThrows(() => resumeRun(cachedir, "../x", "a"), CommandError, "'../x' is no job id");
  }));

Deno.test("a request is read by its name", () =>
  withTemporaryDirectory(async (cachedir) => {
    assertEquals(readRequests(cachedir, "web"), new Map());
    await Deno.writeFile(`${cachedir}/req_state.p`, encode(map({ web: { mods: "t" } }), "disk"));
    assertEquals(readRequests(cachedir, "web"), map({ mods: "t" }));
    assertThrows(() => readRequests(cachedir, "db"), CommandError, "There is no request 'db'");
    await Deno.writeFile(`${cachedir}/req_state.p`, encode("damaged", "disk"));
    assertEquals(readRequests(cachedir, null), new Map());
  }));

Deno.test("a record without its beginning is none, and malformed entries of a record count for nothing", () =>
  withTemporaryDirectory((cachedir) => {
    writeRecord(cachedir, JID, [map({ kind: "started", tag: "t" })]);
    assertEquals(readRun(cachedir, JID), undefined);
    assertEquals(interruptedRunLines(cachedir, JID), []);
    const worked = (more: Record<string, Value>) => map({ kind: "worked", tag: "t", ...more });
    writeRecord(
      cachedir,
      OTHER,
      [BEGIN, map({ kind: "started", tag: "t" })],
      [worked({}), worked({ words: ["a"], pid: "x", retcode: 0 }), worked({ words: ["a"], pid: 1, retcode: 0 })],
      [map({ kind: "result", tag: "u", result: "no map" }), map({ kind: "end", how: "nosuch" })],
      "no batch",
    );
    const run = readRun(cachedir, OTHER);
    assertEquals(run?.unfinished.get("t")?.work, [{ words: ["a"], pid: 1, retcode: 0 }]);
    assertEquals([run?.end, run?.results.size], [undefined, 0]);
  }));

Deno.test("the records of the last runs are kept", () =>
  withTemporaryDirectory((cachedir) => {
    const jids = Array.from({ length: 23 }, (_, i) => `202601010000000000${String(i).padStart(2, "0")}`);
    for (const jid of jids) {
      using record = new RunRecord(cachedir, { jid, fun: "state.sls" });
      record.ended("finished");
    }
    const kept = [...Deno.readDirSync(`${cachedir}/state_runs`)].map(({ name }) => name).sort();
    assertEquals(kept, jids.slice(-20));
    assertEquals(interruptedRunLines(cachedir, jids[22]), []);
  }));

Deno.test("a run that continues takes what its record tells of states that it still has", () =>
  withTemporaryDirectory((cachedir) => {
    const chunk = map({ state: "cmd", name: "make", fun: "run", __id__: "a", __sls__: "t" });
    const tag = chunkTag(chunk);
    writeRecord(cachedir, JID, [
      BEGIN,
      map({ kind: "started", tag }),
      map({ kind: "started", tag: "cmd_|-gone_|-gone_|-run" }),
    ]);
    const lost = { words: ["make"], outcome: "its outcome is lost" };
    const { results, unchecked, work } = formerRun({ cachedir, jid: JID }, { chunks: [chunk], commands: [lost] });
    assertEquals([...results.keys()], [tag]);
    assertEquals(
      withoutTimes(results.get(tag) ?? null),
      map({
        name: "make",
        result: false,
        comment: "The minion ended while this state ran, and the run went on.\nmake: its outcome is lost",
        __run_num__: 0,
        __sls__: "t",
        __id__: "a",
        changes: {},
      }),
    );
    assertEquals([unchecked.size, work.size], [0, 0]);
  }));

Deno.test("the outcome of a command that continued is known, or lost", async () => {
  const mark = { pid: 1, at: "" };
  const command = (word: string, number: number) => ({ jid: JID, number, words: [word], process: mark, keeper: mark });
  const context = testContext({
    detachedCommands: [command("a", 1), command("b", 2)],
    runChild: ({ argv }) => {
      if (argv[0] === "a") return Promise.reject(new CommandLostError("no one knows"));
      const none = new Uint8Array();
      const dropped = { stdout: 0, stderr: 0 };
      return Promise.resolve({ pid: 7, retcode: 0, stdout: none, stderr: none, timedOut: false, dropped });
    },
  });
  const commands = await survivingCommands(context);
  assertEquals(commands.map(({ words, outcome }) => [words, typeof outcome === "string" ? outcome : outcome.retcode]), [
    [["a"], "no one knows"],
    [["b"], 0],
  ]);
  assertEquals(await survivingCommands(testContext({ detachedCommands: [] })), []);
  assert((await survivingCommands({ ...context, runChild: undefined })).length === 0);
});
