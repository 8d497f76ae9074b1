/**
 * The process in which the reactor renders its files, so that a template that does not end, or needs too much memory,
 * ends with it. It gets the master's options and then events on standard input, and writes what their files say to
 * standard output, in the same order. It ends when its input ends.
 * @module
 */

import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { describeError, messageOf } from "#lib/errors.ts";
import { writeAll } from "#lib/os/write_all.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { packRenderedEvent, type RenderedEvent, unpackRenderEvent } from "#lib/reactor/rendering.ts";
import { IdleMemory } from "#lib/runtime/idle_memory.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { EventRenderer } from "./event_renderer.ts";

/** Maximum bytes of one event. */
const MAX_GIVEN = 2 ** 31;

/**
 * Renders until its input ends.
 * @returns The exit code.
 */
export async function runReactorRendering(): Promise<number> {
  // The limits of this process are not for the commands of templates.
  Deno.env.delete("DENO_V8_FLAGS");
  const ending = new AbortController();
  const memory = new IdleMemory();
  const frames = new FrameReader(MAX_GIVEN);
  let renderer: EventRenderer | undefined;
  let log: Logger | undefined, close = () => {};
  try {
    for await (const piece of Deno.stdin.readable) {
      for (const { content } of frames.push(piece)) {
        if (renderer === undefined || log === undefined) {
          const opts = unpackOpts("master", content);
          ({ log, close } = openLog(opts, {}));
          renderer = await EventRenderer.open(opts, { log, signal: ending.signal });
          continue;
        }
        const made = packRenderedEvent(await rendered(renderer, content, log));
        memory.worked(content.length + made.length);
        writeAll(Deno.stdout, frame(1, made));
      }
    }
    return 0;
  } finally {
    await renderer?.close();
    ending.abort(new Error("the reactor does not want it any more"));
    close();
  }
}

async function rendered(renderer: EventRenderer, content: Uint8Array, log: Logger): Promise<RenderedEvent> {
  try {
    return await renderer.render(unpackRenderEvent(content));
  } catch (error) {
    log.error(`An event cannot be rendered: ${describeError(error)}`);
    return { reactions: [], mistakes: [{ file: "", text: messageOf(error) }] };
  }
}
