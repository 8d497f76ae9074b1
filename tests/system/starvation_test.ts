/**
 * Twenty hostile clients at full speed leave a fleet of ten served: real processes, and a figure.
 * @module
 */

import { ProcessFleet } from "../chaos/harness/process_fleet.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";

const MINIONS = 10;
const PINGS = 5;
/** How long `salt '*' test.ping` may take under attack, in milliseconds; starting the command is part of it. */
const BOUND_MS = 2_000;
/** A busy machine is slow by itself: then the attack may cost this many times what a ping takes while the attackers pause. */
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

Deno.test("20 hostile clients at full speed leave salt '*' test.ping of 10 honest minions under 2 s", async () => {
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
      await ping(fleet); // behind what they have left
      inPeace.push(await ping(fleet));
      attackers.kill("SIGCONT");
    }
    const figures = (of: readonly number[]) => of.map((ms) => Math.round(ms)).join(", ");
    const line = `  in peace ${figures(inPeace)} ms; under attack ${figures(times)} ms\n`;
    Deno.stderr.writeSync(new TextEncoder().encode(line));
    // The middle ones: whatever else a machine does at a moment is nobody's attack.
    const bound = Math.max(BOUND_MS, BOUND_TIMES * middle(inPeace));
    assert(middle(times) < bound, `a ping takes longer than ${bound} ms: ${line}`);
  } finally {
    attackers.kill("SIGKILL");
    await attackers.status;
    await begun.cancel();
  }
  // Everybody is served on, and the log did not grow by a line for each attack.
  await ping(fleet);
  const lines = fleet.log("master").split("\n").length;
  assert(lines < 30_000, `${lines} lines in the log`);
});
