import { runSalt } from "#lib/commands/programs/salt.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest, type Run, untilKey } from "#tests/support/fleet/fleet.ts";
import { failedText, NO_MATCH, NOBODY } from "#tests/support/fleet/salt_texts.ts";

/** The expected result of one run on `web1`. A string is compared exactly, except that `JID` matches any jid. */
interface Case {
  readonly words: readonly string[];
  readonly out: string | RegExp;
  readonly err?: string | RegExp;
  readonly code?: number;
}

const CASES: Readonly<Record<string, Case>> = {
  "says with -l debug what it reads, sends and gets": {
    words: ["-l", "debug", "web1", "test.ping"],
    out: "web1:\n    True\n",
    err: new RegExp(
      "\\[DEBUG   \\] Reading configuration from .*/master\n[^]*Publishing test.ping to '?web1'? \\(glob\\) as \\w+\n" +
        "[^]*Job JID is published to 1 minions\n[^]*jid JID return from web1\n",
    ),
  },
  "shows a return under the minion's id": { words: ["web1", "test.ping"], out: "web1:\n    True\n" },
  "takes a False for success, as Salt does": { words: ["web1", "test.false"], out: "web1:\n    False\n" },
  "reads arguments as YAML": {
    words: ["--out=json", "--out-indent=-1", "web1", "test.echo", "{a: [1, 1.0, yes, null]}"],
    out: '{"web1": {"a": [1, 1.0, true, null]}}\n',
  },
  "leaves --no-parse arguments alone": {
    words: ["--no-parse=text", "--out=json", "--out-indent=-1", "web1", "test.echo", "text=0644"],
    out: '{"web1": "0644"}\n',
  },
  "fails with a function that does not exist": {
    words: ["web1", "nosuch.fun"],
    out: "web1:\n    'nosuch.fun' is not available.\n",
    err: failedText("1 (web1)"),
    code: 1,
  },
  "fails with a command that fails": {
    words: ["web1", "cmd.run", "exit 3"],
    out: "web1:\n",
    err: failedText("3 (web1)"),
    code: 1,
  },
  "shows json, one document for each minion": {
    words: ["--out=json", "web1", "test.ping"],
    out: '{\n    "web1": true\n}\n',
  },
  "shows yaml": { words: ["--out=yaml", "web1", "test.ping"], out: "web1: true\n" },
  "shows raw": { words: ["--out=raw", "web1", "test.ping"], out: "{'web1': True}\n" },
  "shows txt": { words: ["--out=txt", "web1", "test.ping"], out: "web1: True\n" },
  "shows nothing with quiet": { words: ["--out=quiet", "web1", "test.ping"], out: "" },
  "falls back to nested": {
    words: ["--out=nosuch", "web1", "test.ping"],
    out: "web1:\n    True\n",
    err: "[ERROR   ] Invalid outputter nosuch specified, fall back to nested\n",
  },
  "shows the job id with -v": {
    words: ["-v", "web1", "test.ping"],
    out: `Executing job with jid JID\n${"-".repeat(43)}\n\nweb1:\n    True\n`,
  },
  "shows the job id with --show-jid": {
    words: ["--show-jid", "web1", "test.ping"],
    out: "jid: JID\nweb1:\n    True\n",
  },
  "does not wait with --async": { words: ["--async", "web1", "test.ping"], out: "Executed command with job ID: JID\n" },
  "runs several functions": {
    words: ["--out=json", "--out-indent=-1", "web1", "test.ping,test.echo", ",", "hi"],
    out: '{"web1": {"test.ping": true, "test.echo": "hi"}}\n',
  },
  "splits the arguments of several functions the old way": {
    words: ["--out=json", "--out-indent=-1", "web1", "test.echo,test.echo", "a,b"],
    out: '{"web1": {"test.echo": "b"}}\n',
  },
  "splits by another separator": {
    words: ["--out=json", "--out-indent=-1", "--args-separator=::", "web1", "test.echo,test.arg", "a,b", "::", "c,d"],
    out: /"test.echo": "a,b".*"args": \["c,d"\]/,
  },
  "shows documentation": {
    words: ["-d", "web1", "test.ping"],
    out: /^test\.ping:\n\n {4}Answer True.*\n\n {4}CLI Example:\n\n {8}salt '\*' test\.ping\n {4}\n\n$/,
  },
  "shows the documentation of a module in order": {
    words: ["web1", "sys.doc", "sys"],
    out: /^sys\.argspec:\n[^]*\nsys\.doc:\n[^]*\nsys\.list_functions:\n/,
  },
  "shows no documentation of nothing": { words: ["web1", "sys.doc", "nosuch"], out: "" },
  "says that nobody matches": { words: ["nosuch", "test.ping"], out: NO_MATCH, err: NOBODY, code: 2 },
  "says in JSON too that nobody matches": {
    words: ["--out=json", "nosuch", "test.ping"],
    out: `${NO_MATCH}{}\n`,
    err: NOBODY,
    code: 2,
  },
  "says that nobody matches with --async": {
    words: ["--async", "x", "test.ping"],
    out: NO_MATCH,
    err: NOBODY,
    code: 2,
  },
  "says that nobody matches with --batch": {
    words: ["-b", "1", "x", "test.ping"],
    out: NO_MATCH,
    err: NOBODY,
    code: 2,
  },
  "says that nobody matches with --subset": {
    words: ["--subset=1", "web1", "no.such"],
    out: NO_MATCH,
    err: NOBODY,
    code: 2,
  },
  "targets by regular expression": { words: ["-E", "web\\d$", "test.ping"], out: "web1:\n    True\n" },
  "targets by list, and misses those that nobody accepted": {
    words: ["-L", "web1,nosuch", "test.ping"],
    out: "web1:\n    True\nnosuch:\n    Minion did not return. [No such minion]\n",
    err: failedText("no such minion (nosuch)"),
    code: 1,
  },
  "targets by list separated by blanks": { words: ["-L", "web1 ", "test.ping"], out: "web1:\n    True\n" },
  "targets by a grain": { words: ["-G", "kernel:linux", "test.ping"], out: "web1:\n    True\n" },
  "targets by a grain with another delimiter": {
    words: ["-G", "--delimiter=/", "kernel/Linux", "test.ping"],
    out: "web1:\n    True\n",
  },
  "targets by several conditions": {
    words: ["-C", "( E@web\\d$ or db1 ) and G@kernel:L* and not G@id:db*", "test.ping"],
    out: "web1:\n    True\n",
  },
  "targets by address": { words: ["-S", "127.0.0.0/8", "test.ping"], out: "web1:\n    True\n" },
  "targets by an empty pillar": { words: ["-I", "role:web", "test.ping"], out: NO_MATCH, err: NOBODY, code: 2 },
  "says what of a target it cannot read": {
    words: ["-C", "web1 and", "test.ping"],
    out: "",
    err: /salt: error: Cannot read the compound target: a term is missing at the end\n$/,
    code: 64,
  },
  "says that there is no range server": {
    words: ["-R", "%web", "test.ping"],
    out: "",
    err: /salt: error: There is no range server: range targets are not built\n$/,
    code: 64,
  },
  "previews a target of grains": { words: ["--preview-target", "-G", "kernel:Linux"], out: "- web1\n" },
  "previews a target": { words: ["--preview-target", "web*"], out: "- web1\n" },
  "previews nothing, and says why": {
    words: ["--preview-target", "web1,db1"],
    out: "",
    err: `The target was read as a glob. For a list of ids there is -L: -L 'web1,db1'\n${NOBODY}`,
    code: 2,
  },
  "previews nothing": { words: ["--preview-target", "x"], out: "", err: NOBODY, code: 2 },
  "summarises": {
    words: ["--summary", "web1", "cmd.run", "exit 3"],
    out: new RegExp(
      "^web1:\n\n\n-------------------------------------------\nSummary\n-------------------------------------------\n" +
        "# of minions targeted: 1\n# of minions returned: 1\n# of minions that did not return: 0\n" +
        "# of minions with errors: 1\noutcome  code  minions  which\nfailed      3        1  web1\n" +
        "response time: \\d+\\.\\d{3} s\n-------------------------------------------\n$",
    ),
    err: failedText("3 (web1)"),
    code: 1,
  },
  "names who failed with --summary and --out=txt": {
    words: ["--summary", "--out=txt", "web1", "cmd.run", "exit 3"],
    out: "",
    err: failedText("3 (web1)"),
    code: 1,
  },
  "picks parts of all returns": {
    words: ["--query=*.[a, b[0]]", "--out=json", "--out-indent=-1", "web1", "test.echo", "{a: 1, b: [x, y]}"],
    out: '[[1, "x"]]\n',
  },
  "shows only a summary with --progress": {
    words: ["--progress", "web1", "test.ping"],
    out: /^\n\n-{43}\nSummary\n-{43}\n# of minions targeted: 1\n# of minions returned: 1\n/,
  },
  "makes terminal escapes visible": {
    words: ["web1", "test.echo", "\x1b[31mred\x9b1m"],
    out: "web1:\n    \\x1b[31mred\\x9b1m\n",
  },
  "says what is missing, and how it is used: target": {
    words: [],
    out: "",
    err:
      /^salt: Cannot execute command without defining a target\.\nUsage: salt .*\n( {2}salt .*\n){4}More: salt --help\n$/,
    code: 42,
  },
  "says what is missing: function": {
    words: ["web1"],
    out: "",
    err: /^salt: Incomplete options passed: a function is missing\.\nUsage: salt /,
    code: 42,
  },
  "wants arguments for each function": {
    words: ["web1", "test.ping,test.echo"],
    out: "",
    err: /^salt: Cannot execute compound command without defining all arguments\.\n/,
    code: 42,
  },
  "wants no more arguments than functions": {
    words: ["web1", "test.echo,test.echo", "a,b,c"],
    out: "",
    err: /^salt: Cannot execute compound command with more arguments than commands\.\n/,
    code: 42,
  },
  "refuses an unknown option": {
    words: ["--nosuch"],
    out: "",
    err: /\nsalt: error: no such option: --nosuch\n$/,
    code: 64,
  },
  "refuses two kinds of target": {
    words: ["-E", "-L", "web1", "test.ping"],
    out: "",
    err: /\nsalt: error: The options --pcre\/--list are mutually exclusive\. Please only choose one of them\n$/,
    code: 64,
  },
  "refuses a broken regular expression": {
    words: ["-E", "(", "test.ping"],
    out: "",
    err: /\nsalt: error: Cannot read the regular expression "\(": /,
    code: 64,
  },
  "refuses a roster": { words: ["-H", "web1", "test.ping"], out: "", err: /salt-ssh/, code: 64 },
  "refuses external authentication by a system that there is not": {
    words: ["-a", "auto", "web1", "test.ping"],
    out: "",
    err: /"auto" is not available.* Available eauth types: file, ldap, pam, rest, sharedsecret/,
    code: 64,
  },
  "refuses a batch that is no number": {
    words: ["-b", "many", "web1", "test.ping"],
    out: "",
    err: /\nsalt: error: Invalid batch data sent: many\nData must be in the form of %10, 10% or 3\n$/,
    code: 64,
  },
  "refuses a hidden batch in the background": {
    words: ["--async", "--no-log", "-b1", "web1", "test.ping"],
    out: "",
    err: /--no-log cannot go with --async and --batch/,
    code: 64,
  },
  "refuses a hidden job whose output is shown, and so stored, as it comes": {
    words: ["--no-log", "--live", "web1", "test.ping"],
    out: "",
    err:
      /\nsalt: error: --no-log cannot go with --live: the master stores what commands write, and publishes it on the /,
    code: 64,
  },
  "refuses a hidden job whose results a returner stores": {
    words: ["--no-log", "--return=local", "web1", "test.ping"],
    out: "",
    err: /\nsalt: error: --no-log cannot go with --return: a returner stores the results\n$/,
    code: 64,
  },
  "refuses documentation of two things": {
    words: ["-d", "web1", "a", "b"],
    out: "",
    err: /one method at one time/,
    code: 64,
  },
};

fleetTest("salt, on one minion", { minions: ["web1"] }, async (fleet) => {
  for (const [what, { words, out, err = "", code = 0 }] of Object.entries(CASES)) {
    const run = await fleet.salt(...words);
    const where = `salt ${what}: ${JSON.stringify(run)}`;
    assertText(run.out, out, where);
    assertText(run.err, err, where);
    assertEquals(run.code, code, where);
  }
});

function assertText(actual: string, expected: string | RegExp, where: string): void {
  const text = actual.replaceAll(/\b\d{20}\b/g, "JID");
  if (typeof expected === "string") assertEquals(text, expected, where);
  else assert(expected.test(text), `${where}\n does not match ${expected}`);
}

fleetTest(
  "salt prints returns as they come, and all at once with --static",
  { minions: ["web1", "db1"] },
  async (fleet) => {
    const seen: string[] = [];
    const run = await fleet.saltWith({ onOutput: (text) => seen.push(text) }, "*", "test.ping");
    assertEquals(seen.sort(), ["db1:\n    True\n", "web1:\n    True\n"]);
    assertEquals(run.code, 0);

    const all = await fleet.salt("--static", "--out=json", "*", "test.ping");
    assertEquals(JSON.parse(all.out), { web1: true, db1: true });
    assertEquals(await fleet.saltJson("*", "test.echo", "x"), map({ web1: "x", db1: "x" }));

    const failed = await fleet.salt("--static", "*", "nosuch.fun");
    assertEquals([failed.code, failed.err], [1, failedText("1 (db1, web1)")]);

    const groups = await fleet.salt("--group", "*", "test.echo", "x");
    assertEquals(groups.out, "db1, web1 (2 minions):\n    x\n");
    const listed = await fleet.salt("--group", "--out=json", "--out-indent=-1", "*", "test.echo", "x");
    assertEquals(listed.out, '[{"minions": ["db1", "web1"], "retcode": 0, "return": "x"}]\n');

    const few = await fleet.salt("--subset=1", "--out=txt", "*", "test.ping");
    assertMatch(few.out, /^(web1|db1): True\n$/);
  },
);

fleetTest("salt reads from standard input, writes to a file, and colours what a terminal shows", {
  minions: ["web1"],
}, async (fleet) => {
  const { out } = await fleet.saltWith({ stdin: "test.echo\n--out=txt\nhi there\n" }, "--args-stdin", "web1");
  assertEquals(out, "web1: hi there\n");

  const file = `${fleet.root}/out`;
  assertEquals(await fleet.salt(`--out-file=${file}`, "--out=txt", "web1", "test.ping"), { code: 0, out: "", err: "" });
  await fleet.salt(`--out-file=${file}`, "--out-file-append", "--out=txt", "web1", "test.ping");
  assertEquals(Deno.readTextFileSync(file), "web1: True\nweb1: True\n");

  const coloured = "\x1b[0;36mweb1\x1b[0;0m:\n    \x1b[0;1;33mTrue\x1b[0;0m\n";
  assertEquals((await fleet.saltWith({ isTerminal: true }, "web1", "test.ping")).out, coloured);
  assertEquals((await fleet.salt("--force-color", "web1", "test.ping")).out, coloured);
  const unknown = await fleet.saltWith({ isTerminal: true }, "web1", "no.such");
  assertEquals(unknown.out, "\x1b[0;31mweb1\x1b[0;0m:\n    \x1b[0;31m'no.such' is not available.\x1b[0;0m\n");
  const plain = await fleet.saltWith({ isTerminal: true }, "--no-color", "web1", "test.ping");
  assertEquals(plain.out, "web1:\n    True\n");
});

fleetTest("salt sends metadata, returners and start_event along", { minions: ["web1"] }, async (fleet) => {
  using events = await fleet.listen("salt/job/");
  await fleet.salt("--metadata={a: 1}", "--return=local", "--start-event", "web1", "test.ping");
  const data = new Map<string, ValueMap>();
  await eventually(async () => {
    const event = await events.next(200);
    if (event !== undefined) data.set(event.tag.replace(/\d{20}/, "JID"), event.data);
    return ["publish", "start/web1", "ret/web1"].every((end) => data.has(`salt/job/JID/${end}`));
  }, { what: "publish, start and return" });
  assertEquals(data.get("salt/job/JID/publish")?.get("ret"), "local");
  assertEquals(data.get("salt/job/JID/ret/web1")?.get("metadata"), map({ a: 1 }));
});

fleetTest("salt dumps the configuration as YAML", {}, async (fleet) => {
  const { out, code } = await fleet.salt("--config-dump");
  const config = loadYaml(out);
  assert(isMap(config));
  assertEquals([config.get("id"), config.get("worker_threads"), code], ["fleet_master", 2, 0]);
});

fleetTest("a new minion waits for salt-key, whose events are on the bus", { autoAccept: false }, async (fleet) => {
  using events = await fleet.listen("salt/key");
  await fleet.startMinion("web1");
  await untilKey(fleet, "web1", "pending");
  assertEquals(await fleet.salt("w*", "test.ping"), {
    code: 2,
    out: NO_MATCH,
    err: `Not accepted yet, and so not asked: web1. To accept a key: salt-key -c ${fleet.configDir} -a web1\n${NOBODY}`,
  });
  await fleet.untilServing(["web1"], async () => {
    const accepted = await fleet.saltKeyWith({ stdin: "y\n" }, "-a", "web1");
    assertStringIncludes(accepted.out, "Key for minion web1 accepted.");
  });
  const event = await events.next(WITHIN_MS);
  assertEquals([event?.data.get("act"), event?.data.get("id")], ["accepted", "web1"]);
  assertEquals((await fleet.salt("*", "test.ping")).out, "web1:\n    True\n");
  assertEquals(
    (await fleet.saltRun("manage.status", "--out=json")).out.replaceAll(/\s/g, ""),
    '{"up":["web1"],"down":[]}',
  );
});

Deno.test("salt shows help and version without any configuration", async () => {
  const outputs: string[] = [];
  const io = {
    write: (text: string) => void outputs.push(text),
    writeError: (text: string) => void outputs.push(text),
    isTerminal: false,
    isErrorTerminal: false,
    readStdin: () => Promise.resolve(""),
    signal: new AbortController().signal,
  };
  assertEquals(await runSalt(["--help"], io), 0);
  assertEquals(await runSalt(["--version"], io), 0);
  assertMatch(outputs.join(""), /^Usage: salt \[options\][^]*--preview-target[^]*\nsalt \d/);
});

fleetTest("salt.ts answers under each of its names, as a process of its own", { minions: ["web1"] }, async (fleet) => {
  const start = (...words: string[]) => {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-all", "--quiet", new URL("../../../salt.ts", import.meta.url).pathname, ...words],
      env: { NO_COLOR: "1" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const ended = child.output().then(({ code, stdout, stderr }): Run => {
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, out: text(stdout), err: text(stderr) };
    });
    return { child, ended };
  };
  const at = ["-c", fleet.configDir];
  assertEquals(await start(...at, "web1", "test.ping").ended, { code: 0, out: "web1:\n    True\n", err: "" });
  assertEquals((await start("--as", "salt-run", ...at, "manage.up").ended).out, "- web1\n");
  using runs = await fleet.listen("salt/run/");
  const detached = await start("--as", "salt-run", ...at, "--async", "test.arg", "1").ended;
  assertMatch(detached.err, /This execution is running under tag salt\/run\/\d{20}\n$/);
  const ret = await runs.next(WITHIN_MS, (tag) => tag.endsWith("/ret"));
  assertEquals([ret?.data.get("fun"), ret?.data.get("success")], ["runner.test.arg", true]);

  // A batch continues in the background, in another process.
  using batches = await fleet.listen("salt/batch/");
  const batch = await start(...at, "-b", "1", "--async", "web1", "test.ping").ended;
  assertMatch(batch.out, /^Executed batch command with job ID: \d{20}\n$/);
  const ends = (tag: string) => tag.endsWith("/complete");
  assertEquals((await batches.next(WITHIN_MS, ends))?.data.get("completed"), 1);

  using keys = await fleet.listen("salt/key");
  const deleted = await start("--as", "salt-key", ...at, "-y", "-d", "web1").ended;
  assertNotEquals(deleted.out, "");
  assertEquals((await keys.next(WITHIN_MS))?.data.get("act"), "delete");

  assertEquals((await start(...at, "web1", "test.ping").ended).code, 2);
});
