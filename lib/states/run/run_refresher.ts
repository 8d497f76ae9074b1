/**
 * Refreshes a run after a state: modules that load now, grains and pillar that a state asked for. Source: Salt 3008.3,
 * `State.check_refresh` of `salt/state.py`.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { type Chunk, field } from "#lib/states/compiler/chunks.ts";
import { truthy, type ValueMap } from "#lib/values/value.ts";
import type { RunContext } from "./run_context.ts";

/** Files that may be modules. */
const MODULE_FILE = /\.(ts|js|py|pyx|pyo|pyc|so)$/;

/** Refreshes the data of a run. */
export class RunRefresher {
  readonly #runContext: RunContext;
  readonly #gatherPillar: () => Promise<ValueMap>;
  #reloads = false;

  /** @param gatherPillar Makes the pillar of the run again. */
  constructor(runContext: RunContext, gatherPillar: () => Promise<ValueMap>) {
    this.#runContext = runContext;
    this.#gatherPillar = gatherPillar;
  }

  /** Does the refreshes that a state asked for, and those that its changes may need. */
  async after(chunk: Chunk, result: ValueMap): Promise<void> {
    const isSet = (name: string) => truthy(chunk.get(name));
    if (isSet("reload_grains")) this.#runContext.renew({ grains: await this.#runContext.job.outside.grains() });
    if (isSet("reload_pillar")) this.#runContext.renew({ pillar: await this.#gatherPillar() });
    const changed = truthy(result.get("changes"));
    const reloads = changed
      ? isSet("reload_modules") || isSet("reload_grains") || isSet("reload_pillar") || mayBringModules(chunk)
      : isSet("force_reload_modules");
    if (!reloads) return;
    this.#runContext.forgetFunctions();
    this.#reloads = true;
  }

  /** After the run: refreshes the minion for its later jobs. */
  async end({ outside, opts, job }: JobContext): Promise<void> {
    const isAlone = job.tgt === "salt-call" && opts.file_client === "local";
    if (this.#reloads && !isAlone) await outside.refresh("modules");
  }
}

function mayBringModules(chunk: Chunk): boolean {
  const [state, fun, name] = ["state", "fun", "name"].map((key) => field(chunk, key));
  if (["pkg", "ports", "pip"].includes(state)) return true;
  if (state !== "file") return false;
  return fun === "recurse" || fun === "managed" && MODULE_FILE.test(name) || fun === "symlink" && name.includes("bin");
}
