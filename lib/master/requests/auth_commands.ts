/**
 * The commands of minions about their keys.
 * Source: docs/protocol.md "Commands of minions".
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { requestRotation } from "#lib/keys/dropfile.ts";
import type { MinionCommands, Needs } from "./services.ts";
import { KEY_EVENT } from "#lib/protocol/tags.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The commands, by name. */
export const AUTH_COMMANDS: MinionCommands<"auth" | "minions" | "opts" | "log" | "warn" | "fire" | "park"> = {
  revoke_auth: revokeAuth,
  _rekey: rekey,
};

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
