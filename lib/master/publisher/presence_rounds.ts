/**
 * Presence by rounds, with `presence_events`: fires which minions are connected, and which Python minions have come and
 * gone since the last round. Our own minions are reported when it happens (presence_reports.ts).
 * Source: Salt 3008.3 `salt/master.py` (Maintenance.handle_presence).
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import type { DataCache } from "#lib/fleet/data_cache.ts";
import { readPresence } from "#lib/fleet/presence_file.ts";
import { presentMinions } from "#lib/fleet/present_minions.ts";
import { PRESENCE_CHANGE_EVENT, PRESENCE_EVENT } from "#lib/protocol/tags.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The parts of {@linkcode PresenceRounds}. */
export interface PresenceRoundsParts {
  readonly opts: MasterOpts;
  readonly publishPort: number;
  readonly data: DataCache;
  /** Stamps an event and fires it. */
  fire(tag: string, data: ValueMap): Promise<void>;
}

/** The rounds of one master. */
export class PresenceRounds {
  readonly #parts: PresenceRoundsParts;
  /** The Python minions of the last round. */
  #python: ReadonlySet<string> = new Set();

  constructor(parts: PresenceRoundsParts) {
    this.#parts = parts;
  }

  /** Fires the events of one round. */
  async round(): Promise<void> {
    const { opts, fire } = this.#parts;
    const present = [...presentMinions(opts, this.#parts).keys()];
    const reported = readPresence(opts.cachedir).present;
    const python = new Set(present.filter((id) => !reported.has(id)));
    const fresh = [...python].filter((id) => !this.#python.has(id));
    const lost = [...this.#python].filter((id) => !python.has(id) && !reported.has(id));
    this.#python = python;
    if (fresh.length + lost.length > 0) await fire(PRESENCE_CHANGE_EVENT, map({ new: fresh, lost }));
    await fire(PRESENCE_EVENT, map({ present }));
  }
}
