/**
 * Low data of public formulas: `state.show_low_sls` gives for their SLS files what Python Salt gives on this host, and
 * a file that fails there fails with ours for the same reason.
 *
 * A short run uses one file of each formula; `SALT_FORMULAS_ALL=1` selects every file, with every pillar example, on
 * hosts of two families, and `SALT_FORMULAS_ALL=ntp,vim` the same for these formulas only.
 * @module
 */

import { YamlError } from "#lib/errors.ts";
import { loadGrains } from "#lib/minion/agent/grains.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, repr, str, type ValueMap } from "#lib/values/value.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { CORE_GRAINS } from "#modules/grains/core.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { type Formula, formulasArchive, unpackFormulas } from "#tests/support/files/formulas.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { fromTyped } from "#tests/support/typed_values.ts";
import { testWithPython } from "#tests/interop/salts.ts";
import { type CompileAnswer, PythonCompiler } from "./python_compiler.ts";

/** Grains of a host of another family. */
const ROCKY = {
  os: "Rocky",
  os_family: "RedHat",
  osfullname: "Rocky Linux",
  osrelease: "9.4",
  osmajorrelease: 9,
  osrelease_info: [9, 4],
  osfinger: "Rocky Linux-9",
  oscodename: "Blue Onyx",
};

const HOSTS = { own: {}, rocky: ROCKY } as const;

function grainsOf(host: keyof typeof HOSTS, own: ValueMap): ValueMap {
  return new Map([...own, ...map(HOSTS[host])]);
}

interface Case {
  readonly sls: string;
  readonly pillarName: string;
  /** YAML */
  readonly pillar: string;
  readonly host: keyof typeof HOSTS;
}

function casesOf(formula: Formula, all: boolean): Case[] {
  const pillars = [["none", "{}"], ...[...formula.pillars].filter(([, text]) => isPillar(text))];
  if (all) {
    return formula.sls.flatMap((sls) =>
      pillars.flatMap(([pillarName, pillar]) =>
        (["own", "rocky"] as const).map((host): Case => ({ sls, pillarName, pillar, host }))
      )
    );
  }
  // The whole formula, with the pillar example if there is one.
  const [pillarName, pillar] = pillars[Math.min(1, pillars.length - 1)];
  return formula.sls.slice(0, 1).map((sls): Case => ({ sls, pillarName, pillar, host: "own" }));
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
const hasPillar = await loadCatalogue().get("pillar.get") !== undefined;
if (archive === undefined || !hasPillar) {
  const why = hasPillar ? "no archive of formulas; SALT_FORMULAS_ARCHIVE names it" : "pillar is not built";
  Deno.test({ name: `formulas give the low data of Python Salt (skipped: ${why})`, ignore: true, fn() {} });
} else {
  await testWithPython("3008.3", "formulas give the low data of {}", async (python, t) => {
    const root = await Deno.makeTempDir({ prefix: "formulas_" });
    try {
      await Deno.mkdir(`${root}/src`);
      const all = Deno.env.get("SALT_FORMULAS_ALL") ?? "";
      const selected = all === "" || all === "1" ? undefined : all.split(",").map((name) => `${name}-formula`);
      const formulas = (await unpackFormulas(archive, `${root}/src`)).filter(({ name }) =>
        selected?.includes(name) ?? true
      );
      const roots = formulas.map((formula) => formula.root);
      const grains = await loadGrains(testOpts(), { core: CORE_GRAINS, warn: () => {} });
      grains.set("id", "web1");
      const settingOf = (host: keyof typeof HOSTS) =>
        map({ file_roots: roots, cachedir: `${root}/${host}`, id: "web1", grains: grainsOf(host, grains) });
      await using own = new PythonCompiler(python, dumpJson(settingOf("own")));
      await using rocky = all !== "" ? new PythonCompiler(python, dumpJson(settingOf("rocky"))) : null;
      const theirs = { own, rocky: rocky ?? own };
      const ours = new OurCompiler(root, roots, grains);
      let equal = 0, refused = 0, cases = 0;
      for (const formula of formulas) {
        await t.step(formula.name, async () => {
          const differing: string[] = [];
          for (const one of casesOf(formula, all !== "")) {
            cases++;
            let expected = await theirs[one.host].compile(one);
            const answer = await ours.compile(one);
            let difference = differenceOf(answer, expected);
            if (difference !== undefined) {
              // A change of Salt's own values by a template stays in that process.
              await using fresh = new PythonCompiler(python, dumpJson(settingOf(one.host)));
              expected = await fresh.compile(one);
              difference = differenceOf(answer, expected);
            }
            if (difference !== undefined) {
              differing.push(`${one.sls}, pillar ${one.pillarName}, host ${one.host}:\n${difference}`);
            } else if ("low" in expected) equal++;
            else refused++;
          }
          assertEquals(differing, []);
        });
      }
      const counts = `${cases} cases: ${equal} with equal low data, ${refused} refused for the same reason\n`;
      Deno.stdout.writeSync(new TextEncoder().encode(counts));
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

/** The result of our function: low data in the form of Python's `repr`, or errors. */
type Found = { readonly low: string } | { readonly errors: readonly string[] };

class OurCompiler {
  readonly #root: string;
  readonly #roots: readonly string[];
  readonly #grains: ValueMap;

  constructor(root: string, roots: readonly string[], grains: ValueMap) {
    this.#root = root;
    this.#roots = roots;
    this.#grains = grains;
  }

  async compile({ sls, pillar, host }: Case): Promise<Found> {
    const opts = testOpts({
      root_dir: `${this.#root}/ours`,
      file_client: "local",
      file_roots: map({ base: this.#roots }),
      pillar_roots: map({ base: [] }),
    });
    const grains = grainsOf(host, this.#grains);
    const data = loadYaml(pillar);
    const context = testContext({
      opts,
      grains,
      pillar: isMap(data) ? data : new Map(),
      catalogue: loadCatalogue({ grains: () => grains }),
    });
    const { return: low } = await run("state.show_low_sls", [sls], context);
    // The return code may come from a command that a template runs.
    if (Array.isArray(low) && low.every(isMap)) return { low: repr(low) };
    return { errors: Array.isArray(low) ? low.map(str) : [str(low)] };
  }
}

/** @returns The difference; `undefined` if there is none. */
function differenceOf(answer: Found, expected: CompileAnswer): string | undefined {
  if ("errors" in answer || "errors" in expected) {
    const [ours, theirs] = [errorsOf(answer), errorsOf(expected)];
    const same = ours.length === theirs.length && theirs.every((text, i) => reason(ours[i]) === reason(text));
    return same ? undefined : `ours:   ${ours.join("\n        ")}\nPython: ${theirs.join("\n        ")}`;
  }
  const theirs = repr(fromTyped(expected.low));
  if (answer.low === theirs) return undefined;
  let at = 0;
  while (answer.low[at] === theirs[at]) at++;
  const around = (text: string) => text.slice(Math.max(0, at - 100), at + 200);
  return `ours:   …${around(answer.low)}\nPython: …${around(theirs)}`;
}

function errorsOf(answer: Found | CompileAnswer): readonly string[] {
  return "errors" in answer ? answer.errors : [`${String(answer.low).slice(0, 200)}`];
}

/**
 * The first line of an error. Names of Python's classes are removed, because they differ between releases; in a
 * traceback, the line of the file comes last.
 */
function reason(text: string): string {
  const [first] = text.split("\n", 1);
  return first.replaceAll("salt.utils.optsdict.DictProxy", "dict").replace(/( Jinja error: .*); line \d+$/, "$1");
}
