/**
 * Where a request comes from, and how the client addressed us: of the connection, or as a trusted proxy says.
 * Source: RFC 7239; the headers `X-Forwarded-*` as nginx and others send them.
 * @module
 */

/** What is known of the client of a request. */
export interface ClientOrigin {
  /** Without its port; IPv4 also if it came over IPv6. */
  readonly address: string;
  /** Whether it uses TLS, as far as we or the proxy. */
  readonly isSecure: boolean;
  /** The host, and port, that it addressed; empty: it named none. */
  readonly host: string;
}

/** What the connection tells. */
export interface Peer {
  readonly address: string;
  readonly isSecure: boolean;
}

/** Maximum number of proxies that are looked through. */
const MAX_HOPS = 20;

/** An IPv4 address that came over IPv6 is shown as IPv4. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:/i, "");
}

/** The client of a request: the headers are believed only from the addresses in `trusted`. */
export function clientOrigin(headers: Headers, peer: Peer, trusted: readonly string[]): ClientOrigin {
  const host = headers.get("host") ?? "";
  if (!trusted.includes(peer.address)) return { ...peer, host };
  const hops = forwardedHops(headers) ?? simpleHops(headers);
  // From our side: the first address that no trusted proxy has is the client. What is left of it, it may have made up.
  let from: Hop = {};
  for (const hop of hops.reverse()) {
    from = { ...from, ...hop };
    if (hop.address === undefined || !trusted.includes(hop.address)) break;
  }
  return {
    address: from.address ?? peer.address,
    isSecure: from.proto === undefined ? peer.isSecure : from.proto === "https",
    host: from.host ?? host,
  };
}

interface Hop {
  readonly address?: string;
  readonly proto?: string;
  readonly host?: string;
}

/** The hops of `Forwarded`, the client's first; `undefined` without the header. */
function forwardedHops(headers: Headers): Hop[] | undefined {
  const header = headers.get("forwarded");
  if (header === null) return undefined;
  return header.split(",").slice(-MAX_HOPS).map((part) => {
    const fields = new Map(
      part.split(";").map((field): [string, string] => {
        const [name, value = ""] = field.split("=", 2);
        return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, "$1")];
      }),
    );
    const [node, proto, host] = ["for", "proto", "host"].map((name) => fields.get(name));
    return hopOf(node === undefined ? undefined : node.replace(/^\[(.*)\](:\d+)?$/, "$1"), proto, host);
  });
}

/** The hops of `X-Forwarded-For`; the other headers are of the nearest proxy. */
function simpleHops(headers: Headers): Hop[] {
  const [proto, host] = ["x-forwarded-proto", "x-forwarded-host"].map((name) =>
    headers.get(name)?.split(",").at(-1)?.trim()
  );
  const list = (headers.get("x-forwarded-for") ?? "").split(",").slice(-MAX_HOPS).map((one) => one.trim());
  const nearest = hopOf(list.at(-1), proto, host);
  return [...list.slice(0, -1).map((address) => hopOf(address, undefined, undefined)), nearest];
}

function hopOf(address: string | undefined, proto: string | undefined, host: string | undefined): Hop {
  const plain = plainAddress((address ?? "").replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1"));
  return {
    ...isIpAddress(plain) && { address: plain },
    ...proto !== undefined && proto !== "" && { proto: proto.toLowerCase() },
    ...host !== undefined && host !== "" && { host },
  };
}

/** Whether a text is an IP address. */
export function isIpAddress(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) || /^(?=.*:)[0-9a-f:.]{2,45}$/i.test(text);
}
