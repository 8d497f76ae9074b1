/**
 * The filter `dns_check`: the address of a host, if possible one that answers.
 * Source: Salt 3008.3, `salt/utils/network.py` dns_check.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** How long one address may take to answer, in milliseconds, as in Salt. */
const CONNECT_MS = 2_000;

/**
 * The first address of `host` that accepts a connection on `port`; if none does, the first one.
 * @param options.family Addresses of this version alone; if there are none of version 6, those of version 4.
 * @throws {CommandError} If the name has no address.
 */
export async function resolveHost(
  host: string,
  { port, family }: { readonly port: number; readonly family: 4 | 6 | undefined },
): Promise<string> {
  // Loaded when it is needed, since it brings Node's compatibility layer.
  const { lookup } = await import("node:dns/promises");
  const addresses = async (version: 0 | 4 | 6): Promise<string[]> => {
    try {
      return [...new Set((await lookup(host, { all: true, family: version })).map(({ address }) => address))];
    } catch {
      return [];
    }
  };
  let hosts = await addresses(family ?? 0);
  if (hosts.length === 0 && family === 6) hosts = await addresses(4);
  if (hosts.length === 0) throw new CommandError(`DNS lookup or connection check of '${host}' failed.`);
  for (const address of hosts) if (await answers(address, port)) return address;
  return hosts[0];
}

async function answers(hostname: string, port: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), CONNECT_MS);
  const connecting = Deno.connect({ hostname, port });
  try {
    const connection = await Promise.race([connecting, late]);
    connection?.close();
    // One that comes too late is closed when it comes.
    if (connection === undefined) connecting.then((one) => one.close(), () => {});
    return connection !== undefined;
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
