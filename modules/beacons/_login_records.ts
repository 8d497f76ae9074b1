/**
 * Records of logins, as the files btmp and wtmp have them, and the beacons that follow these files.
 * Source: Salt 3007.15 `salt/beacons/btmp.py`, `wtmp.py`; utmp(5).
 * @module
 */

import { FollowedFile } from "#lib/host/filesystem/followed_file.ts";
import { exists } from "#lib/os/file_kind.ts";
import { type BeaconConfig, type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Bytes of a record: `hi32s4s32s256shhiii4i20x`. */
export const RECORD_BYTES = 384;
const LITTLE = true;

function text(record: Uint8Array, at: number, length: number): string {
  return new TextDecoder().decode(record.subarray(at, at + length)).replace(/^\0+|\0+$/g, "");
}

/** The fields of a record, in the order of Salt's data. */
export function readLoginRecord(record: Uint8Array): ValueMap {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  return map({
    type: view.getInt16(0, LITTLE),
    PID: view.getInt32(4, LITTLE),
    line: text(record, 8, 32),
    inittab: text(record, 40, 4),
    user: text(record, 44, 32),
    hostname: text(record, 76, 256),
    // The two halves of the exit status are two fields, so each later name belongs to the field before it, as in Salt.
    exit_status: view.getInt16(332, LITTLE),
    session: view.getInt16(334, LITTLE),
    time: view.getInt32(336, LITTLE),
    addr: view.getInt32(340, LITTLE),
  });
}

function rangeText(config: ValueMap | undefined, name: string): string | undefined {
  const range = config?.get("time_range") ?? null;
  if (range === null || (mapOr(range)?.size === 0)) return undefined;
  const given = mapOr(range);
  if (given === undefined) return `The time_range parameter for ${name} beacon must be a dictionary.`;
  if (given.has("start") && given.has("end")) return clockText(given);
  return `The time_range parameter for ${name} beacon must contain start & end options.`;
}

/** Minutes of a day: `8am`, `4:30 pm`, `16:00`. */
function minutesOf(given: Value | undefined): number | undefined {
  const [, hour, minute = "0", half] = /^\s*(\d{1,2})(?::(\d\d))?\s*([ap]m)?\s*$/i.exec(str(given ?? null)) ?? [];
  if (hour === undefined || Number(minute) > 59) return undefined;
  const hours = half === undefined ? Number(hour) : Number(hour) % 12 + (half.toLowerCase() === "pm" ? 12 : 0);
  return hours > 24 ? undefined : hours * 60 + Number(minute);
}

function clockText(range: ValueMap): string | undefined {
  const bad = ["start", "end"].find((key) => minutesOf(range.get(key)) === undefined);
  return bad === undefined ? undefined : `time_range: ${bad} is no time of a day such as 8am or 16:30`;
}

function isWithin(range: Value | undefined, now: Date): boolean {
  const given = mapOr(range);
  if (given === undefined) return true;
  const minutes = now.getHours() * 60 + now.getMinutes();
  return (minutesOf(given.get("start")) ?? 0) <= minutes && minutes <= (minutesOf(given.get("end")) ?? 1440);
}

function validate({ all }: BeaconConfig, name: string): string | undefined {
  for (const [key, what] of [["users", "User"], ["groups", "Group"]] as const) {
    if (!all.has(key)) continue;
    const given = mapOr(all.get(key));
    if (given === undefined) return `${what} configuration for ${name} beacon must be a dictionary.`;
    for (const config of given.values()) {
      const problem = rangeText(mapOr(config), name);
      if (problem !== undefined) return problem;
    }
  }
  if (!all.has("defaults")) return undefined;
  const defaults = mapOr(all.get("defaults"));
  if (defaults === undefined) return `Defaults configuration for ${name} beacon must be a dictionary.`;
  return rangeText(defaults, name);
}

/** The users whose records are sent; `undefined`: all. */
async function usersOf(all: ValueMap, membersOf: (group: string) => Promise<Value[]>): Promise<ValueMap | undefined> {
  const users = new Map(mapOr(all.get("users")) ?? []);
  for (const [group, config] of mapOr(all.get("groups")) ?? []) {
    for (const member of await membersOf(str(group))) if (!users.has(member)) users.set(member, config);
  }
  return users.size === 0 ? undefined : users;
}

/** Whether a record is sent: its user is wanted, at this time. */
function isWanted(user: Value, users: ValueMap | undefined, defaults: ValueMap | undefined): boolean {
  if (users !== undefined && !users.has(user)) return false;
  const own = mapOr(users?.get(user))?.get("time_range");
  return isWithin(own ?? defaults?.get("time_range"), new Date());
}

/**
 * A beacon that follows a file of login records.
 * @param change Adds fields to a record, in the order of the file.
 */
export function loginBeacon(
  { name, doc, path, keys }: {
    readonly name: string;
    readonly doc: string;
    readonly path: string;
    readonly keys: readonly string[];
  },
  change: (config: BeaconConfig) => (record: ValueMap) => void,
): BeaconModule {
  return {
    doc,
    permissions: "all",
    keys,
    unavailable: () => exists(path) ? undefined : `${path} does not exist.`,
    validate: (config) => validate(config, name),
    async open(config, host) {
      const changed = change(config), defaults = mapOr(config.all.get("defaults"));
      const users = await usersOf(config.all, async (group) => {
        const members = mapOr(await host.call("group.info", [group]))?.get("members");
        return Array.isArray(members) ? members : [];
      });
      let rest = new Uint8Array();
      return new FollowedFile(path, {
        onBytes(bytes) {
          const all = new Uint8Array([...rest, ...bytes]), found: ValueMap[] = [];
          let at = 0;
          for (; at + RECORD_BYTES <= all.length; at += RECORD_BYTES) {
            const record = readLoginRecord(all.subarray(at, at + RECORD_BYTES));
            changed(record);
            if (isWanted(record.get("user") ?? null, users, defaults)) found.push(record);
          }
          rest = all.slice(at);
          if (found.length > 0) host.fire(found);
        },
        onRestart: () => rest = new Uint8Array(),
        onProblem: (reason) => host.fail(reason),
      });
    },
  };
}
