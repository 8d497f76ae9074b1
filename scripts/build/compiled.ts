/**
 * Makes V8's compiled code of the scripts when an executable is packed. Deno stores it in databases; place.ts adapts
 * them to the directory that the executable is unpacked into. V8 accepts code that another machine compiled if program,
 * flags and script are the same; otherwise it compiles again.
 * @module
 */

import { COMMAND_V8_FLAGS, V8_FLAGS } from "#lib/runtime/self_command.ts";
import type { DatabaseSync } from "node:sqlite";
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
  const directory = `${stage}/${DIRECTORY}`, again = `${directory}.again`;
  const { pathToFileURL } = await import("node:url");
  const { DatabaseSync } = await import("node:sqlite");
  for (const cache of [directory, again]) {
    await removeTree(cache);
    // The commands come first: Deno maps the first 6 MB of a database into memory, and reads the rest page by page.
    await compile(stage, cache, [COMMAND_V8_FLAGS, "only", ...stems]);
    await compile(stage, cache, [V8_FLAGS, "except", ...stems, place]);
    await moveCompiled(cache, pathToFileURL(`${homeOf(stage)}/`).href, BUILT_AT);
  }
  for (const name of databasesIn(directory)) clearUnset(DatabaseSync, `${directory}/${name}`, `${again}/${name}`);
  await removeTree(again);
  return databasesIn(directory).map((name) => {
    const path = `${directory}/${name}.sorted`;
    writeSorted(DatabaseSync, { from: `${directory}/${name}`, to: path, stems });
    return { name: `${DIRECTORY}/${name}`, path, executable: false };
  });
}

/**
 * The path of the directory `stage` for Deno. V8's compiled code contains the paths of its scripts: on Linux they are
 * the same for every build.
 */
function homeOf(stage: string): string {
  return Deno.build.os === "linux" ? "/proc/self/cwd" : Deno.realPathSync(stage);
}

/**
 * Copies a database, row by row in an order of their own, so that its bytes depend only on its rows: Deno writes a row
 * when it has compiled a file, in several threads. The files that begin with one of `stems` come first. The copy has no
 * free pages.
 */
function writeSorted(
  Database: typeof DatabaseSync,
  { from, to, stems }: { readonly from: string; readonly to: string; readonly stems: readonly string[] },
): void {
  using database = new Database(to);
  database.prepare("ATTACH ? AS source").run(from);
  database.exec("BEGIN");
  const tables = database.prepare(
    "SELECT name, sql FROM source.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
  )
    .all();
  for (const { name, sql } of tables) {
    database.exec(String(sql));
    const columns = database.prepare("SELECT name FROM pragma_table_info(?, 'source')").all(String(name))
      .map(({ name }) => String(name));
    const first = columns.includes("specifier") ? stems.map((stem) => `${BUILT_AT}${stem}.`) : [];
    const order = [...first.map(() => "instr(specifier, ?) = 1 DESC"), ...columns].join();
    database.prepare(`INSERT INTO main.${name} SELECT * FROM source.${name} ORDER BY ${order}`).run(...first);
  }
  database.exec("COMMIT");
}

async function removeTree(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}

/**
 * Makes those bytes of compiled code 0 that another compilation of the same scripts has otherwise: V8 leaves them
 * unset, and they would differ in each build (Deno 2.9.6).
 */
function clearUnset(Database: typeof DatabaseSync, path: string, again: string): void {
  using database = new Database(path);
  using other = new Database(again);
  const table = "SELECT name FROM sqlite_master WHERE name = 'codecache'";
  if (database.prepare(table).get() === undefined || other.prepare(table).get() === undefined) return;
  const read = other.prepare("SELECT data FROM codecache WHERE specifier = ? AND type = ?");
  const write = database.prepare("UPDATE codecache SET data = ? WHERE specifier = ? AND type = ?");
  for (const { specifier, type, data } of database.prepare("SELECT specifier, type, data FROM codecache").all()) {
    const twin = read.get(String(specifier), Number(type))?.data;
    if (!(data instanceof Uint8Array) || !(twin instanceof Uint8Array) || data.length !== twin.length) continue;
    if (data.every((byte, i) => byte === twin[i])) continue;
    write.run(data.map((byte, i) => byte === twin[i] ? byte : 0), String(specifier), Number(type));
  }
}

/**
 * Runs `warm.ts` with the flags that the scripts will run with, and with these arguments.
 * @param cache The directory of Deno's databases.
 */
async function compile(stage: string, cache: string, [flags, ...words]: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--allow-all", "--quiet", "--no-prompt", "--cached-only", "--no-lock", `--v8-flags=${flags}`]
      .concat(["--config", `${stage}/deno.json`, `${homeOf(stage)}/${scriptOf(WARM_SOURCE)}`, ...words]),
    cwd: stage,
    env: { DENO_DIR: cache, DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  if (!success) throw new Error(`the scripts cannot be compiled: ${new TextDecoder().decode(stderr)}`);
}
