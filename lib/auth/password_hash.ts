/**
 * Passwords as htpasswd files hold them: Apache's `$apr1$` and `{SHA}`, and the methods of this host's crypt(3)
 * (`$2y$`, `$5$`, `$6$`, `$1$`, DES). Source: Apache's documentation, "Password Formats"; crypt(5).
 * @module
 */

import { md5, sha1 } from "@noble/hashes/legacy.js";
import { ConfigError } from "#lib/errors.ts";
import { canCrypt, cryptPasswordInThread } from "#lib/libc/crypt.ts";
import { sameText } from "#lib/crypto/same_text.ts";

/**
 * Whether `hash` is the hash of `password`.
 * @throws {ConfigError} If it is for crypt(3), and this host has none.
 */
export async function verifyPassword(password: string, hash: string): Promise<boolean> {
  if (hash.startsWith("{SHA}")) return sameText(hash.slice(5), sha1(utf8(password)).toBase64());
  const apache = /^\$apr1\$([^$]{1,8})\$/.exec(hash);
  if (apache !== null) return sameText(hash, apr1(utf8(password), apache[1]));
  const again = await crypt(password, hash);
  return again !== undefined && sameText(hash, again);
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

const ALPHABET = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** MD5-crypt with Apache's own prefix. */
function apr1(password: Uint8Array, saltText: string): string {
  const salt = utf8(saltText);
  const inner = md5(Uint8Array.from([...password, ...salt, ...password]));
  const start = [...password, ...utf8("$apr1$"), ...salt];
  for (let left = password.length; left > 0; left -= 16) start.push(...inner.subarray(0, Math.min(16, left)));
  for (let bits = password.length; bits > 0; bits >>= 1) start.push(bits & 1 ? 0 : password[0]);
  let digest = md5(Uint8Array.from(start));
  for (let i = 0; i < 1000; i++) {
    digest = md5(Uint8Array.from([
      ...i % 2 === 1 ? password : digest,
      ...i % 3 === 0 ? [] : salt,
      ...i % 7 === 0 ? [] : password,
      ...i % 2 === 1 ? digest : password,
    ]));
  }
  const groups = [[0, 6, 12], [1, 7, 13], [2, 8, 14], [3, 9, 15], [4, 10, 5]];
  const text = groups.map(([a, b, c]) => base64(digest[a] << 16 | digest[b] << 8 | digest[c], 4)).join("");
  return `$apr1$${saltText}$${text}${base64(digest[11], 2)}`;
}

function base64(value: number, length: number): string {
  return Array.from({ length }, (_, i) => ALPHABET[(value >> (6 * i)) & 0x3f]).join("");
}

/**
 * `password` under the method and the salt of `setting`; `undefined` if that is no such text.
 * @throws {ConfigError} If this host has no crypt(3).
 */
async function crypt(password: string, setting: string): Promise<string | undefined> {
  if (canCrypt()) return await cryptPasswordInThread(password, setting);
  throw new ConfigError("this htpasswd file needs libcrypt (libxcrypt), which this host does not have", {
    option: "external_auth",
  });
}
