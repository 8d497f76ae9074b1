/**
 * A master under attack by twenty hostile clients at full speed still serves a fleet of ten, in real processes, within
 * a time limit.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const MINIONS = 10;
const PINGS = 5;
/** Time limit of `salt '*' test.ping` under attack, in milliseconds, with the start of the command. */
const BOUND_MS = 2_000;
/**
 * A busy machine is slow without an attack: then a ping may take this many times as long as while the attackers pause.
 */
const BOUND_TIMES = 8;

async function ping(fleet: ProcessFleet): Promise<number> {
  const started = performance.now();
  const ran = await fleet.salt("salt", "--static", "--out=json", "*", "test.ping");
  const ms = performance.now() - started;
  assertEquals(ran.code, 0, ran.err);
  assertEquals(Object.values(JSON.parse(ran.out)), Array(MINIONS).fill(true));
  return ms;
}

function middle(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

Deno.test("salt '*' test.ping of 10 minions takes less than 2 s during an attack by 20 clients at full speed", async () => {
  await using fleet = await ProcessFleet.start({ minions: MINIONS, master: { auto_accept: false } });
  const { ret_port, publish_port } = fleet.masterOpts;
  await ping(fleet);
  const inPeace = [await ping(fleet)];
  const attackers = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--quiet",
      new URL("../support/fleet/hostile_clients.ts", import.meta.url).pathname,
    ]
      .concat(
        [String(ret_port), String(publish_port)],
      ),
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const begun = attackers.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    assertEquals((await begun.read()).value, "20 hostile clients\n");
    await eventually(() => /get no answer/.test(fleet.log("master")), { what: "the attack" });
    const times: number[] = [];
    for (let n = 0; n < PINGS; n++) {
      times.push(await ping(fleet));
      attackers.kill("SIGSTOP");
      await ping(fleet); // after the remaining requests of the attackers
      inPeace.push(await ping(fleet));
      attackers.kill("SIGCONT");
    }
    const figures = (of: readonly number[]) => of.map((ms) => Math.round(ms)).join(", ");
    const line = `  in peace ${figures(inPeace)} ms; under attack ${figures(times)} ms\n`;
    Deno.stderr.writeSync(new TextEncoder().encode(line));
    // The medians: a single slow ping may have another cause than the attack.
    const bound = Math.max(BOUND_MS, BOUND_TIMES * middle(inPeace));
    assert(middle(times) < bound, `a ping takes longer than ${bound} ms: ${line}`);
  } finally {
    attackers.kill("SIGKILL");
    await attackers.status;
    await begun.cancel();
  }
  // All minions are still served, and the log did not get a line for each attack.
  await ping(fleet);
  const lines = fleet.log("master").split("\n").length;
  assert(lines < 30_000, `${lines} lines in the log`);
});
