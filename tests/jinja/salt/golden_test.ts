import { assertEquals } from "@std/assert";
import { CommandError, RenderError } from "#lib/errors.ts";
import { renderJinja } from "#lib/jinja/salt/render_jinja.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { copyDeep } from "#lib/values/dict_update.ts";
import { mergeMaps } from "#lib/values/dict_merge.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { traverse } from "#lib/yaml/traverse.ts";
import golden from "#tests/corpus/jinja.json" with { type: "json" };
import { renderFixture } from "#tests/support/files/render_scope.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A template, and Salt's result. */
interface Case {
  readonly group: string;
  readonly name: string;
  readonly tpl: string;
  readonly expected: { readonly ok?: string; readonly err?: string; readonly line?: number; readonly full?: string };
}

const { files, cases }: { readonly files: Readonly<Record<string, string>>; readonly cases: readonly Case[] } = golden;

const grains = map({ os_family: "Debian", os: "Debian", id: "m1" });

function pillar(): ValueMap {
  return map({
    nginx: { server: { port: 8080, name: "web" }, list: ["a", "b"], mode: "0600" },
    users: { alice: { groups: ["wheel", "dev"] }, bob: null },
  });
}

function asMap(value: Value | undefined): ValueMap {
  return value !== undefined && isMap(value) ? value : new Map();
}

/** The functions that the cases call, with the values of Salt's rendering. */
function functionsWith(data: ValueMap) {
  return {
    "grains.get": ([key]: Value[]) => grains.get(key) ?? "",
    "grains.filter_by": ([table]: Value[], kwargs: ValueMap) =>
      asMap(table).get(grains.get(kwargs.get("grain") ?? "os_family") ?? null) ?? null,
    "pillar.get": ([key, fallback]: Value[], kwargs: ValueMap) => {
      const value = traverse(data, key) ?? fallback ?? kwargs.get("default") ?? "";
      if (kwargs.get("merge") !== true) return value;
      return mergeMaps(asMap(kwargs.get("default")), asMap(value), { strategy: "smart" });
    },
    "slsutil.merge": ([a, b]: Value[]) => mergeMaps(copyDeep(asMap(a)), asMap(b), { strategy: "smart" }),
    "cmd.run": ([command]: Value[]) => `out:${str(command)}`,
    "test.echo": ([text]: Value[]) => text,
    "test.kw": (args: Value[], kwargs: ValueMap) => `a=${dumpJson(args)} k=${dumpJson(kwargs)}`,
    "test.fail": () => {
      throw new CommandError("no luck");
    },
  };
}

for (const { group, name, tpl, expected } of cases) {
  Deno.test(`Salt's Jinja, ${group}: ${name}`, () =>
    withTemporaryDirectory(async (directory) => {
      const data = pillar();
      const host = renderFixture({ files, directory, grains, pillar: data, functions: functionsWith(data) });
      const context = new Map<Value, Value>([["tplroot", "nginx"], ["tpldir", "nginx"]]);
      const request = { text: tpl, sls: "nginx", context };
      const text = await renderJinja(tpl, TextOrigin.ofFile(tpl), { request, host })
        .then((made) => ({ ok: made.text }), (error) => error);
      if (expected.ok !== undefined) return assertEquals(text, { ok: expected.ok });
      if (!(text instanceof RenderError)) throw text;
      // For an error other than Jinja's, Salt adds Python's traceback; ours has only its last line.
      const traced = expected.err?.startsWith("Jinja error:") === true;
      const last = `TemplateError: ${expected.err?.slice("Jinja error: ".length)}; line ${expected.line}`;
      assertEquals(text.message, traced ? `${expected.err}\n${last}` : expected.err);
      if (!traced) assertEquals(text.saltText, expected.full);
      assertEquals(text.detail.place?.line, expected.line);
    }));
}
