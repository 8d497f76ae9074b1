/**
 * The scripts of an executable: of each entry and each thread one file that holds all it imports, made by esbuild, with a source map
 * beside it. Deno reads and checks one file instead of a hundred, and keeps what V8 has compiled of it under one key.
 *
 * Nothing is shared between two scripts: each runs in a thread of its own. What a source imports with `import()` is in the same
 * file, and runs when it is first asked for. Only Node's own modules stay outside.
 * @module
 */

import * as esbuild from "esbuild";

/** A source that cannot be put into a script; its message is for who builds. */
export class BundleError extends Error {
  /** Its kind, as it is printed. */
  override name = "BundleError";
}

/** Scripts that nothing loads before it needs them, and that may bring Node's compatibility layer for that. */
export const LOADED_LATE: readonly string[] = ["lib/auth/ldap_directory.ts"];

/**
 * The file name of the script of a source, `lib/bus/thread.ts`: `bus-thread.mjs`. All scripts lie in one directory; `.mjs`, as Deno looks
 * for no package.json then.
 */
export function scriptOf(source: string): string {
  return source.replace(/^(lib|scripts)\//, "").replaceAll("/", "-").replace(/\.ts$/, ".mjs");
}

/**
 * Makes the scripts of `sources` in the directory `out`.
 * @param root The project's directory, with node_modules.
 * @returns The names of the files: the scripts and their maps.
 * @throws {BundleError} For a source that esbuild does not take, or one that names a file the executable would not have.
 */
export async function bundle(root: string, out: string, sources: readonly string[]): Promise<string[]> {
  try {
    const { outputFiles, metafile } = await esbuild.build({
      absWorkingDir: root,
      entryPoints: sources.map((source) => ({ in: source, out: scriptOf(source).replace(/\.mjs$/, "") })),
      outdir: out,
      outExtension: { ".js": ".mjs" },
      bundle: true,
      format: "esm",
      target: "esnext",
      platform: "node",
      external: ["node:*"],
      // Names stay as they are: stacks and texts show them.
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: "none",
      sourcemap: "linked",
      sourcesContent: false,
      metafile: true,
      write: false,
      logLevel: "silent",
      plugins: [importMap(root), ownUrls(root, sources)],
    });
    refuseNodeModules(metafile);
    for (const { path, contents } of outputFiles) {
      Deno.writeFileSync(path, path.endsWith(".map") ? fromRoot(contents, { root, out }) : contents);
    }
    return outputFiles.map(({ path }) => path.slice(out.length + 1)).sort();
  } catch (error) {
    if (error instanceof Error && "errors" in error) throw new BundleError(error.message);
    throw error;
  } finally {
    await esbuild.stop();
  }
}

/** Finds the packages where deno.json's import map has them. */
function importMap(root: string): esbuild.Plugin {
  const { imports }: { imports: Record<string, string> } = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return {
    name: "import map",
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, pluginData }) => {
        if (pluginData === importMap || path.startsWith("node:") || kind === "entry-point") return undefined;
        const key = Object.keys(imports).find((name) => path === name || path.startsWith(`${name}/`));
        if (key === undefined) return { errors: [{ text: `${path} is not in deno.json's import map` }] };
        const target = imports[key].replace(/^npm:((?:@[^/]+\/)?[^@/]+)@[^/]+/, "$1") + path.slice(key.length);
        return await build.resolve(target, { kind, resolveDir: root, pluginData: importMap });
      });
    },
  };
}

/**
 * What a source says of its own place, in terms of the script's. `new URL("./publisher.ts", import.meta.url)`, a file that is
 * started, becomes that file's script; a directory, the project's, the scripts'; a file of a package stays where it is.
 */
function ownUrls(root: string, sources: readonly string[]): esbuild.Plugin {
  return {
    name: "own URLs",
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await Deno.readTextFile(path);
        const contents = text
          .replace(/new URL\("(\.[^"]*)", import\.meta\.url\)/g, (_, to: string) => {
            const target = decodeURIComponent(new URL(to, `file://${path}`).pathname).slice(root.length + 1);
            if (target !== "" && !sources.includes(target)) {
              throw new BundleError(`${path} names ${target}, which has no script of its own`);
            }
            return `new URL("./${target && scriptOf(target)}", import.meta.url)`;
          })
          .replace(/import\.meta\.resolve\("(\w[^"]*)"\)/g, 'new URL("./node_modules/$1", import.meta.url).href');
        const left = contents.replace(/new URL\("\.\/[^"]*", import\.meta\.url\)|import\.meta\.main/g, "");
        if (left.includes("import.meta.")) {
          throw new BundleError(`${path} uses import.meta in a way that scripts have not`);
        }
        return { contents, loader: "ts" };
      });
    },
  };
}

/** A module of Node's that is imported at the start costs each start 20 to 40 ms, also those that never use it. */
function refuseNodeModules({ outputs }: esbuild.Metafile): void {
  for (const [name, { imports }] of Object.entries(outputs)) {
    if (LOADED_LATE.some((source) => name.endsWith(`/${scriptOf(source)}`))) continue;
    const early = imports.find(({ kind, external }) => external === true && kind === "import-statement");
    if (early !== undefined) {
      throw new BundleError(`${name} imports ${early.path} at its start: see lib/os/node_builtin.ts`);
    }
  }
}

/** A source map whose sources are named from the project's root, as if that were the scripts' directory. */
function fromRoot(map: Uint8Array, { root, out }: { readonly root: string; readonly out: string }): Uint8Array {
  const parsed: { sources: string[] } = JSON.parse(new TextDecoder().decode(map));
  const sources = parsed.sources.map((source) => {
    const path = decodeURIComponent(new URL(source, `file://${out}/`).pathname);
    return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : source;
  });
  return new TextEncoder().encode(JSON.stringify({ ...parsed, sources }));
}
