/**
 * The text of PEM keys: line ends, comparison, fingerprints. Reads no key.
 * Source: Salt's `clean_key` and `pem_finger` (3006.28, whose form of a text and of a file are the same).
 * @module
 */

import { hashHex } from "./hash.ts";

/** `pem` as it goes over the wire: no space around it, every line end a single LF. */
export function cleanPem(pem: string): string {
  return pem.trim().replace(/\r\n?/g, "\n");
}

/** Whether both are the same text, line ends aside. */
export function samePem(a: string, b: string): boolean {
  return cleanPem(a) === cleanPem(b);
}

/**
 * The fingerprint of a key as `key.finger`, `salt-key -f` and `master_finger` have it: the digest of the base64 lines,
 * each with its newline, without the lines BEGIN and END; colons between the bytes. Any other text is hashed as it is.
 * @throws {ConfigError} If `hashType` is no digest.
 */
export function fingerprint(pem: string, hashType: string): string {
  const lines = pem.replaceAll("\r\n", "\n").split("\n").filter((line) => line.trim() !== "");
  const armoured = lines.length >= 2 && lines[0].trim().startsWith("-----BEGIN") &&
    lines[lines.length - 1].trim().startsWith("-----END");
  const hashed = armoured ? lines.slice(1, -1).map((line) => line + "\n").join("") : pem;
  return hashHex(hashed, hashType).replace(/..(?=.)/g, "$&:");
}
