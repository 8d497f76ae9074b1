/**
 * The TCP connections of this host from Linux's `/proc/net/tcp` and `tcp6`.
 * Source: proc_net_tcp(5): addresses are hexadecimal, in words of the host's byte order.
 * @module
 */

const ESTABLISHED = 1;

/** One end of a connection. */
export interface TcpEndpoint {
  /** Dotted IPv4, also if IPv6 contains one; else the shortest form of IPv6. */
  readonly address: string;
  readonly port: number;
}

/** One connection. */
export interface TcpConnection {
  /** This host's end. */
  readonly local: TcpEndpoint;
  /** The other end. */
  readonly remote: TcpEndpoint;
}

/** One socket of a table. */
export interface TableSocket extends TcpConnection {
  /** The kernel's number of its state. */
  readonly state: number;
  /** The number by which descriptors name it. */
  readonly inode: string;
}

/** The sockets in the text of `/proc/net/tcp`, `tcp6`, `udp` or `udp6`. */
export function parseSocketTable(text: string): TableSocket[] {
  return text.split("\n").slice(1).map((line) => line.trim().split(/\s+/)).filter(({ length }) => length >= 4).map((
    [, local, remote, state, , , , , , inode = ""],
  ) => ({ local: endpoint(local), remote: endpoint(remote), state: parseInt(state, 16), inode }));
}

/** The established connections in the text of `/proc/net/tcp` or `/proc/net/tcp6`. */
export function parseConnections(text: string): TcpConnection[] {
  return parseSocketTable(text).filter(({ state }) => state === ESTABLISHED).map(({ local, remote }) => ({
    local,
    remote,
  }));
}

/** The addresses that this host is connected to at their port `port`. */
export function addressesConnectedTo(port: number): Set<string> {
  return remoteAddresses({ remote: port });
}

/** The addresses that are connected to this host's port `port`. */
export function addressesConnectedHere(port: number): Set<string> {
  return remoteAddresses({ local: port });
}

/** A line of a socket: the port of this host, address and port of the other end, the state. */
const LINE = /^ *\d+: [0-9A-F]+:([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]{2}) /gm;

/**
 * The other ends of established connections that have a port at one end. Each address is parsed once: a master of ten
 * thousand minions has twice as many lines.
 */
function remoteAddresses({ local, remote }: { readonly local?: number; readonly remote?: number }): Set<string> {
  const isAt = (hex: string, port: number | undefined) => port === undefined || parseInt(hex, 16) === port;
  const addresses = new Set<string>();
  for (const text of tables()) {
    for (const [, here, address, there, state] of text.matchAll(LINE)) {
      if (isAt(here, local) && isAt(there, remote) && parseInt(state, 16) === ESTABLISHED) addresses.add(address);
    }
  }
  return new Set([...addresses].map(addressIn));
}

/** All established connections of this host. */
export function establishedConnections(): TcpConnection[] {
  return tables().flatMap(parseConnections);
}

function tables(): string[] {
  return ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((path) => {
    try {
      return [Deno.readTextFileSync(path)];
    } catch {
      return []; // no IPv6, or not Linux
    }
  });
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

function endpoint(text: string): TcpEndpoint {
  const [hex, port] = text.split(":");
  return { address: addressIn(hex), port: parseInt(port, 16) };
}

/** The address in the hexadecimal form of the table. */
function addressIn(hex: string): string {
  const bytes = [...hex.matchAll(/.{8}/g)].flatMap(([word]) => {
    const octets = [...word.matchAll(/../g)].map(([octet]) => parseInt(octet, 16));
    return LITTLE_ENDIAN ? octets.reverse() : octets;
  });
  return addressOf(bytes);
}

function addressOf(bytes: number[]): string {
  const mapped = bytes.length === 16 && bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff &&
    bytes[11] === 0xff;
  if (bytes.length === 4 || mapped) return bytes.slice(-4).join(".");
  const groups = bytes.flatMap((byte, i) => i % 2 === 0 ? [(byte * 256 + bytes[i + 1]).toString(16)] : []);
  return new URL(`http://[${groups.join(":")}]`).hostname.slice(1, -1); // URL writes the shortest form
}
