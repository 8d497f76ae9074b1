/**
 * The roster `ansible`: an inventory as `ansible-inventory --list` prints it.
 * Source: Salt 3008.3 `salt/roster/ansible.py`.
 * @module
 */

import { RosterError } from "#lib/errors.ts";
import type { RosterEntries } from "./roster.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";

/** The keys of entries, by variables of the inventory. */
const KEYS: Readonly<Record<string, string>> = {
  ansible_ssh_host: "host",
  ansible_host: "host",
  ansible_ssh_port: "port",
  ansible_port: "port",
  ansible_ssh_user: "user",
  ansible_user: "user",
  ansible_ssh_pass: "passwd",
  ansible_password: "passwd",
  ansible_sudo_pass: "sudo",
  ansible_ssh_private_key_file: "priv",
};

/** The hosts of an inventory, and its groups. */
export interface AnsibleInventory {
  readonly hosts: RosterEntries;
  /** The ids in a group, also those of its children. */
  group(name: string): string[];
}

/**
 * Reads an inventory.
 * @throws {RosterError} If it is none.
 */
export function readInventory(json: string): AnsibleInventory {
  const inventory = parse(json);
  // A script of the operator's own need not name the group of all; `ansible-inventory` does.
  const others = [...inventory.keys()].map(str).filter((name) => name !== "all" && name !== "_meta");
  const group = (name: string, above: readonly string[] = []): string[] => {
    const body = inventory.get(name);
    const own = mapOrEmpty(body);
    const ids = (Array.isArray(body) ? body : listOrEmpty(own.get("hosts"))).map(str);
    if (above.includes(name)) return ids; // a group within itself
    const children = [...listOrEmpty(own.get("children")).map(str), ...name === "all" ? others : []];
    return [...new Set([...ids, ...children.flatMap((child) => group(child, [...above, name]))])];
  };
  const variables = mapOrEmpty(mapOrEmpty(inventory.get("_meta")).get("hostvars"));
  const hosts = new Map<string, Value>(group("all").map((id) => [id, entryOf(id, mapOrEmpty(variables.get(id)))]));
  return { hosts, group };
}

function parse(json: string): ValueMap {
  let value: Value;
  try {
    value = toValue(JSON.parse(json));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new RosterError(`The inventory is no JSON: ${error.message}`);
  }
  if (!isMap(value)) throw new RosterError("The inventory is no map");
  return value;
}

function entryOf(id: string, variables: ValueMap): ValueMap {
  const entry = map({ host: id });
  const others: ValueMap = new Map();
  for (const [name, value] of variables) {
    const key = typeof name === "string" && Object.hasOwn(KEYS, name) ? KEYS[name] : undefined;
    if (key === undefined) others.set(name, value);
    else if (key === "sudo") entry.set("sudo", true).set("passwd", entry.get("passwd") ?? value);
    else entry.set(key, value);
  }
  return entry.set("minion_opts", others);
}
