/**
 * The worker that feeds: a target by its name, the current input always in shared memory, where whoever watches finds it if
 * this worker never comes back.
 * @module
 */

import { feedTarget, show, type Tally } from "./engine.ts";
import { TARGETS } from "./targets.ts";

/** What a feeder is told. */
export interface FeedOrder {
  readonly name: string;
  /** The run's seed. */
  readonly seed: string;
  /** How many inputs. */
  readonly inputs: number;
  /** The only input to feed. */
  readonly at?: number;
  /** From {@linkcode watchMemory}. */
  readonly memory: SharedArrayBuffer;
}

/** What a feeder tells at last. */
export type FeedReport = Tally;

/** Room for the beginning of the current input. */
const INPUT_BYTES = 8_192;
/** Int32: inputs begun, then the length of the text of the current one. */
const HEADER_BYTES = 8;

/** Memory for one feeder. */
export function watchMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + INPUT_BYTES);
}

/** What is being fed, as the watcher sees it. */
export function watched(memory: SharedArrayBuffer): { readonly index: number; readonly input: string } {
  const header = new Int32Array(memory, 0, 2);
  const length = Atomics.load(header, 1);
  const text = new Uint8Array(memory, HEADER_BYTES, length).slice();
  return { index: Atomics.load(header, 0), input: new TextDecoder().decode(text) };
}

/** The worker's global scope, as far as it is used here. */
interface FeederScope {
  postMessage(message: FeedReport): void;
  onmessage: ((event: MessageEvent<FeedOrder>) => void) | null;
}

const scope = globalThis as unknown as FeederScope;

// Only in the worker: who watches imports this file for its types and memory.
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
