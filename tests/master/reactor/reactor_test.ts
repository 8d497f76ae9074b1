/**
 * The reactor of a real master: restarts, also by force; loops, storms, templates that do not end; what operators ask.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Number of events around the end of a master. REACTIONS=1000 makes it the full size. */
const REACTIONS = Number(Deno.env.get("REACTIONS") ?? 200);

interface Stage {
  readonly fleet: Fleet;
  /** The directory of the reactor files. */
  readonly root: string;
}

/** A fleet of no minion but the key of one that never comes, and reactor files. */
async function withReactor(
  { files, master }: { readonly files: Readonly<Record<string, string>>; readonly master: Record<string, unknown> },
  run: (stage: Stage) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${root}/${name}`, text);
    const text = JSON.stringify(master).replaceAll("@ROOT@", root);
    await using fleet = await startFleet({ master: { timeout: 1, gather_job_timeout: 1, ...JSON.parse(text) } });
    const accepted = `${fleet.masterOpts.pki_dir}/minions`;
    Deno.mkdirSync(accepted, { recursive: true });
    Deno.copyFileSync(`${fleet.masterOpts.pki_dir}/master.pub`, `${accepted}/g1`);
    await run({ fleet, root });
  });
}

const SAY = "a:\n  local.test.arg:\n    - tgt: g1\n    - arg: [{{ data.n }}]\n";

/** The first arguments of the published jobs of `test.arg`, in the order of their ids. */
async function published(fleet: Fleet): Promise<Value[]> {
  const { out } = await fleet.saltRun("jobs.list_jobs", "search_function=test.arg", "--out=json");
  const jobs = parseJson(out);
  assert(isMap(jobs));
  return [...jobs].sort(([a], [b]) => String(a) < String(b) ? -1 : 1).map(([, job]) => {
    const args = isMap(job) ? job.get("Arguments") : undefined;
    return Array.isArray(args) ? args[0] : null;
  });
}

async function status(fleet: Fleet): Promise<ValueMap> {
  const { out, code } = await fleet.saltRun("reactor.status", "--out=json");
  assertEquals(code, 0, out);
  const report = parseJson(out);
  assert(isMap(report));
  return report;
}

function dropped(report: ValueMap, key: string): Value {
  const counts = report.get("dropped");
  return isMap(counts) ? counts.get(key) ?? null : null;
}

Deno.test(`of ${REACTIONS} reactions each job is published once, though the master is killed in the middle and started again`, () =>
  withReactor(
    { files: { "say.sls": SAY }, master: { reactor: [{ "t/say": "@ROOT@/say.sls" }] } },
    async ({ fleet }) => {
      const bus = masterBus(fleet.masterOpts.sock_dir);
      await fleet.stopMaster();
      const words = [...DENO_RUN, "master.ts", "-c", fleet.configDir, "-l", "error"];
      const master = new Deno.Command(Deno.execPath(), { args: words, stdout: "null", stderr: "null" }).spawn();
      const half = REACTIONS / 2;
      await eventually(() => fireEvent(bus, "t/begin", map({})), { what: "the master's bus" });
      for (let n = 0; n < half; n++) assert(await fireEvent(bus, "t/say", map({ n })));
      await new Promise((resolve) => setTimeout(resolve, 50)); // the log has all that was promised
      master.kill("SIGKILL");
      await master.status;
      await fleet.startMaster();
      for (let n = half; n < REACTIONS; n++) assert(await fireEvent(bus, "t/say", map({ n })));
      const wanted = Array.from({ length: REACTIONS }, (_, n) => n);
      await eventually(async () => (await published(fleet)).length >= REACTIONS, { what: "all reactions" });
      assertEquals((await published(fleet)).map(Number).sort((a, b) => a - b), wanted);
      assertEquals(dropped(await status(fleet), "missed"), 0);
    },
  ));

Deno.test("a loop is stopped, a storm is limited, a template that does not end is ended: the others go on, all are named", () =>
  withReactor({
    files: {
      "say.sls": SAY,
      "loop.sls": "again:\n  runner.event.send:\n    - args: [{tag: t/loop}, {data: {n: 1}}]\n",
      "endless.sls": "{% set s = namespace(n=0) %}{% for a in range(99999) %}{% for b in range(99999) %}" +
        "{% set s.n = s.n + 1 %}{% endfor %}{% endfor %}a: {{ s.n }}\n",
      "unknown.sls": "a:\n  file.managed:\n    - name: /x\nb:\n  local.test.arg:\n    - tgt: g1\n    - arg: [beside]\n",
    },
    master: {
      reactor: [
        "no map",
        { "t/say": "@ROOT@/say.sls" },
        { "t/loop": "@ROOT@/loop.sls" },
        { "t/storm": "@ROOT@/say.sls" },
        { "t/endless": "@ROOT@/endless.sls" },
        { "t/unknown": "@ROOT@/unknown.sls" },
      ],
      reactor_loop_limit: 3,
      reactor_limits: { "t/storm": 2 },
      // Long enough for the other templates on a busy machine.
      reactor_timeout: 5,
    },
  }, async ({ fleet, root }) => {
    await fleet.fire("t/loop", map({}));
    await fleet.fire("t/endless", map({}));
    for (let n = 0; n < 5; n++) await fleet.fire("t/storm", map({ n }));
    await fleet.fire("t/unknown", map({}));
    await fleet.fire("t/say", map({ n: 100 }));
    await eventually(async () => (await published(fleet)).includes(100), { what: "the last event's job" });
    assertEquals(await published(fleet), [0, 1, "beside", 100]);
    await eventually(async () => dropped(await status(fleet), "loops") === 1, { what: "the stopped loop" });
    const report = await status(fleet);
    assertEquals(dropped(report, "limited"), 3);
    const lines = await fleet.master.describeThreads();
    assertEquals(lines.filter((line) => /^Reactor: \d+ events read, \d+ with reactions, 4 jobs/.test(line)).length, 1);
    const errors = report.get("errors");
    const texts = Array.isArray(errors) ? errors.map((error) => isMap(error) ? String(error.get("error")) : "") : [];
    for (
      const text of [
        `${root}/loop.sls: A loop is stopped: the event t/loop`,
        `${root}/endless.sls: cannot be rendered for the tag t/endless: it takes more than 5 seconds`,
        "Too many events t/storm",
        `${root}/unknown.sls`,
        "entry 1: it is no map of a tag and its files: 'no map'",
      ]
    ) {
      assert(texts.some((each) => each.includes(text)), `${text} is not in\n${texts.join("\n")}`);
    }
  }));

Deno.test("reactor.add, delete and set_leader work at once and last over a restart; without a reactor they say so", () =>
  withReactor({ files: { "say.sls": SAY }, master: { engines: ["reactor"] } }, async ({ fleet, root }) => {
    const run = async (...words: string[]) => parseJson((await fleet.saltRun(...words, "--out=json")).out);
    const n = async (value: number) => {
      await fleet.fire("t/new", map({ n: value }));
      await new Promise((resolve) => setTimeout(resolve, 500));
    };
    await eventually(async () => (await fleet.saltRun("reactor.is_leader")).code === 0, { what: "the reactor" });
    assertEquals(await run("reactor.list"), []);
    assertEquals(
      await run("reactor.add", "t/new", `reactors=${root}/say.sls`),
      map({ status: true, comment: "Reactor added." }),
    );
    await n(1);
    await eventually(async () => (await published(fleet)).length === 1, { what: "the job of the new entry" });
    await fleet.stopMaster();
    assertStringIncludes((await fleet.saltRun("reactor.list")).out, "Reactor system is not running.");
    await fleet.startMaster();
    await n(2);
    await eventually(async () => (await published(fleet)).length === 2, { what: "the job after the restart" });
    assertEquals(await run("reactor.set_leader", "False"), false);
    await n(3);
    assertEquals(await run("reactor.set_leader"), true);
    assertEquals(await run("reactor.delete", "t/new"), map({ status: true, comment: "Reactor deleted." }));
    await n(4);
    assertEquals(await published(fleet), [1, 2]);
    assertEquals(await run("reactor.delete", "t/new"), map({ status: false, comment: "Reactor does not exists." }));
  }));

Deno.test("reactor.explain shows and does nothing, reactor.replay does it again, reactor.lint names mistakes by file and line", () =>
  withReactor({
    files: { "say.sls": SAY, "broken.sls": "a: [\n" },
    master: {
      reactor: [{ "t/say": ["@ROOT@/say.sls"] }, { "t/other": "@ROOT@/none.sls" }, { "t/x": "@ROOT@/broken.sls" }],
    },
  }, async ({ fleet, root }) => {
    const explained = parseJson((await fleet.saltRun("reactor.explain", "t/say", "{n: 7}", "--out=json")).out);
    assert(isMap(explained));
    assertEquals(explained.get("files"), [`${root}/say.sls`]);
    const reactions = explained.get("reactions");
    assertEquals(
      Array.isArray(reactions) ? reactions[0] : null,
      map({
        id: "a",
        file: `${root}/say.sls`,
        call: "local.test.arg",
        args: [7],
        kwargs: map({}),
        tgt: "g1",
        tgt_type: "glob",
      }),
    );
    assertEquals(await published(fleet), []);
    await fleet.fire("t/say", map({ n: 1 }));
    await eventually(async () => (await published(fleet)).length === 1, { what: "the job" });
    const { out } = await fleet.saltRun("reactor.replay", "since=start", "tag=t/s*", "--out=json");
    assertEquals(parseJson(out), map({ events: 1 }));
    await eventually(async () => (await published(fleet)).length === 2, { what: "the job again" });
    const lint = await fleet.saltRun("reactor.lint", "--out=json");
    const found = parseJson(lint.out);
    const mistakes = isMap(found) ? found.get("mistakes") : undefined;
    assertEquals(lint.code, 1);
    assert(Array.isArray(mistakes) && mistakes.length === 2, lint.out);
    assertStringIncludes(String(mistakes[0]), `t/other: ${root}/none.sls: cannot be rendered`);
    assertStringIncludes(String(mistakes[1]), `t/x: ${root}/broken.sls:`);
  }));
