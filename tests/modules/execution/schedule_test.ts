/**
 * The module `schedule`: what it refuses, `test=True`, the files of a minion that does not run, and answers that say
 * that nothing was done. The minion that answers is the schedule of a real one, without its bus.
 * @module
 */

import { answerScheduleQuestion } from "#lib/minion/schedule/questions.ts";
import { MinionSchedule } from "#lib/minion/schedule/minion_schedule.ts";
import { exists } from "#lib/os/file_kind.ts";
import type { Outside } from "#lib/plugins/job_context.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { dumpJson } from "#lib/values/json.ts";
import { map, type Value } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import {
  answeringContext,
  resultOrError,
  type TestContext,
  testContext,
  testOpts,
} from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

type Plain = Readonly<Record<string, unknown>>;

/** What a minion has, and what others answer to what it publishes. */
interface Data {
  readonly pillar?: Plain;
  readonly grains?: Plain;
  readonly published?: Plain;
}

/** A minion in a directory: its context, and how it begins anew. */
class Host {
  readonly context: TestContext;
  readonly file: string;
  /** Events of the minion's bus. */
  readonly fired: TestContext["fired"];
  #minion: MinionSchedule | undefined;

  constructor(
    readonly root: string,
    readonly configured: Plain | null = null,
    readonly data: Data = {},
  ) {
    const opts = testOpts({
      root_dir: root,
      mine_enabled: false,
      schedule: configured === null ? null : map(configured),
    });
    this.file = `${root}/etc/salt/minion.d/_schedule.conf`;
    const base = testContext();
    this.fired = base.fired;
    const ask: Outside["ask"] = (question) => {
      if (this.#minion === undefined) return base.outside.ask(question);
      return Promise.resolve(answerScheduleQuestion(this.#minion, question.data)?.data ?? new Map());
    };
    const { pillar = {}, grains = {}, published = {} } = data;
    const answers = { "publish.publish": map(published) };
    this.context = answeringContext(answers, {
      opts,
      pillar: map(pillar),
      grains: map(grains),
      outside: { ...base.outside, ask },
    });
  }

  /** Begins the minion, which reads its files. */
  begin(): this {
    const { opts, pillar, grains } = this.context;
    this.#minion = new MinionSchedule({
      opts,
      log: SILENT_LOGGER,
      data: () => ({ grains, pillar }),
      begin: (_load, _isNoted, ended) => ended(),
    });
    this.#minion.setPillar(pillar);
    return this;
  }

  [Symbol.dispose](): void {
    this.#minion?.close();
  }

  /** The answer of a function as plain data, or the text of its error. */
  async call(fun: string, args: Value[] = [], kwargs: Plain = {}): Promise<unknown> {
    return JSON.parse(dumpJson(await resultOrError(this.context, `schedule.${fun}`, args, kwargs)));
  }

  /** The jobs of the saved file. */
  saved(): Plain {
    if (!exists(this.file)) return {};
    return JSON.parse(dumpJson(loadYaml(Deno.readTextFileSync(this.file), this.file))).schedule;
  }

  /** The functions of all jobs, and the settings. */
  async functions(): Promise<Record<string, unknown>> {
    const all = await this.call("list", [], { return_yaml: false }) as Record<string, { readonly function?: string }>;
    return Object.fromEntries(Object.entries(all).map(([name, entry]) => [name, entry.function ?? entry]));
  }
}

/** Runs a test with a minion in a directory of its own. */
function withHost(
  test: (host: Host) => Promise<void>,
  ...more: [configured?: Plain | null, data?: Data]
): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    using host = new Host(root, ...more);
    await test(host);
  });
}

const JOB = { function: "test.ping", hours: 9 };
const PUT_IN = { maxrunning: 1, enabled: true, jid_include: true };

const CONFIGURED = {
  kept: { function: "test.echo", args: ["k"], hours: 1 },
  gone: { function: "test.true", hours: 1 },
  other: { function: "test.false", hours: 1, note: "no key of a job" },
  skip_during_range: { start: "2pm", end: "3pm" },
};
const OFFLINE = { offline: true };
const { skip_during_range } = CONFIGURED;

Deno.test("offline changes are there when the minion starts, and its other jobs stay", () =>
  withHost(async (host) => {
    const added = await host.call("add", ["new"], { ...JOB, ...OFFLINE });
    assertEquals(added, { comment: "Added job: new to schedule.", result: true, changes: { new: "added" } });
    const again = await host.call("add", ["kept"], { ...JOB, ...OFFLINE });
    assertEquals(again, { comment: "Job kept already exists in schedule.", result: false, changes: {} });
    const deleted = await host.call("delete", ["gone"], OFFLINE);
    assertEquals(deleted, { comment: "Deleted Job gone from schedule.", result: true, changes: { gone: "removed" } });
    const absent = await host.call("delete", ["gone"], OFFLINE);
    assertEquals(absent, { comment: "Job gone does not exist.", result: false, changes: {} });
    assertEquals(await host.call("modify", ["other"], { minutes: 5, ...OFFLINE }), {
      comment: "Modified job: other in schedule.",
      changes: {
        other: {
          old: { function: "test.false", hours: 1, enabled: true },
          new: { function: "test.false", minutes: 5, ...PUT_IN, name: "other" },
        },
      },
      result: true,
    });
    assertStringIncludes(String(await host.call("list", [], OFFLINE)), "saved: true");
    const wanted = { kept: "test.echo", other: "test.false", skip_during_range, new: "test.ping" };
    assertEquals(await host.begin().functions(), wanted);
    assertEquals(host.saved().kept, CONFIGURED.kept); // as it was written: a later change of the configuration counts
  }, CONFIGURED));

Deno.test("an offline change does not overwrite a saved file that cannot be read", () =>
  withHost(async (host) => {
    Deno.mkdirSync(host.file, { recursive: true });
    const answers = [await host.call("add", ["new"], { ...JOB, ...OFFLINE }), await host.call("purge", [], OFFLINE)];
    for (const answer of answers) {
      assertStringIncludes(String(answer), `${host.file}: cannot be read: `);
      assertStringIncludes(String(answer), ". The schedule was not changed, and the file stays: mend it");
    }
  }, CONFIGURED));

Deno.test("purge deletes jobs and no settings, offline and of a running minion", () =>
  withHost(async (host) => {
    const names = ["kept", "gone", "other"];
    const would = names.map((name) => `Job: ${name} would be deleted from schedule.`);
    const done = {
      comment: names.map((name) => `Deleted job: ${name} from schedule.`),
      changes: Object.fromEntries(names.map((name) => [name, "removed"])),
      result: true,
    };
    assertEquals(await host.call("purge", [], { ...OFFLINE, test: true }), {
      comment: would,
      changes: {},
      result: true,
    });
    host.begin();
    assertEquals(await host.call("purge", [], { persist: false }), done);
    assertEquals(await host.functions(), { skip_during_range });
    host.begin();
    assertEquals(Object.keys(await host.functions()), [...names, "skip_during_range"]);
    assertEquals(await host.call("purge", [], OFFLINE), done);
    host.begin();
    assertEquals(await host.functions(), { skip_during_range });
  }, CONFIGURED));

Deno.test("what no job can be is refused, and nothing changes", () =>
  withHost(async (host) => {
    host.begin();
    const UNITS = '"seconds", "minutes", "hours", or "days"';
    const TOGETHER = 'Unable to use "when" and "cron" options together.  Ignoring.';
    const no = (comment: string) => ({ comment, result: false });
    const none = (comment: string) => ({ comment, result: false, changes: {} });
    const cases: readonly (readonly [fun: string, args: Value[], kwargs: Plain, answer: unknown])[] = [
      ["add", ["x"], { ...JOB, when: "5pm" }, none(`Error: Unable to use ${UNITS} with "when" or "cron" options.`)],
      ["add", ["x"], { function: "test.ping", when: "5pm", cron: "* * * * *" }, none(TOGETHER)],
      [
        "add",
        ["x"],
        { ...JOB, range: "8am" },
        no("schedule.handle_func: Invalid, range must be specified as a dictionary.Ignoring job x."),
      ],
      ["add", ["x"], { ...JOB, splay: "soon" }, no("Invalid Splay: soon is no number of seconds. Ignoring job x.")],
      ["add", ["enabled"], JOB, no('"enabled" is a setting of all jobs, and cannot be the name of a job')],
      ["add", [""], JOB, no("Job name is required.")],
      ["modify", ["kept"], { ...JOB, cron: "* * * * *" }, none(`Error: Unable to use ${UNITS} with "when" option.`)],
      ["modify", ["kept"], { when: "5pm", cron: "* * * * *" }, none(TOGETHER)],
      ["modify", ["kept"], { when: "never ever" }, no('Schedule item never ever for "when" in invalid.')],
      [
        "build_schedule_item",
        ["x"],
        { ...JOB, cron: "* * * * *" },
        no(`Unable to use ${UNITS} with "when" or "cron" options.`),
      ],
      ["show_next_fire_time", [""], {}, no("Job name is required.")],
      ["show_next_fire_time", ["none"], {}, no("Job none does not exist.")],
      ["postpone_job", ["", "2030-01-01T10:00:00", "2030-01-02T10:00:00"], {}, no("Job name is required.")],
      ["skip_job", ["", "2030-01-01T10:00:00"], {}, no("Job name is required.")],
      ["run_job", ["none"], {}, no("Job none does not exist.")],
      ["move", ["none", "web2"], {}, no("Job none does not exist.")],
    ];
    for (const [fun, args, kwargs, answer] of cases) {
      assertEquals(await host.call(fun, args, kwargs), answer, `${fun} ${args} ${JSON.stringify(kwargs)}`);
    }
    assertEquals(Object.keys(await host.functions()), Object.keys(CONFIGURED));
  }, CONFIGURED));

Deno.test("with test=True nothing is changed", () =>
  withHost(async (host) => {
    host.begin();
    const would = (comment: string) => ({ comment, result: true });
    const times = ["2030-01-01T10:00:00", "2030-01-02T10:00:00"];
    const cases: readonly (readonly [fun: string, args: Value[], kwargs: Plain, answer: Plain])[] = [
      ["add", ["new"], JOB, { ...would("Job: new would be added to schedule."), changes: {} }],
      ["postpone_job", ["kept", ...times], {}, would("Job: kept would be postponed in schedule.")],
      ["skip_job", ["kept", times[0]], {}, would("Job: kept would be skipped in schedule.")],
      ["copy", ["kept", "web2"], {}, would("Job: kept would be copied from schedule.")],
      ["move", ["kept", "web2"], {}, would("Job: kept would be moved from schedule.")],
      ["enable_job", ["kept"], {}, { ...would("Job: kept would be enabled in schedule."), changes: {} }],
      ["disable", [], {}, { ...would("Schedule would be disabled."), changes: {} }],
      ["save", [], {}, would("Schedule would be saved.")],
    ];
    for (const [fun, args, kwargs, answer] of cases) {
      assertEquals(await host.call(fun, args, { ...kwargs, test: true }), answer, fun);
    }
    assertEquals(Object.keys(await host.functions()), Object.keys(CONFIGURED));
    assertEquals(host.saved(), {});
  }, CONFIGURED));

Deno.test("dates that pillar and grains name are times, and a job without a time is taken as in Salt", () =>
  withHost(
    async (host) => {
      host.begin();
      for (const when of ["tea", "night", ["tea", "5:00pm"]]) {
        assertEquals(await host.call("build_schedule_item", ["x"], { function: "test.ping", when }), {
          function: "test.ping",
          ...PUT_IN,
          name: "x",
          when,
        });
      }
      const bad = await host.call("build_schedule_item", ["x"], { function: "test.ping", when: "noon tomorrow or so" });
      assertStringIncludes(JSON.stringify(bad), "in invalid");
      assertEquals((await host.call("add", ["x"], { function: "test.ping" }) as Plain).result, true);
      const listed = await host.call("list", [], { return_yaml: false }) as Record<string, Plain>;
      assertStringIncludes(String(listed.x._error), "It has no time");
      const run = await host.call("run_job", ["x"]) as Plain;
      assertEquals([run.result, run.comment], [false, listed.x._error]);
    },
    null,
    { pillar: { whens: { tea: "5:00pm" } }, grains: { whens: { night: "11:00pm" } } },
  ));

Deno.test("a job moves away only if all minions have taken it", async () => {
  const answers: readonly (readonly [published: Plain, answer: Plain, isLeft: boolean])[] = [
    [{}, { comment: "no servers answered the published schedule.add command", result: false }, true],
    [
      { web2: { result: true }, web3: { result: false, comment: "Job kept already exists in schedule." } },
      { comment: "the following minions return False", result: false, minions: ["web3"] },
      true,
    ],
    [
      { web2: { result: true }, web3: false },
      { comment: "the following minions return False", result: false, minions: ["web3"] },
      true,
    ],
    [
      { web2: { result: true }, web3: { result: true } },
      { comment: "Moved Job kept from schedule.", result: true, minions: ["web2", "web3"] },
      false,
    ],
  ];
  for (const [published, answer, isLeft] of answers) {
    await withHost(
      async (host) => {
        host.begin();
        assertEquals(await host.call("move", ["kept", "web*"]), answer);
        assertEquals("kept" in await host.functions(), isLeft);
      },
      CONFIGURED,
      { published },
    );
  }
});

Deno.test("save writes the jobs, and reload adds those of schedule.conf", () =>
  withHost(
    async (host) => {
      host.begin();
      assertEquals(await host.call("save"), { comment: "Schedule (non-pillar items) saved.", result: true });
      assertEquals(host.saved(), CONFIGURED);
      const more = `${host.root}/etc/salt/minion.d/schedule.conf`;
      const reloads: readonly (readonly [text: string, comment: string, result: boolean])[] = [
        ["", "Failed to reload schedule on minion.  Saved file is empty or invalid.", false],
        ["schedule: [x]", "Failed to reload schedule on minion.  Saved file is empty or invalid.", false],
        ["schedule: {", "Unable to read existing schedule file: ", false],
        ["schedule: {more: {function: test.ping, hours: 9}}", "Reloaded schedule on minion from schedule.conf.", true],
      ];
      for (const [text, comment, result] of reloads) {
        Deno.writeTextFileSync(more, text);
        const answer = await host.call("reload") as { readonly comment: string[]; readonly result: boolean };
        assertEquals(answer.comment[0], "Reloaded schedule from pillar on minion.");
        assertStringIncludes(answer.comment[1], comment);
        assertEquals(answer.result, result, text);
      }
      assertEquals(host.fired.map(({ tag }) => tag), reloads.map(() => "pillar_refresh"));
      assertEquals((await host.functions()).more, "test.ping");
    },
    CONFIGURED,
    { pillar: { schedule: {} } },
  ));

Deno.test("schedule.show_next_fire_time tells the next time of a job", () =>
  withHost(async (host) => {
    host.begin();
    const { result, next_fire_time } = await host.call("show_next_fire_time", ["kept"]) as Plain;
    const minutes = (Date.parse(String(next_fire_time)) - Date.now()) / 60_000;
    assertEquals([result, minutes > 58 && minutes < 61], [true, true], `${next_fire_time}`);
    assertEquals(await host.call("show_next_fire_time", ["never"]), { result: true, next_fire_time: null });
  }, { ...CONFIGURED, never: { function: "test.ping", once: "2020-01-01T00:00:00" } }));
