/**
 * The main thread of a process that runs a custom module. It passes messages between the minion and the worker in which
 * the module runs, and does nothing else, because it has more permissions than the worker.
 *
 * Standard input: frames from the minion; the first is JSON with the worker's permissions, the others are for the
 * worker. Descriptor 3: frames to the minion. Standard output and standard error: what the module prints.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { frame, FrameReader, type FrameSender, type WireFrame } from "#lib/protocol/frames.ts";
import { writeAll } from "#lib/os/write_all.ts";

/** Messages of the process itself. */
export type PumpMessage =
  /** The worker cannot be started, or has died. */
  { readonly kind: "failed"; readonly reason: string; readonly started: boolean };

/** Maximum size of a message in either direction, in bytes. */
export const MAX_MESSAGE = 64 << 20;

/** Passes messages until the minion has closed the pipe, then ends the process. */
export async function runModulePump(): Promise<number> {
  // The limits of this process are not for the commands of a module.
  Deno.env.delete("DENO_V8_FLAGS");
  const output = Deno.openSync("/dev/fd/3", { write: true });
  const send = (sender: FrameSender, content: Uint8Array) => {
    const bytes = frame(sender, content);
    writeAll(output, bytes);
  };
  let started = false;
  const fail = (reason: string) => {
    const message: PumpMessage = { kind: "failed", reason, started };
    send(0, new TextEncoder().encode(JSON.stringify(message)));
  };
  let worker: Worker | undefined;
  const take = ({ content }: WireFrame) => {
    if (worker !== undefined) return worker.postMessage(content);
    try {
      worker = startWorker(JSON.parse(new TextDecoder().decode(content)));
    } catch (error) {
      return fail(messageOf(error));
    }
    started = true;
    worker.onmessage = ({ data }) => {
      if (!(data instanceof Uint8Array)) return;
      if (data.length > MAX_MESSAGE) return fail(`a message of ${data.length} bytes, of at most ${MAX_MESSAGE}`);
      send(1, data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      fail(event.message);
    };
  };
  const frames = new FrameReader(MAX_MESSAGE);
  for await (const piece of Deno.stdin.readable) for (const one of frames.push(piece)) take(one);
  return 0;
}

/** @throws {TypeError} For invalid permissions. */
function startWorker(permissions: Deno.PermissionOptions): Worker {
  return new Worker(new URL("./module_worker.ts", import.meta.url), {
    type: "module",
    name: "module",
    deno: { permissions },
  });
}
