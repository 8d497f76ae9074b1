/**
 * State module `gpg`: public keys in a keyring.
 * Source: Salt 3008.3 `salt/states/gpg.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { asList, mapOrEmpty, mapUnder } from "#lib/values/shape.ts";
import { isMap, map, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Names of trust, and how `gpg.list_keys` shows it. */
const TRUST: Readonly<Record<string, string>> = {
  expired: "Expired",
  unknown: "Unknown",
  not_trusted: "Not Trusted",
  marginally: "Marginally",
  fully: "Fully Trusted",
  ultimately: "Ultimately Trusted",
};

/** What is known of a key before and while its state runs. */
interface KnownKey {
  readonly trust: string;
  readonly subkeys: readonly ValueMap[];
  readonly expired: boolean;
}

/** What all calls of `gpg.*` are given. */
interface Place {
  readonly user: string | null;
  readonly gnupghome: string | null;
  readonly keyring: Value;
}

function subkeysOf(key: ValueMap): ValueMap[] {
  const subkeys = key.get("subkeys");
  return Array.isArray(subkeys) ? subkeys.filter(isMap) : [];
}

function idOf(key: ValueMap): string {
  return str(key.get("keyid") ?? "");
}

const DAY_MS = 86_400_000;

/** Subkeys that have expired within so many days. */
function recentlyExpired(subkeys: readonly ValueMap[], maxDays: number): ValueMap[] {
  if (maxDays === 0) return [];
  const now = new Date();
  const today = Date.UTC(now.getFullYear(), now.getMonth(), now.getDate());
  return subkeys.filter((subkey) => {
    if (subkey.get("expired") !== true) return false;
    const [year, month, day] = str(subkey.get("expires") ?? "").split("-").map(Number);
    return (today - Date.UTC(year, month - 1, day)) / DAY_MS <= maxDays;
  });
}

function knownKey(key: ValueMap): KnownKey {
  return { trust: str(key.get("trust") ?? ""), subkeys: subkeysOf(key), expired: key.get("expired") === true };
}

async function listKeys({ user, gnupghome, keyring }: Place, context: StateContext): Promise<ValueMap[]> {
  const keys = await context.call("gpg.list_keys", [], map({ user, gnupghome, keyring }));
  return Array.isArray(keys) ? keys.filter(isMap) : [];
}

function keyIds(name: string, keys: Value): string[] {
  if (!truthy(keys)) return [name];
  return asList(keys).map(str);
}

/** An error of the host or of the arguments, with its text; others continue. */
function reasonOf(error: unknown): string {
  if (error instanceof CommandError || error instanceof InvocationError) return error.message;
  throw error;
}

/** The arguments of `present`. */
interface Present extends Place {
  readonly keyserver: string | null;
  readonly source: Value;
  readonly skip_keyserver: boolean;
  readonly text: string | null;
  readonly maxAge: number;
}

/** What a fetch said. */
interface Fetched {
  /** `null`: nothing new, which is not a failure. */
  readonly res: boolean | null;
  readonly message: string;
}

/** Whether there is no such key in a source, or one that has expired. */
class KeyNotContained extends CommandError {}

/**
 * Imports a key from a text or a file.
 * @param options.refresh Whether an older one is there.
 * @throws {KeyNotContained}
 */
async function importFrom(
  key: string,
  { refresh, from, place }: {
    readonly refresh: boolean;
    readonly from: { readonly text?: string; readonly path?: string };
    readonly place: Place;
  },
  context: StateContext,
): Promise<Fetched> {
  const { user, gnupghome, keyring } = place;
  const input = { text: from.text ?? null };
  const read = await context.call(
    "gpg.read_key",
    [],
    map({ ...input, path: from.path ?? null, keyid: key, gnupghome, user }),
  );
  const first = Array.isArray(read) ? read[0] : undefined;
  if (!isMap(first)) throw new KeyNotContained(`Passed text did not contain the requested key ${key}`);
  // A key that is not there yet is taken although it has expired.
  if (first.get("expired") === true && refresh) {
    throw new KeyNotContained(`Passed text contained the key ${key}, but it's expired`);
  }
  const kwargs = map({ ...input, filename: from.path ?? null, user, gnupghome, keyring, select: key });
  const result = await context.call("gpg.import_key", [], kwargs);
  const fields = mapOrEmpty(result);
  return { res: fields.get("res") === true, message: str(fields.get("message") ?? "") };
}

async function fromServer(
  key: string,
  { refresh, expired }: { readonly refresh: boolean; readonly expired: boolean },
  { keyserver, user, gnupghome, keyring }: Present,
  context: StateContext,
): Promise<Fetched> {
  const kwargs = map({ keyserver, keys: key, user, gnupghome, keyring });
  const result = await context.call("gpg.receive_keys", [], kwargs);
  const reported = isMap(result) ? result.get("message") : [];
  const messages = (Array.isArray(reported) ? reported : [reported ?? ""]).map(str);
  let res: boolean | null = isMap(result) && result.get("res") === true;
  if (refresh && res) {
    res = messages.some((message) => message.includes("updated: new"));
    // Subkeys may stay as they are.
    if (!expired && !res) res = null;
  }
  return { res, message: messages.join("\n") };
}

async function fetchKey(
  key: string,
  how: { readonly refresh: boolean; readonly expired: boolean },
  given: Present,
  context: StateContext,
): Promise<Fetched> {
  const { refresh } = how;
  if (given.text !== null && given.text !== "") {
    return await importFrom(key, { refresh, from: { text: given.text }, place: given }, context);
  }
  const served = given.skip_keyserver ? undefined : await fromServer(key, how, given, context);
  if ((served !== undefined && truthy(served.res)) || !truthy(given.source)) {
    return served ?? { res: false, message: "" };
  }
  for (const source of Array.isArray(given.source) ? given.source : [given.source]) {
    const path = await context.call("cp.cache_file", [source]);
    if (!truthy(path)) continue;
    try {
      return await importFrom(key, { refresh, from: { path: str(path) }, place: given }, context);
    } catch (error) {
      if (!(error instanceof KeyNotContained)) throw error;
      if (error.message.includes("expired")) {
        context.log("warning", `Found source ${str(source)} contains key ${key}, but it's expired`);
      }
    }
  }
  const before = served === undefined ? "" : `${served.message}\n`;
  throw new CommandError(
    `${before}none of the specified sources were found or contained the (unexpired) key ${key}.`,
  );
}

/** What has become of the keys so far. */
interface Progress {
  readonly ret: StateResult;
  readonly current: Map<string, KnownKey>;
  readonly comments: Map<string, string[]>;
}

/** Notes a change of a key; with `below`, one of several of its kind. */
function noteChange(
  { ret }: Progress,
  { key, what, below }: { readonly key: string; readonly what: string; readonly below?: string },
  value: Value,
): void {
  const entry = mapUnder(ret.changes, key);
  if (below === undefined) entry.set(what, value);
  else mapUnder(entry, what).set(below, value);
}

async function ensure(key: string, given: Present, progress: Progress, context: StateContext): Promise<void> {
  const { ret, current, comments } = progress;
  const before = current.get(key);
  const stale = recentlyExpired(before?.subkeys ?? [], given.maxAge);
  const expired = before?.expired ?? false;
  const refresh = expired || stale.length > 0;
  const say = (...lines: string[]) => comments.set(key, [...comments.get(key) ?? [], ...lines]);
  say();
  if (before !== undefined && !refresh) return void say(`GPG Public Key ${key} already in keychain`);
  if (context.test) {
    ret.result = null;
    if (!refresh) {
      say(`Would have added ${key} to GPG keychain`);
      noteChange(progress, { key, what: "added" }, true);
      current.set(key, { trust: "unknown", subkeys: [], expired: false });
    } else {
      if (expired) say(`Would have attempted to update ${key} because it is expired`);
      else {
        say(
          `Would have attempted to update ${key} because it has expired subkeys:`,
          ...stale.map((subkey) => `  - ${idOf(subkey)} (expired on ${str(subkey.get("expires") ?? "")})`),
        );
      }
      noteChange(progress, { key, what: "refresh" }, true);
    }
    return;
  }
  try {
    say(...await bring(key, { refresh, expired, stale, before, given, progress }, context));
  } catch (error) {
    const reason = reasonOf(error);
    ret.result = false;
    if (expired) say("Existing key is expired, tried to fetch updated one");
    else if (stale.length > 0) say("Existing key has expired subkeys, tried to refresh");
    say(...reason.replace(/\n$/, "").split("\n"));
  }
}

/**
 * Fetches a key.
 * @returns What to say of it.
 * @throws {CommandError} If it is not there afterwards as it should be.
 */
async function bring(
  key: string,
  { refresh, expired, stale, before, given, progress }: {
    readonly refresh: boolean;
    readonly expired: boolean;
    readonly stale: readonly ValueMap[];
    readonly before: KnownKey | undefined;
    readonly given: Present;
    readonly progress: Progress;
  },
  context: StateContext,
): Promise<string[]> {
  const { user, gnupghome, keyring } = given;
  const { res, message } = await fetchKey(key, { refresh, expired }, given, context);
  if (res === false) throw new CommandError(message);
  const now = await context.call("gpg.get_key", [], map({ keyid: key, user, gnupghome, keyring }));
  if (!isMap(now)) throw new CommandError(`${message}\nThe new key ${key} could not be retrieved though.`);
  if (!refresh) noteChange(progress, { key, what: "added" }, true);
  if (now.get("expired") === true) throw new CommandError(`${message}\nThe new key ${key} is expired though.`);
  progress.current.set(key, knownKey(now));
  if (!refresh) return [`Added ${key} to GPG keychain`];
  if (expired) {
    noteChange(progress, { key, what: "refresh" }, true);
    return [`Updated ${key} because it was expired`];
  }
  const had = new Set((before?.subkeys ?? []).map(idOf));
  const added = subkeysOf(now).map(idOf).filter((id) => !had.has(id));
  const still = recentlyExpired(subkeysOf(now), given.maxAge).map(idOf);
  const extended = stale.map(idOf).filter((id) => !still.includes(id));
  if (added.length + extended.length === 0) {
    return [
      `Attempted to update ${key} because it has expired subkeys, but no new signatures or keys were found`,
    ];
  }
  noteChange(progress, { key, what: "refresh" }, true);
  if (added.length > 0) noteChange(progress, { key, what: "subkeys", below: "added" }, added);
  if (extended.length > 0) noteChange(progress, { key, what: "subkeys", below: "extended" }, extended);
  return [`Updated ${key} because it had expired subkeys.`];
}

async function trustKey(
  key: string,
  { trust, place: { user, gnupghome, keyring }, progress }: {
    readonly trust: string;
    readonly place: Place;
    readonly progress: Progress;
  },
  context: StateContext,
): Promise<void> {
  const { ret, current, comments } = progress;
  const now = current.get(key);
  if (now === undefined) return;
  const say = (line: string) => void comments.set(key, [...comments.get(key) ?? [], line]);
  if (now.trust === TRUST[trust]) return say(`GPG Public Key ${key} already in correct trust state`);
  if (context.test) {
    ret.result = null;
    say(`Would have set trust level for ${key} to ${trust}`);
    return noteChange(progress, { key, what: "trust" }, trust);
  }
  try {
    const kwargs = map({ keyid: key, trust_level: trust, user, gnupghome, keyring });
    const result = await context.call("gpg.trust_key", [], kwargs);
    if (!isMap(result) || result.get("res") === false) {
      throw new CommandError(isMap(result) ? str(result.get("message") ?? "") : "");
    }
    say(`Set trust level for ${key} to ${trust}`);
    noteChange(progress, { key, what: "trust" }, trust);
  } catch (error) {
    say(reasonOf(error));
    ret.result = false;
  }
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A keyring has public keys that have not expired.

name
    The long id of a key.

keys
    An id, or a list of them, in place of the name.

user, gnupghome, keyring
    The user of the keyring, its home directory, and the path of another keyring.

keyserver
    The server that keys are fetched from.

trust
    ${Object.keys(TRUST).join(", ")}: the trust in the owner. Default: unchanged.

source
    A URL or path of keys, or a list of them: used if the server does not have the key.

skip_keyserver : False
    Whether the key server is not used.

text
    The keys themselves; nothing is fetched then.

subkey_maxage : 100
    A key is fetched again if a subkey expires within this number of days; 0: never.`,
  params: {
    name: p.str(),
    keys: p.any(null),
    user: p.str(null),
    keyserver: p.str(null),
    gnupghome: p.str(null),
    trust: p.str(null),
    keyring: p.any(null),
    source: p.any(null),
    skip_keyserver: p.bool(false),
    text: p.str(null),
    subkey_maxage: p.any(100),
  },
  varKwargs: "kwargs",
  keywords: [],
  run: async ({ name, keys, trust, subkey_maxage, ...given }, context) => {
    let listed: ValueMap[];
    try {
      if (!truthy(given.text) && given.skip_keyserver && !truthy(given.source)) {
        throw new InvocationError("When skipping keyservers, you must provide at least one source");
      }
      if (truthy(trust) && !Object.hasOwn(TRUST, trust ?? "")) {
        throw new InvocationError(`Invalid trust level ${trust}`);
      }
      listed = await listKeys(given, context);
    } catch (error) {
      return failState(name, reasonOf(error));
    }
    const progress: Progress = {
      ret: startResult(name),
      current: new Map(listed.map((key) => [idOf(key), knownKey(key)])),
      comments: new Map(),
    };
    const wanted = keyIds(name, keys);
    const kwargs: Present = { ...given, maxAge: truthy(subkey_maxage) ? toNumber(subkey_maxage) ?? 0 : 0 };
    for (const key of wanted) await ensure(key, kwargs, progress, context);
    if (trust !== null && trust !== "") {
      for (const key of wanted) await trustKey(key, { trust, place: given, progress }, context);
    }
    const comment = [...progress.comments].filter(([, lines]) => lines.length > 0)
      .map(([key, lines]) => `Key ${key}:\n  * ${lines.join("\n  * ")}`).join("\n");
    return { ...progress.ret, comment };
  },
});

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A keyring does not have public keys.

name
    The long id of a key.

keys
    An id, or a list of them, in place of the name.

user, gnupghome, keyring
    The user of the keyring, its home directory, and the path of another keyring.

keyring_absent_if_empty : False
    Whether a keyring without a key is removed.`,
  params: {
    name: p.str(),
    keys: p.any(null),
    user: p.str(null),
    gnupghome: p.str(null),
    keyring: p.any(null),
    keyring_absent_if_empty: p.bool(false),
  },
  varKwargs: "kwargs",
  keywords: [],
  run: async ({ name, keys, keyring_absent_if_empty, ...place }, context) => {
    const ret = startResult(name);
    const comments: string[] = [];
    const deleted: string[] = [];
    const before = (await listKeys(place, context)).map(idOf);
    const wanted = keyIds(name, keys);
    for (const key of wanted) {
      if (!before.includes(key)) {
        comments.push(`${key} not found in GPG keychain`);
        continue;
      }
      if (context.test) {
        ret.result = null;
        comments.push(`Would have deleted ${key} from GPG keychain`);
        deleted.push(key);
        continue;
      }
      const result = await context.call("gpg.delete_key", [], map({ keyid: key, ...place }));
      if (isMap(result) && result.get("res") === false) {
        ret.result = false;
        comments.push(str(result.get("message") ?? ""));
      } else {
        comments.push(`Deleted ${key} from GPG keychain`);
        deleted.push(key);
      }
    }
    if (deleted.length > 0) ret.changes.set("deleted", deleted);
    if (context.test || ret.result === false) return { ...ret, comment: comments };
    const after = (await listKeys(place, context)).map(idOf);
    const remaining = wanted.filter((key, at) => after.includes(key) && wanted.indexOf(key) === at);
    const { keyring } = place;
    const isSpare = after.length === 0 && truthy(keyring) && keyring_absent_if_empty;
    if (remaining.length > 0) {
      ret.result = false;
      comments.push(`State check revealed the following keys could not be deleted: ${remaining.join(", ")}`);
      ret.changes.set("deleted", deleted.filter((key) => !after.includes(key)));
    } else if (isSpare && truthy(await context.call("file.file_exists", [keyring]))) {
      await context.call("file.remove", [keyring]);
      comments.push(`Removed empty keyring file ${str(keyring)}`);
      ret.changes.set("removed", keyring);
    }
    return { ...ret, comment: comments.join("\n") };
  },
});
