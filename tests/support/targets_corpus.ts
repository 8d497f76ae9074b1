/**
 * Targets with the matches of Salt's master and minions: `corpus/targets.json`.
 * @module
 */

import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import corpus from "#tests/corpus/targets.json" with { type: "json" };
import { fromTyped, type Typed } from "./typed_values.ts";

/** A minion of the corpus. */
export interface CorpusMinion {
  readonly id: string;
  readonly grains: ValueMap;
  readonly pillar: ValueMap;
  /** Whether the master has no cached data of it. */
  readonly unknown: boolean;
}

/** A target, and the minions that match it. */
export interface CorpusRow {
  readonly tgt: Value;
  readonly tgtType: string;
  readonly delimiter: string | undefined;
  /** The minions that Salt's master expects to answer, sorted. */
  readonly master: readonly string[];
  readonly missing: readonly string[];
  /** The minions whose own matcher matches, sorted. */
  readonly minions: readonly string[];
  /** Why our answers differ. */
  readonly differs: string | undefined;
  /** Our answer, of the master and of the minions, if it differs. */
  readonly ours: readonly string[] | undefined;
}

function asMap(typed: unknown): ValueMap {
  const value = fromTyped(typed as Typed);
  if (!isMap(value)) throw new TypeError("no map");
  return value;
}

export const MINIONS: readonly CorpusMinion[] = Object.entries(corpus.minions).map(([id, minion]) => ({
  id,
  grains: asMap(minion.grains),
  pillar: asMap(minion.pillar),
  unknown: "unknown" in minion,
}));

export const NODEGROUPS: ValueMap = asMap(corpus.nodegroups);

interface Row {
  readonly type: string;
  readonly tgt: unknown;
  readonly delimiter?: string;
  readonly master: string[];
  readonly missing?: string[];
  readonly minions: string[];
  readonly differs?: string;
  readonly ours?: string[];
}

export const ROWS: readonly CorpusRow[] = (corpus.rows as readonly Row[]).map((row) => ({
  tgt: fromTyped(row.tgt as Typed),
  tgtType: row.type,
  delimiter: row.delimiter,
  master: row.master,
  missing: row.missing ?? [],
  minions: row.minions,
  differs: row.differs,
  ours: row.ours,
}));
