/**
 * The files of the API's certificate, and whether they have changed.
 * @module
 */

import { type ApiSettings, usesTls } from "#lib/api/endpoints/api_settings.ts";
import { messageOf, PreflightError } from "#lib/errors.ts";
import { statIfExists } from "#lib/os/atomic_file.ts";

/** Where the certificate is. */
export interface TlsPaths {
  readonly ssl_crt: string;
  readonly ssl_key: string;
  readonly ssl_chain: string | null;
}

/** What the runtime takes. */
export interface TlsPair {
  readonly cert: string;
  readonly key: string;
}

/** The paths that the settings name; `undefined`: the API speaks no TLS. */
export function tlsPaths(settings: ApiSettings): TlsPaths | undefined {
  const { ssl_crt, ssl_key, ssl_chain } = settings;
  if (!usesTls(settings) || ssl_crt === null || ssl_key === null) return undefined;
  return { ssl_crt, ssl_key, ssl_chain };
}

/** @throws {PreflightError} If a file cannot be read. */
export function readTlsFiles({ ssl_crt, ssl_key, ssl_chain }: TlsPaths): TlsPair {
  const read = (option: string, path: string) => {
    try {
      return Deno.readTextFileSync(path);
    } catch (error) {
      throw new PreflightError(`rest_cherrypy: ${option}: ${messageOf(error)}`);
    }
  };
  const chain = ssl_chain === null ? "" : `\n${read("ssl_chain", ssl_chain)}`;
  return { cert: `${read("ssl_crt", ssl_crt)}${chain}`, key: read("ssl_key", ssl_key) };
}

/** What tells whether a file has changed: all of them, in one text. */
export function tlsStamp({ ssl_crt, ssl_key, ssl_chain }: TlsPaths): string {
  return [ssl_crt, ssl_key, ...ssl_chain === null ? [] : [ssl_chain]].map((path) => {
    const { mtime, size, ino } = statIfExists(path) ?? {};
    return `${mtime?.getTime()} ${size} ${ino}`;
  }).join(", ");
}

/**
 * Whether a server could use the pair: certificate and key belong together. Tried on a port of this host that nobody
 * knows, and closed at once.
 * @throws What the runtime says of them.
 */
export function tryTlsPair(pair: TlsPair): void {
  Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...pair }).close();
}
