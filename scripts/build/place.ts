/**
 * What a packed executable runs when it has unpacked itself: gives the code that V8 has compiled of the scripts to the directory that they are in.
 * Deno keeps it in databases, by the URLs of the scripts; executables bring them (compiled.ts).
 *
 * Words: the directory of the databases, and the directory where the scripts will be.
 * @module
 */

/** Where the scripts are by the databases that an executable brings. */
export const BUILT_AT = "file:///built/";

/** Has the databases in `directory` say `to` where they say `from`, both URLs of directories. Nobody else may have them open: a crash would destroy them. */
export async function moveCompiled(directory: string, from: string, to: string): Promise<void> {
  // Only here: it loads Node's compatibility layer.
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
    // As Deno wants it: processes that start at the same time need not agree on it.
    database.exec("PRAGMA journal_mode = WAL");
  }
}

/** The names of Deno's databases in its directory: `v8_code_cache_v2`. */
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
