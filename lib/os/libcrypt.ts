/**
 * Password hashes of `/etc/shadow`, by the system's own library. Only for threads that may use FFI.
 * Source: crypt(3), crypt(5).
 * @module
 */

import { CommandError } from "../errors.ts";

const SYMBOLS = { crypt: { parameters: ["buffer", "buffer"], result: "pointer" } } as const;

/** The names of the library: of glibc and old libxcrypt, and of libxcrypt since 2018. */
const NAMES = ["libcrypt.so.1", "libcrypt.so.2"];

function openLibrary(): Deno.DynamicLibrary<typeof SYMBOLS> {
  for (const name of NAMES) {
    try {
      return Deno.dlopen(name, SYMBOLS);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
    }
  }
  throw new CommandError(`Cannot hash a password: this host has none of ${NAMES.join(", ")}`);
}

/** Stays open for the life of the isolate. */
let opened: Deno.DynamicLibrary<typeof SYMBOLS> | undefined;

/**
 * The hash of `password` with a setting such as `$6$salt`. @throws {CommandError} If the library does not know the setting.
 */
export function cryptPassword(password: string, setting: string): string {
  const encode = (text: string) => new TextEncoder().encode(`${text}\0`);
  opened ??= openLibrary();
  const pointer = opened.symbols.crypt(encode(password), encode(setting));
  const hash = pointer === null ? "*0" : new Deno.UnsafePointerView(pointer).getCString();
  if (hash.startsWith("*")) {
    throw new CommandError("Cannot hash a password: the system's library does not know this method");
  }
  return hash;
}
