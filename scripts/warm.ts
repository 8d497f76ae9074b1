/**
 * What a packed executable runs once, when it has unpacked itself: has V8 compile the scripts beside this one, and their files but those of
 * single modules, which would double the time. Deno keeps the outcome
 * in its cache, so the first start of each program finds it there. A command as short as `salt-key -L` would never leave
 * any: Deno writes after the first turn of the event loop.
 * @module
 */

// A thread's script sends messages to the thread that started it; here there is none.
Object.assign(globalThis, { postMessage: () => {} });

for (const { name } of Deno.readDirSync(new URL("./", Deno.mainModule))) {
  const script = new URL(`./${name}`, Deno.mainModule).href;
  if (name.endsWith(".mjs") && !name.includes(".modules-") && script !== Deno.mainModule) await import(script);
}
