import { jobStore } from "#tests/support/fleet/job_store.ts";
import { encode } from "#lib/values/msgpack.ts";
import { findUser } from "#lib/os/users.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";
import { preflightMaster } from "#lib/commands/daemons/preflight.ts";
import { notedJobs } from "#lib/minion/local_call/proc_jobs.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { Fleet, fleetTest, untilKey } from "#tests/support/fleet/fleet.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** The expected result of one run. A string is compared exactly, except that `JID` matches any job id. */
interface Case {
  readonly words: readonly string[];
  readonly out: string | RegExp;
  readonly err?: string | RegExp;
  readonly code?: number;
}

const TWO_STATES = "a: test.nop\nb: test.fail_without_changes\n";

const LOCAL_CASES: Readonly<Record<string, Case>> = {
  "shows the result under local": { words: ["test.ping"], out: "local:\n    True\n" },
  "reads arguments as YAML": {
    words: ["--out=json", "--out-indent=-1", "test.echo", "{a: [1, 1.0, yes]}"],
    out: '{"local": {"a": [1, 1.0, true]}}\n',
  },
  "tells functions how they were called": {
    words: ["--out=json", "test.kwarg", "a=1"],
    out: /"__pub_fun": "test\.kwarg",[^]*"__pub_jid": "JID",\s+"__pub_tgt": "salt-call"/,
  },
  "does not know a function": {
    words: ["nosuch.fun"],
    out: "",
    err: "'nosuch.fun' is not available.\n",
    code: 255,
  },
  "shows with --live what commands write, and not again": {
    words: ["--live", "cmd.run", "echo one; echo two"],
    out: "local: one\nlocal: two\nlocal:\n    (the 2 lines above)\n",
  },
  "shows with --live and an output for programs the lines on standard error": {
    words: ["--live", "--out=json", "--out-indent=-1", "cmd.run", "echo one; echo two"],
    out: '{"local": "one\\ntwo"}\n',
    err: "local: one\nlocal: two\n",
  },
  "shows with --live the states as they are done": {
    words: ["--live", "--state-output=terse", "--log-level=quiet", "state.template_str", TWO_STATES],
    out:
      /^local: 1\/2 a: Clean, [\d.]+ ms\nlocal: 2\/2 b: Failed, [\d.]+ ms: Failure!\nlocal:\n {2}Name: a - Function: test\.nop/,
    code: 1,
  },
  "shows with --live and an output for programs the states on standard error": {
    words: ["--live", "--out=json", "--log-level=quiet", "state.template_str", TWO_STATES],
    out: /^\{\n {4}"local": \{/,
    err: /^local: 1\/2 a: Clean, [\d.]+ ms\nlocal: 2\/2 b: Failed, [\d.]+ ms: Failure!\n$/,
    code: 1,
  },
  "shows what half a name may mean": {
    words: ["test.pin"],
    out: "",
    err: "'test.pin' is not available. Did you mean test.ping?\n",
    code: 255,
  },
  "shows how a function is called": {
    words: ["test.sleep"],
    out: /^\n {4}Wait for a number of seconds[^]*CLI Example:/,
    err: "\nPassed invalid arguments: sleep() missing 1 required positional argument: 'length'.\n\nUsage:\n",
    code: 1,
  },
  "refuses a keyword argument": {
    words: ["test.ping", "a=1"],
    out: "",
    err: "The following keyword arguments are not valid: a=1\n",
    code: 1,
  },
  "shows the warnings of test.deprecation_warning on standard error": {
    words: ["test.deprecation_warning"],
    out: "local:\n    True\n",
    err: "[WARNING ] DeprecationWarning: This is a test deprecation warning by version.\n" +
      "[WARNING ] DeprecationWarning: This is a test deprecation warning by date very far into the future (3000-01-01).\n",
  },
  "tells why a function could not": {
    words: ["cmd.run", "true", "cwd=/nonexistent"],
    out: "",
    err: "Error running 'cmd.run': Specified cwd '/nonexistent' either not absolute or does not exist\n",
    code: 1,
  },
  "tells what was thrown": {
    words: ["test.exception", "boom"],
    out: "",
    err: /^The minion function caused an exception: Error: boom\n/,
    code: 1,
  },
  "refuses to be a proxy minion, which there are none of": {
    words: ["--proxyid", "p1", "test.ping"],
    out: "",
    err: /\nsalt-call: error: --proxyid: proxy minions are not built yet\n$/,
    code: 64,
  },
  "refuses to run on resources": {
    words: ["-r", "--tgt", "x", "test.ping"],
    out: "",
    err: /\nsalt-call: error: -r\/--resources, --tgt, --tgt-type: resources are not built yet\n$/,
    code: 64,
  },
  "exits 1 with any failure": { words: ["-lquiet", "cmd.retcode", "exit 3"], out: "local:\n    3\n", code: 1 },
  "passes the return code through": {
    words: ["-lquiet", "--retcode-passthrough", "cmd.retcode", "exit 3"],
    out: "local:\n    3\n",
    code: 3,
  },
  "shows the job with --metadata": {
    words: ["--metadata", "--set-metadata={a: 1}", "test.echo", "1"],
    out:
      "local:\n    ----------\n    fun:\n        test.echo\n    fun_args:\n        - 1\n    id:\n        web1\n    jid:\n" +
      "        JID\n    metadata:\n        ----------\n        a:\n            1\n    retcode:\n        0\n    return:\n" +
      "        1\n",
  },
  "has an empty pillar where there is none": { words: ["pillar.items"], out: "local:\n    ----------\n" },
  "takes a pillar where there is none": {
    words: ["pillar.items", "unmask=True", "pillar={a: 1}"],
    out: "local:\n    ----------\n    a:\n        1\n",
  },
  "uses another id": { words: ["--id=db7", "grains.get", "id"], out: "local:\n    db7\n" },
  "goes without grains": { words: ["--skip-grains", "grains.items"], out: "local:\n    ----------\n" },
  "shows documentation": { words: ["-d", "test.pi"], out: /^test\.ping:\n\n {4}Answer True[^]*\n {4}\n\n$/ },
  "has no master to send events to": {
    words: ["event.fire_master", "{a: 1}", "my/tag"],
    out: "local:\n    False\n",
    err: /^\[WARNING \] This minion has no master/,
  },
  "has no running minion to fire at": { words: ["event.fire", "{a: 1}", "my/tag"], out: "local:\n    False\n" },
  "makes terminal escapes visible": { words: ["test.echo", "\x1b[31mred"], out: "local:\n    \\x1b[31mred\n" },
  "wants a function": {
    words: [],
    out: /^Usage: salt-call /,
    err: /\nsalt-call: error: Requires function, --grains or --doc\n$/,
    code: 64,
  },
  "takes no function with --grains": { words: ["-g", "test.ping"], out: "", err: /does not accept/, code: 64 },
  "documents one thing": { words: ["-d", "test.ping", "x"], out: "", err: /one method at one time/, code: 64 },
  "refuses an unknown option": { words: ["--nosuch"], out: "", err: /no such option: --nosuch\n$/, code: 64 },
  "names a returner that there is not": {
    words: ["--return=nosuch", "test.ping"],
    out: "local:\n    True\n",
    err: /The returner nosuch did not take the result: /,
  },
};

Deno.test("salt-call --local", async () => {
  await using fleet = new Fleet({});
  Deno.mkdirSync(fleet.minionConfigDir("web1"));
  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/minion`, `root_dir: ${fleet.root}/web1\nid: web1\n`);
  for (const [what, { words, out, err = "", code = 0 }] of Object.entries(LOCAL_CASES)) {
    const run = await fleet.saltCall("web1", "--local", ...words);
    const where = `salt-call --local ${what}: ${JSON.stringify(run)}`;
    assertText(run.out, out, where);
    assertText(run.err, err, where);
    assertEquals(run.code, code, where);
  }
  const grains = loadYaml((await fleet.saltCall("web1", "--local", "-g", "--out=yaml")).out);
  const local = isMap(grains) ? grains.get("local") : undefined;
  assertEquals(isMap(local) && local.get("id"), "web1");
  assertEquals([...Deno.readDirSync(`${fleet.root}/web1/var/cache/salt/minion/proc`)], [], "no note is left");
  const directories = ["var", "var/cache", "var/cache/salt", "var/cache/salt/minion", "var/cache/salt/minion/proc"];
  assertEquals(
    directories.map((path) => modeOf(`${fleet.root}/web1/${path}`)),
    ["755", "755", "755", "700", "700"],
    "the parents are open to other services",
  );
});

const asRoot = { ignore: Deno.uid() !== 0 };

Deno.test("a master of another user starts where root's commands have run first", asRoot, async () => {
  await using fleet = new Fleet({});
  Deno.chmodSync(fleet.root, 0o755);
  const umask = Deno.umask(0o077);
  try {
    Deno.mkdirSync(fleet.minionConfigDir("web1"));
    Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/minion`, `root_dir: ${fleet.root}/host\nid: web1\n`);
    assertEquals((await fleet.saltCall("web1", "--local", "test.ping")).code, 0);
    const overrides = { root_dir: `${fleet.root}/host`, publish_port: 0, ret_port: 0, user: "nobody" };
    const { opts } = loadMasterConfig({ configDir: `${fleet.root}/none`, overrides });
    assertEquals(preflightMaster(opts).user?.name, "nobody");
    // What preflight cannot make as root is made by that user, who must be able to pass.
    assertEquals(modeOf(`${fleet.root}/host/var/cache/salt`), "755");
    assertEquals(findUser(Deno.statSync(opts.cachedir).uid ?? -1)?.name, "nobody");
  } finally {
    Deno.umask(umask);
  }
});

Deno.test("salt-call loads custom modules of the host", async () => {
  await using fleet = new Fleet({});
  const directory = `${fleet.root}/more`;
  Deno.mkdirSync(`${directory}/modules`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/modules/greet.js`, "export function hello(name) { return `hello ${name}`; }");
  Deno.mkdirSync(fleet.minionConfigDir("web1"));
  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/minion`, `root_dir: ${fleet.root}/web1\nid: web1\n`);
  const run = await fleet.saltCall("web1", "--local", "-m", directory, "greet.hello", "you");
  assertEquals(run, { code: 0, out: "local:\n    hello you\n", err: "" });
});

function modeOf(path: string): string {
  return ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
}

function assertText(actual: string, expected: string | RegExp, where: string): void {
  const text = actual.replaceAll(/\b\d{20}\b/g, "JID");
  if (typeof expected === "string") assertEquals(text, expected, where);
  else assert(expected.test(text), `${where}\n does not match ${expected}`);
}

fleetTest("salt-call returns to its master, as a job of its own", {}, async (fleet) => {
  using events = await fleet.listen("salt/job/");
  const echoed = await fleet.saltCall("web1", "--set-metadata={x: 1}", "--out=json", "test.echo", "[1, 2]");
  assertEquals(JSON.parse(echoed.out), { local: [1, 2] });
  const event = await events.next(WITHIN_MS);
  const jid = String(event?.data.get("jid"));
  assertEquals(event?.tag, `salt/job/${jid}/ret/web1`);
  const { cachedir, hash_type } = fleet.masterOpts;
  const jobs = jobStore(cachedir, { hashType: hash_type });
  const load = jobs.getLoad(jid);
  assertEquals([load?.get("fun"), load?.get("fun_args"), load?.get("metadata"), load?.get("tgt")], [
    "test.echo",
    ["[1, 2]"],
    map({ x: 1 }),
    "web1",
  ]);
  assertEquals(jobs.getReturns(jid).get("web1")?.return, [1, 2]);

  await fleet.saltCall("web1", "--no-return-event", "test.ping");
  assertEquals(await events.next(200), undefined, "nothing is returned with --no-return-event");

  using fired = await fleet.listen("my/");
  assertEquals((await fleet.saltCall("web1", "event.send", "my/tag", "a=1")).out, "local:\n    True\n");
  const sent = (await fired.next(WITHIN_MS))?.data.get("data");
  assertEquals(isMap(sent) && sent.get("a"), 1);
});

fleetTest(
  "salt-call beside a running minion sees its jobs and reaches its bus",
  { minions: ["web1"] },
  async (fleet) => {
    const gate = `${fleet.root}/gate`;
    const running = fleet.salt("web1", "cmd.run", `while [ ! -e ${gate} ]; do sleep 0.02; done; echo over`);
    const { cachedir } = fleet.minionOpts("web1");
    const [job] = await eventually(() => {
      const jobs = notedJobs(cachedir);
      return jobs.length > 0 && jobs;
    }, { what: "the job" });
    assertEquals(job.fun, "cmd.run");
    const seen = await fleet.saltCall("web1", "--local", "--out=json", "saltutil.running");
    assertEquals(JSON.parse(seen.out).local.map(({ jid }: { jid: string }) => jid), [job.jid]);

    // The job runs in the minion's process: a signal would end the minion.
    const killed = await fleet.saltCall("web1", "--local", "saltutil.kill_job", job.jid);
    assertEquals(killed.code, 1);
    assertMatch(killed.err, /^Error running 'saltutil\.kill_job': Job \d+ is the running minion's/);

    using events = await fleet.listen("from/minion");
    // `fire_master` on the minion's own bus is forwarded to the master.
    const words = ["--local", "event.fire", "{tag: from/minion, data: {a: 1}}", "fire_master"];
    assertEquals((await fleet.saltCall("web1", ...words)).out, "local:\n    True\n");
    assert(await events.next(WITHIN_MS) !== undefined);
    for (const fun of ["refresh_modules", "refresh_grains", "refresh_pillar"]) {
      assertEquals((await fleet.saltCall("web1", `saltutil.${fun}`)).out, "local:\n    True\n");
    }
    Deno.writeTextFileSync(gate, "");
    assertEquals((await running).out, "web1:\n    over\n");
  },
);

fleetTest("salt-call gives up on a key that is not accepted", { autoAccept: false }, async (fleet) => {
  const pending = await fleet.saltCall("web1", "-lquiet", "test.ping");
  assertEquals(pending, {
    code: 2,
    out: "",
    err: "Minion failed to authenticate with the master, has the minion key been accepted?\n",
  });
  await untilKey(fleet, "web1", "pending");
  await fleet.saltKey("-y", "-r", "web1");
  const rejected = await fleet.saltCall("web1", "-lquiet", "test.ping");
  assertEquals(rejected, { code: 77, out: "", err: "The Salt Master has rejected this minion's public key\n" });
  await fleet.saltKey("-y", "-a", "web1", "--include-rejected");
  assertEquals((await fleet.saltCall("web1", "test.ping")).out, "local:\n    True\n");

  // A function that has run shows its result, also if the key is deleted meanwhile.
  const [begun, gate] = ["begun", "gate"].map((name) => `${fleet.root}/${name}`);
  const wait = `: > ${begun}; while [ ! -e ${gate} ]; do sleep 0.02; done; echo over`;
  const running = fleet.saltCall("web1", "cmd.run", wait);
  await eventually(() => statIfExists(begun) !== undefined, { what: "the command" });
  await fleet.saltKey("-y", "-d", "web1");
  Deno.writeTextFileSync(gate, "");
  const { code, out, err } = await running;
  assertEquals([code, out], [0, "local:\n    over\n"], err);
  assertMatch(err, /\[WARNING \] The result did not get to the master: Minion failed to authenticate with the master/);
});

fleetTest("salt-call without a master ends after its tries", { minion: { auth_tries: 2 } }, async (fleet) => {
  fleet.minionOpts("web1");
  await fleet.stopMaster();
  const run = await fleet.saltCall("web1", "-lquiet", "-t", "0.2", "test.ping");
  assertEquals([run.code, run.out], [1, ""]);
  assertMatch(run.err, /^Unable to sign_in to master: No master answers at tcp:\/\/127\.0\.0\.1:\d+ /);
  assertEquals((await fleet.saltCall("web1", "--local", "test.ping")).code, 0);
});

const NOTES: readonly (readonly [what: string, note: ValueMap | string, seen: Value])[] = [
  ["a job of this process", note({ pid: Deno.pid }), ["test.ping"]],
  ["a job of a process that is gone", note({ pid: 0x7fffffff }), []],
  ["a note without a process", note({}), []],
  ["a broken note", "garbage", []],
];

function note(fields: Record<string, Value>): ValueMap {
  return map({ fun: "test.ping", jid: "20260101000000000000", tgt: "*", ...fields });
}

for (const [what, written, seen] of NOTES) {
  Deno.test(`notedJobs() of ${what} is ${Deno.inspect(seen)}`, () =>
    withTemporaryDirectory((cachedir) => {
      Deno.mkdirSync(`${cachedir}/proc`);
      const bytes = typeof written === "string" ? new TextEncoder().encode(written) : encode(written, "disk");
      Deno.writeFileSync(`${cachedir}/proc/20260101000000000000`, bytes);
      assertEquals(notedJobs(cachedir).map(({ fun }) => fun), seen);
    }));
}
