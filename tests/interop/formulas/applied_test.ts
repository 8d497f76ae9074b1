/**
 * Public formulas applied in test mode on this host, by our `salt-call` and by Python Salt: the states run in the same
 * order, with the same results, comments and changes.
 *
 * A short run uses the first SLS file of ten formulas, which is usually the whole formula; `SALT_FORMULAS_ALL=1`
 * selects every file of every formula, and `SALT_FORMULAS_ALL=ntp,vim` every file of these formulas. Formulas that use
 * the network differ in network errors.
 * @module
 */

import { YamlError } from "#lib/errors.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { type Formula, formulasArchive, unpackFormulas } from "#tests/support/files/formulas.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { fromTyped } from "#tests/support/typed_values.ts";
import { testWithPython } from "#tests/interop/salts.ts";
import { type ApplyAnswer, PythonCompiler } from "./python_compiler.ts";

/** The formulas of a short run: they manage files, packages, services and settings, and do not use the network. */
const TEN = [
  "cron",
  "firewalld",
  "logrotate",
  "nfs",
  "packages",
  "postgres",
  "prometheus",
  "sudoers",
  "sysctl",
  "systemd",
];

interface Case {
  readonly sls: string;
  /** YAML */
  readonly pillar: string;
}

function casesOf(formula: Formula, all: boolean): Case[] {
  const pillar = [...formula.pillars.values()].find(isPillar) ?? "{}";
  return formula.sls.slice(0, all ? undefined : 1).map((sls) => ({ sls, pillar }));
}

/** Whether an example is plain YAML; templates are left out. */
function isPillar(text: string): boolean {
  try {
    return isMap(loadYaml(text));
  } catch (error) {
    if (error instanceof YamlError) return false;
    throw error;
  }
}

const archive = formulasArchive();
if (archive === undefined) {
  Deno.test({
    name:
      "formulas applied give the results of Python Salt (skipped: no archive of formulas; SALT_FORMULAS_ARCHIVE names it)",
    ignore: true,
    fn() {},
  });
} else {
  await testWithPython("3008.3", "formulas applied in test mode give the results of {}", async (python, t) => {
    const root = await Deno.makeTempDir({ prefix: "applied_" });
    try {
      await Deno.mkdir(`${root}/src`);
      const all = Deno.env.get("SALT_FORMULAS_ALL") ?? "";
      const selected = all === "1" ? undefined : all === "" ? TEN : all.split(",");
      const unpacked = await unpackFormulas(archive, `${root}/src`);
      const formulas = unpacked.filter(({ name }) => selected?.includes(name.replace(/-formula$/, "")) ?? true);
      const roots = unpacked.map((formula) => formula.root);
      const grains = await loadGrains(testOpts(), { core: CORE_GRAINS, warn: () => {} });
      grains.set("id", "web1");
      const setting = map({ file_roots: roots, cachedir: `${root}/python`, id: "web1", grains });
      await using theirs = new PythonCompiler(python, dumpJson(setting));
      let states = 0;
      for (const formula of formulas) {
        await t.step(formula.name, async () => {
          for (const one of casesOf(formula, all !== "")) {
            const [ours, python] = [await apply(one, { root, roots, grains }), await theirs.apply(one)];
            const [actual, expected] = [linesOf(ours), linesOf(resultsOf(python))];
            states += expected.length;
            assertEquals(actual.join("\n"), expected.join("\n"), one.sls);
          }
        });
      }
      Deno.stdout.writeSync(new TextEncoder().encode(`${states} states with equal results\n`));
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

async function apply(
  { sls, pillar }: Case,
  { root, roots, grains }: { readonly root: string; readonly roots: readonly string[]; readonly grains: ValueMap },
): Promise<Value> {
  const opts = testOpts({
    root_dir: `${root}/ours`,
    file_client: "local",
    file_roots: map({ base: roots }),
    pillar_roots: map({ base: [] }),
  });
  const data = loadYaml(pillar);
  const own: ValueMap = isMap(data) ? data : new Map();
  const context = testContext({
    opts,
    grains,
    pillar: own,
    outside: { ...testContext().outside, pillar: () => Promise.resolve(own) },
    catalogue: loadCatalogue({ grains: () => grains }),
  });
  const kwargs = map({ __kwarg__: true, test: true, concurrent: true });
  return (await run("state.sls", [sls, kwargs], context)).return;
}

function resultsOf(answer: ApplyAnswer): Value {
  return "errors" in answer ? [...answer.errors] : fromTyped(answer.results);
}

/** The results in their order, one line for each; or the first lines of errors. */
function linesOf(results: Value): string[] {
  if (!isMap(results)) return (Array.isArray(results) ? results : [results]).map((one) => str(one).split("\n", 1)[0]);
  const order = (result: Value) => Number(isMap(result) ? result.get("__run_num__") ?? 0 : 0);
  return [...results].sort(([, a], [, b]) => order(a) - order(b)).map(([tag, result]) => {
    const field = (name: string) => isMap(result) ? result.get(name) ?? null : null;
    return `${str(tag)}: ${str(field("result"))} ${repr(field("comment"))} ${repr(field("changes"))}`;
  });
}
