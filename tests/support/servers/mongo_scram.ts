/**
 * The server's side of MongoDB's logins with a password.
 * Source: RFC 5802 and 7677; MongoDB, specification "Authentication".
 * @module
 */

import { Buffer } from "node:buffer";
import { createHash, createHmac, pbkdf2Sync, randomBytes, timingSafeEqual } from "node:crypto";

/** The mechanisms of a login. */
export const MECHANISMS = ["SCRAM-SHA-1", "SCRAM-SHA-256"] as const;

const ITERATIONS = 4096;

/** A login that has begun. */
export interface Scram {
  readonly user: string;
  /** The server's first message. */
  readonly first: string;
  /** @returns The server's last message; `undefined`: the password is wrong. */
  finish(message: string): string | undefined;
}

/** The user that a client's first message names: `n,,n=fred,r=…`. */
export function scramUser(message: string): string {
  const name = /^n,,n=([^,]*),r=/.exec(message)?.[1] ?? "";
  return name.replaceAll("=2C", ",").replaceAll("=3D", "=");
}

/**
 * Begins a login.
 * @param password The user's; `undefined`: there is no such user, and the login will fail.
 */
export function startScram(mechanism: string, message: string, password: string | undefined): Scram {
  const digest = mechanism === "SCRAM-SHA-1" ? "sha1" : "sha256";
  const user = scramUser(message);
  const clientFirst = message.replace(/^n,,/, "");
  const nonce = `${/,r=(.*)$/.exec(clientFirst)?.[1] ?? ""}${randomBytes(18).toString("base64")}`;
  const salt = randomBytes(digest === "sha1" ? 16 : 28);
  const first = `r=${nonce},s=${salt.toString("base64")},i=${ITERATIONS}`;
  const secret = digest === "sha1"
    ? createHash("md5").update(`${user}:mongo:${password}`).digest("hex")
    : (password ?? "").normalize("NFKC");
  const hmac = (key: Uint8Array, text: string) => createHmac(digest, key).update(text).digest();
  return {
    user,
    first,
    finish(last) {
      const [, unproved = "", proof = ""] = /^(.*),p=(.*)$/.exec(last) ?? [];
      const length = digest === "sha1" ? 20 : 32;
      const salted = pbkdf2Sync(secret, salt, ITERATIONS, length, digest);
      const stored = createHash(digest).update(hmac(salted, "Client Key")).digest();
      const text = `${clientFirst},${first},${unproved}`;
      const signature = hmac(stored, text);
      const given = new Uint8Array(Buffer.from(proof, "base64"));
      if (password === undefined || given.length !== length || !unproved.endsWith(`r=${nonce}`)) return undefined;
      const key = given.map((byte, i) => byte ^ signature[i]);
      if (!timingSafeEqual(createHash(digest).update(key).digest(), stored)) return undefined;
      return `v=${hmac(hmac(salted, "Server Key"), text).toString("base64")}`;
    },
  };
}
