/**
 * Addresses in configuration: `host`, `host:port`, `[2001:db8::1]:port`, `2001:db8::1`.
 * Source: salt/utils/network (parse_host_port).
 * @module
 */

/** A host and an optional port. */
export interface HostPort {
  /** Name or address, without brackets. */
  readonly host: string;
  readonly port?: number;
}

/**
 * Parses `text`.
 * @throws {RangeError} If there is no host, or no valid port.
 */
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

/** `host` for a URI: an IPv6 address in brackets. */
export function bracketHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
