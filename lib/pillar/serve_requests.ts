/**
 * The process that compiles pillars for {@linkcode PillarProcesses}: it gets options and then requests on standard
 * input, one after the other, and writes each pillar to standard output. It ends when its input ends.
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { IdleMemory } from "#lib/runtime/idle_memory.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { type PillarRequest, unpackPillarRequest } from "./request.ts";
import { unpackNumbered } from "./messages.ts";
import { writeAll } from "#lib/os/write_all.ts";

/** Maximum bytes of one message, which is larger than any request of the master's port. */
const MAX_GIVEN = 2 ** 31;

/** The compiler in the process. */
export interface PillarServer {
  readonly log: Logger;
  /** The pillar of a request as MessagePack of the wire. */
  pillar(request: PillarRequest): Promise<Uint8Array>;
  close(): void | Promise<void>;
}

/**
 * Compiles until its input ends.
 * @param open Makes the compiler of the packed options.
 * @returns The exit code.
 */
export async function servePillarRequests(
  open: (opts: Uint8Array, signal: AbortSignal) => PillarServer,
): Promise<number> {
  // The limits of this process are not for the commands of templates.
  Deno.env.delete("DENO_V8_FLAGS");
  const ending = new AbortController();
  let server: PillarServer | undefined;
  const memory = new IdleMemory();
  const frames = new FrameReader(MAX_GIVEN);
  try {
    for await (const piece of Deno.stdin.readable) {
      for (const { content } of frames.push(piece)) {
        if (server === undefined) {
          server = open(content, ending.signal);
          continue;
        }
        const pillar = await compileRequest(server, content);
        memory.worked(content.length + pillar.length);
        writeAll(Deno.stdout, frame(1, pillar));
      }
    }
    return 0;
  } finally {
    ending.abort(new Error("the pillar is not wanted any more"));
    await server?.close();
  }
}

async function compileRequest(server: PillarServer, content: Uint8Array): Promise<Uint8Array> {
  const request = unpackPillarRequest(unpackNumbered(content).request);
  try {
    return await server.pillar(request);
  } catch (error) {
    server.log.error(`The pillar of ${request.id} cannot be compiled: ${describeError(error)}`);
    return encode(map({ _errors: [`The pillar of ${request.id} cannot be compiled: ${messageOf(error)}`] }), "wire");
  }
}
