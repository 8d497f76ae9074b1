/**
 * Tokens: a user of `external_auth` can authenticate without a password until the token expires. A token is a file
 * `<token_dir>/<token>.p` in the form of Salt 3008; those of 3006 and 3007, without `.p`, are read too. Source: Salt
 * 3008.3 `salt/auth/__init__.py`, `salt/cache/__init__.py`; 3006.28 `salt/tokens/localfs.py`.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { hashHex } from "../crypto/hash.ts";
import { listDirectory, type StoreLog } from "../os/store_files.ts";
import { messageOf } from "../errors.ts";
import { decodeIfWhole, encode } from "../values/msgpack.ts";
import { float, isMap, map, toNumber, type Value, type ValueMap } from "../values/value.ts";

/** The user of a token. */
export interface TokenSubject {
  readonly name: string;
  /** The system that knows the user: a key of `external_auth`. */
  readonly eauth: string;
  /** The user's groups there. */
  readonly groups: readonly string[];
  /** With `keep_acl_in_token`, the rules of the system itself; `null`: it has none. */
  readonly authList?: readonly Value[] | null;
}

/** A valid token. */
export interface Token extends TokenSubject {
  /** The contents of the file, which the client gets. */
  readonly data: ValueMap;
}

/** Random bytes in a token, before they are hashed. */
const ENTROPY_BYTES = 512;
/** Maximum number of files that one call of {@linkcode Tokens.removeExpired} checks. */
const MAX_LOOKS = 1_000;

/** The tokens in one directory. */
export class Tokens {
  readonly #directory: string;
  readonly #hashType: string;
  readonly #log: StoreLog;

  /** @param options.directory `token_dir`. @param options.hashType `hash_type`: decides how long a token is. */
  constructor({ directory, hashType, log }: { directory: string; hashType: string; log: StoreLog }) {
    this.#directory = directory;
    this.#hashType = hashType;
    this.#log = log;
  }

  /** Creates a token that is valid for so many seconds. @throws What writing throws. */
  make(subject: TokenSubject, expireS: number): Token {
    const nowS = Date.now() / 1000;
    const token = hashHex(randomBytes(ENTROPY_BYTES), this.#hashType);
    const data = map({ start: float(nowS), expire: float(nowS + expireS), name: subject.name, eauth: subject.eauth });
    if (subject.authList !== undefined) data.set("auth_list", subject.authList === null ? null : [...subject.authList]);
    if (subject.groups.length > 0) data.set("groups", [...subject.groups]);
    data.set("token", token);
    const file = encode(map({ data, _expires: Math.floor(nowS + expireS) }), "disk");
    writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });
    return { ...subject, data };
  }

  /** The valid token; `undefined` if it does not exist or has expired: then it is removed. */
  get(token: Value | undefined): Token | undefined {
    if (!isToken(token)) return undefined;
    const data = this.#read(this.#path(token)) ?? this.#read(`${this.#directory}/${token}`);
    if (data === undefined) return undefined;
    const found = parseToken(data);
    if (found !== undefined && (toNumber(data.get("expire")) ?? 0) >= Date.now() / 1000) return found;
    this.remove(token);
    return undefined;
  }

  /** @returns Whether there was such a token. */
  remove(token: Value | undefined): boolean {
    if (!isToken(token)) return false;
    const removed = [this.#path(token), `${this.#directory}/${token}`].map((path) => removeIfExists(path));
    return removed.some((was) => was);
  }

  /** Removes tokens that have expired, and files that are not tokens. */
  removeExpired(): void {
    for (const { name } of listDirectory(this.#directory, this.#log).slice(0, MAX_LOOKS)) {
      this.get(name.replace(/\.p$/, ""));
    }
  }

  #path(token: string): string {
    return `${this.#directory}/${token}.p`;
  }

  /** The contents of the file; an empty map if they are invalid. */
  #read(path: string): ValueMap | undefined {
    let bytes: Uint8Array | undefined;
    try {
      bytes = readFileIfExists(path);
    } catch (error) {
      this.#log(`A token cannot be read: ${messageOf(error)}`, error);
    }
    if (bytes === undefined) return undefined;
    const value = decodeIfWhole(bytes);
    const inner = isMap(value) && value.has("_expires") ? value.get("data") : value;
    return isMap(inner) ? inner : new Map();
  }
}

function parseToken(data: ValueMap): Token | undefined {
  const [name, eauth] = [data.get("name"), data.get("eauth")];
  if (typeof name !== "string" || typeof eauth !== "string") return undefined;
  const groups = data.get("groups");
  const authList = data.get("auth_list");
  const subject = {
    name,
    eauth,
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
    data,
  };
  return authList === null || Array.isArray(authList) ? { ...subject, authList } : subject;
}

/** Whether `value` has the form of a token, so that it can only name a file in the directory. */
function isToken(value: Value | undefined): value is string {
  return typeof value === "string" && /^[0-9a-f]{32,128}$/.test(value);
}

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
