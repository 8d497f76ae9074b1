/**
 * Where a server of MongoDB is: the words of the options `mongodb.*` as an address of the library.
 * Source: Salt 3006.28 `salt/modules/mongodb.py` (`_connect`); pymongo 3.13, `uri_parser.split_hosts`; MongoDB,
 * "Connection Strings".
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { quoteUrlPart } from "#lib/text/url_parts.ts";

const DEFAULT_PORT = 27017;

/** An address of MongoDB. */
export interface MongoAddress {
  /** For the library. It may contain a password. */
  readonly url: string;
  /** For messages and logs: hosts and ports alone. */
  readonly shown: string;
  /** Whether the one server that it names is asked, also if that is one of a replica set. */
  readonly isDirect: boolean;
}

/** A URL of the operator, with all that such a URL can say. */
const SCHEME = /^mongodb(?:\+srv)?:\/\//i;
/** A name, an IPv4 address, or an IPv6 address in brackets; then maybe a port. */
const HOST = /^(?:(?<name>[\w.-]{1,255})|\[(?<six>[\da-f:.]{2,45})\])(?::(?<port>\d{1,5}))?$/i;
/** A socket of this host. */
const SOCKET = /^\/.{1,120}\.sock$/s;

/**
 * The address that the words mean.
 * @param host A host, several with commas, the path of a socket, or a whole `mongodb://` URL. Default: this host.
 * @param port For hosts that name none.
 * @throws {CommandError} If it is none. The message has no password.
 */
export function mongoAddress(host: string | undefined, port: number = DEFAULT_PORT): MongoAddress {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw new CommandError(`Port (${port}) is not a port`);
  if (host !== undefined && SCHEME.test(host)) return { url: host, shown: shownUrl(host), isDirect: false };
  const hosts = (host || "localhost").split(",").map((one) => hostPart(one.trim(), port));
  return {
    url: `mongodb://${hosts.map(({ url }) => url).join(",")}/`,
    shown: hosts.map(({ shown }) => shown).join(","),
    isDirect: hosts.length === 1,
  };
}

function hostPart(host: string, port: number): { readonly url: string; readonly shown: string } {
  if (SOCKET.test(host)) return { url: quoteUrlPart(host), shown: host };
  const { name, six, port: own = String(port) } = HOST.exec(host)?.groups ?? {};
  if (name === undefined && six === undefined) {
    throw new CommandError(
      host.includes("@") ? "The address of MongoDB is no host" : `${JSON.stringify(host)} is no host`,
    );
  }
  const part = `${name ?? `[${six}]`}:${own}`;
  return { url: part, shown: part };
}

/** The hosts of a URL. Where it is not sure which part is the password, nothing of it is shown. */
function shownUrl(url: string): string {
  const rest = url.replace(SCHEME, "");
  const authority = rest.replace(/[/?#].*$/s, "");
  const hosts = authority.slice(authority.lastIndexOf("@") + 1);
  const isSure = !rest.slice(authority.length).includes("@") && /^[\w.,:[\]-]+$/.test(hosts);
  return isSure ? hosts : "the server of the given URL";
}
