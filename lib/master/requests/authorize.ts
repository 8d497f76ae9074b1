/**
 * The clear command `authorize`, which Salt does not have: whether a user may run a function on hosts that are no
 * minions, those of a roster. `salt-api` asks it before it runs `salt-ssh` for a user.
 * @module
 */

import { BUSY } from "#lib/auth/external_auth.ts";
import { publishCalls } from "#lib/auth/rules.ts";
import { RefusedError, WireError } from "#lib/errors.ts";
import { listField } from "#lib/protocol/payload.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { mapOrEmpty, onlyStrings } from "#lib/values/shape.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { idsOf } from "./rule_targets.ts";
import type { Needs } from "./services.ts";

/**
 * Answers it. The ids are those that the sender names, so the answer tells nothing but what the user's own rules say.
 * @param request As a publish, with the list of ids as `tgt`.
 * @returns As `resolve`, with these ids; or `{error: {name, message}}`.
 * @throws {WireError} If a field is missing or of another type.
 */
export async function authorizeCommand(
  request: ValueMap,
  { auth: { callers }, minions: { data }, opts, warn }: Needs<"auth" | "minions" | "opts" | "warn">,
): Promise<ValueMap> {
  const fun = request.get("fun");
  if (typeof fun !== "string") throw new WireError("an authorize without a function", "fun");
  const ids = onlyStrings(listField(request, "tgt"));
  const calls = publishCalls(fun, listField(request, "arg"));
  const fleet = { ids, data, nodegroups: opts.nodegroups };
  try {
    const caller = await callers.authenticate(request, mapOrEmpty(request.get("kwargs")));
    callers.authorizeJob(caller, calls, { minions: ids, matching: (expression) => idsOf(expression, fleet) });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    warn(`Refused to run ${truncateValue(fun)} on hosts of a roster: ${error.kind}`);
    const [name, message] = error.kind === "AuthorizationError" || error.kind === BUSY
      ? [error.kind, error.message]
      : ["AuthenticationError", "Authentication error occurred."];
    return map({ error: { name, message } });
  }
  return map({ enc: "clear", load: { jid: "", minions: [...ids], missing: [] } });
}
