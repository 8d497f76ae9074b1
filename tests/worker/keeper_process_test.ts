/** The start of the process that keeps commands, with programs of the test's own in its place. */

import { TimeBudget } from "../../lib/os/time_budget.ts";
import { READY } from "../../lib/host/detached_commands.ts";
import { KeeperProcess } from "../../lib/worker/keeper_process.ts";
import { assert, assertEquals, assertStringIncludes } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";
import { memoryLog } from "../support/fleet/scripted_master.ts";

const OPTS = { cachedir: "/nowhere", sock_dir: "/nowhere" };
const shell = (script: string) => ["/bin/sh", "-c", script];

const FAILURES: readonly [what: string, program: string[], reason: string][] = [
  ["is not there", ["/no/such/program"], ""],
  ["prints something else", shell("echo no room; cat"), "it has ended: no room"],
  ["ends at once", shell("exit 3"), "it has ended: it printed nothing"],
  ["never listens", shell("exec sleep 60"), "it has ended: it printed nothing"],
  ["ends, but leaves its output open", shell("sleep 0.5 &"), "it has ended: it printed nothing"],
];
for (const [what, program, reason] of FAILURES) {
  Deno.test(`a keeper that ${what} is not asked again, and the log says why`, async () => {
    const { log, lines } = memoryLog();
    const keeper = new KeeperProcess(OPTS, log, { program, startMs: 100 });
    const alive = setInterval(() => {}, 1_000); // neither a keeper nor its timer keeps a minion from ending
    assertEquals(await keeper.socket(), undefined);
    assertEquals(await keeper.socket(), undefined);
    clearInterval(alive);
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0], "Commands end with this minion: their keeper cannot be started: ");
    assertStringIncludes(lines[0], reason);
    await keeper.close(new TimeBudget(1_000));
  });
}

Deno.test("what a keeper prints later is in the log; released, it ends", async () => {
  const { log, lines } = memoryLog();
  const keeper = new KeeperProcess(OPTS, log, {
    program: shell(`printf '%s\\n' '${READY}'; sleep 0.1; echo trouble; exec cat > /dev/null`),
  });
  const path = await keeper.socket();
  assert(path?.startsWith("/nowhere/commands_"));
  assertEquals(await keeper.socket(), path);
  await eventually(() => lines.length > 0, { what: "the line" });
  assertStringIncludes(lines[0], "The keeper of commands: trouble");
  const budget = new TimeBudget(10_000);
  await keeper.close(budget);
  assert(budget.leftMs > 0, "it did not end");
  assertEquals(await keeper.socket(), undefined);
});
