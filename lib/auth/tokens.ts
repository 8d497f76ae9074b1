/**
 * Tokens: a user of `external_auth` can authenticate without a password until the token expires. A token is a file
 * `<token_dir>/<token>.p` in the form of Salt 3008; those of 3006 and 3007, without `.p`, are read too. Source: Salt
 * 3008.3 `salt/auth/__init__.py`, `salt/cache/__init__.py`; 3006.28 `salt/tokens/localfs.py`.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { ChangeNotes } from "#lib/os/change_notes.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { listDirectory, type StoreLog } from "#lib/os/store_files.ts";
import { messageOf } from "#lib/errors.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { float, isMap, map, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** The user of a token. */
export interface TokenSubject {
  readonly name: string;
  /** The system that knows the user: a key of `external_auth`. */
  readonly eauth: string;
  /** The user's groups there. */
  readonly groups: readonly string[];
  /** With `keep_acl_in_token`, the rules of the system itself; `null`: it has none. */
  readonly authList?: readonly Value[] | null;
  /** For a token of an API token: which one. Not in Salt. */
  readonly apiToken?: TokenLimits;
}

/** An API token of salt-api, and its own rules: a call must be allowed by them and by those of its user. */
export interface TokenLimits {
  readonly id: string;
  /** `undefined`: all that its user may do. */
  readonly rules: readonly Value[] | undefined;
}

/** A valid token. */
export interface EauthToken extends TokenSubject {
  /** What the client sends: the name of its file. */
  readonly token: string;
  /** The contents of the file, which the client gets. */
  readonly data: ValueMap;
}

/** Random bytes in a token, before they are hashed. */
const ENTROPY_BYTES = 512;
/** Maximum number of files that one call of {@linkcode Tokens.removeExpired} checks. */
const MAX_LOOKS = 1_000;
/** The kind of their notes. */
const TOKENS = "tokens";
/** Maximum number of tokens of one user; the oldest are removed. */
export const MAX_OF_USER = 1_000;

/** Whose token a file is, and since when. */
interface Held {
  readonly user: string;
  readonly startS: number;
}

interface TokensOptions {
  readonly directory: string;
  readonly hashType: string;
  readonly log: StoreLog;
  readonly notes?: ChangeNotes | undefined;
}

/** The tokens in one directory. */
export class Tokens {
  readonly #directory: string;
  readonly #hashType: string;
  readonly #log: StoreLog;
  readonly #notes: ChangeNotes | undefined;
  /** What is known of the files, by name: a token does not change. */
  #held = new Map<string, Held>();
  /** The last name that {@linkcode removeExpired} has looked at. */
  #looked = "";

  /**
   * @param options.directory `token_dir`.
   * @param options.hashType `hash_type`: decides how long a token is.
   * @param options.notes Where changes are noted for other masters.
   */
  constructor({ directory, hashType, log, notes }: TokensOptions) {
    this.#directory = directory;
    this.#hashType = hashType;
    this.#log = log;
    this.#notes = notes;
  }

  /**
   * Creates a token that is valid for so many seconds. If its user has too many, the oldest are removed.
   * @throws What writing throws; {StoreError} if it cannot be noted.
   */
  make(subject: TokenSubject, expireS: number): EauthToken {
    const nowS = Date.now() / 1000;
    const token = hashHex(randomBytes(ENTROPY_BYTES), this.#hashType);
    const data = map({ start: float(nowS), expire: float(nowS + expireS), name: subject.name, eauth: subject.eauth });
    if (subject.authList !== undefined) data.set("auth_list", subject.authList === null ? null : [...subject.authList]);
    if (subject.apiToken !== undefined) {
      const { id, rules } = subject.apiToken;
      data.set("api_token", map({ id, rules: rules === undefined ? null : [...rules] }));
    }
    if (subject.groups.length > 0) data.set("groups", [...subject.groups]);
    data.set("token", token);
    const file = encode(map({ data, _expires: Math.floor(nowS + expireS) }), "disk");
    writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });
    this.#notes?.add(TOKENS, token);
    this.#trim(userOf(subject));
    return { ...subject, token, data };
  }

  /** The valid token; `undefined` if it does not exist or has expired: then it is removed. */
  get(token: Value | undefined): EauthToken | undefined {
    if (!isToken(token)) return undefined;
    const data = this.#read(this.#path(token)) ?? this.#read(`${this.#directory}/${token}`);
    if (data === undefined) return undefined;
    const subject = parseSubject(data);
    if (subject !== undefined && (toNumber(data.get("expire")) ?? 0) >= Date.now() / 1000) {
      return { ...subject, token, data };
    }
    this.remove(token);
    return undefined;
  }

  /** @returns Whether there was such a token. */
  remove(token: Value | undefined): boolean {
    if (!isToken(token)) return false;
    const removed = [this.#path(token), `${this.#directory}/${token}`].map((path) => removeIfExists(path));
    const was = removed.includes(true);
    if (was) this.#notes?.add(TOKENS, token);
    return was;
  }

  /** The names of all that are stored. */
  list(): string[] {
    return listDirectory(this.#directory, this.#log).map(({ name }) => name.replace(/\.p$/, "")).filter(isToken);
  }

  /** The file of a token, for another master; `undefined`: there is none. */
  packed(token: string): Uint8Array | undefined {
    if (!isToken(token)) return undefined;
    return readFileIfExists(this.#path(token)) ?? readFileIfExists(`${this.#directory}/${token}`);
  }

  /**
   * Stores the file of a token that another master has made, or removes it. What has not the form of a token is left
   * out.
   * @throws What writing throws.
   */
  setPacked(token: string, file: Uint8Array | undefined): void {
    if (!isToken(token)) return;
    if (file !== undefined) return writeFileAtomic(this.#path(token), file, { mode: 0o600, makeDirectory: true });
    for (const path of [this.#path(token), `${this.#directory}/${token}`]) removeIfExists(path);
  }

  /**
   * Removes the tokens that `isWanted` names.
   * @returns How many.
   */
  removeAll(isWanted: (token: EauthToken) => boolean): number {
    const texts = listDirectory(this.#directory, this.#log).map(({ name }) => name.replace(/\.p$/, ""));
    return texts.filter((text) => {
      const token = this.get(text);
      return token !== undefined && isWanted(token) && this.remove(text);
    }).length;
  }

  /** Removes tokens that have expired, and files that are not tokens: each call goes on where the last one ended. */
  removeExpired(): void {
    const names = listDirectory(this.#directory, this.#log).map(({ name }) => name);
    const later = names.filter((name) => name > this.#looked);
    const looks = (later.length > 0 ? later : names).slice(0, MAX_LOOKS);
    for (const name of looks) this.get(name.replace(/\.p$/, ""));
    this.#looked = looks.at(-1) ?? "";
  }

  /** Removes the oldest tokens of `user` beyond {@linkcode MAX_OF_USER}. */
  #trim(user: string): void {
    const held = new Map<string, Held>();
    for (const { name } of listDirectory(this.#directory, this.#log)) {
      held.set(name, this.#held.get(name) ?? this.#look(name));
    }
    this.#held = held;
    const own = [...held].filter(([, one]) => one.user === user);
    if (own.length <= MAX_OF_USER) return;
    own.sort(([, a], [, b]) => a.startS - b.startS);
    for (const [name] of own.slice(0, own.length - MAX_OF_USER)) {
      this.remove(name.replace(/\.p$/, ""));
      held.delete(name);
    }
  }

  #look(name: string): Held {
    const data = this.#read(`${this.#directory}/${name}`) ?? new Map();
    const subject = parseSubject(data);
    return { user: subject === undefined ? "" : userOf(subject), startS: toNumber(data.get("start")) ?? 0 };
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
    return mapOrEmpty(isMap(value) && value.has("_expires") ? value.get("data") : value);
  }
}

/** Names of two systems are two users. */
function userOf({ name, eauth }: TokenSubject): string {
  return `${eauth}\0${name}`;
}

function parseSubject(data: ValueMap): TokenSubject | undefined {
  const [name, eauth] = [data.get("name"), data.get("eauth")];
  if (typeof name !== "string" || typeof eauth !== "string") return undefined;
  const groups = data.get("groups");
  const authList = data.get("auth_list");
  const subject = {
    name,
    eauth,
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
  };
  return {
    ...subject,
    ...(authList === null || Array.isArray(authList)) && { authList },
    ...data.has("api_token") && { apiToken: parseLimits(data.get("api_token")) },
  };
}

/** What cannot be read allows nothing. */
function parseLimits(value: Value | undefined): TokenLimits {
  const limits = mapOrEmpty(value);
  const [id, rules] = [limits.get("id"), limits.get("rules")];
  if (typeof id !== "string") return { id: "", rules: [] };
  return { id, rules: rules === null ? undefined : Array.isArray(rules) ? rules : [] };
}

/** Whether `value` has the form of a token, so that it can only name a file in the directory. */
function isToken(value: Value | undefined): value is string {
  return typeof value === "string" && /^[0-9a-f]{32,128}$/.test(value);
}

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
