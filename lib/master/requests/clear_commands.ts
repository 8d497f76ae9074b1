/**
 * The commands that any client may send unencrypted: a table, so that no other command can be reached. CVE-2020-11651
 * is the result of a missing list. Source: docs/protocol.md "Clear commands".
 * @module
 */

import { BUSY } from "#lib/auth/external_auth.ts";
import { RefusedError } from "#lib/errors.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import type { MasterServices } from "./services.ts";
import { runnerCommand, wheelAsyncCommand, wheelCommand } from "./function_commands.ts";
import { publishCommand, resolveCommand } from "./publish.ts";
import { storeCommand } from "./store_command.ts";
import { authorizeCommand } from "./authorize.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

type Handler = (load: ValueMap, services: MasterServices) => Promise<Value> | Value;

const HANDLERS: Readonly<Record<string, Handler>> = {
  ping: (load) => load,
  publish: publishCommand,
  resolve: resolveCommand,
  authorize: authorizeCommand,
  mk_token: makeToken,
  get_token: (load, { auth }) =>
    load.has("token") ? auth.callers.external.tokens.get(load.get("token"))?.data ?? new Map() : false,
  runner: runnerCommand,
  wheel: wheelCommand,
  wheel_async: wheelAsyncCommand,
  _store: storeCommand,
};

/** @returns The token's data; `""` if the sender gets none; `{error}` if the password was not checked. */
async function makeToken(load: ValueMap, { auth }: MasterServices): Promise<Value> {
  try {
    return await auth.callers.external.makeToken(load);
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return error.kind === BUSY ? map({ error: { name: error.kind, message: error.message } }) : "";
  }
}

/** Runs a clear command; the answer is `{}` for one that is not in the table. */
export async function clearCommand(load: ValueMap, services: MasterServices): Promise<Value> {
  const cmd = load.get("cmd");
  if (typeof cmd !== "string" || !Object.hasOwn(HANDLERS, cmd)) {
    services.warn(`A client sent the unknown command ${truncateValue(cmd)}`);
    return new Map();
  }
  return await HANDLERS[cmd](load, services);
}
