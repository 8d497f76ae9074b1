/**
 * The clear command `_store`, which Salt does not have: commands of operators read and write jobs through the master
 * that runs, and not by a connection of their own to the database.
 * @module
 */

import { accessRefused } from "#lib/auth/access.ts";
import { RefusedError, StoreError, WireError } from "#lib/errors.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { NO_STORE, STORE_FAILED } from "#lib/protocol/store_errors.ts";
import { performCall } from "#lib/stores/called_rows.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { claimedUser } from "./job_text.ts";
import type { Needs } from "./services.ts";

/**
 * Does a call of the rows of jobs for an operator.
 * @returns `{value}`, packed, or `{error: {name, message}}`.
 * @throws {WireError} If the call is none.
 */
export async function storeCommand(
  load: ValueMap,
  { auth, jobs, warn, park }: Needs<"auth" | "jobs" | "warn" | "park">,
): Promise<ValueMap> {
  try {
    authorizeOperator(load, auth);
    const { rows } = jobs;
    if (rows === undefined) throw new RefusedError(NO_STORE, "The jobs of this master are in files");
    const method = load.get("method"), packed = asBytes(load.get("argument"));
    if (typeof method !== "string" || packed === undefined) throw new WireError("a call without a method", "method");
    const { packRows, readRowArgument } = await import("#lib/stores/row_messages.ts");
    const argument = readRowArgument(method, packed);
    park();
    return map({ value: packRows(await performCall(rows, method, argument)) });
  } catch (error) {
    if (error instanceof StoreError) return refusal(STORE_FAILED, error.message);
    if (!(error instanceof RefusedError)) throw error;
    if (error.kind !== NO_STORE) warn(`Refused _store of ${truncateValue(claimedUser(load))}: ${error.kind}`);
    return refusal(error.kind, error.message);
  }
}

/** @throws {RefusedError} Unless an operator's key is in the request. */
function authorizeOperator(load: ValueMap, { callers: { access } }: Needs<"auth">["auth"]): void {
  const [user, key] = [load.get("user"), load.get("key")];
  if (typeof user !== "string" || typeof key !== "string") throw accessRefused();
  if (!access.isOperator(access.authenticate({ user, key }))) throw accessRefused();
}

function refusal(name: string, message: string): ValueMap {
  return map({ error: { name, message } });
}
