/**
 * Values of the mine that only some minions may read: maps with the value and a target, `allow_tgt`.
 * Source: Salt 3008.3 `salt/utils/mine.py`.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import type { Bank, DataCache } from "./data_cache.ts";
import { isRestricted, valueOf } from "./mine_form.ts";
import { type KnownFleet, resolveTarget } from "./resolve_target.ts";

/** What one reader may see. */
export class MineReaders {
  readonly #reader: string;
  readonly #fleet: KnownFleet;
  /** The verdict on each target. */
  readonly #verdicts = new Map<string, boolean>();

  /** @param parts.fleet All minions; of them only the reader is looked at. */
  constructor(reader: string, { fleet, data }: { readonly fleet: KnownFleet; readonly data: DataCache }) {
    this.#reader = reader;
    const known = new Map<Bank, Uint8Array>();
    this.#fleet = {
      // Somebody else than a minion, the master itself, is in no target.
      ids: fleet.ids.includes(reader) ? [reader] : [],
      nodegroups: fleet.nodegroups,
      ...fleet.data !== undefined && {
        data: {
          scan: (bank, begin) => {
            const values = known.size === 0 ? data.get(reader) : undefined;
            if (values !== undefined) {
              for (const each of ["grains", "pillar"] as const) {
                if (values[each].size > 0) known.set(each, encode(values[each], "disk"));
              }
            }
            begin()(reader, known.get(bank));
          },
        },
      },
    };
  }

  /** The value that the reader sees of a stored one; `undefined` if it may not. */
  visible(stored: Value): Value | undefined {
    return !isRestricted(stored) || this.#mayRead(stored) ? valueOf(stored) : undefined;
  }

  #mayRead(stored: ValueMap): boolean {
    if (!stored.has("allow_tgt")) return true;
    const [tgt, type] = [stored.get("allow_tgt") ?? null, stored.get("allow_tgt_type") ?? "glob"];
    // What is no target lets nobody read.
    const isList = Array.isArray(tgt) && tgt.every((each) => typeof each === "string");
    if ((typeof tgt !== "string" && !isList) || typeof type !== "string") return false;
    const key = JSON.stringify([tgt, type]);
    const known = this.#verdicts.get(key);
    if (known !== undefined) return known;
    let verdict = false;
    try {
      verdict = resolveTarget({ tgt, tgtType: type }, this.#fleet, { greedy: false }).minions.length > 0;
    } catch (error) {
      if (!(error instanceof TargetError)) throw error;
    }
    this.#verdicts.set(key, verdict);
    return verdict;
  }
}
