/**
 * Jobs of built-in functions that would compute for hours: each is refused, or ended by `saltutil.kill_job`, and uses
 * no processor afterwards. Orchestrations that would run for hours are ended by Ctrl-C and SIGTERM.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { treeCpuMs } from "#tests/bench/harness/process_figures.ts";
import { sleep } from "#lib/os/sleep.ts";
import { exists } from "#lib/os/file_kind.ts";
import { startedProcess } from "#lib/procfs/process_facts.ts";
import { str, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const ID = "m00";

/** A list of 400 characters that stands for 9 ** 10 texts. */
const ALIASES = `[${
  Array.from({ length: 10 }, (_, i) => `&a${i} [${Array.from({ length: 9 }, () => i ? `*a${i - 1}` : "x").join(",")}]`)
    .join(",")
}]`;

/** Sets `ns.l` to a list that names itself nine times in each of `levels` levels. */
function lists(name: string, levels: number): string {
  const nine = Array.from({ length: 9 }, () => `ns.${name}`).join(", ");
  return `{% set ns.${name} = ['x'] %}{% for i in range(${levels}) %}{% set ns.${name} = [${nine}] %}{% endfor %}`;
}

const BOTH = `{% set ns = namespace() %}${lists("a", 12)}${lists("b", 12)}`;

/** Templates that would compute for hours. */
const TEMPLATES: Readonly<Record<string, string>> = {
  loops:
    "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% endfor %}{% endfor %}",
  calls:
    "{% for a in range(100000) %}{% for b in range(100000) %}{% set x = salt['test.ping']() %}{% endfor %}{% endfor %}",
  macros: "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(100) }}",
  equality: `${BOTH}{{ ns.a == ns.b }}`,
  order: `${BOTH}{{ ns.a < ns.b }}`,
  serializers: `${BOTH}{{ (ns.a|json)|length }}`,
  arguments: `${BOTH}{% set x = salt['test.arg'](ns.a) %}`,
  searches: "{% set n = 'a' * 500000 %}{{ ('a' * 10000000).find(n ~ 'b' ~ n) }}",
  "searches from the right": "{% set n = 'a' * 1000000 %}{{ ('a' * 10000000).rfind(n ~ 'b') }}",
};

/** States each of which requires all of them, and states in a circle. */
const REQUISITES = Array.from(
  { length: 900 },
  (_, i) =>
    `s${i}: {test.nop: [{require: ${i ? "*all" : "&all"} ${
      i ? "" : `[${Array.from({ length: 900 }, (_, j) => `{test: s${j}}`).join(", ")}]`
    }}]}`,
).join("\n");
const CIRCLE = Array.from({ length: 3_000 }, (_, i) => `s${i}: {test.nop: [{require: [{test: s${(i + 1) % 3_000}}]}]}`)
  .join("\n");

/** The function and arguments of each job. */
const JOBS: Readonly<Record<string, readonly [fun: string, ...args: Value[]]>> = {
  "aliases in an argument": ["test.echo", `text=${ALIASES}`],
  "aliases in an SLS": ["state.apply", "aliases"],
  ...Object.fromEntries(
    Object.keys(TEMPLATES).flatMap((name) => [
      [`a template with endless ${name}`, ["slsutil.renderer", `salt://${name}.sls`]],
    ]),
  ),
  "an SLS with endless loops": ["state.apply", "loops"],
  "states that require each other": ["state.apply", "requisites"],
  "states in a circle": ["state.apply", "circle"],
  "aliases in a pillar of the command": ["state.apply", "loops", `pillar={"x": ${ALIASES}}`],
  "an expression that backtracks": ["file.replace", "LETTERS", "(a+)+\\1$", "b"],
  "a search that backtracks": ["file.search", "LETTERS", "(a|aa)+\\1c"],
  "a glob that is compared at each place": ["match.glob", `*${"a".repeat(50_000)}b`, "a".repeat(200_000)],
};

/** Those that only the kill ends. */
const ENDLESS: ReadonlySet<string> = new Set([
  ...Object.keys(TEMPLATES).map((name) => `a template with endless ${name}`),
  "an SLS with endless loops",
  "a glob that is compared at each place",
]);

Deno.test("kill_job ends each endless job of a built-in function within two seconds, and the minion uses no processor afterwards", async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  Deno.mkdirSync(fleet.statesDir, { recursive: true });
  Deno.writeTextFileSync(`${fleet.statesDir}/aliases.sls`, `x: ${ALIASES}\n`);
  Deno.writeTextFileSync(`${fleet.statesDir}/requisites.sls`, REQUISITES);
  Deno.writeTextFileSync(`${fleet.statesDir}/circle.sls`, CIRCLE);
  const letters = `${fleet.statesDir}/letters`;
  Deno.writeTextFileSync(letters, "a".repeat(200_000));
  for (const [name, text] of Object.entries(TEMPLATES)) Deno.writeTextFileSync(`${fleet.statesDir}/${name}.sls`, text);
  const client = await fleet.client();
  const publish = (fun: string, arg: Value[]) => client.publish({ tgt: ID, tgtType: "glob", fun, arg });
  const returned = (jid: string) => fleet.jobs.getReturn(jid, ID)?.return;
  const { pid } = fleet.minion(ID);
  try {
    for (const [name, [fun, ...arg]] of Object.entries(JOBS)) {
      await t.step(name, async () => {
        const { jid } = await publish(fun, arg.map((each) => each === "LETTERS" ? letters : each));
        await sleep(1_500);
        const wasOver = returned(jid);
        await publish("saltutil.kill_job", [jid]);
        const result = await eventually(() => returned(jid), { withinMs: 2_000, what: "the end of the job" });
        // Some end by themselves, and may do so at any time.
        if (ENDLESS.has(name) && wasOver === undefined) assertMatch(str(result), /^The job was ended by signal 9$/);
        assert(!str(result).includes("continues"), str(result));
        const { jid: ping } = await publish("test.ping", []);
        await eventually(() => returned(ping), { what: "the next ping" });
        const before = treeCpuMs(pid);
        await sleep(1_000);
        const used = treeCpuMs(pid) - before;
        assert(used < 300, `the minion used ${used} ms of a second after ${name}`);
      });
    }
  } finally {
    client.close();
  }
});

/** Each writes to `STARTED` when it has begun. */
const ORCHESTRATIONS: Readonly<Record<string, string>> = {
  loops: `{% set _ = salt['file.write']('STARTED', '0') %}
{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}{% endfor %}{% endfor %}{% endfor %}`,
  serializers: `{% set _ = salt['file.write']('STARTED', '0') %}{% set ns = namespace(l=['x']) %}
{% for i in range(12) %}{% set ns.l = [ns.l, ns.l, ns.l, ns.l, ns.l, ns.l, ns.l, ns.l, ns.l] %}{% endfor %}
{{ (ns.l|json)|length }}`,
  commands: "slow: {cmd.run: [{name: 'echo $$ > STARTED; exec sleep 600'}]}",
  "parallel states": "slow: {cmd.run: [{name: 'echo $$ > STARTED; exec sleep 600'}, {parallel: True}]}",
  "a wait for an event": `begun: {cmd.run: [{name: 'echo 0 > STARTED'}]}
never: {salt.wait_for_event: [{name: x/*, id_list: [a], timeout: 600}, {require: [{cmd: begun}]}]}`,
};

Deno.test("Ctrl-C and SIGTERM end each endless orchestration within two seconds, with its commands", async (t) => {
  await using fleet = await ProcessFleet.start({ minions: 1 });
  Deno.mkdirSync(fleet.statesDir, { recursive: true });
  using client = await fleet.client();
  for (const [name, text] of Object.entries(ORCHESTRATIONS)) {
    for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
      await t.step(`${signal} while there are ${name}`, async () => {
        const started = `${fleet.root}/started`, sls = `${fleet.statesDir}/endless.sls`;
        Deno.writeTextFileSync(sls, text.replaceAll("STARTED", started));
        const [program, ...args] = fleet.saltWords("salt-run", "state.orchestrate", "endless");
        const run = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
        const output = run.output();
        await eventually(() => exists(started) && Deno.readTextFileSync(started) !== "", { what: "its start" });
        const command = Number(Deno.readTextFileSync(started));
        const { jid } = await client.publish({ tgt: ID, tgtType: "glob", fun: "test.ping", arg: [] });
        await eventually(() => fleet.jobs.getReturn(jid, ID), { withinMs: 5_000, what: "the answer to a ping" });
        run.kill(signal);
        const at = performance.now();
        const ended = await output;
        const ms = performance.now() - at;
        assert(ms < 2_000, `it ended after ${ms} ms`);
        assertStringIncludes(new TextDecoder().decode(ended.stderr), "Stopped. The job was 2");
        assertEquals(ended.code, code);
        if (command > 0) await eventually(() => startedProcess(command) === undefined, { what: "the command's end" });
        Deno.removeSync(started);
      });
    }
  }
});
