/**
 * The commands that anybody may send unencrypted: a table, so that no other command can be reached.
 * Source: salt-protocol.md section 5; CVE-2020-11651 is the result of a missing list.
 * @module
 */

import { truncateValue } from "../text/truncate.ts";
import type { MasterServices } from "./services.ts";
import { publishCommand } from "./publish.ts";
import { map, type Value, type ValueMap } from "../values/value.ts";

type Handler = (load: ValueMap, services: MasterServices) => Promise<Value> | Value;

const HANDLERS: Readonly<Record<string, Handler>> = {
  ping: (load) => load,
  publish: publishCommand,
  // External authentication is not implemented: there are no tokens.
  mk_token: () => "",
  get_token: (load) => load.has("token") ? new Map() : false,
  runner: () => refused("UserAuthenticationError"),
  wheel: () => refused("UserAuthenticationError"),
};

function refused(name: string): Value {
  return map({ error: { name, message: 'Authentication failure of type "user" occurred' } });
}

/** Runs a clear command; the answer is `{}` for one that is not in the table. */
export async function clearCommand(load: ValueMap, services: MasterServices): Promise<Value> {
  const cmd = load.get("cmd");
  if (typeof cmd !== "string" || !Object.hasOwn(HANDLERS, cmd)) {
    services.warn(`Somebody asked for the unknown command ${truncateValue(cmd)}`);
    return new Map();
  }
  return await HANDLERS[cmd](load, services);
}
