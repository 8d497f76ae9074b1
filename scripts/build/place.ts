/**
 * A packed executable runs this script after it has unpacked itself. The script adapts the databases of V8's compiled
 * code to the directory of the unpacked scripts. In these databases, Deno stores the code by the URL of each script;
 * they are part of an executable (compiled.ts).
 *
 * Arguments: the directory of the databases, and the directory of the scripts.
 * @module
 */

/** The directory of the scripts in the databases of an executable, as a URL. */
export const BUILT_AT = "file:///built/";

/**
 * Replaces the URL prefix `from` by `to` in the databases in `directory`; both are URLs of directories. No other
 * process may have the databases open. A crash during the change destroys them: it is done without a journal.
 */
export async function moveCompiled(directory: string, from: string, to: string): Promise<void> {
  // Imported here only: it loads Node's compatibility layer.
  const { DatabaseSync } = await import("node:sqlite");
  for (const name of databasesIn(directory)) {
    using database = new DatabaseSync(`${directory}/${name}`);
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    const tables = database.prepare(
      "SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.name = 'specifier'",
    ).all();
    for (const { name } of tables) {
      database.prepare(`UPDATE ${name} SET specifier = ? || substr(specifier, ?) WHERE substr(specifier, 1, ?) = ?`)
        .run(to, from.length + 1, from.length, from);
    }
    // The journal mode that Deno sets: processes that start at the same time need not change it.
    database.exec("PRAGMA journal_mode = WAL");
  }
}

/** The names of Deno's databases in a directory: `v8_code_cache_v2`. */
export function databasesIn(directory: string): string[] {
  return [...Deno.readDirSync(directory)].filter(({ name, isFile }) => isFile && /_v\d+$/.test(name)).map(({ name }) =>
    name
  );
}

if (import.meta.main) {
  const { pathToFileURL } = await import("node:url");
  const [databases, home] = Deno.args;
  await moveCompiled(databases, BUILT_AT, pathToFileURL(`${home}/`).href);
}
