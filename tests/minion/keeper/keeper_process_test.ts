/** The start of the process that keeps commands, with programs of the test's own in its place. */

import { TimeBudget } from "#lib/os/time_budget.ts";
import { READY } from "#lib/programs/detached_commands.ts";
import { KeeperProcess } from "#lib/minion/keeper/keeper_process.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const OPTS = { cachedir: "/nowhere", sock_dir: "/nowhere" };
const shell = (script: string) => ["/bin/sh", "-c", script];

const FINAL = "is not tried again, and the log says why", AGAIN = "is tried again after a time";
const FAILURES: readonly [what: string, program: string[], reason: string, then: string][] = [
  ["is not there", ["/no/such/program"], "", FINAL],
  ["may not be run", ["/etc/passwd"], "", FINAL],
  ["prints something else", shell("echo no room; cat"), "it has ended: no room", AGAIN],
  ["ends at once", shell("exit 3"), "it has ended: it printed nothing", AGAIN],
  ["never listens", shell("exec sleep 60"), "it has ended: it printed nothing", AGAIN],
  ["ends, but leaves its output open", shell("sleep 0.5 &"), "it has ended: it printed nothing", AGAIN],
];
for (const [what, program, reason, then] of FAILURES) {
  Deno.test(`a keeper that ${what} ${then}`, async () => {
    const { log, lines } = memoryLog();
    const keeper = new KeeperProcess(OPTS, log, { program, startMs: 100, retryMs: 300 });
    const alive = setInterval(() => {}, 1_000); // neither a keeper nor its timer keeps a minion from ending
    // Two commands at once share a start.
    assertEquals(await Promise.all([keeper.socket(), keeper.socket()]), [undefined, undefined]);
    assertEquals(await keeper.socket(), undefined);
    assertEquals(lines.length, 1);
    assertStringIncludes(lines[0], "Commands end with this minion: their keeper cannot be started: ");
    assertStringIncludes(lines[0], reason);
    await new Promise((resolve) => setTimeout(resolve, 400));
    assertEquals(await keeper.socket(), undefined);
    assertEquals(lines.length, then === FINAL ? 1 : 2);
    clearInterval(alive);
    await keeper.close(new TimeBudget(1_000));
  });
}

Deno.test("a keeper that could not be started once serves the next commands", () =>
  withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog();
    const opts = { cachedir: root, sock_dir: `${root}/run` };
    // What a real one does: without the directory it cannot listen.
    const program = shell(`touch "$1" || exit 1; printf '%s\\n' '${READY}'; exec cat > /dev/null`);
    const keeper = new KeeperProcess(opts, log, { program, retryMs: 100 });
    assertEquals(await keeper.socket(), undefined);
    Deno.mkdirSync(opts.sock_dir);
    const path = await eventually(() => keeper.socket(), { what: "a keeper", everyMs: 50 });
    assertEquals(await keeper.socket(), path);
    // Somebody cleans the directory: the next command gets another one.
    Deno.removeSync(path);
    const next = await keeper.socket();
    assert(next !== undefined && next !== path);
    assertEquals(lines.length, 2);
    assertStringIncludes(lines[1], `somebody has removed ${path}`);
    const budget = new TimeBudget(10_000);
    await keeper.close(budget);
    assert(budget.leftMs > 0, "they did not end");
  }));

Deno.test("what a keeper prints later is in the log; released, it ends", () =>
  withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog();
    const keeper = new KeeperProcess({ cachedir: root, sock_dir: root }, log, {
      program: shell(`touch "$1"; printf '%s\\n' '${READY}'; sleep 0.1; echo trouble; exec cat > /dev/null`),
    });
    const path = await keeper.socket();
    assert(path?.startsWith(`${root}/commands_`));
    assertEquals(await keeper.socket(), path);
    await eventually(() => lines.length > 0, { what: "the line" });
    assertStringIncludes(lines[0], "The keeper of commands: trouble");
    const budget = new TimeBudget(10_000);
    await keeper.close(budget);
    assert(budget.leftMs > 0, "it did not end");
    assertEquals(await keeper.socket(), undefined);
  }));
