/**
 * Values that @noble/hashes computes when it is loaded are computed when executables are built, or at their first use:
 * the tables of SHA-512 (80 big integers) and MD5 (64 sines, 64 shifts), and one instance of each digest, of which only
 * the sizes are used. Nearly every program loads the library, and few starts use it.
 * @module
 */

/** The replacements in a file of the library. */
interface Change {
  readonly found: RegExp;
  readonly by: (...found: string[]) => string;
}

const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  "sha2.js": [{
    found: /\(\(\) => u64\.split\(\[([^\]]*)\]\.map\(n => BigInt\(n\)\)\)\)\(\);/,
    by: (_, words) => {
      const numbers = [...words.matchAll(/'(0x[\da-f]{16})'/g)].map(([, word]) => BigInt(word));
      const table = (half: (word: bigint) => bigint) => `new Uint32Array([${numbers.map(half).join()}])`;
      return `[${table((word) => word >> 32n)}, ${table((word) => word & 0xffffffffn)}];${linesOf(words)}`;
    },
  }],
  "legacy.js": [{
    found: /Array\.from\(\{ length: 64 \}, \(_, i\) => Math\.floor\(p32 \* Math\.abs\(Math\.sin\(i \+ 1\)\)\)\);/,
    // Source: RFC 1321, section 3.4.
    by: () => `[${Array.from({ length: 64 }, (_, i) => Math.floor(2 ** 32 * Math.abs(Math.sin(i + 1)))).join()}];`,
  }, {
    found:
      /\(\(\) => \{\s+const S = \[((?:\s+\[\d+, \d+, \d+, \d+\],)+)\s+\];\s+return Uint8Array\.from\(.*\);\s+\}\)\(\);/,
    by: (whole, rows) => {
      const shifts = [...rows.matchAll(/\[(.*)\]/g)].flatMap(([, row]) => Array(4).fill(row));
      return `new Uint8Array([${shifts.join()}]);${linesOf(whole)}`;
    },
  }],
  "utils.js": [{
    // Only the library itself calls the function.
    found: /info = checkOpts\(\{\}, info, 'info'\);/,
    by: () => "",
  }, {
    found:
      /const tmp = hashCons\(undefined\);(\s+)hashC\.outputLen = tmp\.outputLen;\s+hashC\.blockLen = tmp\.blockLen;\s+hashC\.canXOF = tmp\.canXOF;/,
    by: (_, line) => {
      const size = (name: string) => `${name}: { get: () => (tmp ??= hashCons(undefined)).${name}, enumerable: true }`;
      return `let tmp;${line}Object.defineProperties(hashC, {${line}${size("outputLen")},${line}${size("blockLen")}, ` +
        `${size("canXOF")} });`;
    },
  }],
};

/** Path suffixes of the library's files that {@linkcode withHashTables} changes. */
export const HASH_FILES = /\/@noble\/hashes\/(sha2|legacy|utils)\.js$/;

/**
 * A file of @noble/hashes, changed so that it computes less when it is loaded. Lines and results are the same.
 * @throws {Error} If the library's text has changed: then this file must be changed too.
 */
export function withHashTables(path: string, text: string): string {
  let changed = text;
  for (const { found, by } of CHANGES[path.slice(path.lastIndexOf("/") + 1)]) {
    if (!found.test(changed)) throw new Error(`${path} is not as scripts/build/hash_tables.ts knows it`);
    changed = changed.replace(found, by);
  }
  return changed;
}

function linesOf(text: string): string {
  return "\n".repeat(text.split("\n").length - 1);
}
