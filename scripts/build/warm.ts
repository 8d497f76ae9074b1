/**
 * Has V8 compile the scripts beside this one, so that Deno keeps the outcome. Run when an executable is packed (compiled.ts): at a user's first start
 * it would take seconds. A command as short as `salt-key -L` would never leave any: Deno writes after the first turn of the event loop.
 *
 * `only STEM…` takes the scripts whose names begin so, `except STEM…` the others, with their files but those of single modules, which would double
 * the time and the size. V8 takes what it compiled under the same flags alone, and services have others than commands.
 * @module
 */

const [task, ...stems] = Deno.args;
await compileScripts((name) => stems.some((stem) => name.startsWith(`${stem}.`)) === (task === "only"));

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
