/**
 * Passwords of PostgreSQL's roles in the server's form: md5 and SCRAM-SHA-256.
 * Source: Salt 3008.3, `salt/modules/postgres.py`; RFC 5802, RFC 7677, RFC 4013 (SASLprep).
 * @module
 */

import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { md5 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { InvocationError } from "#lib/errors.ts";
import { str, type Value } from "#lib/values/value.ts";

/** How a password is stored; `false`: as plain text. */
export type PasswordMethod = "md5" | "scram-sha-256" | false;

/**
 * The method for the argument `encrypted`; None is md5, as in Salt.
 * @throws {InvocationError} If it is not valid.
 */
export function passwordMethod(argument: Value): PasswordMethod {
  if (argument === null || argument === true || argument === "md5") return "md5";
  if (argument === "scram-sha-256" || argument === false) return argument;
  throw new InvocationError(`Unknown password algorithm: ${str(argument)}`);
}

/** The password of `role` in the server's form; one that has this form already is not changed. */
export function encryptedPassword(role: string, password: string, method: PasswordMethod): string {
  if (method === "md5") return password.startsWith("md5") ? password : md5Password(role, password);
  if (method === false || password.startsWith("SCRAM-SHA-256")) return password;
  return scramPassword(password, { salt: crypto.getRandomValues(new Uint8Array(16)) });
}

/** Whether the hash `stored` of the server matches `password`. */
export function isPassword(role: string, password: string, stored: string, method: PasswordMethod): boolean {
  if (method !== "scram-sha-256") return encryptedPassword(role, password, method) === stored;
  if (password.startsWith("SCRAM-SHA-256")) return password === stored;
  const [, iterations, salt] = /^SCRAM-SHA-256\$(\d+):([^$]+?)\$/.exec(stored) ?? [];
  if (salt === undefined) return false;
  return scramPassword(password, { salt: Uint8Array.fromBase64(salt), iterations: Number(iterations) }) === stored;
}

const encoder = new TextEncoder();

function md5Password(role: string, password: string): string {
  return `md5${md5(encoder.encode(`${password}${role}`)).toHex()}`;
}

/** A verifier of SCRAM-SHA-256. */
export function scramPassword(
  password: string,
  { salt, iterations = 4096 }: { readonly salt: Uint8Array; readonly iterations?: number },
): string {
  const salted = pbkdf2(sha256, encoder.encode(prepareString(password)), salt, { c: iterations, dkLen: 32 });
  const stored = sha256(hmac(sha256, salted, encoder.encode("Client Key")));
  const server = hmac(sha256, salted, encoder.encode("Server Key"));
  return `SCRAM-SHA-256$${iterations}:${salt.toBase64()}$${stored.toBase64()}:${server.toBase64()}`;
}

/** SASLprep: all kinds of spaces become a space, invisible characters are removed, then NFKC. */
function prepareString(password: string): string {
  const mapped = password.replace(/[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g, " ")
    .replace(/[\u00ad\u034f\u1806\u180b-\u180d\u200c\u200d\u2060\ufe00-\ufe0f\ufeff]/g, "");
  const normal = mapped.normalize("NFKC");
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f-\x9f]/.test(normal)) throw new InvocationError("A password has no control characters");
  return normal;
}
