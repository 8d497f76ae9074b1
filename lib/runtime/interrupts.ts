/**
 * Ctrl-C and SIGTERM of a process that runs functions in its main thread. The first one aborts: commands that run are
 * ended, and a function that waits is left. A function that computes reads no signal, so it looks for one at its steps
 * (lib/values/stop_word.ts) and ends by an error. The second one ends the process at once, whatever it does.
 * @module
 */

import { InterruptedError } from "#lib/errors.ts";
import { catchOnce, type EndingSignal, isCaught, signalNumber } from "#lib/libc/signal_actions.ts";
import { heedSignals } from "#lib/values/stop_word.ts";

/** Time between two questions to the system, in milliseconds: each costs some microseconds. */
const BETWEEN_LOOKS_MS = 20;

/** The first of `signals` aborts `controller`, with an {@linkcode InterruptedError} as reason. */
export function abortOnSignals(controller: AbortController, signals: readonly EndingSignal[]): void {
  const abort = (signal: EndingSignal) => {
    // What is left is short: the end of the job is noted, and its commands are ended.
    heedSignals(undefined);
    if (!controller.signal.aborted) controller.abort(new InterruptedError(signal, signalNumber(signal)));
  };
  for (const signal of signals) {
    Deno.addSignalListener(signal, () => abort(signal));
    catchOnce(signal);
  }
  let lookedMs = -Infinity, ended = 0;
  const look = (): number => {
    const nowMs = performance.now();
    if (ended !== 0 || nowMs - lookedMs < BETWEEN_LOOKS_MS) return ended;
    lookedMs = nowMs;
    const caught = signals.find(isCaught);
    if (caught === undefined) return 0;
    ended = signalNumber(caught);
    // Whoever gets the error of the step finds the reason, before the listener has run.
    abort(caught);
    heedSignals(look);
    return ended;
  };
  heedSignals(look);
}
