/**
 * Beacons of an operator (`salt://_beacons`): files that export `beacon`, and `validate` if they like, functions as
 * those of modules. They run as functions of own modules do, each in a process with the permissions that it declares.
 * Source: the functions of a beacon in Salt, `validate(config)` and `beacon(config)`.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { truncateRepr } from "#lib/text/truncate.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import type { BeaconModule } from "./beacon.ts";

/** Prefix of own beacons, where the names of execution modules are too: `beacons/NAME`. */
export const OWN_BEACONS_PREFIX = "beacons/";

/** The names of the beacons among the names of own modules. */
export function ownBeaconNames(modules: Iterable<string>): string[] {
  return [...modules].filter((name) => name.startsWith(OWN_BEACONS_PREFIX))
    .map((name) => name.slice(OWN_BEACONS_PREFIX.length));
}

/** Calls a function of an own beacon; an error is a rejection with its text. */
export type CallOwnBeacon = (fun: string, args: readonly Value[]) => Promise<Value>;

/** The module of an own beacon. Its configuration is passed on as Salt's list of maps, without the common keys. */
export function ownBeacon(module: string, call: CallOwnBeacon): BeaconModule {
  const [look, validate] = ["beacon", "validate"].map((fun) => `${OWN_BEACONS_PREFIX}${module}.${fun}`);
  return {
    doc: "",
    async validate({ list }) {
      try {
        return refusalIn(await call(validate, [[...list]]));
      } catch (error) {
        // From a thread it comes as its text alone.
        if (messageOf(error) === `'${validate}' is not available.`) return undefined;
        if (!(error instanceof CommandError)) throw error;
        return error.message;
      }
    },
    // As in Salt, a look is told the name under which the beacon is configured.
    open: ({ list }, { name }) => ({
      look: async () => mapsIn(await call(look, [[...list, map({ _beacon_name: name })]])),
    }),
  };
}

/** What `validate` says: None, a text that says what is wrong, or Salt's pair of whether it is valid and a text. */
function refusalIn(answer: Value): string | undefined {
  if (Array.isArray(answer)) return answer[0] === true ? undefined : str(answer[1] ?? "it is not valid");
  return typeof answer === "string" && answer !== "" ? answer : undefined;
}

/** @throws {CommandError} If it is no list of maps. */
function mapsIn(found: Value): ValueMap[] {
  if (found === null) return [];
  const maps = Array.isArray(found) ? found.filter(isMap) : [];
  if (Array.isArray(found) && maps.length === found.length) return maps;
  throw new CommandError(`it returned no list of maps, but ${truncateRepr(found)}`);
}
