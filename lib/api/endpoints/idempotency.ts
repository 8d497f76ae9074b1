/**
 * `Idempotency-Key`: a client that got no answer may ask again, and no second job begins. A record of the job's id is
 * kept before it is published, for a day, so that a restart in between changes nothing.
 * @module
 */

import { ApiError } from "#lib/api/http/api_error.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { listDirectory } from "#lib/os/store_files.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";

/** How long a key is known, in milliseconds. */
const KEPT_MS = 86_400_000;
const MAX_KEY = 255;
/** Time between two rounds that remove old records, in milliseconds. */
const CLEAN_MS = 3_600_000;

/** The keys of one API. */
export class IdempotencyKeys {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #running = new Map<string, Promise<unknown>>();
  #cleanedMs = -Infinity;

  constructor({ directory, log }: { readonly directory: string; readonly log: Logger }) {
    this.#directory = directory;
    this.#log = log;
  }

  /**
   * Runs `start` with the job id that belongs to the key: a new one, or that of the first request.
   * @param request.key The header; `null`: there is none.
   * @param request.body What is asked: the same key with another body is refused.
   * @throws {ApiError} 400 for a key that is too long, 409 for one that was used for something else.
   */
  async run<T>(
    request: { readonly key: string | null; readonly user: string; readonly body: string },
    { makeJid, start }: { makeJid(): string; start(jid: string): Promise<T> },
  ): Promise<T> {
    const { key, user, body } = request;
    if (key === null) return await start(makeJid());
    if (key === "" || key.length > MAX_KEY) throw new ApiError(400, `Idempotency-Key has 1 to ${MAX_KEY} characters`);
    const name = hashHex(`${user}\0${key}`, "sha256");
    // One after another: both may be the first.
    const before = this.#running.get(name) ?? Promise.resolve();
    const turn = before.catch(() => {}).then(() => start(this.#jidOf(name, hashHex(body, "sha256"), makeJid)));
    this.#running.set(name, turn);
    try {
      return await turn;
    } catch (error) {
      // Nothing was begun. After an answer of 5xx nobody knows: the master may have the job.
      if (error instanceof ApiError && error.status < 500 && error.status !== 409) removeIfExists(this.#path(name));
      throw error;
    } finally {
      if (this.#running.get(name) === turn) this.#running.delete(name);
    }
  }

  #jidOf(name: string, body: string, makeJid: () => string): string {
    this.#clean();
    const known = parseRecord(decodeIfWhole(readFileIfExists(this.#path(name))));
    if (known !== undefined && Date.now() - known.atMs < KEPT_MS) {
      if (known.body !== body) throw new ApiError(409, "This Idempotency-Key was used for another job");
      return known.jid;
    }
    const jid = makeJid();
    const record = encode(map({ jid, body, atMs: Date.now() }), "disk");
    writeFileAtomic(this.#path(name), record, { mode: 0o600, makeDirectory: true });
    return jid;
  }

  #clean(): void {
    if (performance.now() - this.#cleanedMs < CLEAN_MS) return;
    this.#cleanedMs = performance.now();
    for (const { name } of listDirectory(this.#directory, (text) => this.#log.warning(text))) {
      const record = parseRecord(decodeIfWhole(readFileIfExists(this.#path(name))));
      if (record === undefined || Date.now() - record.atMs >= KEPT_MS) removeIfExists(this.#path(name));
    }
  }

  #path(name: string): string {
    return `${this.#directory}/${name}`;
  }
}

function parseRecord(
  value: Value | undefined,
): { readonly jid: string; readonly body: string; readonly atMs: number } | undefined {
  if (!isMap(value)) return undefined;
  const [jid, body, atMs] = [value.get("jid"), value.get("body"), toNumber(value.get("atMs"))];
  if (typeof jid !== "string" || !isJid(jid) || typeof body !== "string" || atMs === undefined) return undefined;
  return { jid, body, atMs };
}
