/**
 * Beacon `wtmp`: logins and logouts.
 * Source: Salt 3007.15 `salt/beacons/wtmp.py`.
 * @module
 */

import { type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import type { Value } from "#lib/values/value.ts";
import { loginBeacon } from "./_login_records.ts";

const LOGIN = 7, LOGOUT = 8;

/** A beacon that follows the file `path`. */
export const wtmpBeacon = (path: string): BeaconModule =>
  loginBeacon({
    name: "wtmp",
    doc: "Logins and logouts, of all users or of those that are named, at any time or within a range.",
    path,
    keys: ["users", "groups", "defaults", "ut_type"],
  }, ({ all }) => {
    const types = mapOr(all.get("ut_type"));
    const login = types?.get("login") ?? LOGIN, logout = types?.get("logout") ?? LOGOUT;
    const users = new Map<Value, Value>();
    return (record) => {
      const type = record.get("type") ?? null, line = record.get("line") ?? null;
      if (type === login) {
        record.set("action", "login");
        users.set(line, record.get("user") ?? null);
      } else if (type === logout) {
        record.set("action", "logout");
        // A logout's record has no user.
        const user = users.get(line);
        if (user !== undefined) record.set("user", user);
        users.delete(line);
      }
    };
  });

export const beacon: BeaconModule = wtmpBeacon("/var/log/wtmp");
