/**
 * The accepted minions that a target matches, as far as the master knows: by their ids, and by the grains and pillar in
 * its data cache. Each minion decides for itself whether it runs the job; this list has the minions that are expected
 * to answer. Source: Salt 3008.3 `salt/utils/minions.py` (`CkMinions`).
 * @module
 */

import { MsgpackError, TargetError } from "#lib/errors.ts";
import type { KeyStore } from "#lib/keys/store.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { TooCostlyError } from "#lib/targeting/budget.ts";
import type { Condition } from "#lib/targeting/compound.ts";
import type { Facts } from "#lib/targeting/facts.ts";
import { holds, parseTarget, type TargetOptions, termsOf, type TypedTarget } from "#lib/targeting/target.ts";
import type { DataTerm, IdTerm, Term } from "#lib/targeting/term.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { EntryReader } from "#lib/values/msgpack_entry.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { DataCache } from "./data_cache.ts";

/** Maximum time for matching one target, in milliseconds: it blocks other requests of the thread. */
const MAX_MATCHING_MS = 5_000;

/** The minions that a target may match, and their data. */
export interface KnownFleet {
  /** Their ids; the result has the same order. */
  readonly ids: readonly string[];
  /** Their grains and pillar; without it, none are known (`minion_data_cache: False`). */
  readonly data?: Pick<DataCache, "scan">;
  /** The node groups of the master's configuration. */
  readonly nodegroups: ValueMap;
}

/** How a target is resolved. */
export interface ResolveOptions extends Pick<TargetOptions, "delimiter"> {
  /**
   * Whether minions that may match are counted, as for a job that they decide about themselves. Without it only those
   * that are known to match: for rights and runners.
   * @default {true}
   */
  readonly greedy?: boolean;
}

/** The result of resolving a target on the master. */
export interface Resolved {
  /** The ids that match, without duplicates. */
  readonly minions: readonly string[];
  /** The ids of a list that are not accepted. */
  readonly missing: string[];
  /** Whether grains or pillar decide: then minions may match that are not in `minions`, as theirs have changed. */
  readonly byData: boolean;
  /** The minions without stored data, if the target uses grains or pillar. */
  readonly unknown: string[];
  /** The minions whose data cost too much to match; they do not count as matching a term. */
  readonly costly: string[];
}

/** The accepted minions of a master, and their stored data. */
export function acceptedFleet(
  opts: Pick<MasterOpts, "minion_data_cache" | "nodegroups">,
  { keys, data }: { readonly keys: Pick<KeyStore, "list">; readonly data: DataCache },
): KnownFleet {
  return {
    ids: keys.list("accepted"),
    nodegroups: opts.nodegroups,
    ...(opts.minion_data_cache ? { data } : {}),
  };
}

/**
 * Resolves a target to minions.
 * @throws {TargetError} For an unknown type, a target that cannot be read, and one that takes too long.
 */
export function resolveTarget(target: TypedTarget, fleet: KnownFleet, options: ResolveOptions = {}): Resolved {
  const { ids } = fleet;
  const condition = parseTarget(target, { delimiter: options.delimiter, nodegroups: fleet.nodegroups });
  const { places: accepted, matching } = knownOf(ids);
  const missing = listedIn(condition).filter((id) => !accepted.has(id));
  if (condition.op === "term" && condition.term.about === "id") {
    const { term } = condition;
    const named = term.listed ?? (term.only === undefined ? undefined : [term.only]);
    // In the order of the list.
    const minions = named?.filter((id) => accepted.has(id)) ?? matching(target, term);
    return { minions, missing, byData: false, unknown: [], costly: [] };
  }
  const deadline = new Deadline();
  const terms = termsOf(condition).filter((term) => term.about !== "id");
  const verdicts = dataVerdicts(terms, { fleet, accepted, deadline });
  const guess = guessing(fleet, options);
  const minions = ids.filter((id, i) => {
    deadline.check();
    return holds(condition, (term, negated) => {
      if (term.about === "id") return term.matches(id);
      const verdict = verdicts.get(term)?.[i] ?? UNKNOWN;
      return verdict === UNKNOWN ? guess(term, negated) : verdict === YES;
    });
  });
  const idsWith = (verdict: number) => ids.filter((_, i) => terms.some((term) => verdicts.get(term)?.[i] === verdict));
  return {
    minions,
    missing: [...new Set(missing)],
    byData: terms.length > 0,
    unknown: idsWith(UNKNOWN),
    costly: idsWith(COSTLY),
  };
}

/** What is known of one list of ids. */
interface KnownIds {
  /** The place of each in the list. */
  readonly places: ReadonlyMap<string, number>;
  /**
   * The ids that a term of a target matches.
   * @throws {TargetError} If it takes too long.
   */
  matching(target: TypedTarget, term: IdTerm): readonly string[];
}

/** The targets whose ids are kept with each list. */
const MAX_KEPT = 64;

/** Kept as long as its list is: the ids of a master's keys are the same list until a key changes. */
const known = new WeakMap<readonly string[], KnownIds>();

function knownOf(ids: readonly string[]): KnownIds {
  const before = known.get(ids);
  if (before !== undefined) return before;
  const kept = new BoundedMap<string, readonly string[]>(MAX_KEPT);
  const made: KnownIds = {
    places: new Map(ids.map((id, i) => [id, i])),
    matching({ tgt, tgtType = "" }, term) {
      const name = `${tgtType}\0${str(tgt)}`;
      const matched = kept.get(name) ?? matchingIds(ids, term);
      kept.set(name, matched);
      return matched;
    },
  };
  // Another list may change.
  if (Object.isFrozen(ids)) known.set(ids, made);
  return made;
}

function matchingIds(ids: readonly string[], term: IdTerm): readonly string[] {
  const deadline = new Deadline();
  return Object.freeze(ids.filter((id) => {
    deadline.check();
    return term.matches(id);
  }));
}

/** Whether a term counts as true for a minion without data; `negated`: within a `not`. */
function guessing(
  { data }: KnownFleet,
  { greedy = true }: ResolveOptions,
): (term: DataTerm, negated: boolean) => boolean {
  // With either value of the term, the minion does not match.
  if (!greedy) return (_, negated) => negated;
  // Without any data, every minion that matches for one of both values of the term is a target.
  return data === undefined ? (_, negated) => !negated : (term) => term.countsUnknown;
}

/** The ids of the lists in a condition, except lists directly after `not`: these minions are not expected. */
function listedIn(condition: Condition): readonly string[] {
  if (condition.op === "term") return condition.term.about === "id" ? condition.term.listed ?? [] : [];
  if (condition.op === "not") return condition.of.op === "term" ? [] : listedIn(condition.of);
  return condition.of.flatMap(listedIn);
}

/** The verdict of a term on a minion. */
const UNKNOWN = 0, NO = 1, YES = 2, COSTLY = 3;

/** The verdicts of each term on each minion, in the order of the ids. */
function dataVerdicts(
  terms: readonly DataTerm[],
  { fleet, accepted, deadline }: {
    readonly fleet: KnownFleet;
    readonly accepted: ReadonlyMap<string, number>;
    readonly deadline: Deadline;
  },
): ReadonlyMap<Term, Uint8Array> {
  const verdicts = new Map<Term, Uint8Array>();
  const packed = new PackedFacts();
  for (const bank of ["grains", "pillar"] as const) {
    const bankTerms = terms.filter(({ about }) => about === bank);
    const begin = () => {
      const columns = bankTerms.map((term) => ({ term, verdicts: new Uint8Array(accepted.size) }));
      for (const column of columns) verdicts.set(column.term, column.verdicts);
      return (id: string, bytes: Uint8Array | undefined) => {
        const i = accepted.get(id);
        if (i === undefined) return;
        deadline.check();
        const facts = bytes === undefined ? undefined : packed.open(bytes);
        for (const column of columns) column.verdicts[i] = facts === undefined ? UNKNOWN : verdict(column.term, facts);
      };
    };
    if (bankTerms.length === 0) continue;
    if (fleet.data === undefined) begin();
    else fleet.data.scan(bank, begin);
  }
  return verdicts;
}

function verdict(term: DataTerm, facts: Facts): number {
  try {
    return term.matches(facts) ? YES : NO;
  } catch (error) {
    if (error instanceof TooCostlyError) return COSTLY;
    // The data cannot be read: nothing is known.
    if (error instanceof MsgpackError) return UNKNOWN;
    throw error;
  }
}

/** The facts of one minion at a time, in MessagePack. Only the parts that a target uses are decoded. */
class PackedFacts implements Facts {
  readonly #entries = new EntryReader();
  #bytes: Uint8Array = new Uint8Array(0);

  /** Sets the current minion. */
  open(bytes: Uint8Array): this {
    this.#bytes = bytes;
    this.#entries.open(bytes);
    return this;
  }

  get(key: string): Value | undefined {
    return this.#entries.get(key);
  }

  whole(): ValueMap {
    const value = decode(this.#bytes, "disk");
    if (!isMap(value)) throw new MsgpackError("No map");
    return value;
  }
}

/** The time for one target. */
class Deadline {
  readonly #started = performance.now();

  /** @throws {TargetError} If it is over. */
  check(): void {
    if (performance.now() - this.#started <= MAX_MATCHING_MS) return;
    throw new TargetError(`The target takes too long: more than ${MAX_MATCHING_MS / 1000} seconds`, "");
  }
}
