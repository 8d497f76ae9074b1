/**
 * Execution module `hosts`: the file of host names, by default `/etc/hosts`; the option `hosts.file` names another.
 * Source: the functions of Salt 3008.3 `salt/modules/hosts.py`.
 * @module
 */

import { formatHosts, hasPair, type Hosts, parseHosts, removeHost, setHost } from "#lib/host/etc_files/hosts_file.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { readUtf8File, replaceFile } from "#lib/host/filesystem/contents.ts";
import { realPath } from "#lib/os/disk_paths.ts";
import { systemError } from "#lib/os/deno_texts.ts";
import { isFile, lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Permissions } from "#lib/plugins/permissions.ts";
import { map, str } from "#lib/values/value.ts";

const READ: Permissions = { read: true };
// A new file gets the owner, the attributes and the label of the old one, which takes calls of the C library.
const WRITE: Permissions = "all";

async function hostsFile({ call }: JobContext): Promise<string> {
  return realPath(str(await call("config.option", ["hosts.file"])));
}

async function readHosts(context: JobContext): Promise<Hosts> {
  const path = await hostsFile(context);
  if (!lexists(path)) return new Map();
  try {
    return parseHosts(readUtf8File(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    const system = error instanceof Error ? systemError(error) : undefined;
    if (system === undefined) throw new CommandError(messageOf(error));
    throw new CommandError(`Error ${system.number} encountered reading from ${path}: ${system.reason}`);
  }
}

/**
 * Changes the text of the file, which is made if there is none.
 * @returns Whether it is a regular file.
 */
async function edit(context: JobContext, change: (text: string) => string | undefined): Promise<boolean> {
  const path = await hostsFile(context);
  if (lexists(path) && !isFile(path)) return false;
  const old = isFile(path) ? readUtf8File(path) : undefined;
  const now = change(old ?? "");
  if (now === undefined || (now === old)) return now !== undefined;
  replaceFile(path, new TextEncoder().encode(now), { mode: 0o644 });
  return true;
}

export const list_hosts: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the entries: names (`aliases`) and `comment` by address, and comments by number.",
    "hosts.list_hosts",
  ),
  permissions: READ,
  params: {},
  run: async (_bound, context) =>
    new Map([...await readHosts(context)].map(([address, entry]) => [
      address,
      "aliases" in entry ? map({ ...entry }) : [...entry],
    ])),
});

export const get_ip: ModuleFunction<JobContext> = fn({
  doc: describe("Return the address of a name; empty text if there is none.", "hosts.get_ip <hostname>"),
  permissions: READ,
  params: { host: p.str() },
  run: async ({ host }, context) => {
    const line = [...await readHosts(context)].find(([, entry]) => "aliases" in entry && entry.aliases.includes(host));
    return line?.[0] ?? "";
  },
});

export const get_alias: ModuleFunction<JobContext> = fn({
  doc: describe("Return the names of an address.", "hosts.get_alias <ip addr>"),
  permissions: READ,
  params: { ip: p.str() },
  run: async ({ ip }, context) => {
    const entry = (await readHosts(context)).get(ip);
    return entry !== undefined && "aliases" in entry ? entry.aliases : [];
  },
});

export const has_pair: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether an address has a name, or all names of a list.", "hosts.has_pair <ip> <alias>"),
  permissions: READ,
  params: { ip: p.str(), alias: p.any() },
  run: async ({ ip, alias }, context) =>
    hasPair(await readHosts(context), ip, Array.isArray(alias) ? alias.map(str) : [str(alias)]),
});

export const set_host: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the names of an address, replacing its current ones; empty names remove it.",
    "hosts.set_host <ip> <alias>",
  ),
  permissions: WRITE,
  params: { ip: p.str(), alias: p.str(), comment: p.str(null) },
  run: ({ ip, alias, comment }, context) =>
    edit(context, (old) => setHost(old, { address: ip, names: alias, comment })),
});

export const rm_host: ModuleFunction<JobContext> = fn({
  doc: describe("Remove a name of an address; an address without names is removed too.", "hosts.rm_host <ip> <alias>"),
  permissions: WRITE,
  params: { ip: p.str(), alias: p.str() },
  run: async ({ ip, alias }, context) => {
    if (hasPair(await readHosts(context), ip, [alias])) await edit(context, (old) => removeHost(old, ip, alias));
    return true;
  },
});

export const add_host: ModuleFunction<JobContext> = fn({
  doc: describe("Add a name to an address, which may be new.", "hosts.add_host <ip> <alias>"),
  permissions: WRITE,
  params: { ip: p.str(), alias: p.str() },
  run: ({ ip, alias }, context) =>
    edit(context, (old) => {
      const hosts = parseHosts(old);
      if (hasPair(hosts, ip, [alias])) return old;
      const entry = hosts.get(ip);
      if (entry !== undefined && "aliases" in entry) entry.aliases.push(alias);
      else hosts.set(ip, { aliases: [alias] });
      return formatHosts(hosts);
    }),
});

export const set_comment: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set the comment of an address. False if there is no such address.",
    "hosts.set_comment <ip> <comment>",
  ),
  permissions: WRITE,
  params: { ip: p.str(), comment: p.str() },
  run: ({ ip, comment }, context) =>
    edit(context, (old) => {
      const hosts = parseHosts(old);
      const entry = hosts.get(ip);
      if (entry === undefined || !("aliases" in entry)) return undefined;
      if (entry.comment === comment) return old;
      entry.comment = comment;
      return formatHosts(hosts);
    }),
});
