/**
 * What a minion, or the master itself, may read of the mine: `_mine_get`, and the runner `mine.get`.
 * Source: Salt 3008.3 `salt/daemons/masterapi.py` (`_mine_get`), `salt/utils/mine.py`.
 * @module
 */

import { MsgpackError, RegexError, StoreError, TargetError } from "#lib/errors.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { decode } from "#lib/values/msgpack.ts";
import { EntryReader } from "#lib/values/msgpack_entry.ts";
import { isMap, map, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { DataCache } from "./data_cache.ts";
import { ageOf, type Mine, type MineTimes, roundAge } from "./mine.ts";
import { AGED, askedValues } from "./mine_form.ts";
import { MineReaders } from "./mine_readers.ts";
import { type KnownFleet, resolveTarget } from "./resolve_target.ts";

/** Maximum size of one answer, in bytes of MessagePack. */
const MAX_ANSWER_BYTES = 64 << 20;
/** Maximum number of names in one query. */
const MAX_NAMES = 1_000;
/** Maximum time for the values of one answer, in milliseconds: it blocks other requests of the thread. */
const MAX_READING_MS = 10_000;

/** Who asks for what. */
interface MineQuery {
  /** The id of the minion that asks, or that of the master itself. */
  readonly reader: string;
  readonly tgt: Value;
  readonly tgtType: string;
  /** The names of the values, without duplicates. */
  readonly names: readonly string[];
  /** Whether the answer is by name, then by minion: if it was asked for with a list, or several names. */
  readonly isByName: boolean;
  /** Whether each value comes with its age. */
  readonly withAge: boolean;
  /** Values that are older are left out, in seconds. */
  readonly maxAgeS: number | undefined;
}

/** The mine, and the facts of the fleet that decide who may read it. */
export interface MineHost {
  readonly opts: Pick<MasterOpts, "mine_get">;
  readonly mine: Mine;
  readonly data: DataCache;
  /** Reads the ids of the accepted minions and so on. */
  fleet(): KnownFleet;
  /** Logs a text about a request that cannot be answered. */
  warn(text: string): void;
}

/** Target types that look at pillar, as they are for others than operators: values of pillar are written in full. */
const EXACT_TYPES: Readonly<Record<string, string>> = { pillar: "pillar_exact", compound: "compound_pillar_exact" };

/**
 * The answer to `_mine_get`.
 * @param load With `id` of who asks, `tgt`, `fun`, `tgt_type`; `with_age` and `max_age` are not in Salt.
 * @returns `{id: value}`, or `{name: {id: value}}`; with `with_age` or `max_age`, that under `ret` beside
 * {@linkcode AGED}. A text if the answer would be too large. Salt's `""` for the target type None.
 */
export function answerMineGet(load: ValueMap, host: MineHost): Value {
  const query = readQuery(load);
  if (typeof query === "string") {
    host.warn(`A mine query of ${truncateValue(load.get("id") ?? null)} has no answer: ${query}`);
    return load.get("tgt_type") === null ? "" : new Map();
  }
  const names = query.names.filter((name) => mayReadMine(name, query.reader, host));
  if (names.length === 0) return aged(query, new Map());
  try {
    return aged(query, collect(query, names, host));
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    if (!(error instanceof TargetError)) throw error;
    host.warn(`The target of a mine query of ${query.reader} cannot be read: ${error.message}`);
    return aged(query, new Map());
  }
}

/** @returns A text if it cannot be read. */
function readQuery(load: ValueMap): MineQuery | string {
  const [reader, tgt, fun] = [load.get("id"), load.get("tgt"), load.get("fun")];
  const type = load.get("tgt_type") ?? (load.has("tgt_type") ? null : load.get("expr_form") ?? "glob");
  if (typeof reader !== "string" || tgt === undefined) return "it has no target";
  if (typeof type !== "string") return "its target type is no text";
  if (typeof fun !== "string" && !Array.isArray(fun)) return "it names no function";
  const { names: asked, isByName } = askedValues(fun);
  const names = asked.filter((name) => typeof name === "string");
  if (names.length > MAX_NAMES) return `it names ${names.length} functions, ${MAX_NAMES} are allowed`;
  const maxAge = load.get("max_age") ?? null;
  const maxAgeS = toNumber(maxAge);
  if (maxAge !== null && !(maxAgeS !== undefined && maxAgeS >= 0)) return "max_age is no number of seconds";
  return {
    reader,
    tgt,
    tgtType: EXACT_TYPES[type.toLowerCase()] ?? type,
    names,
    isByName,
    withAge: truthy(load.get("with_age")),
    maxAgeS,
  };
}

function aged({ withAge, maxAgeS }: MineQuery, ret: ValueMap): ValueMap {
  return withAge || maxAgeS !== undefined ? map({ [AGED]: 1, ret }) : ret;
}

/** Whether the master's option `mine_get` lets a minion read values of this name. */
export function mayReadMine(
  name: string,
  reader: string,
  { opts, warn }: Pick<MineHost, "opts" | "warn">,
): boolean {
  const rules = opts.mine_get;
  if (rules === null) return true;
  if (!isMap(rules)) return false;
  const matches = (pattern: Value, text: string): boolean => {
    if (typeof pattern !== "string") return false;
    try {
      return pythonRegex(pattern).test(text);
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      warn(`The rule ${truncateValue(pattern)} of mine_get allows nothing: ${error.message}`);
      return false;
    }
  };
  return [...rules].some(([minion, names]) =>
    Array.isArray(names) && matches(minion, reader) && names.some((each) => matches(each, name))
  );
}

/** The values of one minion, in the order of the names. */
type Row = readonly (Value | undefined)[];

function collect(query: MineQuery, names: readonly string[], host: MineHost): ValueMap {
  const fleet = host.fleet();
  const { minions } = resolveTarget(query, fleet, { greedy: false });
  const places = new Map(minions.map((id, i) => [id, i]));
  const rows: (Row | undefined)[] = new Array(minions.length);
  const sizes = new Float64Array(minions.length);
  const readers = new MineReaders(query.reader, { fleet, data: host.data });
  const entries = new EntryReader();
  const until = performance.now() + MAX_READING_MS;
  let total = 0;
  let refusal: StoreError | undefined;
  host.mine.read(places, (id, bytes) => {
    const i = places.get(id);
    // An error here would end what the reading does besides.
    if (i === undefined || refusal !== undefined) return;
    total -= sizes[i];
    sizes[i] = 0;
    rows[i] = undefined;
    if (bytes === undefined) return;
    entries.open(bytes);
    try {
      rows[i] = names.map((name) => {
        const packed = entries.packed(name);
        if (packed === undefined) return undefined;
        sizes[i] += packed.length;
        return readers.visible(decode(packed, "disk"));
      });
    } catch (error) {
      if (!(error instanceof MsgpackError)) throw error;
      rows[i] = undefined;
      host.warn(`The mine of ${id} cannot be read: ${error.message}`);
    }
    total += sizes[i];
    if (total > MAX_ANSWER_BYTES) refusal = tooMuch(`has more than ${MAX_ANSWER_BYTES >> 20} MiB`);
    else if (performance.now() > until) refusal = tooMuch(`takes more than ${MAX_READING_MS / 1000} seconds`);
  });
  if (refusal !== undefined) throw refusal;
  return arrange(query, names, { minions, rows, mine: host.mine });
}

function tooMuch(what: string): StoreError {
  return new StoreError(`The mine ${what} for this target: ask for fewer functions or minions`, "mine");
}

function arrange(
  { isByName, withAge, maxAgeS }: MineQuery,
  names: readonly string[],
  { minions, rows, mine }: {
    readonly minions: readonly string[];
    readonly rows: readonly (Row | undefined)[];
    readonly mine: Mine;
  },
): ValueMap {
  const columns = names.map((): ValueMap => new Map());
  const now = Date.now();
  for (const [i, id] of minions.entries()) {
    const row = rows[i];
    if (row === undefined) continue;
    let times: MineTimes | undefined;
    for (const [n, value] of row.entries()) {
      if (value === undefined) continue;
      if (!withAge && maxAgeS === undefined) {
        columns[n].set(id, value);
        continue;
      }
      times ??= mine.times(id) ?? { stored: new Map(), changedMs: 0 };
      const age = ageOf(names[n], times, now);
      if (maxAgeS !== undefined && age > maxAgeS) continue;
      columns[n].set(id, withAge ? map({ value, age: roundAge(age) }) : value);
    }
  }
  if (!isByName) return columns[0];
  const filled = names.map((name, n): [Value, Value] => [name, columns[n]]);
  return new Map(filled.filter((_, n) => columns[n].size > 0));
}
