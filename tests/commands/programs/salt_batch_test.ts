import { NoMasterError, UsageError } from "#lib/errors.ts";
import { BackgroundParts } from "#lib/commands/programs/batch_parts.ts";
import type { Session } from "#lib/commands/programs/salt_session.ts";
import { sleep } from "#lib/os/sleep.ts";
import { batchSize } from "#lib/jobs/batch_size.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { failedText } from "#tests/support/fleet/salt_texts.ts";

fleetTest("salt -b runs on a few at a time, as one job", { minions: ["a1", "a2", "a3"] }, async (fleet) => {
  const run = await fleet.salt("-b", "2", "*", "test.ping");
  const parts = run.out.split(/\nExecuting run on /).slice(1).map((part) => part.split("\n")[0]);
  assertEquals([parts[0], parts.length, run.code], ["['a1', 'a2']", 2, 0]);
  const returns = [...run.out.matchAll(/^(a\d):\n {4}True\njid:\n {4}(\d{20})\nretcode:\n {4}0$/gm)];
  assertEquals(returns.map(([, id]) => id).sort(), ["a1", "a2", "a3"]);
  assertEquals(new Set(returns.map(([, , jid]) => jid)).size, 1);
  const looked = await fleet.saltRun("jobs.lookup_jid", returns[0][2], "--out=json");
  assertEquals(JSON.parse(looked.out), { a1: true, a2: true, a3: true });

  const failed = await fleet.salt("-b", "50%", "--failhard", "*", "cmd.run", "exit 3");
  const stopped = "[ERROR   ] Batch run stopped due to failhard\n";
  assertEquals([failed.code, failed.err], [3, `${stopped}${failedText("3 (a1)")}`]);
  assertEquals(failed.out.match(/Executing run on/g)?.length, 1);

  const all = await fleet.salt("-b", "1", "*", "cmd.run", "exit 3");
  assertEquals([all.code, all.out.match(/Executing run on/g)?.length], [3, 3]);

  const quiet = await fleet.salt("-b", "2", "--static", "--out=json", "*", "test.ping");
  assertEquals(JSON.parse(quiet.out), { a1: true, a2: true, a3: true });

  const json = await fleet.salt("-b", "2", "--out=json", "--out-indent=-1", "*", "test.ping");
  const documents = json.out.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(documents.map((one) => ["a1", "a2", "a3"].find((id) => one[id] === true)).sort(), ["a1", "a2", "a3"]);
  assertStringIncludes(json.err, "\nExecuting run on ['a1', 'a2']\n");

  const safe = await fleet.salt("--batch-safe-limit=3", "--batch-safe-size=3", "*", "test.ping");
  assert(safe.out.startsWith("\nNOTICE: Too many minions targeted, switching to batch execution.\n"), safe.out);
  const few = await fleet.salt("--batch-safe-limit=4", "a1", "test.ping");
  assertEquals(few.out, "a1:\n    True\n");
});

fleetTest("salt -b says of a run of states at its end what it came to over all parts", {
  minions: ["a1", "a2", "a3"],
}, async (fleet) => {
  const template = "{{ grains.id }}:\n  test.{{ 'nop' if grains.id == 'a2' else 'succeed_with_changes' }}: []\n";
  const words = ["-b", "1", "*", "state.template_str", template, "--state-output=terse"];
  const run = await fleet.salt(...words);
  assert(!/^(jid|retcode):/m.test(run.out) && /^a1:$/m.test(run.out), run.out);
  assertEquals([run.err, run.code], ["2 of 3 changed: a1 (1 state), a3 (1 state)\n", 0]);
  const json = await fleet.salt(...words, "--out=json");
  assertEquals([json.err.includes("changed"), json.code], [false, 0]);
});

fleetTest("salt -b keeps a place empty for --batch-wait seconds", { minions: ["a1", "a2"] }, async (fleet) => {
  const started = performance.now();
  const { code } = await fleet.salt("-b", "1", "--batch-wait=0.4", "*", "test.ping");
  assertEquals(code, 0);
  assert(performance.now() - started >= 400);
});

fleetTest("salt -b --async runs in the background; batch.* show it and stop it", {
  minions: ["a1", "a2", "a3"],
}, async (fleet) => {
  const batch = async (...words: string[]) => {
    const { out, err } = await fleet.saltRun("--out=json", ...words);
    assert(out !== "", err);
    return JSON.parse(out);
  };
  using events = await fleet.listen("salt/batch/");
  const started = await fleet.salt("-b", "1", "--async", "*", "test.ping");
  const jid = /^Executed batch command with job ID: (\d{20})\n$/.exec(started.out)?.[1] ?? "";
  assertEquals((await Promise.all(fleet.startedBatches)).map(({ code, out, err }) => [code, out, err]), [[0, "", ""]]);
  const summary = await batch("batch.status", jid);
  assertEquals(
    ["fun", "tgt", "tgt_type", "total", "completed", "active", "pending", "failed", "batch_size", "halted", "driver"]
      .map((name) => summary[name]),
    ["test.ping", "*", "glob", 3, 3, 0, 0, 0, 1, false, "master"],
  );
  assertEquals(await batch("jobs.lookup_jid", jid), { a1: true, a2: true, a3: true });
  const tags: string[] = [];
  while (tags.at(-1) !== `salt/batch/${jid}/complete`) tags.push((await events.next(WITHIN_MS))?.tag ?? "nothing came");
  assertEquals(tags[0], `salt/batch/${jid}/new`);
  assertEquals(await batch("batch.stop", jid), false);

  // The batch was stopped at its first minion, which continues.
  const gate = `${fleet.root}/gate`;
  const words = ["cmd.run", `while [ ! -e ${gate} ]; do sleep 0.05; done`];
  const second = /\d{20}/.exec((await fleet.salt("-b", "1", "--async", "*", ...words)).out)?.[0] ?? "";
  await eventually(
    async () =>
      (await batch("batch.list_active")).some((one: { jid: string; active: number }) =>
        one.jid === second && one.active === 1
      ),
    { what: "the batch among the active ones" },
  );
  assertEquals(await batch("batch.stop", second), true);
  await Promise.all(fleet.startedBatches);
  const stopped = await batch("batch.status", second);
  assertEquals([stopped.halted, stopped.halted_reason, stopped.active, stopped.pending], [true, "stop", 1, 2]);
  assertEquals(await batch("batch.list_active"), []);
  Deno.writeTextFileSync(gate, "");
  await eventually(async () => "a1" in await batch("jobs.lookup_jid", second), { what: "the return of the first" });
  assertEquals(await batch("batch.status", "20200101000000000000"), null);
});

fleetTest("a batch in the background continues after its master was away for longer than the time-out", {
  minions: ["a1", "a2", "a3"],
}, async (fleet) => {
  const status = async (jid: string) => JSON.parse((await fleet.saltRun("--out=json", "batch.status", jid)).out);
  const gate = `${fleet.root}/gate`;
  const words = ["cmd.run", `echo ran >> ${fleet.root}/runs; while [ ! -e ${gate} ]; do sleep 0.05; done`];
  const jid = /\d{20}/.exec((await fleet.salt("-t", "1", "-b", "1", "--async", "*", ...words)).out)?.[0] ?? "";
  await eventually(async () => (await status(jid)).active === 1 || undefined, { what: "the first minion" });
  await fleet.stopMaster();
  await sleep(2_500);
  // The first minion ends its job while no master is running.
  Deno.writeTextFileSync(gate, "");
  await sleep(500);
  await fleet.startMaster();
  assertEquals((await Promise.all(fleet.startedBatches)).map(({ code }) => code), [0]);
  const { completed, failed, active, pending, halted, halted_reason } = await status(jid);
  assertEquals({ completed, failed, active, pending, halted, halted_reason }, {
    completed: 3,
    failed: 0,
    active: 0,
    pending: 0,
    halted: false,
    halted_reason: null,
  });
  assertEquals(Deno.readTextFileSync(`${fleet.root}/runs`), "ran\n".repeat(3));
});

Deno.test("a batch without a master ends with an error message", async () => {
  const sock_dir = Deno.makeTempDirSync({ prefix: "batch_" });
  const { log, lines } = memoryLog();
  const session = { io: { signal: new AbortController().signal }, opts: { sock_dir }, log } as unknown as Session;
  const parts = new BackgroundParts(session, { awayMs: 600 });
  const all = async () => {
    for await (const _ of parts.answers({ tgt: ["a1"], tgtType: "list", fun: "test.ping", arg: [] }, ["a1"]));
  };
  await assertRejects(all, NoMasterError, "no salt-master of this configuration is running");
  assertEquals(lines.length, 1);
  Deno.removeSync(sock_dir, { recursive: true });
});

const SIZES: readonly (readonly [spec: string, count: number, size: number])[] = [
  ["3", 10, 3],
  ["0", 10, 1],
  ["20", 10, 20],
  ["25%", 10, 2],
  ["%25", 10, 2],
  ["100%", 7, 7],
  ["1%", 10, 1],
  ["33.4%", 10, 3],
];
for (const [spec, count, size] of SIZES) {
  Deno.test(`a batch of ${spec} of ${count} minions is ${size}`, () => assertEquals(batchSize(spec, count), size));
}
for (const spec of ["", "x", "-1", "10%x", "1.5"]) {
  Deno.test(`a batch of ${JSON.stringify(spec)} is refused`, () => {
    assertThrows(() => batchSize(spec, 10), UsageError);
  });
}
