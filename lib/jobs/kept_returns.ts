/**
 * The first bytes of returns that were too large for the master, on the minion's disk, so that the operator can look at
 * them: `<cachedir>/kept_returns/<jid>.p`. A small number, each of limited size, for a day. Results of `no_log` jobs
 * are never kept.
 * @module
 */

import { readFileIfExists, removeIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { messageOf, type RequestTooLargeError } from "#lib/errors.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isNoLog } from "#lib/protocol/no_log.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { beginningOf } from "#lib/values/beginning.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Limits on what is kept. */
export interface KeptLimits {
  /** Bytes per return. */
  readonly bytes: number;
  /** Number of returns; the oldest are removed. */
  readonly count: number;
  /** Milliseconds that a return is kept. */
  readonly ageMs: number;
}

/** A megabyte each, 16 returns, one day. */
const KEPT_LIMITS: KeptLimits = { bytes: 1_048_576, count: 16, ageMs: 86_400_000 };

/** A truncated return. */
export interface KeptReturn {
  readonly jid: string;
  readonly fun: Value;
  /** Size of the request that was too large, in bytes. */
  readonly bytes: number;
  /** Size of the largest request that the master accepts, in bytes. */
  readonly limit: number;
  /** When it was stored, in milliseconds since the epoch. */
  readonly sinceMs: number;
  /** The first part of the return: a text as it was, anything else as JSON. */
  readonly beginning: string;
}

const SUFFIX = ".p";

function keptReturnsDirectory(cachedir: string): string {
  return `${cachedir}/kept_returns`;
}

/** Keeps returns, and removes old ones. */
export class KeptReturns {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #limits: KeptLimits;
  #cleaning: Timer | undefined;

  /** Removes what is too old from earlier processes. */
  constructor(cachedir: string, log: Logger, limits: KeptLimits = KEPT_LIMITS) {
    this.#directory = keptReturnsDirectory(cachedir);
    this.#log = log;
    this.#limits = limits;
    this.#clean();
  }

  /**
   * Keeps the first part of a return.
   * @returns Its bytes; `undefined` if it is not kept, because it is hidden or cannot be written.
   */
  keep(load: ValueMap, { bytes, limit }: RequestTooLargeError): number | undefined {
    const jid = load.get("jid");
    if (typeof jid !== "string" || !isJid(jid) || isNoLog(load)) return undefined;
    const beginning = beginningOf(load.get("return") ?? null, this.#limits.bytes);
    const kept = map({ jid, fun: load.get("fun") ?? null, bytes, limit, since: Date.now(), beginning });
    try {
      const path = `${this.#directory}/${jid}${SUFFIX}`;
      writeFileAtomic(path, encode(kept, "disk"), { mode: 0o600, makeDirectory: true });
      this.#clean();
      return new TextEncoder().encode(beginning).length;
    } catch (error) {
      this.#log.error(`The beginning of the return of job ${jid} is not kept: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Removes returns that are too old or too many; runs again when the newest is too old. */
  #clean(): void {
    try {
      const names = namesIn(this.#directory);
      const old = names.filter((name) => !isYoung(`${this.#directory}/${name}`, this.#limits.ageMs));
      const young = names.filter((name) => !old.includes(name));
      const tooMany = young.slice(0, Math.max(0, young.length - this.#limits.count));
      for (const name of [...old, ...tooMany]) removeIfExists(`${this.#directory}/${name}`);
      clearTimeout(this.#cleaning);
      if (young.length > 0) this.#cleaning = setTimeout(() => this.#clean(), this.#limits.ageMs + 1_000);
    } catch (error) {
      this.#log.error(`The beginnings of old returns are not removed: ${messageOf(error)}`);
    }
  }

  /** Stops removing; kept returns stay for the next process. */
  close(): void {
    clearTimeout(this.#cleaning);
  }
}

/** All kept returns, the oldest first; unreadable ones are skipped. */
export function keptReturns(cachedir: string, { ageMs }: KeptLimits = KEPT_LIMITS): KeptReturn[] {
  const directory = keptReturnsDirectory(cachedir);
  return namesIn(directory).flatMap((name) => {
    const path = `${directory}/${name}`;
    return isYoung(path, ageMs) ? read(path) ?? [] : [];
  });
}

/** The kept return of one job. */
export function keptReturn(cachedir: string, jid: string, limits: KeptLimits = KEPT_LIMITS): KeptReturn | undefined {
  const path = `${keptReturnsDirectory(cachedir)}/${jid}${SUFFIX}`;
  return isJid(jid) && isYoung(path, limits.ageMs) ? read(path) : undefined;
}

function read(path: string): KeptReturn | undefined {
  const kept = decodeIfWhole(readFileIfExists(path));
  if (!isMap(kept)) return undefined;
  const number = (key: string) => toNumber(kept.get(key)) ?? 0;
  return {
    jid: str(kept.get("jid") ?? ""),
    fun: kept.get("fun") ?? null,
    bytes: number("bytes"),
    limit: number("limit"),
    sinceMs: number("since"),
    beginning: str(kept.get("beginning") ?? ""),
  };
}

/** The files sorted by job, which is also by time. */
function namesIn(directory: string): string[] {
  try {
    return Array.from(Deno.readDirSync(directory), ({ name }) => name).filter((name) => name.endsWith(SUFFIX)).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Whether a file is there that is younger than `ageMs`. */
function isYoung(path: string, ageMs: number): boolean {
  return Date.now() - (statIfExists(path)?.mtime?.getTime() ?? 0) < ageMs;
}
