/**
 * Hashes of passwords as `/etc/shadow` has them, by libcrypt.
 * Source: crypt(3), crypt(5).
 * @module
 */

/** The names of the library: glibc's and musl's systems have the first, Fedora's and Arch's the second. */
const NAMES = ["libcrypt.so.1", "libcrypt.so.2"];

/** As large as `struct crypt_data` is anywhere: 131,232 bytes in old versions. */
const DATA_BYTES = 1 << 18;

const SYMBOLS = {
  crypt_r: { parameters: ["buffer", "buffer", "buffer"], result: "pointer" },
} as const;

let library: Deno.DynamicLibrary<typeof SYMBOLS> | undefined;

function open(): Deno.DynamicLibrary<typeof SYMBOLS> | undefined {
  for (const name of NAMES) {
    try {
      return library ??= Deno.dlopen(name, SYMBOLS);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
    }
  }
  return undefined;
}

/** Whether this system has the library. */
export function canCrypt(): boolean {
  return open() !== undefined;
}

/**
 * The hash of a password.
 * @param setting Method and salt: `$6$saltsalt`.
 * @returns `undefined` if the library does not know the method, or is not there.
 */
export function cryptPassword(password: string, setting: string): string | undefined {
  const opened = open();
  if (opened === undefined || password.includes("\0") || setting.includes("\0")) return undefined;
  const bytes = (text: string) => new TextEncoder().encode(`${text}\0`);
  const pointer = opened.symbols.crypt_r(bytes(password), bytes(setting), new Uint8Array(DATA_BYTES));
  if (pointer === null) return undefined;
  const hash = new Deno.UnsafePointerView(pointer).getCString();
  return hash.startsWith("*") ? undefined : hash;
}
