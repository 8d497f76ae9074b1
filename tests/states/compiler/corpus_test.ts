/**
 * The compiler, compared with Python Salt's results for the same files, stage by stage: tests/corpus/states.json.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import type { CompileError } from "#lib/states/compiler/compile_error.ts";
import {
  compile,
  type CompileOptions,
  LOW_SLS,
  LOWSTATE,
  type StageRoute,
  VERIFIED,
} from "#lib/states/compiler/stages.ts";
import type { StateModules } from "#lib/states/compiler/order.ts";
import type { SlsSource } from "#lib/states/compiler/source.ts";
import { walkSls } from "#lib/states/compiler/walk.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { repr, type Value } from "#lib/values/value.ts";

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly mods: readonly string[];
  readonly opts?: {
    readonly state_auto_order?: boolean;
    readonly state_aggregate?: boolean;
    readonly disabled_requisites?: readonly string[];
  };
  readonly sls?: Answer;
  readonly low_sls?: Answer;
  readonly low?: Answer;
}

type Answer = { readonly errors: readonly string[] } | { readonly data: Typed } | { readonly raises: string };

const MODULES: StateModules = {
  watches: (module) => ["at", "cmd", "etcd", "event", "module", "mount", "pkg", "service", "test"].includes(module),
  aggregates: (module) => ["iptables", "pkg", "selinux"].includes(module),
  signature: () => undefined,
};

function sourceOf({ files }: Case): SlsSource {
  const nameOf = (path: string) => path.replace(/(\/init)?\.sls$/, "").replaceAll("/", ".");
  return {
    envs: () => Promise.resolve(["base", "dev"]),
    available: (env) => Promise.resolve(Object.keys(files[env] ?? {}).map(nameOf).sort()),
    render(sls, env) {
      const stem = sls.replaceAll(".", "/");
      for (const path of [`${stem}.sls`, `${stem}/init.sls`]) {
        const text = files[env]?.[path];
        if (text === undefined) continue;
        const data = loadYaml(text);
        return Promise.resolve({ data: data === null ? new Map() : data, isInit: path.endsWith("/init.sls") });
      }
      return Promise.resolve(undefined);
    },
  };
}

async function answer(row: Case, route: StageRoute, what: "high" | "chunks"): Promise<Value | readonly string[]> {
  const walked = await walkSls(new Map([["base", row.mods]]), sourceOf(row), { autoOrder: row.opts?.state_auto_order });
  const texts = (errors: readonly CompileError[]) => errors.map(({ text }) => text);
  const options: CompileOptions = {
    disabledRequisites: row.opts?.disabled_requisites ?? [],
    aggregate: row.opts?.state_aggregate ?? false,
    disabledStates: [],
    modules: MODULES,
  };
  // A run ends after errors of files; a function that only shows states continues with the verification.
  if (walked.errors.length > 0 && route === LOWSTATE) return texts(walked.errors);
  const compiled = compile(walked, walked.errors.length > 0 ? VERIFIED : route, options);
  const errors = [...walked.errors, ...compiled.errors];
  return errors.length > 0 ? texts(errors) : compiled[what];
}

/** An exception in Python is no result to compare; ours are errors or a result. */
function check(answer: Value | readonly string[], expected: Answer | undefined): void {
  if (expected === undefined || "raises" in expected) return;
  if ("errors" in expected) assertEquals(answer, expected.errors);
  else assertEquals(repr(answer as Value), repr(fromTyped(expected.data)));
}

for (const row of await readCorpus<Case>("states.json")) {
  Deno.test(`Salt's answer: ${row.name}`, async () => {
    check(await answer(row, VERIFIED, "high"), row.sls);
    check(await answer(row, LOW_SLS, "chunks"), row.low_sls);
    check(await answer(row, LOWSTATE, "chunks"), row.low);
  });
}
