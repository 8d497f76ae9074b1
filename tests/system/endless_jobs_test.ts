/**
 * Jobs of built-in functions that would compute for hours: each is refused, or ended by `saltutil.kill_job`, and uses
 * no processor afterwards.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { treeCpuMs } from "#tests/bench/harness/process_figures.ts";
import { sleep } from "#lib/os/sleep.ts";
import { str, type Value } from "#lib/values/value.ts";
import { assert, assertMatch } from "#tests/support/assert.ts";
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
