/**
 * API tokens: a user makes them for programs, each with a name, an end and, if wanted, fewer rights than the user has.
 * A row holds the hash of the secret, and the token of Salt's that the master checks, encrypted with the secret.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { Crypticle, KEY_BYTES } from "#lib/crypto/crypticle.ts";
import { hashBytes, hashHex } from "#lib/crypto/hash.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { AuthenticationError } from "#lib/errors.ts";
import { listDirectory } from "#lib/os/store_files.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { isMap, map, toNumber, type Value } from "#lib/values/value.ts";
import type { EndWatches } from "./end_watches.ts";
import type { ApiSession } from "./sessions.ts";

/** What is known of an API token without its secret. */
export interface ApiTokenRow {
  /** 16 hexadecimal digits. */
  readonly id: string;
  readonly name: string;
  readonly user: string;
  readonly eauth: string;
  /** Its own rules; `null`: all that the user may do. */
  readonly rules: readonly Value[] | null;
  /** Times are seconds since the epoch. */
  readonly madeS: number;
  readonly expireS: number;
  /** 0: never. */
  readonly usedS: number;
  /** The address that used it last; empty: none. */
  readonly address: string;
}

interface StoredRow extends ApiTokenRow {
  readonly hash: string;
  readonly sealed: Uint8Array;
}

/** What a new row is made of. */
export type NewApiToken = Pick<ApiTokenRow, "id" | "name" | "user" | "eauth" | "rules" | "expireS"> & {
  /** The token of Salt's. */
  readonly token: string;
};

/** Maximum number of API tokens of a user. */
export const MAX_API_TOKENS = 100;
/** The time of the last use is written this often, in seconds. */
const WRITE_S = 60;
const SECRET = /^salt_([0-9a-f]{16})_[0-9a-f]{40}$/;

/** The API tokens of one master. */
export class ApiTokens {
  readonly #directory: string;
  readonly #ends: EndWatches;
  readonly #log: Logger;

  /** @param options.directory Where the rows are; made with mode 0700. */
  constructor(
    { directory, ends, log }: { readonly directory: string; readonly ends: EndWatches; readonly log: Logger },
  ) {
    this.#directory = directory;
    this.#ends = ends;
    this.#log = log;
  }

  /** 16 random hexadecimal digits. */
  static newId(): string {
    return crypto.getRandomValues(new Uint8Array(8)).toHex();
  }

  /**
   * Keeps a row.
   * @returns The secret, which is nowhere else.
   * @throws What writing throws.
   */
  make({ token, ...fields }: NewApiToken): { readonly secret: string; readonly row: ApiTokenRow } {
    const secret = `salt_${fields.id}_${crypto.getRandomValues(new Uint8Array(20)).toHex()}`;
    const row: StoredRow = {
      ...fields,
      madeS: Math.floor(Date.now() / 1000),
      usedS: 0,
      address: "",
      hash: hashOf(secret),
      sealed: keyOf(secret).dumps(token),
    };
    this.#write(row);
    return { secret, row };
  }

  /** The session of the API token with this secret, which is used now; `undefined`: there is none. */
  use(secret: string | undefined, address: string): ApiSession | undefined {
    const id = SECRET.exec(secret ?? "")?.[1];
    const row = id === undefined ? undefined : this.#read(id);
    if (secret === undefined || row === undefined || !sameText(row.hash, hashOf(secret))) return undefined;
    const nowS = Math.floor(Date.now() / 1000);
    if (nowS >= row.expireS) {
      this.remove(row.id);
      return undefined;
    }
    const token = this.#unseal(secret, row);
    if (token === undefined) return undefined;
    if (nowS - row.usedS >= WRITE_S || row.address !== address) this.#write({ ...row, usedS: nowS, address });
    const { user, eauth, expireS } = row;
    return { id: row.id, token, user, eauth, expireS, apiToken: row.id, usedMs: nowS * 1000 };
  }

  /** The rows of a user, the oldest first. Those that are over, of anybody, are removed. */
  list({ user, eauth }: Pick<ApiSession, "user" | "eauth">): ApiTokenRow[] {
    const names = listDirectory(this.#directory, (text) => this.#log.warning(text)).map(({ name }) => name);
    const rows = names.flatMap((name) => this.#read(name) ?? []), nowS = Date.now() / 1000;
    for (const { id, expireS } of rows) if (expireS <= nowS) this.remove(id);
    return rows.filter((row) => row.user === user && row.eauth === eauth && row.expireS > nowS)
      .sort((a, b) => a.madeS - b.madeS);
  }

  /** Removes a row; its open streams end. */
  remove(id: string): void {
    removeIfExists(this.#path(id));
    this.#ends.tell(id);
  }

  #write({ rules, ...row }: StoredRow): void {
    const file = encode(map({ ...row, rules: rules === null ? null : [...rules] }), "disk");
    writeFileAtomic(this.#path(row.id), file, { mode: 0o600, makeDirectory: true });
  }

  #read(id: string): StoredRow | undefined {
    if (!/^[0-9a-f]{16}$/.test(id)) return undefined;
    const value = decodeIfWhole(readFileIfExists(this.#path(id)));
    return isMap(value) ? parseRow(id, value) : undefined;
  }

  #unseal(secret: string, { id, sealed }: StoredRow): string | undefined {
    try {
      const token = keyOf(secret).loads(sealed);
      return typeof token === "string" ? token : undefined;
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      this.#log.warning(`The file of the API token ${id} was changed: it cannot be used`);
      return undefined;
    }
  }

  #path(id: string): string {
    return `${this.#directory}/${id}`;
  }
}

function parseRow(id: string, value: ReadonlyMap<Value, Value>): StoredRow | undefined {
  const [name, user, eauth, address, hash] = ["name", "user", "eauth", "address", "hash"].map((key) => value.get(key));
  const [madeS, expireS, usedS] = ["madeS", "expireS", "usedS"].map((key) => toNumber(value.get(key)));
  const [rules, sealed] = [value.get("rules"), value.get("sealed")];
  if (typeof name !== "string" || typeof user !== "string" || typeof eauth !== "string") return undefined;
  if (typeof address !== "string" || typeof hash !== "string" || !(sealed instanceof Uint8Array)) return undefined;
  if (madeS === undefined || expireS === undefined || usedS === undefined) return undefined;
  if (rules !== null && !Array.isArray(rules)) return undefined;
  return { id, name, user, eauth, rules, madeS, expireS, usedS, address, hash, sealed };
}

function hashOf(secret: string): string {
  return hashHex(`salt-api token\0${secret}`, "sha256");
}

/** The key that a row's token of Salt's is encrypted with. */
function keyOf(secret: string): Crypticle {
  return new Crypticle(hashBytes(`salt-api token key\0${secret}`, "sha512").subarray(0, KEY_BYTES).toBase64());
}
