/**
 * The host's own name: finds the full name by the hosts file and the resolver, and sets another name.
 * Source: docs.python.org, `socket.getfqdn`; Salt 3008.3, `salt/modules/network.py`; hosts(5), hostname(5).
 * @module
 */

import { parseHosts } from "#lib/host/etc_files/hosts_file.ts";
import type { HostFiles } from "#lib/programs/files.ts";

/** Resolves names and addresses. */
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

/** The full name of the host `name`, as Python's `getfqdn`: the first of its names that contains a dot. */
export async function findFullName(name: string, { files, resolver }: {
  readonly files: HostFiles;
  readonly resolver: Resolver;
}): Promise<string> {
  const entries = [...parseHosts(files.text("/etc/hosts") ?? "")];
  const aliasesOf = (wanted: (entry: { readonly address: string; readonly aliases: readonly string[] }) => boolean) =>
    entries.flatMap(([address, entry]) => "aliases" in entry ? [{ address, aliases: entry.aliases }] : []).find(wanted);
  const own = aliasesOf(({ aliases }) => aliases.includes(name));
  try {
    const address = own?.address ?? await resolver.address(name);
    const host = aliasesOf((entry) => entry.address === address);
    const names = host?.aliases ?? [await resolver.name(address)];
    return names.find((one) => one.includes(".")) ?? names[0] ?? name;
  } catch {
    // The resolver finds no name, which is not a failure.
    return name;
  }
}

/** Replaces a name in the text of a hosts file; the words of its lines are separated by tabs, as in Salt. */
export function renamedInHosts(text: string, from: string, to: string): string {
  return text.split("\n").slice(0, text.endsWith("\n") ? -1 : undefined).map((line) => {
    const words = line.trim() === "" ? [] : line.trim().split(/\s+/);
    const at = words.indexOf(from);
    return (at < 0 ? words : words.with(at, to)).join("\t");
  }).map((line) => `${line}\n`).join("");
}

/** The text of `/etc/sysconfig/network` with another name, in the quotes of the previous one. */
export function renamedInSysconfig(text: string, name: string): string {
  const quote = (value: string) => /^(["']).*\1$/.test(value) ? value[0] : "";
  const bare = name.replace(/^(["'])(.*)\1$/, "$2");
  return text.replace(/^HOSTNAME[^=\n]*=(.*)$/gm, (_line, value: string) => {
    const mark = quote(value.trimEnd());
    return `HOSTNAME=${mark}${bare}${mark}`;
  });
}
