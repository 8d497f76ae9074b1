/**
 * A process in which a master compiles pillars: gets the master's options and then requests on standard input, one after the
 * other, and writes each pillar to standard output. It ends when its input does.
 * @module
 */

import { describeError, messageOf } from "../errors.ts";
import { encode } from "../values/msgpack.ts";
import { frame, FrameReader } from "../protocol/frames.ts";
import { IdleMemory } from "../process/idle_memory.ts";
import type { Logger } from "../process/log.ts";
import { map } from "../values/value.ts";
import { masterPillarHost } from "./pillar_compiler.ts";
import { openLog } from "../process/log_sinks.ts";
import { PillarService } from "../pillar/service.ts";
import { unpackNumbered } from "../pillar/messages.ts";
import { unpackOpts } from "../config/opts_transfer.ts";
import { unpackPillarRequest } from "../pillar/request.ts";
import { writeAll } from "../os/write_all.ts";

/** Maximum bytes of what it is given at once: a request of the master's port has no more. */
const MOST_GIVEN = 2 ** 31;

/** Compiles until its input ends. @returns The exit code. */
export async function runPillarProcess(): Promise<number> {
  // The limits of this process are not for the commands of templates.
  Deno.env.delete("DENO_V8_FLAGS");
  const ending = new AbortController();
  let service: PillarService | undefined;
  let log: Logger | undefined;
  let close = () => {};
  const memory = new IdleMemory();
  const frames = new FrameReader(MOST_GIVEN);
  try {
    for await (const piece of Deno.stdin.readable) {
      for (const { content } of frames.push(piece)) {
        if (service === undefined) {
          const opts = unpackOpts("master", content);
          ({ log, close } = openLog(opts, {}));
          service = new PillarService(opts, masterPillarHost(opts, { log, signal: ending.signal }));
          continue;
        }
        const pillar = await compiled(service, content, log);
        memory.worked(content.length + pillar.length);
        writeAll(Deno.stdout, frame(1, pillar));
      }
    }
    return 0;
  } finally {
    ending.abort(new Error("the master has ended"));
    close();
  }
}

async function compiled(service: PillarService, content: Uint8Array, log: Logger | undefined): Promise<Uint8Array> {
  const request = unpackPillarRequest(unpackNumbered(content).request);
  try {
    return await service.pillar(request);
  } catch (error) {
    log?.error(`The pillar of ${request.id} cannot be compiled: ${describeError(error)}`);
    return encode(map({ _errors: [`The pillar of ${request.id} cannot be compiled: ${messageOf(error)}`] }), "wire");
  }
}
