/**
 * Which minions are connected, as Salt finds out: the addresses at the other end of the publish port, and the minions
 * whose cached grains have them. Two minions behind one address cannot be told apart.
 * Source: salt-protocol.md section 9, "connected_ids"; proc_net_tcp(5).
 * @module
 */

import { readTextFileIfExists } from "./atomic_file.ts";
import type { DataCache } from "./data_cache.ts";

/** TCP_ESTABLISHED in /proc/net/tcp. */
const ESTABLISHED = "01";

/** The remote addresses of connections to `port` on this host. Empty where there is no /proc. */
export function peersOf(port: number): Set<string> {
  const peers = new Set<string>();
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of (readTextFileIfExists(table) ?? "").split("\n").slice(1)) {
      const [, local, remote, state] = line.trim().split(/\s+/);
      if (state === ESTABLISHED && local?.endsWith(`:${wanted}`)) peers.add(parseAddress(remote.split(":")[0]));
    }
  }
  return peers;
}

/** The kernel's hex of an address: 32-bit words, each in the host's byte order. IPv4 within IPv6 comes out as IPv4. */
function parseAddress(hex: string): string {
  const bytes: number[] = [];
  for (let word = 0; word < hex.length; word += 8) {
    for (let byte = 6; byte >= 0; byte -= 2) bytes.push(parseInt(hex.slice(word + byte, word + byte + 2), 16));
  }
  if (bytes.length === 4) return bytes.join(".");
  const mapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  if (mapped) return bytes.slice(12).join(".");
  const groups = Array.from({ length: 8 }, (_, i) => (bytes[2 * i] * 256 + bytes[2 * i + 1]).toString(16));
  // The URL parser shortens an address as everybody writes it.
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1);
}

/** The ids of cached minions that have one of the connected addresses. */
export function connectedIds(data: DataCache, publishPort: number): Set<string> {
  const peers = peersOf(publishPort);
  const ids = new Set<string>();
  if (peers.size === 0) return ids;
  for (const id of data.list()) {
    const grains = data.get(id)?.grains;
    const own = ["ipv4", "ipv6"].flatMap((key) => {
      const listed = grains?.get(key);
      return Array.isArray(listed) ? listed : [];
    });
    if (own.some((address) => typeof address === "string" && peers.has(address))) ids.add(id);
  }
  return ids;
}
