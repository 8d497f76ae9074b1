/**
 * PEM keys as text: line ends, comparison, fingerprints. Does not parse keys.
 * Source: Salt's `clean_key` and `pem_finger` (3006.28, where text and file give the same form).
 * @module
 */

import { hashHex } from "./hash.ts";

/** `pem` as it is sent: without surrounding white space, and every line end a single LF. */
export function cleanPem(pem: string): string {
  return pem.trim().replace(/\r\n?/g, "\n");
}

/** Whether both are the same text apart from line ends. */
export function samePem(a: string, b: string): boolean {
  return cleanPem(a) === cleanPem(b);
}

/**
 * The fingerprint of a key as in `key.finger`, `salt-key -f` and `master_finger`: the digest of the base64 lines, each
 * with its newline, without the lines BEGIN and END; colons between the bytes. Any other text is hashed as it is.
 * @throws {ConfigError} If `hashType` is not supported.
 */
export function fingerprint(pem: string, hashType: string): string {
  const lines = pem.replaceAll("\r\n", "\n").split("\n").filter((line) => line.trim() !== "");
  const armoured = lines.length >= 2 && lines[0].trim().startsWith("-----BEGIN") &&
    lines[lines.length - 1].trim().startsWith("-----END");
  const hashed = armoured ? lines.slice(1, -1).map((line) => line + "\n").join("") : pem;
  return hashHex(hashed, hashType).replace(/..(?=.)/g, "$&:");
}
