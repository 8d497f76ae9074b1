/**
 * Copies the libraries of the web console from their npm packages to lib/console/browser/vendor, with their licences.
 * Browsers know no bare names, and an import map in the page would be an inline script, which the page's policy
 * forbids: the names become relative paths. Nothing else of a file is changed, but for two first lines that name its
 * types, and the last one, which names a source map that is not served.
 *
 *     deno run -A scripts/console/vendor.ts
 *
 * @module
 */

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/** The directory of the copies, from the root of the tree. */
export const VENDOR = "lib/console/browser/vendor";

/** A file of a package. */
export interface VendoredFile {
  /** The name of the copy. */
  readonly name: string;
  /** The package. */
  readonly from: string;
  /** The path of the original in it. */
  readonly file: string;
  /** The name that others import it by. */
  readonly specifier: string;
}

/** The files. */
export const VENDORED: readonly VendoredFile[] = [
  { name: "preact.js", from: "preact", file: "dist/preact.mjs", specifier: "preact" },
  { name: "hooks.js", from: "preact", file: "hooks/dist/hooks.mjs", specifier: "preact/hooks" },
  { name: "htm.js", from: "htm", file: "dist/htm.mjs", specifier: "htm" },
  { name: "signals.js", from: "@preact/signals", file: "dist/signals.mjs", specifier: "@preact/signals" },
  {
    name: "signals-core.js",
    from: "@preact/signals-core",
    file: "dist/signals-core.mjs",
    specifier: "@preact/signals-core",
  },
];

/** The text of a file of a package as it is installed. */
export function installedText(from: string, file: string): string {
  return Deno.readTextFileSync(`${ROOT}/node_modules/${from}/${file}`);
}

/**
 * The text of the copy.
 * @throws {Error} If it imports something that is not copied.
 */
export function vendoredText(name: string, text: string): string {
  const body = text.replace(/\/\/# sourceMappingURL=\S+\s*$/, "\n").replace(
    /(\bfrom)"([^"]+)"/g,
    (_, word: string, specifier: string) => {
      const found = VENDORED.find((file) => file.specifier === specifier);
      if (found === undefined) throw new Error(`${name} imports ${specifier}, which is not copied`);
      return `${word}"./${found.name}"`;
    },
  );
  return `/* @ts-self-types="./${
    name.replace(/\.js$/, ".d.mts")
  }" */\n// @ts-nocheck The types are beside it.\n${body.trimEnd()}\n`;
}

/** The name of the copy of a package's licence. */
export function licenseName(from: string): string {
  return `${from.replace("@", "").replace("/", "-")}.LICENSE`;
}

/** Where the copies come from; each brings one licence. */
export const VENDORED_PACKAGES: readonly string[] = [...new Set(VENDORED.map(({ from }) => from))];

if (import.meta.main) {
  for (const { name, from, file } of VENDORED) {
    Deno.writeTextFileSync(`${ROOT}/${VENDOR}/${name}`, vendoredText(name, installedText(from, file)));
  }
  for (const from of VENDORED_PACKAGES) {
    Deno.writeTextFileSync(`${ROOT}/${VENDOR}/${licenseName(from)}`, installedText(from, "LICENSE"));
  }
}
