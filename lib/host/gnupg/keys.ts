/**
 * Keys as gpg lists them with `--with-colons`, and as Salt shows them.
 * Source: doc/DETAILS of GnuPG; ListKeys, ScanKeys and SearchKeys of python-gnupg 0.5.7; Salt 3008.3
 * `salt/modules/gpg.py` _render_key.
 * @module
 */

import { splitLines } from "#lib/text/split_lines.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

/** The fields of a key or a subkey, with gpg's values. */
export interface GpgKey {
  /** 16 hexadecimal digits; of a server's answer the fingerprint. */
  readonly keyid: string;
  /** The user ids; a subkey has none. */
  readonly uids?: string[];
  /** 40 hexadecimal digits; unknown in a server's answer, and of the subkeys of a file. */
  fingerprint?: string;
  /** Bits. */
  readonly length: string;
  /** Seconds since 1970, or empty. */
  readonly created: string;
  /** Seconds since 1970, or empty. */
  readonly expires: string;
  /** A letter of {@linkcode TRUST_LETTERS}, or empty. */
  readonly trust: string;
  /** The letter for the owner's trust. */
  readonly ownerTrust: string;
  readonly subkeys: GpgKey[];
}

/** The meanings of gpg's letters for trust. */
const TRUST_LETTERS: Readonly<Record<string, string>> = {
  e: "Expired",
  q: "Unknown",
  n: "Not Trusted",
  f: "Fully Trusted",
  m: "Marginally Trusted",
  u: "Ultimately Trusted",
  r: "Revoked",
  "-": "Unknown",
};

/**
 * The keys of `gpg --list-keys` and similar commands.
 * @param of `file`: the output for a file of keys, in which subkeys have no fingerprint.
 */
export function listedKeys(output: Uint8Array, of: "keyring" | "file" = "keyring"): GpgKey[] {
  const keys: GpgKey[] = [];
  let current: GpgKey | undefined;
  for (const fields of colonLines(output)) {
    const [kind] = fields;
    if (kind === "pub" || kind === "sec") {
      keys.push({ ...keyFields(fields), uids: [] });
      current = keys.at(-1);
    } else if (kind === "sub" || kind === "ssb") {
      current = keyFields(fields);
      keys.at(-1)?.subkeys.push(current);
    } else if (kind === "fpr" && current !== undefined) {
      const isSubkey = current.uids === undefined;
      if (!isSubkey || of === "keyring") current.fingerprint = fields[9];
    } else if (kind === "uid") {
      keys.at(-1)?.uids?.push(unescape(fields[9] ?? ""));
    }
  }
  return keys;
}

/** The keys of `gpg --search-keys`. */
export function foundKeys(output: Uint8Array): GpgKey[] {
  const keys: GpgKey[] = [];
  for (const [kind, ...fields] of colonLines(output)) {
    if (kind === "pub") {
      const [keyid = "", , length = "", created = "", expires = ""] = fields;
      keys.push({ keyid, uids: [], length, created, expires, trust: "", ownerTrust: "", subkeys: [] });
    } else if (kind === "uid") {
      keys.at(-1)?.uids?.push(unescape(fields[0] ?? ""));
    }
  }
  return keys;
}

function colonLines(output: Uint8Array): string[][] {
  return splitLines(new TextDecoder().decode(output)).map((line) => line.trim().split(":"));
}

function keyFields(fields: readonly string[]): GpgKey {
  const [, trust = "", length = "", , keyid = "", created = "", expires = "", , ownerTrust = ""] = fields;
  return { keyid, length, created, expires, trust, ownerTrust, subkeys: [] };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", f: "\f", v: "\v", b: "\b", "0": "\0" };

/** gpg writes characters that would break its lines as `\x3a`. */
function unescape(uid: string): string {
  return uid.replace(/\\x([0-9a-f]{2})|\\([nrfvb0])/gi, (whole, hex: string | undefined, letter: string) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return ESCAPES[letter] ?? whole;
  });
}

/**
 * A key in the form of Salt's `gpg.list_keys`.
 * @param now Milliseconds, to decide whether it has expired.
 */
export function shownKey(key: GpgKey, now: number): ValueMap {
  const { keyid, uids, fingerprint, length, created, expires, trust, ownerTrust, subkeys } = key;
  return map({
    keyid,
    ...uids !== undefined && { uids },
    ...fingerprint !== undefined && { fingerprint },
    ...expires !== "" && { expires: localDay(expires), expired: now / 1000 >= Number(expires) },
    ...created !== "" && { created: localDay(created) },
    ...length !== "" && { keyLength: length },
    ...ownerTrust !== "" && { ownerTrust: TRUST_LETTERS[ownerTrust] ?? "Unknown" },
    ...trust !== "" && { trust: TRUST_LETTERS[trust] ?? "Unknown" },
    ...subkeys.length > 0 && { subkeys: subkeys.map((subkey) => shownKey(subkey, now)) },
  });
}

/**
 * The date of a time, in the host's time zone: `2026-11-22`.
 * @param seconds Since 1970, as text.
 */
function localDay(seconds: string): string {
  const time = new Date(Number(seconds) * 1000);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${String(time.getFullYear()).padStart(4, "0")}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** Whether a long or short key id, or a fingerprint, matches a key. */
export function isKey(key: GpgKey, keyid: string | null, fingerprint: string | null): boolean {
  return key.fingerprint === fingerprint || key.keyid === keyid || key.keyid.slice(8) === keyid;
}
