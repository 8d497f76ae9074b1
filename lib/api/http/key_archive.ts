/**
 * A tar archive of the two files of a key pair. Source: POSIX.1-2017, pax, "ustar Interchange Format".
 * @module
 */

import { joinBytes } from "#lib/values/join_bytes.ts";

const BLOCK = 512;

/**
 * The archive.
 * @param files Contents by name; names of at most 100 ASCII characters.
 */
export function tarOf(files: Readonly<Record<string, string>>): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const contents = encoder.encode(text);
    const padded = new Uint8Array(Math.ceil(contents.length / BLOCK) * BLOCK);
    padded.set(contents);
    return [header(name, contents.length), padded];
  });
  return joinBytes([...parts, new Uint8Array(2 * BLOCK)]);
}

function header(name: string, size: number): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put(0, name);
  put(100, `${octal(0o600, 7)}\0`);
  put(108, `${octal(0, 7)}\0${octal(0, 7)}\0`);
  put(124, `${octal(size, 11)}\0`);
  put(136, `${octal(Math.floor(Date.now() / 1000), 11)}\0`);
  put(148, "        ");
  put(156, "0");
  put(257, "ustar\0" + "00");
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(148, `${octal(sum, 6)}\0 `);
  return block;
}
