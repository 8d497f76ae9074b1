/**
 * Beacon `journald`: entries of the systemd journal. Salt reads it by a Python library at each look; here `journalctl`
 * tells each entry when it comes.
 * Source: Salt 3008.3 `salt/beacons/journald.py`; the types of fields in python-systemd; journalctl(1),
 * systemd.journal-fields(7).
 * @module
 */

import { type BeaconConfig, type BeaconModule, mapOr } from "#lib/plugins/beacon.ts";
import { which } from "#lib/programs/which.ts";
import { ProgramLines } from "#lib/programs/program_lines.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** Fields whose values are numbers. */
const NUMBERS: ReadonlySet<string> = new Set(
  ("PRIORITY LEADER SESSION_ID USERSPACE_USEC INITRD_USEC KERNEL_USEC _UID _GID _PID SYSLOG_FACILITY SYSLOG_PID " +
    "_AUDIT_SESSION _AUDIT_LOGINUID _SYSTEMD_SESSION _SYSTEMD_OWNER_UID CODE_LINE ERRNO EXIT_STATUS COREDUMP_PID " +
    "COREDUMP_UID COREDUMP_GID COREDUMP_SESSION COREDUMP_SIGNAL").split(" "),
);
/** All new entries, one a line, with short fields only: of longer ones the value is null. */
const FOLLOW = ["--follow", "--lines=0", "--output=json", "--no-pager"];

function fieldOf(key: string, value: Value): Value {
  // Bytes that are no text are a list of numbers, and a field that an entry has several times is a list of texts.
  if (Array.isArray(value)) {
    const bytes = value.filter((item) => typeof item === "number");
    if (bytes.length === value.length) return new TextDecoder().decode(Uint8Array.from(bytes));
    return value.map((item) => fieldOf(key, item));
  }
  const isNumber = NUMBERS.has(key) && typeof value === "string" && /^-?\d{1,15}$/.test(value);
  return isNumber ? Number(value) : value;
}

/** The fields of an entry; `undefined`: the line is none. */
export function readJournalEntry(line: string): ValueMap | undefined {
  let entry: Value;
  try {
    entry = parseJson(line);
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
  if (!isMap(entry)) return undefined;
  return new Map([...entry].map(([key, value]) => [key, fieldOf(str(key), value)]));
}

/** The entry for each service whose fields it has. Values are compared as texts, so that `'6'` is 6. */
export function matchEntry(services: ValueMap, entry: ValueMap): ValueMap[] {
  return [...services].filter(([, given]) =>
    [...mapOr(given) ?? []].every(([key, value]) => entry.has(key) && str(entry.get(key) ?? null) === str(value))
  ).map(([name]) => new Map(entry).set("tag", name));
}

function validate({ all }: BeaconConfig): string | undefined {
  if (!all.has("services")) return undefined;
  const services = mapOr(all.get("services"));
  if (services !== undefined && [...services.values()].every(isMap)) return undefined;
  return "Services configuration for journald beacon must be a list of dictionaries.";
}

/**
 * A beacon that reads a journal.
 * @param journalctl The program and the options that say which journal.
 */
export function journalBeacon(journalctl: readonly string[]): BeaconModule {
  return {
    doc: "Entries of the systemd journal whose fields have the named values, told when they come.",
    permissions: "all",
    keys: ["services"],
    unavailable: () => which(journalctl[0]) !== undefined ? undefined : "The program journalctl is not there.",
    validate,
    open({ all }, host) {
      const services = mapOr(all.get("services")) ?? map({});
      return new ProgramLines([...journalctl, ...FOLLOW], {
        onLines(lines) {
          const events = lines.flatMap((line) => {
            const entry = readJournalEntry(line);
            return entry === undefined ? [] : matchEntry(services, entry);
          });
          if (events.length > 0) host.fire(events);
        },
        onEnd: (reason) => host.fail(reason),
      });
    },
  };
}

export const beacon: BeaconModule = journalBeacon(["journalctl"]);
