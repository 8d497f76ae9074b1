/**
 * Makes V8 compile the scripts beside this one, so that Deno stores the result. It runs when an executable is packed
 * (compiled.ts): at a user's first start it would take seconds. A short command such as `salt-key -L` would never store
 * a result, because Deno writes it after the first turn of the event loop.
 *
 * `only STEM…` selects the scripts whose names begin with a STEM, `except STEM…` all others. Their other files are
 * compiled too, except those of single modules and their libraries, which would double time and size. V8 uses compiled
 * code only if it runs with the same flags, and the flags of services are not those of commands.
 * @module
 */

const [task, ...stems] = Deno.args;
await compileScripts((name) => stems.some((stem) => name.startsWith(`${stem}.`)) === (task === "only"));

/** Makes V8 compile the selected scripts. */
async function compileScripts(isSelected: (name: string) => boolean): Promise<void> {
  // The script of a thread sends messages to the thread that started it; here there is no such thread.
  Object.assign(globalThis, { postMessage: () => {} });
  // In one order on every file system: what V8 compiles of a file depends on those that ran before.
  for (const name of [...Deno.readDirSync(new URL("./", Deno.mainModule))].map(({ name }) => name).sort()) {
    const script = new URL(`./${name}`, Deno.mainModule).href;
    // The worker of an engine is beside the engines, and a thread as those of `lib`. Libraries of lib/host are those of
    // single modules.
    const isSingle = /(?:^|\.)modules-(?!engines-_worker\.)|^host-\w+-\w+_library\./.test(name);
    const isFile = name.endsWith(".mjs") && !isSingle && script !== Deno.mainModule;
    if (isFile && isSelected(name)) await import(script);
  }
}
