/**
 * The main thread of a process that runs a custom module. It hands messages to and fro between the minion and the worker that
 * the module runs in, and knows nothing of them: what it may do to the host the worker may not, so it does nothing.
 *
 * Standard input: frames from the minion. The first is JSON, the worker's permissions; the others are the worker's.
 * Descriptor 3: frames to the minion. Standard output and standard error are the module's own, for what it prints.
 * @module
 */

import { type Frame, frame, FrameReader, type Speaker } from "../protocol/frames.ts";

/** What the process says of itself. */
export type PumpMessage =
  /** The worker cannot be started, or has died. */
  { readonly kind: "failed"; readonly reason: string; readonly started: boolean };

/** The longest message in either direction, in bytes. */
export const MOST_MESSAGE = 64 << 20;

/** Pumps until the minion has gone, which ends the process. */
export async function runModulePump(): Promise<number> {
  // The commands of a module are none of ours: the limits of this process are not theirs.
  Deno.env.delete("DENO_V8_FLAGS");
  const output = Deno.openSync("/dev/fd/3", { write: true });
  const send = (speaker: Speaker, content: Uint8Array) => {
    const bytes = frame(speaker, content);
    for (let at = 0; at < bytes.length;) at += output.writeSync(bytes.subarray(at));
  };
  let started = false;
  const fail = (reason: string) => {
    const message: PumpMessage = { kind: "failed", reason, started };
    send(0, new TextEncoder().encode(JSON.stringify(message)));
  };
  let worker: Worker | undefined;
  const take = ({ content }: Frame) => {
    if (worker !== undefined) return worker.postMessage(content);
    try {
      worker = startWorker(JSON.parse(new TextDecoder().decode(content)));
    } catch (error) {
      return fail(error instanceof Error ? error.message : String(error));
    }
    started = true;
    worker.onmessage = ({ data }) => {
      if (!(data instanceof Uint8Array)) return;
      if (data.length > MOST_MESSAGE) return fail(`a message of ${data.length} bytes, of at most ${MOST_MESSAGE}`);
      send(1, data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message);
    };
  };
  const frames = new FrameReader(MOST_MESSAGE);
  for await (const piece of Deno.stdin.readable) for (const one of frames.push(piece)) take(one);
  return 0;
}

/** @throws {TypeError} For permissions that Deno does not take. */
function startWorker(permissions: Deno.PermissionOptions): Worker {
  return new Worker(new URL("./module_worker.ts", import.meta.url), {
    type: "module",
    name: "module",
    deno: { permissions },
  });
}
