/**
 * A job cache with very many old jobs, cleaned while the master serves.
 * @module
 */

import { jidDirectory, makeJid } from "#lib/protocol/jid.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Fault, Figure } from "#tests/chaos/harness/fault.ts";
import { pingFor } from "#tests/chaos/harness/pings.ts";
import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";

const LONG = 100_000;
const SHORT = 3_000;
const DAY_MS = 86_400_000;

/** See {@linkcode Fault}. */
export const oldJobs: Fault = {
  name: "old-jobs",
  what: "a hundred thousand old jobs are cleaned while the master serves",
  promise: "meanwhile test.ping is answered as fast as usual",
  async run({ long, say }): Promise<Figure[]> {
    const count = long ? LONG : SHORT;
    await using fleet = await ProcessFleet.start({
      minions: 1,
      master: { loop_interval: 2, keep_jobs_seconds: 3_600 },
    });
    const before = await pingFor(fleet, () => fleet.ids, rounds(20), 30_000);
    const load = encode(map({ fun: "test.ping", tgt: "*", arg: [] }), "disk");
    const old = new Date(Date.now() - DAY_MS);
    const made = performance.now();
    for (let i = 0; i < count; i++) {
      const jid = makeJid(old.getTime() + i);
      const directory = `${fleet.cacheDir}/jobs/${jidDirectory(jid, "sha256")}`;
      Deno.mkdirSync(`${directory}/m00`, { recursive: true });
      Deno.writeFileSync(`${directory}/.load.p`, load);
      Deno.writeFileSync(`${directory}/m00/return.p`, load);
      Deno.writeTextFileSync(`${directory}/jid`, jid);
      // The last case: a young directory without a jid file is left alone, one with an old jid file is cleaned.
      Deno.utimeSync(`${directory}/jid`, old, old);
    }
    say(`${count} jobs made in ${Math.round(performance.now() - made)} ms`);
    const jobsLeft = () =>
      [...fleet.log("master").matchAll(/Removed (\d+) old jobs/g)].reduce((n, [, m]) => n - +m, count);
    const started = performance.now();
    const during = await pingFor(fleet, () => fleet.ids, () => jobsLeft() > 0, 300_000);
    await eventually(() => jobsLeft() === 0, { withinMs: 60_000, what: "the last of them to go" }).catch(() => {});
    return [
      { name: "old jobs", value: count },
      { name: "left", value: jobsLeft(), atMost: 0 },
      { name: "cleaned in, ms", value: Math.round(performance.now() - started) },
      { name: "test.pings meanwhile", value: during.sent, atLeast: long ? 20 : 1 },
      { name: "without an answer", value: during.unanswered, atMost: 0 },
      { name: "slowest meanwhile, ms", value: during.slowestMs, atMost: 5_000 },
      { name: "slowest before, ms", value: before.slowestMs },
    ];
  },
};

function rounds(count: number): () => boolean {
  return () => count-- > 1;
}
