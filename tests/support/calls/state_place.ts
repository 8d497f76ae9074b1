/**
 * A directory in which a test calls states.
 * @module
 */

import type { JobContext, StateContext } from "#lib/plugins/job_context.ts";
import { str, type Value } from "#lib/values/value.ts";
import { testContext, testOpts } from "./job_context.ts";
import { callState } from "./state_call.ts";

/** A directory of the test, and the context of a masterless minion in it. */
export class StatePlace implements AsyncDisposable {
  /** Its path. */
  readonly root = Deno.makeTempDirSync({ prefix: "states_" });
  /** The context of the calls. */
  readonly job: JobContext = testContext({ opts: testOpts({ root_dir: `${this.root}/minion`, file_client: "local" }) });

  /** Result and comment of a state, with the directory as `@`. */
  async state(fun: string, args: Record<string, unknown>, state: Partial<StateContext> = {}): Promise<[Value, string]> {
    const ret = await callState(fun, args, { job: this.job, state });
    return [ret.get("result") ?? null, str(ret.get("comment") ?? "").replaceAll(this.root, "@")];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.root, { recursive: true });
  }
}
