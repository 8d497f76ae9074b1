import { importPath } from "#scripts/import_path.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

/** The files that `entry` loads statically, and the third-party packages. */
function loadedBy(entry: string): Set<string> {
  const root = new URL("../..", import.meta.url);
  const loaded = new Set<string>();
  const visit = (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    const text = Deno.readTextFileSync(new URL(path, root));
    for (const [, specifier] of text.matchAll(/^(?:import|export) (?!type )[^;"]*? from "([^"]+)"/gm)) {
      if (!/^[.#]/.test(specifier)) loaded.add(specifier);
      else if (specifier.endsWith(".ts")) visit(importPath(path, specifier));
    }
  };
  visit(entry);
  return loaded;
}

Deno.test("before the command line is parsed, an entry loads no configuration, no sockets and no packages", () => {
  for (
    const [entry, needed] of [["salt.ts", "lib/commands/programs/salt_options.ts"], [
      "minion.ts",
      "lib/commands/cli/program_name.ts",
    ]]
  ) {
    const loaded = [...loadedBy(entry)];
    assert(loaded.includes(needed), `${entry} loads ${needed}`);
    assertEquals(
      loaded.filter((file) => /^lib\/(config|sockets)\//.test(file) || !file.endsWith(".ts")),
      [],
    );
  }
  assert([...loadedBy("lib/commands/programs/salt_publish.ts")].includes("lib/config/load.ts"), "it would be seen");
});
