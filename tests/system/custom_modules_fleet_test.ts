/**
 * Custom modules on a whole fleet: the effects of harmful ones, as `salt` shows them.
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";

async function fleetWith(modules: Readonly<Record<string, string>>): Promise<Fleet> {
  const fleet = await startFleet();
  const directory = `${fleet.minionConfigDir("web1")}/ext/modules`;
  Deno.mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(modules)) Deno.writeTextFileSync(`${directory}/${name}.js`, text);
  const options = { extension_modules: `${fleet.minionConfigDir("web1")}/ext`, custom_module_memory: 200_000_000 };
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1", options));
  return fleet;
}

Deno.test("saltutil.kill_job frees the processor of an endless custom function, and test.ping continues", async () => {
  await using fleet = await fleetWith({ own: "export function loop() { for (;;); }" });
  const started = await fleet.salt("--async", "web1", "own.loop");
  const jid = /\b\d{20}\b/.exec(started.out)?.[0] ?? "";
  const pid = await eventually(async () => {
    const { out } = await fleet.salt("--out=json", "--static", "web1", "saltutil.find_job", jid);
    return Number(/"pid": (\d+)/.exec(out)?.[1]) || undefined;
  }, { what: "the job" });
  assert(pid !== Deno.pid);
  const killed = await fleet.salt("web1", "saltutil.kill_job", jid);
  assertStringIncludes(killed.out, `Signal 9 sent to job ${jid} at pid ${pid}`);
  await eventually(() => {
    try {
      return /^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
    } catch {
      return true;
    }
  }, { what: "the end of the process" });
  assertMatch((await fleet.salt("web1", "test.ping")).out, /web1:\s+True/);
  const lookup = await eventually(async () => {
    const { out } = await fleet.saltRun("jobs.lookup_jid", jid);
    return out.includes("ended by signal 9") && out;
  }, { what: "the killed job's return" });
  assertStringIncludes(lookup, "The job was ended by signal 9");
});

Deno.test("a function that uses all memory fails its job, and the minion survives", async () => {
  await using fleet = await fleetWith({
    own: "export function greedy() { const all = []; for (;;) all.push(new Array(1000).fill({ a: 1 })); }",
  });
  const { out, code } = await fleet.salt("web1", "own.greedy");
  assertEquals(code, 1);
  assertStringIncludes(out, "needed more memory than it may have (custom_module_memory: 200000000)");
  assertMatch((await fleet.salt("web1", "test.ping")).out, /web1:\s+True/);
});
