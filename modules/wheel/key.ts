/**
 * Wheel module `key`: the minions' keys, and the master's own.
 * Source: Salt 3008.3 `salt/wheel/key.py` and `salt/key.py`.
 * @module
 */

import { checkSigning, placeOfPair } from "./_key_files.ts";
import { fingerprint } from "#lib/crypto/pem.ts";
import { MAX_RUNTIME_BITS } from "#lib/crypto/key_bits.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { CommandError, InvocationError, KeyError } from "#lib/errors.ts";
import { runner, type RunnerContext, type RunnerFunction, wheelDoc } from "#lib/client/runner_context.ts";
import { byDirectory, compileGlobs, describeKeys, KEY_STATES, type KeyMatches } from "#lib/keys/manager.ts";
import { localKeys } from "#lib/keys/local_keys.ts";
import { signMasterKey } from "#lib/keys/master_signature.ts";
import { loadOrCreateKeyPair, masterPublicKey, movedMasterKey } from "#lib/keys/pair.ts";
import { KEY_DIRECTORIES, type KeyState } from "#lib/keys/store.ts";
import { lstatIfExists } from "#lib/os/atomic_file.ts";
import { holdTarget } from "#lib/os/held_path.ts";
import { findUser } from "#lib/os/users.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { p } from "#lib/plugins/module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Salt's words for the states, by their beginnings. */
const LISTS: readonly (readonly [beginning: string, state: KeyState])[] = [
  ["acc", "accepted"],
  ["pre", "pending"],
  ["un", "pending"],
  ["rej", "rejected"],
  ["den", "denied"],
];

const MATCH = `

match
    A glob for ids, several separated by commas, or a list of them.`;

const BY_STATE = `

match
    A dictionary of lists of ids, by the directory of their state: minions, minions_pre, minions_rejected,
    minions_denied. What is not there is skipped.`;

export const list_: RunnerFunction = runner({
  doc: wheelDoc(
    `List the keys of a state.

match
    pre, un or unaccepted; acc or accepted; rej or rejected; den or denied; all, which includes the master's own.`,
    "key.list accepted",
  ),
  params: { match: p.str() },
  run({ match }, context) {
    if (match.startsWith("all")) return allKeys(context);
    const state = LISTS.find(([beginning]) => match.startsWith(beginning))?.[1];
    return state === undefined ? new Map() : byDirectory(context.manager.list([state]));
  },
});

export const list_all: RunnerFunction = runner({
  doc: wheelDoc("List all keys by their state, and the names of the master's own.", "key.list_all"),
  params: {},
  run: (_, context) => allKeys(context),
});

function allKeys({ manager, opts }: RunnerContext): ValueMap {
  return byDirectory(manager.list()).set("local", [...localKeys(opts.pki_dir).keys()]);
}

export const glob_match: RunnerFunction = runner({
  doc: wheelDoc(`List the keys that match, by their state.${MATCH}`, "key.glob_match 'web*'"),
  params: { match: p.any() },
  run: ({ match }, context) => matching(context, globsIn(match)),
});

export const name_match: RunnerFunction = runner({
  doc: wheelDoc(`The old name of key.glob_match.${MATCH}`, "key.name_match 'web*'"),
  params: { match: p.any() },
  run: ({ match }, context) => matching(context, globsIn(match)),
});

const ACCEPTING = { include_rejected: p.bool(false), include_denied: p.bool(false) };

export const accept: RunnerFunction = runner({
  doc: wheelDoc(
    `Accept the pending keys that match; with include_rejected and include_denied, also those. Returns all matching keys by their new
state.${MATCH}

fingerprint
    The fingerprint of the one pending key that match names: another key is not accepted. Not in Salt.`,
    "key.accept 'web*'",
    "key.accept web1 include_rejected=True",
    "key.accept web1 fingerprint=9d:da:..",
  ),
  params: { match: p.any(), ...ACCEPTING, fingerprint: p.str(null) },
  async run({ match, include_rejected, include_denied, fingerprint: print }, context) {
    const globs = globsIn(match);
    if (print !== null) return await acceptPrinted(typeof globs === "string" ? [globs] : globs, print, context);
    const from = states({ rejected: include_rejected, denied: include_denied });
    await change(context, context.manager.match(globs), { from, to: "accepted" });
    return matching(context, globs);
  },
});

/** @throws {CommandError} If the pending key of the id has another fingerprint, or there is none. */
async function acceptPrinted(
  ids: readonly string[],
  print: string,
  { manager, opts }: RunnerContext,
): Promise<ValueMap> {
  // An id, not a glob: `*` may be one.
  const [id] = ids;
  if (ids.length !== 1 || !isValidId(id)) throw new CommandError("With fingerprint, match must be one id");
  const isAccepted = await manager.acceptIf(id, (pem) => fingerprint(pem, opts.hash_type) === print);
  if (isAccepted === undefined) throw new CommandError(`There is no pending key of ${id}`);
  if (!isAccepted) throw new CommandError(`The pending key of ${id} has another fingerprint; it was not accepted`);
  return byDirectory(new Map([["accepted", [id]]]));
}

export const accept_dict: RunnerFunction = runner({
  doc: wheelDoc(`Accept the named keys, as key.accept does.${BY_STATE}`, `key.accept_dict '{"minions_pre": ["web1"]}'`),
  params: { match: p.dict(), ...ACCEPTING },
  async run({ match, include_rejected, include_denied }, context) {
    const from = states({ rejected: include_rejected, denied: include_denied });
    await change(context, matchNamed(context, match), { from, to: "accepted" });
    return stateOfNamed(context, match);
  },
});

const REJECTING = { include_accepted: p.bool(false), include_denied: p.bool(false) };

export const reject: RunnerFunction = runner({
  doc: wheelDoc(
    `Reject the pending keys that match; with include_accepted and include_denied, also those. Returns all matching keys by their new
state.${MATCH}`,
    "key.reject 'web*'",
  ),
  params: { match: p.any(), ...REJECTING },
  async run({ match, include_accepted, include_denied }, context) {
    const globs = globsIn(match);
    const from = states({ accepted: include_accepted, denied: include_denied });
    await change(context, context.manager.match(globs), { from, to: "rejected" });
    return matching(context, globs);
  },
});

export const reject_dict: RunnerFunction = runner({
  doc: wheelDoc(`Reject the named keys, as key.reject does.${BY_STATE}`, `key.reject_dict '{"minions_pre": ["web1"]}'`),
  params: { match: p.dict(), ...REJECTING },
  async run({ match, include_accepted, include_denied }, context) {
    const from = states({ accepted: include_accepted, denied: include_denied });
    await change(context, matchNamed(context, match), { from, to: "rejected" });
    return stateOfNamed(context, match);
  },
});

export const delete_: RunnerFunction = runner({
  doc: wheelDoc(`Delete the keys that match, whatever their state.${MATCH}`, "key.delete web1"),
  params: { match: p.any() },
  async run({ match }, context) {
    const globs = globsIn(match);
    await remove(context, context.manager.match(globs));
    return matching(context, globs);
  },
});

export const delete_dict: RunnerFunction = runner({
  doc: wheelDoc(
    `Delete the named keys. Returns those that are left.${BY_STATE}`,
    `key.delete_dict '{"minions": ["web1"]}'`,
  ),
  params: { match: p.dict() },
  async run({ match }, context) {
    await remove(context, matchNamed(context, match));
    return stateOfNamed(context, match);
  },
});

export const print: RunnerFunction = runner({
  doc: wheelDoc(`Return the public keys that match, by their state.${MATCH}`, "key.print web1"),
  params: { match: p.any() },
  run: ({ match }, context) => describeKeys(context.manager, globsIn(match), (pem) => pem),
});

export const finger: RunnerFunction = runner({
  doc: wheelDoc(
    `Return the fingerprints of the keys that match, by their state; the master's own are \`local\`.${MATCH}

hash_type
    The digest; the master's option of that name, unless given.`,
    "key.finger web1",
    "key.finger '*' hash_type=sha512",
  ),
  params: { match: p.any(), hash_type: p.str(null) },
  run({ match, hash_type }, context) {
    const globs = globsIn(match);
    const digest = (pem: string) => fingerprint(pem, hash_type ?? context.opts.hash_type);
    const digests = describeKeys(context.manager, globs, digest);
    const wanted = compileGlobs(globs);
    const own = [...localKeys(context.opts.pki_dir)].filter(([name]) => wanted(name));
    if (own.length > 0) digests.set("local", new Map(own.map(([name, pem]) => [name, digest(pem)])));
    return digests;
  },
});

export const finger_master: RunnerFunction = runner({
  doc: wheelDoc(
    `Return the fingerprint of the master's public key, which minions name as \`master_finger\`.

hash_type
    The digest; the master's option of that name, unless given.`,
    "key.finger_master",
  ),
  params: { hash_type: p.str(null) },
  run: ({ hash_type }, { opts }) =>
    map({ local: { "master.pub": fingerprint(masterKey(opts), hash_type ?? opts.hash_type) } }),
});

export const master_key_str: RunnerFunction = runner({
  doc: wheelDoc("Return the master's public key.", "key.master_key_str"),
  params: {},
  run: (_, { opts }) => map({ local: { [`${movedMasterKey(opts.id)}.pub`]: masterKey(opts) } }),
});

/** A smaller key is made this big. */
const MIN_BITS = 2048;

export const gen: RunnerFunction = runner({
  doc: wheelDoc(
    `Make a key pair for a minion, and return both keys. Nothing is stored, and neither the job cache nor the event bus
gets the keys.

id_
    Has no effect.

keysize : 2048
    Bits; fewer than 2048 are 2048.`,
    "key.gen",
  ),
  params: { id_: p.any(null), keysize: p.int(MIN_BITS) },
  secret: true,
  run: async ({ keysize }) => pairOf(await newKey(keysize)),
});

export const gen_accept: RunnerFunction = runner({
  doc: wheelDoc(
    `Make a key pair for a minion, accept its public key, and return both keys. The private key is not stored: neither
the job cache nor the event bus gets it.

id_
    The minion.

keysize : 2048
    Bits; fewer than 2048 are 2048.

force : False
    Replace an existing key of the minion. Otherwise the result is empty, and nothing is done.`,
    "key.gen_accept web1",
  ),
  params: { id_: p.str(), keysize: p.int(MIN_BITS), force: p.bool(false) },
  secret: true,
  async run({ id_, keysize, force }, { keys, manager }) {
    if (!isValidId(id_)) throw new InvocationError("id_ cannot be the id of a minion");
    if (keys.state(id_) !== undefined && !force) return new Map();
    const key = await newKey(keysize);
    await manager.put(id_, "accepted", key.publicKey.pem);
    return pairOf(key);
  },
});

export const gen_keys: RunnerFunction = runner({
  doc: wheelDoc(
    `Make a key pair in files, as \`salt-key --gen-keys\` does, and return its fingerprint. Existing files stay, with their
owner.

keydir
    The directory: the master's pki directory, unless given; or its directory \`generated\`, or one below that.

keyname : minion
    The name of the files, without .pem and .pub; none of the master's own keys.

keysize
    Bits; the master's option of that name, unless given.

user
    The owner of new files.`,
    "key.gen_keys keydir=/etc/salt/pki/master/generated keyname=web1",
  ),
  params: { keydir: p.str(null), keyname: p.str(null), keysize: p.int(null), user: p.str(null) },
  async run({ keydir, keyname, keysize, user }, { opts }) {
    const { directory, name } = await placeOfPair({ keydir, keyname }, opts);
    const owner = user ? findUser(user) : undefined;
    if (user && owner === undefined) throw new InvocationError(`there is no user ${user}`);
    const ends = ["pem", "pub"].filter((end) => lstatIfExists(`${directory}/${name}.${end}`) === undefined);
    const key = await loadOrCreateKeyPair(directory, name, Math.max(MIN_BITS, keysize ?? opts.keysize));
    // What was there is not given away: it may be the pair of another, or a link to one.
    if (owner !== undefined && ends.length === 2) {
      for (const end of ends) {
        using held = holdTarget(`${directory}/${name}.${end}`, { follow: false });
        Deno.chownSync(held.path, owner.uid, owner.gid);
      }
    }
    return fingerprint(key.publicKey.pem, opts.hash_type);
  },
});

export const gen_signature: RunnerFunction = runner({
  doc: wheelDoc(
    `Sign the master's public key, as \`salt-key --gen-signature\` does. Returns True; False if there is a signature
already; or what is missing.

priv, pub
    Files of the signing key and of the key that is signed: the master's own, which they are if empty.

signature_path
    The directory of the signature: the pki directory, if empty; or its directory \`generated\`, or one below that.

auto_create : False
    Make the signing key if there is none.

keysize
    Its bits; the master's option of that name, unless given.`,
    "key.gen_signature '' '' ''  auto_create=True",
  ),
  params: { priv: p.any(), pub: p.any(), signature_path: p.any(), auto_create: p.bool(false), keysize: p.int(null) },
  async run({ priv, pub, signature_path, auto_create, keysize }, { opts }) {
    const files = { priv: textOrNone(priv), pub: textOrNone(pub), signaturePath: textOrNone(signature_path) };
    await checkSigning(files, opts);
    try {
      return await signMasterKey({
        ...files,
        pkiDir: opts.pki_dir,
        id: opts.id,
        signKeyName: opts.master_sign_key_name,
        signatureName: opts.master_pubkey_signature,
        algorithm: opts.publish_signing_algorithm,
        keysize: keysize ?? opts.keysize,
        autoCreate: auto_create,
      });
    } catch (error) {
      if (error instanceof KeyError) return error.message;
      throw error;
    }
  },
});

function textOrNone(path: Value): string | undefined {
  return typeof path === "string" && path !== "" ? path : undefined;
}

function globsIn(match: Value): string | string[] {
  if (typeof match === "string") return match;
  if (Array.isArray(match)) return match.filter((glob) => typeof glob === "string");
  throw new InvocationError("match must be a glob or a list of globs");
}

function matching({ manager }: RunnerContext, globs: string | string[]): ValueMap {
  return byDirectory(manager.match(globs));
}

/** The states that a change begins with: pending, and those that are asked for. */
function states(included: Partial<Record<KeyState, boolean>>): KeyState[] {
  return KEY_STATES.filter((state) => state === "pending" || included[state]);
}

/** The keys that are named by the directories of their states, of those that there are. */
function matchNamed({ manager }: RunnerContext, match: ValueMap): KeyMatches {
  const matches: KeyMatches = new Map();
  for (const [state, ids] of manager.list()) {
    const wanted = match.get(KEY_DIRECTORIES[state]);
    if (Array.isArray(wanted)) matches.set(state, ids.filter((id) => wanted.includes(id)));
  }
  return matches;
}

/** The states that the keys named anywhere in `match` have now. */
function stateOfNamed({ manager }: RunnerContext, match: ValueMap): ValueMap {
  const wanted = new Set([...match.values()].flatMap((ids) => listOrEmpty(ids)));
  const states: KeyMatches = new Map();
  for (const [state, ids] of manager.list()) {
    const here = ids.filter((id) => wanted.has(id));
    if (here.length > 0) states.set(state, here);
  }
  return byDirectory(states);
}

async function change(
  context: RunnerContext,
  matches: KeyMatches,
  { from, to }: { readonly from: readonly KeyState[]; readonly to: "accepted" | "rejected" },
): Promise<void> {
  const concerned = new Map([...matches].filter(([state]) => from.includes(state)));
  const { invalid } = await context.manager.change(concerned, to);
  for (const id of invalid) context.log("error", `Invalid RSA public key: ${id}`);
  if (to === "rejected") context.rotateKey();
}

async function remove({ manager, opts, rotateKey }: RunnerContext, matches: KeyMatches): Promise<void> {
  await manager.delete(matches, { preserve: opts.preserve_minion_cache });
  rotateKey();
}

function masterKey({ pki_dir, id }: RunnerContext["opts"]): string {
  const pem = masterPublicKey(pki_dir, id);
  if (pem === undefined) throw new CommandError(`${pki_dir}/master.pub is not there: start the master once`);
  return pem.trimEnd();
}

async function newKey(keysize: number): Promise<PrivateKey> {
  // A longer one would occupy the master for minutes or hours.
  if (keysize > MAX_RUNTIME_BITS) {
    throw new InvocationError(
      `keysize must be at most ${MAX_RUNTIME_BITS} here: salt-key --gen-keys makes longer keys`,
    );
  }
  return await PrivateKey.generate(Math.max(MIN_BITS, keysize));
}

function pairOf(key: PrivateKey): ValueMap {
  return map({ priv: key.pem, pub: key.publicKey.pem });
}
