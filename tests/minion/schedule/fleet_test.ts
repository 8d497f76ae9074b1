/**
 * A minion's schedule with a real master: its returns, its functions, its places.
 * @module
 */

import { loadYaml } from "#lib/yaml/load.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";

/** The next return of a scheduled job called `title` that the master fires. */
async function nextReturn(fleet: Fleet, title: string, act: () => Promise<unknown>): Promise<ValueMap> {
  using events = await fleet.listen("salt/job/");
  const timer = setTimeout(() => events.close(), WITHIN_MS);
  const found = (async () => {
    for (let event; (event = await events.next()) !== undefined;) {
      if (event.data.get("schedule") === title) return event.data;
    }
    throw new Error(`no return of ${title}`);
  })();
  await act();
  try {
    return await found;
  } finally {
    clearTimeout(timer);
  }
}

/** The answer of a function of web1. */
async function call(fleet: Fleet, fun: string, ...args: string[]): Promise<Value> {
  const { out, err } = await fleet.salt("web1", `schedule.${fun}`, ...args, "--out=json", "--static");
  assert(out !== "", err);
  const all = loadYaml(out, "answer");
  return isMap(all) ? all.get("web1") ?? null : all;
}

const SCHEDULE = {
  echo: { function: "test.arg", args: [1, "x"], kwargs: { k: "v" }, hours: 1, metadata: { why: "test" } },
  code: { function: "test.retcode", args: [3], hours: 1 },
  boom: { function: "test.exception", args: ["boom"], hours: 1 },
  nofun: { function: "no.such", hours: 1 },
  nocache: { function: "test.echo", args: ["hi"], hours: 1, return_job: "nocache" },
  tea: { function: "test.ping", when: "no such day" },
  text: "not a job",
};

fleetTest(
  "the returns of a schedule are stored and say what came of each job",
  { minions: ["web1"] },
  async (fleet) => {
    await fleet.stopMinion("web1");
    const start = () => fleet.startMinion("web1", { schedule: SCHEDULE });
    const returned = await nextReturn(fleet, "echo", start);
    const result = returned.get("return");
    assert(isMap(result) && isMap(result.get("kwargs")));
    const published = ["fun", "fun_args", "id", "jid", "metadata", "pid", "schedule"].map((key) => `__pub_${key}`);
    const kwargs = result.get("kwargs");
    assertEquals([result.get("args"), isMap(kwargs) && [...kwargs.keys()].sort()], [[1, "x"], [...published, "k"]]);
    assertEquals([returned.get("fun_args"), returned.get("success"), returned.get("retcode")], [
      [1, "x", map({ k: "v" })],
      true,
      0,
    ]);
    const metadata = returned.get("metadata");
    assert(isMap(metadata));
    assertEquals([...metadata.keys()], ["why", "_TOS", "_TS", "_TT"]);
    const { cachedir, hash_type } = fleet.masterOpts;
    const stored = jobStore(cachedir, { hashType: hash_type }).getReturn(str(returned.get("jid") ?? null), "web1");
    assertEquals(stored?.return, returned.get("return"));
    const rerun = (title: string) => nextReturn(fleet, title, () => call(fleet, "run_job", title));
    const facts = async (title: string) => {
      const data = await rerun(title);
      return [data.get("success"), data.get("retcode")];
    };
    assertEquals(await facts("code"), [true, 3]);
    const boom = await rerun("boom");
    assertEquals([boom.get("success"), boom.get("retcode")], [false, 254]);
    assertStringIncludes(str(boom.get("return") ?? null), "boom");
    const unknown = await rerun("nofun");
    assertEquals([unknown.get("return"), unknown.get("success"), unknown.get("retcode")], [
      "'no.such' is not available.",
      false,
      254,
    ]);
    assertEquals((await rerun("nocache")).get("jid"), "nocache");
    const status = await call(fleet, "job_status", "tea");
    assertEquals(isMap(status) && status.get("_error"), "Invalid date string no such day. Ignoring job tea.");
    assertEquals(
      await call(fleet, "run_job", "text"),
      map({ comment: 'Scheduled job "text" should have a dict value, not str', result: false }),
    );
  },
);

fleetTest(
  "jobs are added, changed and deleted, and are there after a restart",
  { minions: ["web1"] },
  async (fleet) => {
    const file = `${fleet.minionConfigDir("web1")}/minion.d/_schedule.conf`;
    const list = () => call(fleet, "list", "return_yaml=False");
    assertEquals(await call(fleet, "list"), "schedule: {}\n");
    const added = await call(
      fleet,
      "add",
      ...["j1", "function=test.ping", "seconds=3600", "job_args=[1, a]", "job_kwargs={k: v}", "run_on_start=False"],
    );
    assertEquals(added, map({ comment: "Added job: j1 to schedule.", result: true, changes: { j1: "added" } }));
    const j1 = map({
      function: "test.ping",
      seconds: 3600,
      args: [1, "a"],
      kwargs: { k: "v" },
      maxrunning: 1,
      name: "j1",
      enabled: true,
      jid_include: true,
      run_on_start: false,
    });
    assertEquals(await list(), map({ j1 }));
    const saved = loadYaml(Deno.readTextFileSync(file), file);
    const schedule = isMap(saved) ? saved.get("schedule") : undefined;
    assertEquals(isMap(schedule) && schedule.get("j1"), j1);
    assertStringIncludes(str(await call(fleet, "list")), "saved: true\n");
    assertEquals(
      await call(fleet, "modify", "j1", "function=test.ping", "hours=2"),
      map({
        comment: "Modified job: j1 in schedule.",
        changes: {
          j1: {
            old: j1,
            new: { function: "test.ping", hours: 2, maxrunning: 1, name: "j1", enabled: true, jid_include: true },
          },
        },
        result: true,
      }),
    );
    assertEquals(
      await call(fleet, "disable_job", "j1"),
      map({ comment: "Disabled Job j1 in schedule.", result: true, changes: { j1: "disabled" } }),
    );
    const preview = await call(fleet, "preview", "j1", "2");
    assert(Array.isArray(preview) && isMap(preview[0]));
    assertEquals([preview.length, preview[0].get("runs"), preview[0].get("reason")], [2, false, "disabled"]);
    await fleet.stopMinion("web1");
    await fleet.startMinion("web1", {});
    const left = await list();
    assertEquals(
      isMap(left) && isMap(left.get("j1")) && left.get("j1"),
      map({
        enabled: false,
        function: "test.ping",
        hours: 2,
        jid_include: true,
        maxrunning: 1,
        name: "j1",
      }),
    );
    assertEquals(
      await call(fleet, "delete", "j1"),
      map({ comment: "Deleted Job j1 from schedule.", result: true, changes: { j1: "removed" } }),
    );
    assertEquals(await list(), map({}));
  },
);
