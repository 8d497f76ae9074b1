import { jobStore } from "#tests/support/fleet/job_store.ts";
import type { SyncJobStore } from "#lib/jobs/store.ts";
import { NoMasterError, RefusedError } from "#lib/errors.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { packEvent } from "#lib/bus/event.ts";
import { unpackEvent } from "#tests/support/fleet/events.ts";
import { decode } from "#lib/values/msgpack.ts";
import type { LocalCommands, LocalReturn } from "#lib/client/runner_context.ts";
import { runSaltRun, type SaltRunIo } from "#lib/commands/programs/salt_run.ts";
import { map, repr, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import files from "#tests/corpus/job_cache.json" with { type: "json" };

/** The parts of the local client that these tests do not use. */
const NO_JOBS = {
  attach: () => {
    throw new Error("no job is attached to here");
  },
  present: () => Promise.resolve(new Map()),
  gone: () => new Set<string>(),
  outcomes: () => Promise.resolve(new Map()),
};

interface Fixture {
  readonly root: string;
  readonly jobs: SyncJobStore;
  readonly events: [tag: string, data: ValueMap][];
  readonly detached: string[][];
  readonly answers: Map<string, LocalReturn>;
  /** Replacements for the defaults of the next command. */
  readonly io: Partial<SaltRunIo>;
  /** Runs `salt-run` with this configuration directory and these arguments. */
  run(...words: string[]): Promise<{ code: number; out: string; err: string }>;
}

async function withFixture(test: (fixture: Fixture) => Promise<void>, config = ""): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "salt_run_" });
  const cachedir = `${root}/var/cache/salt/master`;
  try {
    Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
    Deno.writeTextFileSync(`${root}/etc/salt/master`, `root_dir: ${root}\nid: host_master\n${config}`);
    for (const [path, base64] of Object.entries(files.files)) {
      Deno.mkdirSync(`${cachedir}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeFileSync(`${cachedir}/${path}`, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    }
    const events: [string, ValueMap][] = [];
    const detached: string[][] = [];
    const answers = new Map<string, LocalReturn>();
    const changes: Partial<SaltRunIo> = {};
    const run = async (...words: string[]) => {
      let out = "", err = "";
      const io: SaltRunIo = {
        write: (text) => void (out += text),
        writeError: (text) => void (err += text),
        isTerminal: false,
        isErrorTerminal: false,
        noColor: "",
        readStdin: () => Promise.resolve(""),
        fire: (tag, data) => Promise.resolve(events.push([tag, unpackEvent(packEvent(tag, data)).data]) > 0),
        local: () => ({
          ...NO_JOBS,
          run: () => Promise.resolve(new Map(answers)),
          job: () => Promise.resolve({ returns: new Map(answers), silent: [] }),
        }),
        startDetached: (given) => void detached.push([...given]),
        signal: new AbortController().signal,
        ...changes,
      };
      const code = await runSaltRun(["-c", `${root}/etc/salt`, ...words], io);
      return { code, out, err };
    };
    const jobs = jobStore(cachedir);
    await test({ root, jobs, events, detached, answers, io: changes, run });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** The output of Salt 3008.3's `salt-run` on the same cache. */
const SALT_OUTPUT: readonly (readonly [words: string[], out: string])[] = [
  [["test.arg", "1", "a=2", "__b=3"], "args:\n    - 1\nkwargs:\n    ----------\n    a:\n        2\n"],
  [["test.stdout_print"], "foo\nbar\n"],
  [["test.metasyntactic", "uk", "--out=json", "--out-indent=-1"], '["wibble", "wobble", "wubble", "flob"]\n'],
  [["test.metasyntactic", "uk", "--out", "yaml"], "- wibble\n- wobble\n- wubble\n- flob\n"],
  [["jobs.lookup_jid", "20240102030405000001"], "db1:\n    'test.pong' is not available.\nweb1:\n    True\n"],
  [
    ["jobs.lookup_jid", "20240102030405000001", "--out=raw"],
    "{'db1': \"'test.pong' is not available.\", 'web1': True}\n",
  ],
  [["jobs.list_jobs", "search_target=nobody", "outputter=json"], "{}\n"],
  [
    ["jobs.list_jobs", "search_function=test.ping", "search_target=\\*"],
    "",
  ],
  [
    ["jobs.list_jobs", "end_time=2024-01-02 03:04:05.000001"],
    "20240102030405000001:\n    ----------\n    Arguments:\n    Function:\n        test.ping\n    StartTime:\n" +
    "        2024, Jan 02 03:04:05.000001\n    Target:\n        *\n    Target-type:\n        glob\n    User:\n        root\n",
  ],
];
for (const [words, out] of SALT_OUTPUT) {
  Deno.test(`salt-run ${words.join(" ")} prints what Salt prints`, () =>
    withFixture(async ({ run }) => assertEquals(await run(...words), { code: 0, out, err: "" })));
}

Deno.test("with an output for programs, what a runner prints besides its result goes to standard error", () =>
  withFixture(async ({ run }) =>
    assertEquals(await run("test.stdout_print", "--out=json"), { code: 0, out: '"bar"\n', err: "foo\n" })
  ));

Deno.test("a runner fires its events, with its arguments and its result, under the tags of its job", () =>
  withFixture(async ({ run, events }) => {
    await run("test.arg", "1.0", "a=yes");
    const [[newTag, started], [retTag, ended]] = events;
    const jid = String(started.get("jid"));
    assert(isJid(jid));
    assertEquals([newTag, retTag, events.length], [`salt/run/${jid}/new`, `salt/run/${jid}/ret`, 2]);
    const user = repr(started.get("user") ?? null);
    const common = `{'fun': 'runner.test.arg', 'jid': '${jid}', 'user': ${user}, 'fun_args': [1.0, {'a': True}]`;
    assertEquals(repr(started), `${common}}`);
    assertEquals(repr(ended), `${common}, 'return': {'args': [1.0], 'kwargs': {'a': True}}, 'success': True}`);
  }));

Deno.test("a runner is stored as a job of the master, with the event as its return", () =>
  withFixture(async ({ run, jobs, events }) => {
    await run("test.metasyntactic", "--jid=20250102030405000001");
    const load = jobs.getLoad("20250102030405000001");
    assertEquals(["id", "tgt", "fun"].map((key) => load?.get(key)), [
      "host_master",
      "host_master",
      "runner.test.metasyntactic",
    ]);
    assertEquals(jobs.getReturn("20250102030405000001", "host_master")?.return, events[1][1]);
    assertEquals(
      jobs.getLoad("20250102030405000001")?.has("return"),
      false,
      "kept once, and not where lists of jobs read it",
    );
    const listed = await run("jobs.list_jobs", "search_target=host_*", "--out=json");
    assertStringIncludes(listed.out, '"Function": "runner.test.metasyntactic"');
  }));

Deno.test("a runner is not stored if the master is configured so", () =>
  withFixture(async ({ run, jobs }) => {
    await run("test.arg", "--jid=20250102030405000001");
    assertEquals(jobs.exists("20250102030405000001"), false);
  }, "runner_returns: False\n"));

Deno.test("a runner has a proc file while it runs", () =>
  withFixture(async ({ root, run, io }) => {
    let note: unknown;
    const proc = `${root}/var/cache/salt/master/proc`;
    const local: LocalCommands = {
      ...NO_JOBS,
      job: () => Promise.reject(new Error("no job is run here")),
      run: () => {
        const [entry] = [...Deno.readDirSync(proc)];
        note = decode(Deno.readFileSync(`${proc}/${entry.name}`), "disk");
        return Promise.resolve(new Map());
      },
    };
    Object.assign(io, { local: () => local });
    await run("jobs.active");
    assert(note instanceof Map);
    assertEquals([note.get("fun"), note.get("pid")], ["runner.jobs.active", Deno.pid]);
    assertEquals([...Deno.readDirSync(proc)].length, 0);
  }));

Deno.test("an unknown function is reported as by Salt, and is a usage error", () =>
  withFixture(async ({ run, events }) => {
    assertEquals(await run("nope.nope"), { code: 64, out: "'nope.nope' is not available.\n", err: "" });
    assertEquals(events.length, 1);
    assertEquals([events[0][1].get("retcode"), events[0][1].get("success")], [254, false]);
    assertEquals((await run("constructor")).code, 64);
    assertEquals((await run("__proto__.x")).code, 64);
    assertEquals((await run("manage.upp")).out, "'manage.upp' is not available. Did you mean manage.up?\n");
  }));

Deno.test("a name without a function lists the functions, and a part of a name is taken for a mistake", () =>
  withFixture(async ({ run }) => {
    const { code, out } = await run("jobs");
    assertEquals(code, 64);
    assertEquals(await run("state.orchestrat"), {
      code: 64,
      out: "'state.orchestrat' is not available. Did you mean state.orchestrate?\n",
      err: "",
    });
    assertEquals(
      (await run("jobs.list")).out,
      "'jobs.list' is not available. Did you mean jobs.list_job, jobs.list_jobs, jobs.list_jobs_filter?\n",
    );
    for (const name of ["jobs.list_job", "jobs.list_jobs", "jobs.list_jobs_filter"]) {
      assertStringIncludes(out, `${name}:\n`);
    }
  }));

for (
  const [words, message] of [
    [["jobs.list_job"], "list_job() missing 1 required positional argument: 'jid'"],
    [["test.metasyntactic", "a", "b", "c"], "metasyntactic() takes from 0 to 1 positional arguments but 3 were given"],
    [["jobs.list_job", "1", "foo=bar"], "The following keyword arguments are not valid: foo=bar"],
    [
      ["jobs.list_job", "1", "dispaly_progress=True"],
      "The following keyword arguments are not valid: dispaly_progress=True; did you mean display_progress?",
    ],
    [["test.sleep", "soon"], "argument 's_time' must be a number"],
  ] as const
) {
  Deno.test(`salt-run ${words.join(" ")} is refused with the reason and the usage`, () =>
    withFixture(async ({ run, events }) => {
      const { code, out } = await run(...words);
      assertEquals(code, 64);
      assertStringIncludes(out, `Passed invalid arguments: ${message}`);
      assertMatch(out, /\n\nUsage:\n\n {4}\S/);
      assertEquals(events.at(-1)?.[1].get("success"), false);
    }));
}

Deno.test("a runner that throws is a failure, reported without a stack trace", () =>
  withFixture(async ({ run, jobs, events }) => {
    const { code, out } = await run("jobs.list_jobs", "ext_source=nosuch", "--jid=20250102030405000001");
    assertEquals(code, 1);
    assertMatch(out, /^Exception occurred in runner jobs.list_jobs: 'nosuch.get_jids' is not available.*\n$/);
    const data = events.at(-1)?.[1];
    assertEquals([data?.get("success"), data?.get("retcode")], [false, 1]);
    assert(jobs.has("20250102030405000001", "host_master"));
  }));

Deno.test("no master is exit code 69, a refusal 77, both with one line on standard error", () =>
  withFixture(async ({ run, io }) => {
    for (
      const [error, expected] of [[new NoMasterError("nobody there"), 69], [
        new RefusedError("x", "go away"),
        77,
      ]] as const
    ) {
      Object.assign(io, { local: () => ({ run: () => Promise.reject(error) }) });
      const { code, out, err } = await run("manage.versions");
      assertEquals([code, out], [expected, ""]);
      assertMatch(err, new RegExp(`^.*${error.message}.*\n$`));
    }
  }));

Deno.test("without a function, or with -d, the documentation is shown", () =>
  withFixture(async ({ run, events }) => {
    const all = await run();
    assertEquals([all.code, all.err], [0, ""]);
    assertStringIncludes(all.out, "jobs.active:\n\n    ");
    assertEquals((await run("-d")).out, all.out);
    const one = await run("-d", "test.arg");
    assertMatch(one.out, /^test\.arg:\n\n {4}\S[^]*CLI Example:\n\n {8}salt-run test\.arg foo bar=baz\n {4}\n$/);
    assertEquals(await run("-d", "nope"), { code: 64, out: "", err: "'nope' is not available.\n" });
    assertEquals((await run("-d", "a", "b")).code, 64);
    assertEquals(events.length, 0);
  }));

Deno.test("--async starts the same command in the background and prints its jid", () =>
  withFixture(async ({ root, run, detached, events }) => {
    const { code, out, err } = await run("--async", "-t", "3", "test.arg", "--no-parse=b", "a=1", "b=2", "--", "-x");
    assertEquals([code, out, events.length], [0, "", 0]);
    const jid = /running under tag salt\/run\/(\d{20})\n$/.exec(err)?.[1];
    assertEquals(detached, [
      [`--config-dir=${root}/etc/salt`, "--timeout=3", "--no-parse=b", "--quiet", `--jid=${jid}`, "--"]
        .concat("test.arg", "a=1", "b=2", "-x"),
    ]);
    const child = await run(...detached[0].slice(1));
    assertEquals(child, { code: 0, out: "", err: "" });
    assertEquals(repr(events[1][1].get("return") ?? null), "{'args': ['-x'], 'kwargs': {'a': 1, 'b': '2'}}");
    assertEquals(events[0][0], `salt/run/${jid}/new`);
  }));

Deno.test("--async of an unknown function is reported at once", () =>
  withFixture(async ({ run, detached }) => {
    assertEquals((await run("--async", "nope.nope")).code, 64);
    assertEquals(detached.length, 0);
  }));

Deno.test("arguments on standard input are treated like those of the command line", () =>
  withFixture(async ({ run, io }) => {
    Object.assign(io, { readStdin: () => Promise.resolve("test.arg\na b\nc=1\n--out=raw\n") });
    assertEquals((await run("--args-stdin")).out, "{'args': ('a b',), 'kwargs': {'c': 1}}\n");
  }));

Deno.test("--quiet shows nothing, --out-file writes to a file", () =>
  withFixture(async ({ root, run }) => {
    assertEquals(await run("test.metasyntactic", "--quiet"), { code: 0, out: "", err: "" });
    assertEquals((await run("test.metasyntactic", "uk", `--out-file=${root}/out`, "--out=raw")).out, "");
    assertEquals(Deno.readTextFileSync(`${root}/out`), "['wibble', 'wobble', 'wubble', 'flob']\n");
  }));

Deno.test("a progress event is fired and shown", () =>
  withFixture(async ({ run, events }) => {
    const { out } = await run("jobs.list_job", "20240102030405000009", "display_progress=True", "--out=raw");
    assertStringIncludes(out, "{'suffix': 'progress', 'event': {'message': 'Querying returner: local_cache'}}\n");
    assertEquals(events.map(([tag]) => tag.replace(/\d{20}/, "")), [
      "salt/run//new",
      "salt/run//progress",
      "salt/run//ret",
    ]);
  }));

Deno.test("manage.down with removekeys deletes the keys and the data of the minions, and requests a new AES key", () =>
  withFixture(async ({ root, run, events }) => {
    const pki = `${root}/etc/salt/pki/master/minions`;
    Deno.mkdirSync(pki, { recursive: true });
    Deno.writeTextFileSync(`${pki}/web1`, "PEM");
    const { code, out } = await run("manage.down", "removekeys=True", "timeout=1");
    assertEquals([code, out], [0, "- web1\n"]);
    assertEquals([...Deno.readDirSync(pki)].length, 0);
    assertEquals(events.filter(([tag]) => tag === "salt/key").map(([, data]) => data), [
      map({ result: true, act: "delete", id: "web1" }),
    ]);
    const cachedir = `${root}/var/cache/salt/master`;
    assertEquals([...Deno.readDirSync(`${cachedir}/grains`)].length, 0);
    assertEquals(Deno.readTextFileSync(`${cachedir}/.dfn`), "host_master");
  }));

Deno.test("custom runners are found", () =>
  withFixture(async ({ root, run }) => {
    Deno.mkdirSync(`${root}/ext/runners`, { recursive: true });
    Deno.writeTextFileSync(`${root}/ext/runners/mine.js`, "export const twice = (n) => n * 2;\n");
    assertEquals((await run("mine.twice", "21")).out, "42\n");
  }, "extension_modules: /ext\n"));

Deno.test("a runner's own retcode is the exit code", () =>
  withFixture(async ({ root, run, events }) => {
    Deno.mkdirSync(`${root}/ext/runners`, { recursive: true });
    Deno.writeTextFileSync(
      `${root}/ext/runners/mine.js`,
      "export const set = { run: (_, context) => { context.setRetcode(3); return 'x'; } };\n" +
        "export const result = () => ({ retcode: 5 });\n",
    );
    assertEquals((await run("mine.set")).code, 3);
    assertEquals(events.at(-1)?.[1].get("success"), false);
    assertEquals((await run("mine.result")).code, 5);
  }, "extension_modules: /ext\n"));

Deno.test("invalid options, jids and configuration each print one line and set an exit code", () =>
  withFixture(async ({ root, run }) => {
    const option = await run("--nonsense");
    assertEquals(option.code, 64);
    assertStringIncludes(option.err, "salt-run: error: no such option: --nonsense\n");
    assertEquals((await run("--jid=../x", "test.arg")).code, 64);
    assertEquals((await run("-a", "pam", "test.arg")).code, 64);
    Deno.writeTextFileSync(`${root}/etc/salt/master`, "a: [\n");
    const config = await run("test.arg");
    assertEquals([config.code, config.out], [1, ""]);
    assertMatch(config.err, /^salt-run: \S+\/master:\d+: .*\n$/);
  }));

Deno.test("Ctrl-C ends a runner, and prints its job id", () =>
  withFixture(async ({ run, io }) => {
    const controller = new AbortController();
    Object.assign(io, { signal: controller.signal });
    const running = run("test.sleep", "600", "--jid=20250102030405000001");
    const timer = setTimeout(() => controller.abort(), 20);
    const { code, err } = await running;
    clearTimeout(timer);
    assertEquals(code, 130);
    assertStringIncludes(err, "20250102030405000001");
  }));

Deno.test("control characters of a return are not written to the terminal", () =>
  withFixture(async ({ run, jobs }) => {
    const jid = jobs.prepare();
    jobs.saveReturn(map({ id: "web1", jid, return: "\x1b[2Jboo" }));
    const { out } = await run("jobs.lookup_jid", jid);
    assert(!out.includes("\x1b") && out.includes("boo"), out);
  }));

Deno.test("--query selects parts of a result, and an invalid query is a usage error before the runner starts", () =>
  withFixture(async ({ run, events }) => {
    const query = (expression: string) =>
      run("jobs.list_jobs", "--out=json", "--out-indent=-1", `--query=${expression}`);
    const { out, code } = await query("*.Function");
    assertEquals([out.startsWith('["test.ping"'), code], [true, 0], out);
    const before = events.length;
    const broken = await query("a[");
    assertEquals([broken.code, broken.out, events.length], [64, "", before]);
    assertStringIncludes(broken.err, "salt-run: error: option --query: ");
  }));

Deno.test("jobs.lookup_jid of an unknown job reports this and fails; output for programs is an empty map", () =>
  withFixture(async ({ run }) => {
    for (const jid of ["123", "20300102030405000001"]) {
      const { code, out, err } = await run("jobs.lookup_jid", jid);
      assertEquals([code, out], [1, ""]);
      assertStringIncludes(err, `There is no job ${jid} in the job cache`);
    }
    const json = await run("jobs.lookup_jid", "20300102030405000001", "--out=json");
    assertEquals([json.code, json.out], [1, "{}\n"]);
  }));

Deno.test("salt.cmd runs execution modules on this host, with the master's options and this host's grains", () =>
  withFixture(async ({ run }) => {
    assertEquals(await run("salt.cmd", "test.ping"), { code: 0, out: "True\n", err: "" });
    const { out } = await run("salt.cmd", "test.arg", "1", "a=2", "--out=json", "--out-indent=-1");
    assertEquals(JSON.parse(out), { args: [1], kwargs: { a: 2 } });
    assertEquals((await run("salt.cmd", "grains.get", "id", "--out=txt")).out, "host_master\n");
    assertEquals((await run("salt.cmd", "config.get", "ret_port", "--out=json")).out, "4599\n");
    assertEquals((await run("salt.cmd", "no.such", "--out=txt")).out, "'no.such' is not available.\n");
    const failed = await run("salt.cmd", "test.exception", "boom");
    assertEquals(failed.code, 1);
    assertStringIncludes(failed.out, "Exception occurred in runner salt.cmd: boom");
  }, "ret_port: 4599\n"));

Deno.test("salt-run salt.wheel runs wheel functions, and names the nearest one for an unknown name", () =>
  withFixture(async ({ run }) => {
    const listed = await run("salt.wheel", "key.list", "accepted", "--out=json", "--out-indent=-1");
    assertEquals(listed.out, '{"minions": []}\n');
    const unknown = await run("salt.wheel", "key.lst", "accepted");
    assertEquals(unknown.code, 1);
    assertStringIncludes(unknown.out, "Did you mean key.list?");
  }));

Deno.test("a runner of Salt that is not built is reported as such, not as a typing error", () =>
  withFixture(async ({ run }) => {
    const { code, out } = await run("winrepo.genrepo", "--out=txt");
    assertEquals(code, 64);
    assert(!out.includes("Did you mean"), out);
    assertStringIncludes(out, "not built");
  }));
