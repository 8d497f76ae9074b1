/**
 * The process in which a master runs one function of a runner or a wheel module that a client asked for: it reads the
 * request from standard input, writes the outcome to standard output, and ends. When its input ends, the master has
 * ended, and the function must end too.
 * @module
 */

import { runRunner } from "#lib/client/runner.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { packFunctionOutcome, unpackFunctionInit } from "#lib/master/functions/messages.ts";
import { abortOnSignals } from "#lib/runtime/interrupts.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { MasterPython } from "#lib/master/functions/python_functions.ts";
import { writeAllAsync } from "#lib/os/write_all.ts";
import { masterRunnerHost } from "./master_runner_host.ts";

/** Maximum bytes of its input, which is larger than any request. */
const MAX_GIVEN = 2 ** 31;

/**
 * Runs the function that comes on standard input.
 * @returns The exit code: 0, whatever the function did.
 */
export async function runMasterFunction(): Promise<number> {
  const ending = new AbortController();
  const end = (why: string) => ending.abort(new Error(why));
  abortOnSignals(ending, ["SIGTERM"]);
  const { job, opts: packed } = unpackFunctionInit(await firstFrame(() => end("the master has ended")));
  const opts = unpackOpts("master", packed);
  const { log, close } = openLog(opts, {});
  try {
    const { signal } = ending;
    await using python = new MasterPython(opts, { log, signal });
    const host = masterRunnerHost(opts, { python, jid: job.jid, user: job.user, log, signal });
    const outcome = await runRunner(job, host).finally(() => host.jobs.close());
    const success = outcome.end === "done" && outcome.retcode === 0;
    await writeAllAsync(Deno.stdout, frame(1, packFunctionOutcome({ return: outcome.return, success })));
    return 0;
  } finally {
    close();
  }
}

/**
 * Reads the master's request.
 * @param onEnd Called when the master's end of the pipe is closed.
 */
function firstFrame(onEnd: () => void): Promise<Uint8Array> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const read = async () => {
    const frames = new FrameReader(MAX_GIVEN);
    for await (const piece of Deno.stdin.readable) {
      for (const { content } of frames.push(piece)) resolve(content);
    }
    reject(new Error("the input ended before the request was complete"));
    onEnd();
  };
  read().catch(reject);
  return promise;
}
