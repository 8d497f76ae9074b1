/**
 * State module `ssh_auth`: keys with which others may log in as a user.
 * Source: Salt 3008.3 `salt/states/ssh_auth.py`.
 * @module
 */

import { saltenvOf } from "./_saltenv.ts";
import { InvocationError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

const PARAMS = {
  user: p.str(),
  enc: p.str("ssh-rsa"),
  comment: p.str(""),
  source: p.str(""),
  options: p.any(null),
  config: p.str(".ssh/authorized_keys"),
  fingerprint_hash_type: p.str(null),
};

const DOC = `user
    The user.

enc : ssh-rsa
    The kind of the key, if the key does not contain it.

comment
    The comment, if the key does not contain it.

source
    A file with keys, by a URL or a path, in place of the key.

options
    A list of options, if the key does not contain them.

config : .ssh/authorized_keys
    The file: below the user's home directory, or an absolute path; %h is that directory and %u the user.

fingerprint_hash_type
    The digest of fingerprints.`;

/** The arguments that both functions have. */
interface Given {
  readonly user: string;
  readonly enc: string;
  readonly comment: string;
  readonly source: string;
  readonly options: Value;
  readonly config: string;
  readonly fingerprint_hash_type: string | null;
}

/** A key in a line. */
interface Key extends Given {
  readonly key: string;
}

const FULL_KEY = /^(.*?)\s?((?:sk-)?(?:ssh-|ecds)[\p{L}\p{N}_@.-]+\s.+)$/u;

/** Python's `text.split(None, count)`. */
function split(line: string, count: number): string[] {
  const words: string[] = [];
  let rest = line.trim();
  while (words.length < count) {
    const match = /^(\S+)\s+(.*)$/s.exec(rest);
    if (match === null) break;
    words.push(match[1]);
    rest = match[2];
  }
  return rest === "" ? words : [...words, rest];
}

/**
 * Parses a line: `[options] kind key [comment]`, or `key [comment]`.
 * @throws {InvocationError} If there is none.
 */
function parseKey(line: string, given: Given): Key {
  const match = FULL_KEY.exec(line);
  if (match === null) {
    const [key, comment = given.comment] = split(line, 1);
    if (key === undefined) throw new InvocationError("The name of the state is no key");
    return { ...given, key, comment };
  }
  const [, options, rest] = match;
  const [enc, key, comment = given.comment] = split(rest, 2);
  return { ...given, enc, key, comment, options: options === "" ? given.options : options.split(",") };
}

function where({ config, fingerprint_hash_type }: Given): Record<string, Value> {
  return { config, fingerprint_hash_type };
}

/**
 * The result of `ssh.check_key_file` for the keys of a source: by key `add`, `update` or `exists`; or that there are
 * none.
 */
async function sourceKeys(given: Given, context: StateContext): Promise<[string, string][] | string> {
  const args = [given.user, given.source];
  const kwargs = map({ ...where(given), saltenv: saltenvOf(context) });
  const keys = await context.call("ssh.check_key_file", args, kwargs);
  if (isMap(keys) && keys.size > 0) return [...keys].map(([key, status]) => [str(key), str(status)]);
  return `No keys detected in ${given.source}. Is file properly formatted?`;
}

/**
 * Test mode for the keys of a source.
 * @param shown The lines for keys that would change.
 */
async function predictSource(
  given: Given,
  { shown, state }: { readonly shown: (key: string, status: string) => string; readonly state: string },
  context: StateContext,
): Promise<[boolean | null, string]> {
  const keys = await sourceKeys(given, context);
  if (typeof keys === "string") return [false, keys];
  const lines = keys.map(([key, status]) => shown(key, status)).join("");
  return lines === "" ? [true, `All host keys in file ${given.source} are already ${state}`] : [null, lines];
}

async function checkKey(key: Key, context: StateContext): Promise<Value> {
  const args: Value[] = [key.user, key.key, key.enc, key.comment, truthy(key.options) ? key.options : []];
  return await context.call("ssh.check_key", args, map(where(key)));
}

async function predictPresent(key: Key, context: StateContext): Promise<[boolean | null, string]> {
  if (key.source !== "") {
    const shown = (one: string, status: string) => status === "exists" ? "" : `Set to ${status}: ${one}\n`;
    return await predictSource(key, { shown, state: "present" }, context);
  }
  const what = `Key ${key.key} for user ${key.user} is set to be`;
  switch (await checkKey(key, context)) {
    case "update":
      return [null, `${what} updated`];
    case "add":
      return [null, `${what} added`];
    case "exists":
      return [true, `The authorized host key ${key.key} is already present for user ${key.user}`];
    default:
      return [null, key.comment];
  }
}

/**
 * Adds the key, or those of the source, to the file.
 * @returns The result of the execution module.
 */
async function setKey(key: Key, context: StateContext): Promise<string> {
  if (key.source === "") {
    const kwargs = {
      enc: key.enc,
      comment: key.comment,
      options: truthy(key.options) ? key.options : [],
      ...where(key),
    };
    return str(await context.call("ssh.set_auth_key", [key.user, key.key], map(kwargs)));
  }
  if (!await hasSource(key, context)) return "no key";
  const kwargs = { ...where(key), saltenv: saltenvOf(context), options: key.options };
  return str(await context.call("ssh.set_auth_key_from_file", [key.user, key.source], map(kwargs)));
}

async function hasSource({ source }: Given, context: StateContext): Promise<boolean> {
  return truthy(await context.call("cp.get_url", [source, null], map({ saltenv: saltenvOf(context) })));
}

async function presentKey(name: string, given: Given, context: StateContext): Promise<StateResult> {
  const key = given.source === "" ? parseKey(name, given) : { ...given, key: name };
  if (context.test) {
    const [result, comment] = await predictPresent(key, context);
    return { ...startResult(name, result), comment };
  }
  const ret = startResult(name);
  const keyText = `The authorized host key ${key.key}`;
  switch (await setKey(key, context)) {
    case "replace":
      return { ...ret, changes: map({ [key.key]: "Updated" }), comment: `${keyText} for user ${key.user} was updated` };
    case "no change":
      return { ...ret, comment: `${keyText} is already present for user ${key.user}` };
    case "new":
      return { ...ret, changes: map({ [key.key]: "New" }), comment: `${keyText} for user ${key.user} was added` };
    case "no key":
      return { ...ret, result: false, comment: `Failed to add the ssh key. Source file ${key.source} is missing` };
    case "fail":
      return { ...ret, result: false, comment: await whyFailed(key, context) };
    case "invalid":
    case "Invalid public key":
      return { ...ret, result: false, comment: "Invalid public ssh key, most likely has spaces or invalid syntax" };
    default:
      return ret;
  }
}

async function whyFailed(key: Key, context: StateContext): Promise<string> {
  const keys = key.source === "" ? [] : await sourceKeys(key, context);
  if (typeof keys === "string") return keys;
  return "Failed to add the ssh key. Is the home directory available, and/or does the key file exist?";
}

export const present: ModuleFunction<StateContext> = stateFn({
  doc: `A key may log in as a user.

name
    The key: a line of such a file, or the key without its kind and options.

${DOC}`,
  params: { name: p.str(), ...PARAMS },
  varKwargs: "kwargs",
  run: ({ name, ...given }, context) => presentKey(name, given, context),
});

async function predictAbsent(name: string, given: Given, context: StateContext): Promise<[boolean | null, string]> {
  if (given.source !== "") {
    const shown = (one: string, status: string) => status === "add" ? "" : `Set to remove: ${one}\n`;
    return await predictSource(given, { shown, state: "absent" }, context);
  }
  const key = parseKey(name, given);
  // Salt treats a comment of several words as missing here.
  const comment = /\s/.test(key.comment) ? given.comment : key.comment;
  const status = await checkKey({ ...key, comment }, context);
  if (status !== "update" && status !== "exists") return [true, "Key is already absent"];
  return [null, `Key ${key.key} for user ${key.user} is set for removal`];
}

async function absentKey(name: string, given: Given, context: StateContext): Promise<StateResult> {
  if (context.test) {
    const [result, comment] = await predictAbsent(name, given, context);
    return { ...startResult(name, result), comment };
  }
  const key = given.source === "" ? parseKey(name, given).key : name;
  const comment = await removeKey(key, given, context);
  const changes = comment === "Key removed" ? map({ [key]: "Removed" }) : new Map();
  return { name, result: comment !== "User authorized keys file not present", comment, changes };
}

async function removeKey(key: string, given: Given, context: StateContext): Promise<string> {
  if (given.source === "") {
    return str(await context.call("ssh.rm_auth_key", [given.user, key], map(where(given))));
  }
  if (!await hasSource(given, context)) return "";
  const kwargs = map({ ...where(given), saltenv: saltenvOf(context) });
  return str(await context.call("ssh.rm_auth_key_from_file", [given.user, given.source], kwargs));
}

export const absent: ModuleFunction<StateContext> = stateFn({
  doc: `A key may not log in as a user.

name
    The key: a line of such a file, or the key without its kind and options.

${DOC}`,
  params: { name: p.str(), ...PARAMS },
  run: ({ name, ...given }, context) => absentKey(name, given, context),
});

export const manage: ModuleFunction<StateContext> = stateFn({
  doc: `These keys and no others may log in as a user.

name
    A text, unique in the run.

ssh_keys
    A list of keys.

${DOC}`,
  params: { name: p.str(), ssh_keys: p.list(), ...PARAMS },
  varKwargs: "kwargs",
  run: async ({ name: _name, ssh_keys, ...given }, context) => {
    const ret = startResult("");
    const keys = ssh_keys.map(str);
    const words = keys.flatMap((key) => key.split(" "));
    const present = await context.call("ssh.auth_keys", [], map({ user: given.user, ...where(given) }));
    for (const key of isMap(present) ? [...present.keys()].map(str) : []) {
      if (words.includes(key)) continue;
      if (context.test) {
        ret.comment = `${key} Key set for removal`;
        ret.result = null;
      } else {
        ret.changes.set(key, (await absentKey(key, given, context)).comment);
      }
    }
    const comments = [ret.comment];
    for (const key of keys) {
      const one = await presentKey(key, given, context);
      for (const [what, change] of one.changes) ret.changes.set(what, change);
      if (one.changes.size === 0) comments.push(str(one.comment));
      if (one.result === null) ret.result = null;
      else if (!one.result) ret.result = false;
    }
    return { ...ret, comment: comments.join("\n").trim() };
  },
});
