/**
 * Addresses as configuration holds them: `host`, `host:port`, `[2001:db8::1]:port`, `2001:db8::1`.
 * Source: salt/utils/network (parse_host_port).
 * @module
 */

/** A host, and the port if one was named. */
export interface HostPort {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port?: number;
}

/** The host and port in `text`. @throws {RangeError} If it holds none, or no possible port. */
export function parseHostPort(text: string): HostPort {
  const bracketed = /^\[([^\]]+)\](?::(.*))?$/.exec(text);
  const colons = text.split(":").length - 1;
  const [host, port] = bracketed !== null
    ? [bracketed[1], bracketed[2]]
    : colons === 1
    ? text.split(":")
    : [text, undefined];
  if (host === "" || /[\s[\]/]/.test(host)) throw new RangeError(`${JSON.stringify(text)} is no host or host:port`);
  if (port === undefined) return { host };
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535) {
    throw new RangeError(`${JSON.stringify(port)} in ${JSON.stringify(text)} is no port`);
  }
  return { host, port: Number(port) };
}

/** `host` as a URI wants it: an IPv6 address in brackets. */
export function bracketHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
