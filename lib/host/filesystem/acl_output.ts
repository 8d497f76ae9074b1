/**
 * Reads what getfacl prints. A pure function over text.
 * Source: Salt 3008.3, `salt/modules/linux_acl.py`; getfacl(1).
 * @module
 */

import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** One entry: `user:jim:rw-`, or `default:mask::r-x`. */
interface Entry {
  readonly isDefault: boolean;
  readonly kind: string;
  /** The user or group; empty for the mask and the others. */
  readonly name: string;
  readonly permissions: string;
}

/** The access control lists by path. */
export function parseAcls(text: string): ValueMap {
  const files: ValueMap = new Map();
  let file: ValueMap = new Map();
  let comment: ValueMap = new Map();
  for (const line of text.split("\n").filter((one) => one !== "" && !one.startsWith("getfacl"))) {
    if (!line.startsWith("#")) {
      const entry = parseEntry(line, comment);
      if (entry !== undefined) addEntry(file, entry);
      continue;
    }
    const [, key, value] = /^# ([^:]*): (.*)$/.exec(line) ?? [];
    if (key === undefined) continue;
    if (key === "file") {
      comment = new Map();
      file = new Map<Value, Value>([["comment", comment], ["user", []], ["group", []]]);
      files.set(value, file);
    }
    comment.set(key, value);
    if (key === "flags") {
      for (const [i, [letter, name]] of [["s", "suid"], ["s", "sgid"], ["t", "sticky"]].entries()) {
        if (value[i] === letter) file.set(name, true);
      }
    }
  }
  return files;
}

function parseEntry(line: string, comment: ValueMap): Entry | undefined {
  const parts = line.split(":");
  const isDefault = parts[0] === "default";
  const [kind, given, permissions] = isDefault ? parts.slice(1) : parts;
  if (permissions === undefined) return undefined;
  const own = kind === "user" ? comment.get("owner") : kind === "group" ? comment.get("group") : undefined;
  // What is effective is after a tab, and counts, as with Salt.
  return {
    isDefault,
    kind,
    name: given === "" && typeof own === "string" ? own : given,
    permissions: parts[parts.length - 1],
  };
}

function addEntry(file: ValueMap, { isDefault, kind, name, permissions }: Entry): void {
  let place = file;
  if (isDefault) {
    const defaults = file.get("defaults");
    place = defaults instanceof Map ? defaults : new Map();
    file.set("defaults", place);
  }
  const [read, write, execute] = ["r", "w", "x"].map((letter) => permissions.includes(letter));
  const octal = (read ? 4 : 0) + (write ? 2 : 0) + (execute ? 1 : 0);
  const isOwners = kind === "user" || kind === "group";
  const entry = map({ [isOwners ? name : ""]: { permissions: { read, write, execute }, octal } });
  const entries = place.get(kind);
  if (isOwners && Array.isArray(entries)) entries.push(entry);
  else place.set(kind, [entry]);
}
