/**
 * Writes what the rules of `flow` have held back to a file for `salt-run flow.status`, each second in which it changed.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { FlowCounts, writeFlowStatus } from "#lib/flow/flow_counts.ts";
import type { FlowMemory } from "#lib/flow/open_flow.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** Time between two looks, in milliseconds. */
const LOOK_MS = 1_000;

/** The reports of one master. */
export class FlowReport {
  readonly #timer: Timer;
  #written = "";

  /** Writes the first report. */
  constructor(opts: Pick<MasterOpts, "flow" | "sock_dir">, memory: FlowMemory, log: Logger) {
    const rules = Array.isArray(opts.flow) ? opts.flow : [];
    const counts = new FlowCounts(rules.length, memory.counts);
    const look = () => {
      const { version } = counts;
      if (version === this.#written) return;
      try {
        writeFlowStatus(opts.sock_dir, counts.rows(rules));
        this.#written = version;
      } catch (error) {
        log.error(`What the rules of flow held back cannot be written: ${messageOf(error)}`);
      }
    };
    look();
    this.#timer = setInterval(look, LOOK_MS);
  }

  /** Writes no more. */
  close(): void {
    clearInterval(this.#timer);
  }
}
