/**
 * Signatures of requests to Amazon's services and to others that take them: version 4.
 * Source: docs.aws.amazon.com, "AWS Signature Version 4 for API requests".
 * @module
 */

import { compareStrings } from "#lib/values/value.ts";
import type { AwsCredentials } from "./credentials.ts";

const ALGORITHM = "AWS4-HMAC-SHA256";

/** A request that is to be signed. */
export interface SignedRequest {
  readonly method: string;
  /** The host, with its port if that is in the address. */
  readonly host: string;
  /** The path as it is sent, quoted. */
  readonly path: string;
  /** Headers that are signed besides those of the signature. */
  readonly headers: ReadonlyMap<string, string>;
  /** SHA-256 of the body, in hexadecimal digits. */
  readonly payloadHash: string;
  readonly region: string;
  readonly service: string;
}

const utf8 = (text: string) => new TextEncoder().encode(text);

/** SHA-256 in hexadecimal digits. */
export async function sha256Hex(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

async function hmac(key: Uint8Array<ArrayBuffer>, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, utf8(text)));
}

/** The headers of a request with its signature. */
export async function signedHeaders(
  { method, host, path, headers, payloadHash, region, service }: SignedRequest,
  { keyId, key, token }: AwsCredentials,
  now: Date,
): Promise<Map<string, string>> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, "");
  const day = time.slice(0, 8);
  const all = new Map([
    ...headers,
    ["X-Amz-date", time],
    ["host", host],
    ["x-amz-content-sha256", payloadHash],
    ...token === undefined ? [] : [["X-Amz-security-token", token] as const],
  ]);
  const named = [...all].map(([name, value]) => [name.toLowerCase(), value.trim()] as const)
    .sort(([a], [b]) => compareStrings(a, b));
  const lines = named.map(([name, value]) => `${name}:${value}\n`).join("");
  const names = named.map(([name]) => name).join(";");
  const canonical = [method, path, "", lines, names, payloadHash].join("\n");
  const scope = [day, region, service, "aws4_request"].join("/");
  let signing = utf8(`AWS4${key}`);
  for (const part of scope.split("/")) signing = await hmac(signing, part);
  const digest = await sha256Hex(utf8(canonical));
  const signature = (await hmac(signing, [ALGORITHM, time, scope, digest].join("\n"))).toHex();
  const credential = `${ALGORITHM} Credential=${keyId}/${scope}`;
  return all.set("Authorization", `${credential}, SignedHeaders=${names}, Signature=${signature}`);
}
