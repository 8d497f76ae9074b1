import { argspec } from "#lib/plugins/call.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { DEFAULT_SHELL } from "#lib/programs/command.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, toValue } from "#lib/values/value.ts";
import { EXECUTION_MODULES } from "#modules/execution/_built_in.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { parseJson } from "#lib/values/json_read.ts";

/** The results of Python Salt's `sys.argspec`, made by tests/corpus/make_argspec.py. */
const SALT = parseJson(Deno.readTextFileSync(new URL("../../corpus/argspec.json", import.meta.url)));

/** The functions that docs/differences.md names, as `module.function`, with the text about each. */
function namedDifferences(): Map<string, string> {
  const page = Deno.readTextFileSync(new URL("../../../docs/differences.md", import.meta.url));
  const [, section] = page.split("\n### Arguments that differ\n");
  assert(section !== undefined, "docs/differences.md has the section");
  const rows = section.split("\n## ")[0].split("\n").filter((line) => line.startsWith("| `"));
  return new Map(rows.flatMap((row) => {
    const [, functions, why] = row.split("|").map((cell) => cell.trim());
    return [...functions.matchAll(/`([^`]+)`/g)].map(([, name]): [string, string] => [name, why]);
  }));
}

/** For a module with two files, the one that Salt loads: `x509.py` only with the feature `x509_v2: false`. */
const LOADED: Readonly<Record<string, string>> = { x509: "x509_v2" };

/** Python Salt's argspec of a function, as JSON, by the name of the file or of the module. */
function python(file: string, short: string): string | undefined {
  if (!isMap(SALT)) throw new TypeError("argspec.json is no map");
  const named = [...SALT.values()].find((module) => isMap(module) && module.get("name") === file);
  const module = SALT.get(LOADED[file] ?? file) ?? named ?? null;
  const functions = isMap(module) ? module.get("functions") ?? null : null;
  const spec = isMap(functions) ? functions.get(short) : undefined;
  return spec === undefined ? undefined : dumpJson(spec);
}

Deno.test("the arguments of each function are those of Python Salt, or docs/differences.md names the function", async () => {
  const differing: string[] = [];
  let compared = 0;
  for (const { name, fun } of await loadFamily<JobContext>(EXECUTION_MODULES).all()) {
    const [file, short] = name.split(".", 2);
    const { args, defaults, varargs, kwargs } = argspec(fun);
    // The default is the variable SHELL; the table was made with /bin/sh.
    const usual = defaults?.map((one) => one === DEFAULT_SHELL ? "/bin/sh" : one) ?? null;
    compared++;
    if (python(file, short) !== dumpJson(toValue([args, usual, varargs, kwargs]))) differing.push(name);
  }
  assert(compared > 100);
  const named = namedDifferences();
  assertEquals(differing.filter((name) => !named.has(name)), [], "differ, and docs/differences.md does not name them");
  assertEquals([...named.keys()].filter((name) => !differing.includes(name)), [], "named, and do not differ");
  for (const [name, why] of named) assert(why.length > 10, `docs/differences.md says why ${name} differs`);
});
