/**
 * The pillar that a minion compiles itself, with `file_client: local`: in a separate process, because a template can do
 * anything. Source: Salt 3008.3 `salt/pillar/__init__.py` get_async_pillar.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { isMasterless } from "#lib/config/masterless.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { hasPillarFiles } from "#lib/pillar/has_files.ts";
import { PillarProcesses } from "#lib/pillar/processes.ts";
import { packPillarRequest, readPillarRequest } from "#lib/pillar/request.ts";
import { OWN_PILLAR_PROCESS, ownProcess } from "#lib/runtime/self_command.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { decode } from "#lib/values/msgpack.ts";
import { WireError } from "#lib/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import type { ValueMap } from "#lib/values/value.ts";

/**
 * A process without work for this time is ended, in milliseconds: pillar is refreshed seldom, or several times in a
 * row.
 */
const IDLE_MS = 10_000;

/** Whether a minion compiles its pillar itself. */
export function compilesOwnPillar(opts: MinionOpts): boolean {
  return opts.file_client === "local" && isMasterless(opts);
}

/** The compiler of one minion. */
export class OwnPillar {
  readonly #opts: MinionOpts;
  readonly #processes: PillarProcesses;

  constructor(opts: MinionOpts, log: Logger) {
    this.#opts = opts;
    this.#processes = new PillarProcesses({
      opts: packOpts("minion", opts),
      command: ownProcess(OWN_PILLAR_PROCESS),
      processes: 1,
      timeoutMs: opts.pillar_timeout * 1000,
      log,
      idleMs: IDLE_MS,
    });
  }

  /**
   * Compiles the pillar for a request that would otherwise go to a master.
   * @throws {WireError} If the minion ends, or asks too often.
   */
  async compile(load: ValueMap): Promise<ValueMap> {
    const { id = "" } = this.#opts;
    const tops = load.get("tops") === true ? optsValues(this.#opts).set("saltenv", load.get("saltenv") ?? null) : null;
    const parsed = { ...readPillarRequest(load, id ?? ""), tops };
    if (tops === null && !hasPillarFiles(this.#opts) && parsed.ext === null) return parsed.override;
    const request = packPillarRequest(parsed);
    const { state, pillar } = await new Promise<{ state: string; pillar: Uint8Array }>((resolve) => {
      this.#processes.take({ kind: "pillar", key: "own", id: id ?? "", request }, resolve);
    });
    if (state === "full") throw new WireError("Too many requests for the pillar wait");
    if (state !== "compiled") throw new WireError("The minion ends");
    return mapOrEmpty(decode(pillar, "wire"));
  }

  /** Ends the process that compiles the pillar. */
  async close(budget: TimeBudget): Promise<void> {
    await this.#processes.close(budget);
  }
}
