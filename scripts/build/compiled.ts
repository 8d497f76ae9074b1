/**
 * Makes V8's compiled code of the scripts when an executable is packed. Deno stores it in databases; place.ts adapts
 * them to the directory that the executable is unpacked into. V8 accepts code that another machine compiled if program,
 * flags and script are the same; otherwise it compiles again.
 * @module
 */

import { COMMAND_V8_FLAGS, V8_FLAGS } from "#lib/runtime/self_command.ts";
import { scriptOf, stemOf } from "./bundle.ts";
import { BUILT_AT, databasesIn, moveCompiled } from "./place.ts";
import { COMMAND_ENTRIES, PLACE_SOURCE, VERSION_SOURCE, WARM_SOURCE } from "./production.ts";
import type { TarFile } from "./tar.ts";

/** The directory of Deno's databases, relative to the directory of the scripts. */
const DIRECTORY = "cache";

/**
 * Compiles the scripts in the directory `stage`.
 * @returns The files of the databases.
 * @throws {Error} If Deno cannot run them.
 */
export async function compiledScripts(stage: string): Promise<TarFile[]> {
  const stems = [...new Set([...Object.values(COMMAND_ENTRIES), VERSION_SOURCE])].map(stemOf);
  const place = stemOf(PLACE_SOURCE);
  // The commands come first: Deno maps the first 6 MB of a database into memory, and reads the rest page by page.
  await compile(stage, COMMAND_V8_FLAGS, ["only", ...stems]);
  await compile(stage, V8_FLAGS, ["except", ...stems, place]);
  const directory = `${stage}/${DIRECTORY}`;
  const { pathToFileURL } = await import("node:url");
  const { DatabaseSync } = await import("node:sqlite");
  await moveCompiled(directory, pathToFileURL(`${await Deno.realPath(stage)}/`).href, BUILT_AT);
  return databasesIn(directory).map((name) => {
    // Removes the free pages.
    using database = new DatabaseSync(`${directory}/${name}`);
    database.exec("VACUUM");
    return { name: `${DIRECTORY}/${name}`, path: `${directory}/${name}`, executable: false };
  });
}

/** Runs `warm.ts` with these arguments and with the flags that the scripts will run with. */
async function compile(stage: string, flags: string, words: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", "--no-prompt", "--cached-only", "--no-lock", `--v8-flags=${flags}`]
      .concat(["--config", `${stage}/deno.json`, `${stage}/${scriptOf(WARM_SOURCE)}`, ...words]),
    env: { DENO_DIR: `${stage}/${DIRECTORY}`, DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  if (!success) throw new Error(`the scripts cannot be compiled: ${new TextDecoder().decode(stderr)}`);
}
