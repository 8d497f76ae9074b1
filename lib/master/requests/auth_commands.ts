/**
 * The commands of minions about their keys.
 * Source: docs/protocol.md "Commands of minions".
 * @module
 */

import { PublicKey } from "#lib/crypto/rsa.ts";
import { KeyError, messageOf, WireError } from "#lib/errors.ts";
import { pathOfKeys, readStatements } from "#lib/keys/key_statement.ts";
import { MAX_MINION_STATEMENTS } from "#lib/keys/minion_pair.ts";
import { NEXT_MINION, ROTATE_KEY_COMMAND } from "#lib/protocol/next_key.ts";
import { requestRotation } from "#lib/keys/dropfile.ts";
import type { MinionCommands, Needs } from "./services.ts";
import { KEY_EVENT } from "#lib/protocol/tags.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Bytes of a key that can encrypt the keys of a sign-in by any algorithm. */
const ROOMY_KEY_BYTES = 256;

/** The commands, by name. */
export const AUTH_COMMANDS: MinionCommands<"auth" | "minions" | "opts" | "log" | "warn" | "fire" | "park"> = {
  revoke_auth: revokeAuth,
  _rekey: rekey,
  [ROTATE_KEY_COMMAND]: agreeToKey,
};

/**
 * `_rotate_key`: whether the statement that the minion is about to act on will be accepted at its sign-in. Nothing is
 * changed before: until then the old key counts.
 */
function agreeToKey(
  load: ValueMap,
  id: string,
  { auth: { keys }, warn }: Needs<"auth" | "warn">,
): Promise<Value> {
  const stored = keys.get(id, "accepted");
  try {
    const statements = readStatements(load.get(NEXT_MINION), MAX_MINION_STATEMENTS);
    const next = statements.at(-1)?.next;
    const agreed = stored !== undefined && next !== undefined && isRoomyKey(next) &&
      pathOfKeys({ minion: id }, statements, { from: stored, to: next }) !== undefined;
    if (!agreed) warn(`Minion ${id} asked for another key, which its accepted key has not signed`);
    return Promise.resolve(agreed);
  } catch (error) {
    if (!(error instanceof WireError) && !(error instanceof KeyError)) throw error;
    warn(`Minion ${id} asked for another key: ${messageOf(error)}`);
    return Promise.resolve(false);
  }
}

/** Whether any algorithm can encrypt the keys of a sign-in with it. */
function isRoomyKey(pem: string): boolean {
  return PublicKey.fromPem(pem).size >= ROOMY_KEY_BYTES;
}

/**
 * `_rekey`: the shared key for a minion whose publishes have become unreadable, or that was told of the next one.
 * Without RSA, and not in Salt.
 * @returns `{aes, next, generation, renew}`; `next`: empty, or the announced key; `renew`: the session key is old, and
 * a sign-in would make a new one.
 */
function rekey(_load: ValueMap, id: string, { auth: { sharedKey, sessions } }: Needs<"auth">): Promise<Value> {
  const { text, next, generation } = sharedKey;
  return Promise.resolve(map({ aes: text, next, generation, renew: sessions.isOld(id) }));
}

async function revokeAuth(
  _load: ValueMap,
  id: string,
  services: Needs<"auth" | "minions" | "opts" | "log" | "warn" | "fire" | "park">,
): Promise<Value> {
  const { opts, auth: { keyBank, sessions }, minions, log, fire, warn, park } = services;
  if (!opts.allow_minion_key_revoke) {
    warn(`Minion ${id} asked to revoke its key, which allow_minion_key_revoke forbids`);
    return false;
  }
  park();
  try {
    await keyBank.change([{ id, delete: "all" }]);
  } catch (error) {
    log.error(`The key of ${id} was not deleted at its own request: ${messageOf(error)}`);
    return false;
  }
  sessions.remove(id);
  if (!opts.preserve_minion_cache) minions.data.remove(id);
  // Later publishes must not be readable for it.
  requestRotation(opts);
  log.info(`The key of ${id} was deleted at its own request`);
  await fire(KEY_EVENT, map({ result: true, act: "delete", id }));
  return true;
}
