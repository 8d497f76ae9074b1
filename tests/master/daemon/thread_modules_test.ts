/**
 * What the master's threads can load. Deno reads what literal imports name, late ones too, before a thread runs, and
 * keeps it: from the sources the execution modules cost each MWorker 18 MB.
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

const ROOT = new URL("../../../", import.meta.url);
const THREADS = [
  "lib/master/daemon/mworker_thread.ts",
  "lib/master/daemon/reactor_thread.ts",
  "lib/master/publisher/publisher_thread.ts",
];

interface Dependency {
  readonly code?: { readonly specifier?: string };
}

interface ModuleInfo {
  readonly specifier: string;
  readonly dependencies?: readonly Dependency[];
}

/** The addresses of the modules that a file imports, now or late, other than as types. */
async function imported(file: string): Promise<Set<string>> {
  const args = ["info", "--json", "--config", TREE_CONFIG, new URL(file, ROOT).href];
  const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "null" }).output();
  const info: { readonly roots: string[]; readonly modules: ModuleInfo[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const modules = new Map(info.modules.map((one) => [one.specifier, one]));
  const found = new Set<string>(), next = [...info.roots];
  for (let specifier = next.pop(); specifier !== undefined; specifier = next.pop()) {
    if (found.has(specifier)) continue;
    found.add(specifier);
    next.push(...(modules.get(specifier)?.dependencies ?? []).flatMap(({ code }) => code?.specifier ?? []));
  }
  return found;
}

for (const file of THREADS) {
  Deno.test(`${file} reaches no execution module by an import that Deno reads before`, async () => {
    const found = [...await imported(file)];
    assert(found.length > 100, `${found.length} modules`);
    assertEquals(found.filter((address) => address.includes("/modules/execution/")), []);
  });
}
