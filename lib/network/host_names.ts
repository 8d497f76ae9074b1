/**
 * The host's own name: the full one, by the hosts file and the resolver, and setting another.
 * Source: docs.python.org, `socket.getfqdn`; Salt 3008.3, `salt/modules/network.py`; hosts(5), hostname(5).
 * @module
 */

import { parseHosts } from "../config_files/hosts_file.ts";
import type { HostFiles } from "../host/files.ts";

/** Looks names up. */
export interface Resolver {
  /** The first address of a name. Rejects if it has none. */
  address(name: string): Promise<string>;
  /** The name of an address. Rejects if it has none. */
  name(address: string): Promise<string>;
}

/** The resolver of this host. */
export async function systemResolver(): Promise<Resolver> {
  const { lookup, lookupService } = await import("node:dns/promises");
  return {
    address: async (name) => (await lookup(name)).address,
    name: async (address) => (await lookupService(address, 0)).hostname,
  };
}

/** The full name of the host that is called `name`, as Python's `getfqdn`: the first of its names with a dot in it. */
export async function fullName(name: string, { files, resolver }: {
  readonly files: HostFiles;
  readonly resolver: Resolver;
}): Promise<string> {
  const entries = [...parseHosts(files.text("/etc/hosts") ?? "")];
  const aliasesOf = (wanted: (entry: { readonly address: string; readonly aliases: readonly string[] }) => boolean) =>
    entries.flatMap(([address, entry]) => "aliases" in entry ? [{ address, aliases: entry.aliases }] : []).find(wanted);
  const own = aliasesOf(({ aliases }) => aliases.includes(name));
  try {
    const address = own?.address ?? await resolver.address(name);
    const known = aliasesOf((entry) => entry.address === address);
    const names = known?.aliases ?? [await resolver.name(address)];
    return names.find((one) => one.includes(".")) ?? names[0] ?? name;
  } catch {
    // The resolver knows no name, which is not a failure.
    return name;
  }
}

/** The text of a hosts file with a name in place of another; the words of its lines are set apart by tabs, as Salt's are. */
export function renamedInHosts(text: string, from: string, to: string): string {
  return text.split("\n").slice(0, text.endsWith("\n") ? -1 : undefined).map((line) => {
    const words = line.trim() === "" ? [] : line.trim().split(/\s+/);
    const at = words.indexOf(from);
    return (at < 0 ? words : words.with(at, to)).join("\t");
  }).map((line) => `${line}\n`).join("");
}

/** The text of `/etc/sysconfig/network` with another name, in the quotes of the one before. */
export function renamedInSysconfig(text: string, name: string): string {
  const quote = (value: string) => /^(["']).*\1$/.test(value) ? value[0] : "";
  const bare = name.replace(/^(["'])(.*)\1$/, "$2");
  return text.replace(/^HOSTNAME[^=\n]*=(.*)$/gm, (_line, value: string) => {
    const mark = quote(value.trimEnd());
    return `HOSTNAME=${mark}${bare}${mark}`;
  });
}
