/**
 * A program that a master or an operator's command runs outside of a job: in this process's directory and environment,
 * for a time, and with output of a size.
 * @module
 */

import { type ChildOutcome, runChild } from "./child_process.ts";

/** What a program may take. */
export interface RunBounds {
  readonly signal: AbortSignal;
  /** Milliseconds after which it is killed, with all its descendants. Default: no limit. */
  readonly timeoutMs?: number;
  /** Maximum bytes that it may print. */
  readonly outputMax: number;
  /** Its input. Default: none. */
  readonly stdin?: Uint8Array;
}

/** The end of a run. */
export interface BoundedOutcome extends ChildOutcome {
  /** Which bound it did not keep: `has not ended after 60 seconds`, `prints more than 16777216 bytes`. */
  readonly excess?: string;
}

/**
 * Runs a program to its end.
 * @throws {Error} As {@linkcode runChild}.
 */
export async function runBounded(
  argv: readonly string[],
  { signal, timeoutMs, outputMax, stdin }: RunBounds,
): Promise<BoundedOutcome> {
  const outcome = await runChild(
    { argv, cwd: Deno.cwd(), env: Deno.env.toObject(), stdin },
    { signal, timeoutMs, outputMax, child: () => {} },
  );
  if (outcome.timedOut) return { ...outcome, excess: `has not ended after ${(timeoutMs ?? 0) / 1000} seconds` };
  if (outcome.dropped.stdout > 0) return { ...outcome, excess: `prints more than ${outputMax} bytes` };
  return outcome;
}
