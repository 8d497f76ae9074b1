/**
 * When the API's certificate ends: a month before, the log says so each day, and an event is fired.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { masterBus } from "#lib/bus/paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { messageOf } from "#lib/errors.ts";
import { clearInterval, setInterval, type Timer } from "#lib/os/timers.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { readTlsFiles, type TlsPaths } from "./tls_files.ts";

/** The tag of the event. Its data: `file`, `ends` (seconds since the epoch), `days`. */
export const CERTIFICATE_TAG = "salt/api/certificate/ends";

const DAY_MS = 86_400_000;
/** Days before the end in which there are warnings. */
const WARN_DAYS = 30;
/** Time between two looks, in milliseconds: a renewed certificate is seen soon. */
const LOOK_MS = 600_000;

/** What a watch needs. */
export interface CertificateWatchParts {
  readonly tls: TlsPaths;
  readonly log: Pick<Logger, "warning">;
  /** Fires an event of the master; false: it does not run. */
  fire(tag: string, data: ValueMap): Promise<boolean>;
  /** The time, in milliseconds since the epoch. */
  now?(): number;
}

/** Watches the files of one API. */
export class CertificateWatch {
  readonly #parts: CertificateWatchParts;
  readonly #now: () => number;
  #timer: Timer | undefined;
  #endsMs: number | undefined;
  /** The end that was warned of last, and when. */
  #warned = { endsMs: NaN, atMs: -Infinity };

  constructor(parts: CertificateWatchParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** The watch of an API whose events are the master's; it has begun. */
  static start(opts: MasterOpts, { tls, log }: { readonly tls: TlsPaths; readonly log: Logger }): CertificateWatch {
    const watch = new CertificateWatch({
      tls,
      log,
      fire: (tag, data) => fireEvent(masterBus(opts.sock_dir), tag, data),
    });
    const look = () =>
      void watch.look().catch((error) => log.error(`The look at the certificate: ${messageOf(error)}`));
    watch.#timer = setInterval(look, LOOK_MS);
    look();
    return watch;
  }

  /** When the first certificate of the files ends, in milliseconds since the epoch; `undefined`: not known. */
  get endsMs(): number | undefined {
    return this.#endsMs;
  }

  /** Ends it. */
  close(): void {
    clearInterval(this.#timer);
  }

  /** Looks at the files, and warns if it is time, once a day. */
  async look(): Promise<void> {
    const { tls, log, fire } = this.#parts, nowMs = this.#now();
    try {
      this.#endsMs = await firstEnd(readTlsFiles(tls).cert);
    } catch (error) {
      this.#endsMs = undefined;
      log.warning(`When the certificate ${tls.ssl_crt} ends cannot be read: ${messageOf(error)}`);
      return;
    }
    const endsMs = this.#endsMs, days = Math.floor((endsMs - nowMs) / DAY_MS);
    if (days >= WARN_DAYS) return;
    if (this.#warned.endsMs === endsMs && nowMs - this.#warned.atMs < DAY_MS) return;
    this.#warned = { endsMs, atMs: nowMs };
    const when = new Date(endsMs).toISOString().replace(/\.\d+Z$/, "Z");
    log.warning(
      `The certificate ${tls.ssl_crt} ${endsMs < nowMs ? `ended at ${when}` : `ends in ${days} days, at ${when}`}`,
    );
    const isFired = await fire(CERTIFICATE_TAG, map({ file: tls.ssl_crt, ends: Math.floor(endsMs / 1000), days }));
    // The log has said it; the event waits for the master.
    if (!isFired) this.#warned = { endsMs, atMs: nowMs - DAY_MS + LOOK_MS };
  }
}

/** The earliest end of the certificates in a text. */
async function firstEnd(pem: string): Promise<number> {
  const { readCertificate } = await import("#lib/host/x509/documents.ts");
  const blocks = [...pem.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g)];
  if (blocks.length === 0) throw new TypeError("there is no certificate in it");
  return Math.min(...blocks.map(([, text]) => readCertificate(Uint8Array.fromBase64(text)).notAfter));
}
