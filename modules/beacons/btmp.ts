/**
 * Beacon `btmp`: failed logins.
 * Source: Salt 3007.15 `salt/beacons/btmp.py`.
 * @module
 */

import type { BeaconModule } from "#lib/plugins/beacon.ts";
import { loginBeacon } from "./_login_records.ts";

export const beacon: BeaconModule = loginBeacon({
  name: "btmp",
  doc: "Failed logins, of all users or of those that are named, at any time or within a range.",
  path: "/var/log/btmp",
  keys: ["users", "groups", "defaults"],
}, () => () => {});
