/**
 * Hashes of passwords by the methods that Salt names, and random passwords. Source: Salt 3008.3,
 * `salt/utils/pycrypto.py`; Python's `crypt.mksalt`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { refuseCostlyHash } from "./hash_cost.ts";
import { canCrypt, cryptPassword } from "#lib/libc/crypt.ts";

/** The beginning of a setting, and the length of a salt, by method. */
const METHODS: Readonly<Record<string, { readonly ident: string; readonly rounds?: string; readonly salt: number }>> = {
  sha512: { ident: "6", salt: 16 },
  sha256: { ident: "5", salt: 16 },
  blowfish: { ident: "2b", rounds: "12$", salt: 22 },
  md5: { ident: "1", salt: 8 },
  crypt: { ident: "", salt: 2 },
};

const SALT_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./";
const PASSWORD_CHARACTERS = `${SALT_CHARACTERS}!"#$%&'()*+,-:;<=>?@[\\]^_\`{|}~`;
const PASSWORD_LENGTH = 20;

function byChance(characters: string, length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(64))) {
      // Larger bytes would make the first characters more likely.
      if (byte < 256 - 256 % characters.length && text.length < length) text += characters[byte % characters.length];
    }
  }
  return text;
}

/**
 * The hash of a password; without one, of a random password.
 * @param salt Default: a random one. It may begin with `rounds=5000$`.
 * @returns None if the library does not take the method or the salt.
 * @throws {InvocationError} For an unknown method, or a salt that asks for a long computation.
 */
export function hashPassword(
  password: string | null,
  { salt, method }: { readonly salt: string | null; readonly method: string },
): string | null {
  if (!canCrypt()) {
    throw new CommandError(
      "gen_password is not available on this operating system because the library libcrypt is not available.",
    );
  }
  if (!Object.hasOwn(METHODS, method)) {
    throw new InvocationError(
      `Cannot hash using '${method}' hash algorithm. Supported algorithms are: ${Object.keys(METHODS).join(", ")}.`,
    );
  }
  const { ident, rounds = "", salt: length } = METHODS[method];
  const chosen = salt ?? `${rounds}${byChance(SALT_CHARACTERS, length)}`;
  const setting = ident === "" ? chosen : `$${ident}$${chosen}`;
  refuseCostlyHash(setting);
  return cryptPassword(password ?? byChance(PASSWORD_CHARACTERS, PASSWORD_LENGTH), setting) ?? null;
}
