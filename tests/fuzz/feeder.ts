/**
 * The worker that feeds one target. The current input is in shared memory, where the watching thread finds it if this
 * worker hangs.
 * @module
 */

import { feedTarget, show, type Tally } from "./engine.ts";
import { TARGETS } from "./targets.ts";

/** The message that starts a feeder. */
export interface FeedOrder {
  readonly name: string;
  /** The run's seed. */
  readonly seed: string;
  /** Number of inputs. */
  readonly inputs: number;
  /** The number of the only input to feed. */
  readonly at?: number;
  /** From {@linkcode watchMemory}. */
  readonly memory: SharedArrayBuffer;
}

/** The message of a feeder at its end. */
export type FeedReport = Tally;

/** Bytes of shared memory for the beginning of the current input. */
const INPUT_BYTES = 8_192;
/** Two Int32 values: the number of begun inputs, and the length of the text of the current one. */
const HEADER_BYTES = 8;

/** Makes the shared memory of one feeder. */
export function watchMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + INPUT_BYTES);
}

/** Reads the current input, for the watching thread. */
export function watched(memory: SharedArrayBuffer): { readonly index: number; readonly input: string } {
  const header = new Int32Array(memory, 0, 2);
  const length = Atomics.load(header, 1);
  const text = new Uint8Array(memory, HEADER_BYTES, length).slice();
  return { index: Atomics.load(header, 0), input: new TextDecoder().decode(text) };
}

/** The part of the worker's global scope that is used here. */
interface FeederScope {
  postMessage(message: FeedReport): void;
  onmessage: ((event: MessageEvent<FeedOrder>) => void) | null;
}

const scope = globalThis as unknown as FeederScope;

// Only in the worker: the watching thread imports this file for its types and memory.
if (!("Window" in globalThis)) {
  scope.onmessage = async ({ data: { name, memory, ...feed } }) => {
    const target = TARGETS.find((each) => each.name === name);
    if (target === undefined) throw new TypeError(`no target is called ${name}`);
    const header = new Int32Array(memory, 0, 2);
    const bytes = new Uint8Array(memory, HEADER_BYTES);
    const utf8 = new TextEncoder();
    const note = (index: number, input: Uint8Array | string) => {
      Atomics.store(header, 0, index);
      Atomics.store(header, 1, utf8.encodeInto(show(input), bytes).written);
    };
    scope.postMessage(await feedTarget(target, { ...feed, note }));
  };
}
