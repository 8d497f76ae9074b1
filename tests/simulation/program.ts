/**
 * The program of a simulation, which run.ts starts with the simulated sockets and timers in place of the real ones.
 * Reads a {@linkcode Simulation} from standard input; prints a line for each seed that breaks a promise, and a summary.
 * @module
 */

import { describeError } from "#lib/errors.ts";
// What the simulated code loads late is loaded before the first seed: how long Deno reads a file is no part of a story.
import "#lib/bus/followed_log.ts";
import "#lib/client/asked_rows.ts";
import "#lib/client/signed_request.ts";
import "#lib/protocol/hidden_return.ts";
import "#lib/protocol/return_key.ts";
import "#lib/stores/row_messages.ts";
import { makeKeys, type RunOutcome, simulate } from "./fleet.ts";
import { replaceGlobals } from "./globals.ts";
import type { Simulation } from "./run.ts";
import { ProcessDied } from "#tests/simulation/world/world.ts";

const IDS = ["m1", "m2", "m3", "m4", "m5"];

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Whether an error came of the death of a process. */
function isOfDeath(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof ProcessDied || cause.message.includes(" is dead")) return true;
  }
  return false;
}

async function main({ seeds, jobs, seconds = Infinity, output }: Simulation): Promise<number> {
  const endMs = performance.now() + seconds * 1000;
  const realNow = performance.now.bind(performance);
  const keys = await makeKeys(IDS);
  replaceGlobals();
  let current = 0;
  globalThis.addEventListener("unhandledrejection", (event) => {
    if (isOfDeath(event.reason)) event.preventDefault();
    else print(`seed ${current}: ${describeError(event.reason)}`);
  });
  const outcomes: RunOutcome[] = [];
  const failed: number[] = [];
  for (const seed of seeds) {
    if (realNow() >= endMs) break;
    current = seed;
    const outcome = await simulate({
      seed,
      jobs,
      keys,
      ...output === "trace" && { trace: print },
    }).catch((error) => {
      print(`seed ${seed}: ${describeError(error)}`);
      return undefined;
    });
    if (outcome === undefined) return 3;
    outcomes.push(outcome);
    if (output === "hash") print(`seed ${seed}: ${outcome.hash}`);
    if (outcome.violations.length > 0) failed.push(seed);
    for (const violation of outcome.violations) print(`seed ${seed}: ${violation}`);
    if (output === "first" && failed.length > 0) break;
  }
  const sum = (of: (outcome: RunOutcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0);
  const sums = (of: (outcome: RunOutcome) => Readonly<Record<string, number>>) =>
    [...new Set(outcomes.flatMap((outcome) => Object.keys(of(outcome))))].sort()
      .map((kind) => `${kind} ${sum((outcome) => of(outcome)[kind] ?? 0)}`).join(", ");
  print(
    `${outcomes.length} seeds, ${sum(({ jobs }) => jobs)} jobs, ${sum(({ orders }) => orders)} orders, ${
      sum(({ runs }) => runs)
    } runs, ` +
      `${Math.round(sum(({ seconds }) => seconds))} s simulated; faults: ` +
      `${sums(({ faults }) => faults)}; told: ${sums(({ told }) => told)}`,
  );
  print(failed.length === 0 ? "0 seeds failed" : `${failed.length} seeds failed: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
}

const request: Simulation = JSON.parse(await new Response(Deno.stdin.readable).text());
// A rejection here would be taken for the death of a process.
Deno.exit(
  await main(request).catch((error) => {
    print(`seed ${request.seeds[0]}: ${describeError(error)}`);
    return 3;
  }),
);
