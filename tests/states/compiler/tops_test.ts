/**
 * Top files, compared with Python Salt's results for the same files: tests/corpus/tops.json.
 * @module
 */

import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { isTargetType, matchesTarget } from "#lib/targeting/target.ts";
import { matchTop, readTop, type TopOptions } from "#lib/states/compiler/top_files.ts";
import { TopRenderError } from "#lib/states/compiler/top_merge.ts";
import type { TopSource } from "#lib/states/compiler/source.ts";
import { verifyTop } from "#lib/states/compiler/top_verify.ts";
import { fromTyped, readCorpus, type Typed } from "#tests/support/typed_values.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { map, repr, type Value } from "#lib/values/value.ts";

interface Case {
  readonly name: string;
  readonly files: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly opts: {
    readonly saltenv?: string;
    readonly top_file_merging_strategy?: string;
    readonly env_order?: readonly string[];
    readonly default_top?: string;
    readonly state_top_saltenv?: string;
    readonly master_tops_first?: boolean;
  };
  readonly master_tops: Readonly<Record<string, readonly string[]>>;
  readonly data?: Typed;
  readonly errors?: readonly string[];
  readonly raises?: string;
  readonly fails?: string;
}

const ENVS = ["base", "dev", "prod"];

function sourceOf({ files, opts, master_tops }: Case): TopSource {
  const read = (env: string, path: string) => {
    const text = files[env]?.[path];
    return Promise.resolve(text === undefined ? undefined : { data: loadYaml(text), isInit: false });
  };
  const order = [...new Set(opts.env_order ?? [])].filter((env) => ENVS.includes(env));
  return {
    envs: () => Promise.resolve(order.length > 0 ? order : ENVS),
    available: (env) => Promise.resolve(Object.keys(files[env] ?? {}).map((path) => path.slice(0, -4)).sort()),
    render: (sls, env) => read(env, `${sls}.sls`),
    renderTop: (env) => read(env, "top.sls"),
    masterTops: () => Promise.resolve(new Map(Object.entries(master_tops))),
  };
}

const SUBJECT = {
  id: "web1",
  grains: factsOf(map({ os: "Debian", id: "web1", ipv4: ["192.0.2.2"] })),
  pillar: factsOf(map({ role: "web" })),
};

function optionsOf({ opts }: Case): TopOptions {
  return {
    strategy: opts.top_file_merging_strategy ?? "merge",
    defaultTop: opts.default_top ?? "base",
    saltenv: opts.saltenv,
    stateTopSaltenv: opts.state_top_saltenv,
    masterTopsFirst: opts.master_tops_first ?? false,
    matches(tgt: Value, tgtType: string) {
      if (!isTargetType(tgtType)) throw new TypeError(`${tgtType} is no matcher`);
      return matchesTarget({ tgt, tgtType }, SUBJECT, { nodegroups: map({ ng: "web1" }) });
    },
  };
}

for (const row of await readCorpus<Case>("tops.json")) {
  // If Python fails by a bug, another test checks our result.
  if (row.fails !== undefined) continue;
  Deno.test(`Salt's answer: ${row.name}`, async () => {
    const source = sourceOf(row), options = optionsOf(row);
    if (row.raises !== undefined) {
      await assertRejects(() => readTop(source, options), TopRenderError, row.raises);
      return;
    }
    const { top, places } = await readTop(source, options);
    const errors = verifyTop(top, places).map(({ text }) => text);
    if (row.errors !== undefined) assertEquals(errors, row.errors);
    else assertEquals(repr(await matchTop(top, source, options)), repr(fromTyped(row.data ?? "null")));
  });
}

Deno.test("readTop() reports the error of a top file that is a list", async () => {
  const row: Case = { name: "", files: { base: { "top.sls": "[a]" } }, opts: {}, master_tops: {} };
  await assertRejects(
    () => readTop(sourceOf(row), optionsOf(row)),
    TopRenderError,
    "The top file of saltenv 'base' does not render to a dictionary, but to list.",
  );
});
