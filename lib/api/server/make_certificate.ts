/**
 * `salt-api --make-certificate`: an authority of this host and a certificate of it, for a first start and for renewals.
 * The authority stays, so that clients that trust it need nothing new.
 * @module
 */

import { type ApiSettings, isLoopback } from "#lib/api/endpoints/api_settings.ts";
import { isIpAddress } from "#lib/api/http/client_origin.ts";
import { pemOf } from "#lib/host/x509/loading.ts";
import { planCertificate, signCertificate } from "#lib/host/x509/building.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { nodeBuiltin } from "#lib/os/node_builtin.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** Days of the authority, and of a certificate: browsers take none that is longer. */
const AUTHORITY_DAYS = 3650, CERTIFICATE_DAYS = 397;

/** What was made. */
export interface MadeCertificate {
  readonly ssl_crt: string;
  readonly ssl_key: string;
  /** The certificate of the authority, which clients must trust. */
  readonly authority: string;
  readonly names: readonly string[];
}

/** The names of the API: this host's, its loopback addresses, and those of the options. */
export function certificateNames({ host, api_hosts }: Pick<ApiSettings, "host" | "api_hosts">): string[] {
  const own = ["localhost", Deno.hostname(), "127.0.0.1", "::1"];
  const given = host === "0.0.0.0" || host === "::" || isLoopback(host) ? [] : [host];
  const addresses = Deno.networkInterfaces().filter(({ scopeid }) => !scopeid).map(({ address }) => address);
  return [...new Set([...own, ...given, ...api_hosts, ...addresses])].filter((name) => name !== "");
}

/**
 * Makes a certificate for these names; the authority is made if it is not there. The key is written before its
 * certificate: a running API takes both when they fit.
 * @throws What writing throws.
 */
export async function makeApiCertificate(directory: string, names: readonly string[]): Promise<MadeCertificate> {
  Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
  const path = (name: string) => `${directory}/${name}`;
  const [authority, ssl_crt, ssl_key] = [path("ca.crt"), path("api.crt"), path("api.key")];
  let [caPem, caKey] = [authority, path("ca.key")].map(readTextFileIfExists);
  if (caPem === undefined || caKey === undefined) {
    caKey = newKey();
    caPem = await signed({
      CN: `Salt API of ${Deno.hostname()}`,
      signing_private_key: caKey,
      basicConstraints: "critical, CA:TRUE, pathlen:0",
      keyUsage: "critical, keyCertSign, cRLSign",
      days_valid: AUTHORITY_DAYS,
    });
    writeFileAtomic(path("ca.key"), caKey, { mode: 0o600 });
    writeFileAtomic(authority, caPem, { mode: 0o644 });
  }
  const key = newKey();
  const certificate = await signed({
    CN: names[0],
    signing_private_key: caKey,
    signing_cert: caPem,
    private_key: key,
    basicConstraints: "critical, CA:FALSE",
    keyUsage: "critical, digitalSignature",
    extendedKeyUsage: "serverAuth",
    subjectAltName: names.map((name) => `${isIpAddress(name) ? "IP" : "DNS"}:${name}`).join(", "),
    days_valid: CERTIFICATE_DAYS,
  });
  writeFileAtomic(ssl_key, key, { mode: 0o600 });
  writeFileAtomic(ssl_crt, certificate, { mode: 0o644 });
  return { ssl_crt, ssl_key, authority, names };
}

function newKey(): string {
  const { generateKeyPairSync } = nodeBuiltin("node:crypto");
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

async function signed(fields: Parameters<typeof map>[0]): Promise<string> {
  const given: ValueMap = map(fields);
  return `${pemOf("CERTIFICATE", await signCertificate(planCertificate(given), "sha256")).trimEnd()}\n`;
}
