/**
 * What a packed executable runs when it has unpacked itself, so that the starts to come are quick.
 *
 * - `only STEM…` and `except STEM…` have V8 compile the scripts beside this one whose names begin so, or the others, and their files but
 *   those of single modules, which would double the time. Deno keeps the outcome in its cache, so the first start of each program finds it there. A
 *   command as short as `salt-key -L` would never leave any: Deno writes after the first turn of the event loop. V8 takes what it
 *   compiled under the same flags alone, and services have others than commands.
 * - `settle` moves what was written from the logs of Deno's databases into their files. Deno ends without doing so, and whoever opens a
 *   database next reads its whole log: 2 to 4 ms of each start.
 * @module
 */

const [task, ...stems] = Deno.args;
if (task === "settle") await settle();
else await compileScripts((name) => stems.some((stem) => name.startsWith(`${stem}.`)) === (task === "only"));

/** Has V8 compile the scripts of which `asked` is true. */
async function compileScripts(asked: (name: string) => boolean): Promise<void> {
  // A thread's script sends messages to the thread that started it; here there is none.
  Object.assign(globalThis, { postMessage: () => {} });
  for (const { name } of Deno.readDirSync(new URL("./", Deno.mainModule))) {
    const script = new URL(`./${name}`, Deno.mainModule).href;
    const isFile = name.endsWith(".mjs") && !name.includes(".modules-") && script !== Deno.mainModule;
    if (isFile && asked(name)) await import(script);
  }
}

/** Empties the logs of the databases in Deno's directory. */
async function settle(): Promise<void> {
  // Only here: it loads Node's compatibility layer.
  const { DatabaseSync } = await import("node:sqlite");
  const directory = Deno.env.get("DENO_DIR");
  if (directory === undefined) throw new Error("DENO_DIR is not set");
  for (const { name, isFile } of Deno.readDirSync(directory)) {
    if (!isFile || !/_v\d+$/.test(name)) continue;
    using database = new DatabaseSync(`${directory}/${name}`);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
}
