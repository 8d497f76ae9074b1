/**
 * Hashes of passwords as `/etc/shadow` and htpasswd files have them, by the system's libcrypt.
 * Source: crypt(3), crypt(5).
 * @module
 */

import { keepLoaded } from "./foreign_library.ts";
import { freeMemory, nativeMemory } from "./libc.ts";

/** The names of the library: of glibc and old libxcrypt, and of libxcrypt since 2018. */
const NAMES = ["libcrypt.so.1", "libcrypt.so.2"];

/** As large as `struct crypt_data` is anywhere: 131,232 bytes in old versions. */
const DATA_BYTES = 1 << 18;

const SYMBOLS = {
  crypt_r: { parameters: ["buffer", "buffer", "buffer"], result: "pointer" },
  crypt_r_in_thread: {
    name: "crypt_r",
    parameters: ["pointer", "pointer", "pointer"],
    result: "pointer",
    nonblocking: true,
  },
} as const;

let library: Deno.DynamicLibrary<typeof SYMBOLS> | undefined;

function open(): Deno.DynamicLibrary<typeof SYMBOLS> | undefined {
  for (const name of NAMES) {
    try {
      if (library === undefined) {
        library = Deno.dlopen(name, SYMBOLS);
        keepLoaded(name);
      }
      return library;
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

/** The words of one call; the last one is the library's own memory, where the hash will be. */
function wordsOf(password: string, setting: string): [password: Uint8Array, setting: Uint8Array, data: Uint8Array] {
  const bytes = (text: string) => new TextEncoder().encode(`${text}\0`);
  return [bytes(password), bytes(setting), new Uint8Array(DATA_BYTES)];
}

function hashAt(pointer: Deno.PointerValue): string | undefined {
  if (pointer === null) return undefined;
  const hash = new Deno.UnsafePointerView(pointer).getCString();
  return hash.startsWith("*") ? undefined : hash;
}

/** Whether a text would end in the middle. */
function hasNul(...texts: string[]): boolean {
  return texts.some((text) => text.includes("\0"));
}

/**
 * The hash of a password.
 * @param setting Method and salt: `$6$saltsalt`.
 * @returns `undefined` if the library does not know the method, or is not there.
 */
export function cryptPassword(password: string, setting: string): string | undefined {
  const opened = open();
  if (opened === undefined || hasNul(password, setting)) return undefined;
  const words = wordsOf(password, setting);
  try {
    return hashAt(opened.symbols.crypt_r(...words));
  } finally {
    for (const word of words) word.fill(0);
  }
}

/**
 * As {@linkcode cryptPassword}, on another thread: some methods take a second on purpose. The words are in the C
 * library's memory: if this thread ends meanwhile, they stay, where an ArrayBuffer would be freed while the library
 * writes to it.
 */
export async function cryptPasswordInThread(password: string, setting: string): Promise<string | undefined> {
  const opened = open();
  if (opened === undefined || hasNul(password, setting)) return undefined;
  const words = wordsOf(password, setting).map((word) => {
    const memory = nativeMemory(word.length);
    memory.bytes.set(word);
    word.fill(0);
    return memory;
  });
  const [first, second, data] = words.map(({ pointer }) => pointer);
  try {
    return hashAt(await opened.symbols.crypt_r_in_thread(first, second, data));
  } finally {
    for (const { pointer, bytes } of words) {
      bytes.fill(0);
      freeMemory(Deno.UnsafePointer.value(pointer));
    }
  }
}
