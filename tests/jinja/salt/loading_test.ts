import { assert, assertEquals, assertRejects } from "@std/assert";
import { JobEndedError, PythonError, RenderError } from "#lib/errors.ts";
import { conditionHolds } from "#lib/jinja/salt/condition.ts";
import { renderJinja } from "#lib/jinja/salt/render_jinja.ts";
import type { RenderRequest } from "#lib/plugins/renderer.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { type RenderFixture, renderFixture, type RenderFixtureParts } from "#tests/support/files/render_scope.ts";
import { map, type Value } from "#lib/values/value.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

async function rendered(
  text: string,
  request: Partial<RenderRequest> = {},
  parts: RenderFixtureParts | RenderFixture = {},
): Promise<string> {
  const host = "logged" in parts ? parts : renderFixture(parts);
  const { text: made } = await renderJinja(text, TextOrigin.ofFile(text), { request: { text, ...request }, host });
  return made;
}

Deno.test("without an environment a template loads the files beside it, and none above", () =>
  withTemporaryDirectory(async (directory) => {
    await Deno.mkdir(`${directory}/sub`);
    await Deno.writeTextFile(`${directory}/inc`, "inc {{ 1 }}");
    await Deno.writeTextFile(`${directory}/sub/deep`, "deep");
    await Deno.writeFile(`${directory}/latin`, new Uint8Array([0x61, 0xe9]));
    await Deno.create(`${directory}/huge`).then((file) => file.truncate(64 * 2 ** 20 + 1).then(() => file.close()));
    const beside = { saltenv: "", path: `${directory}/top` };
    assertEquals(await rendered("{% include 'inc' %}|{% include '/sub/deep' %}", beside), "inc 1|deep");
    await Deno.writeTextFile(`${directory}/asks`, "{{ x | default('none') }}");
    const asked = "{% set x = 2 %}{% include 'asks' %}|{% include 'asks' without context %}";
    assertEquals(await rendered(asked, beside), "2|none");
    const failures: readonly (readonly [template: string, request: Partial<RenderRequest>, message: string])[] = [
      ["{% include 'sub/../inc' %}", beside, "Jinja error: sub/../inc; line 1"],
      ["{% include 'nope' %}", beside, "Jinja error: nope; line 1"],
      ["{% include 'nope' %}", {}, "No file 'nope' was found in the environment 'base'"],
      ["{% include 'nope' %}", beside, "No file 'nope' was found beside the template"],
      ["{% include 'inc' %}", { saltenv: "" }, "Jinja error: inc; line 1"],
      ["{% include 'latin' %}", beside, `'utf-8' codec can't decode ${directory}/latin: it is no UTF-8`],
      ["{% include 'huge' %}", beside, `${directory}/huge has 67108865 bytes, too many for a template`],
    ];
    for (const [template, request, message] of failures) {
      const error = await assertRejects(() => rendered(template, request), RenderError);
      const said = error instanceof RenderError ? error.text : String(error);
      assert(said.includes(message), said);
    }
  }));

Deno.test("a relative name means nothing in a template that is in no directory of the tree", async () => {
  const host = renderFixture();
  await assertRejects(() => rendered("{% include './x' %}", {}, host), RenderError, "./x");
  assertEquals(host.logged, ['warning: Relative path "./x" cannot be resolved without an environment']);
});

Deno.test("an error in a file that was loaded shows that file", () =>
  withTemporaryDirectory(async (directory) => {
    const host = renderFixture({ directory, files: { "lib.j": "one\n{% macro m() %}\n{{ nope }}{% endmacro %}" } });
    const error = await assertRejects(
      () => rendered("{% import 'lib.j' as lib %}{{ lib.m() }}", { sls: "web", path: "/srv/web.sls" }, host),
      RenderError,
    );
    assert(error.message.startsWith(`Jinja variable 'nope' is undefined\n${directory}/lib.j(3):\n`), error.message);
    assertEquals(error.detail.place?.file, "lib.j");
  }));

Deno.test("the filter http_query and the global ifelse are functions of the minion", async () => {
  const functions = {
    "http.query": (args: Value[], kwargs: Map<Value, Value>) => `${args[0]} ${[...kwargs].join()}`,
    "match.ifelse": (args: Value[]) => args[1],
  };
  const text = "{{ 'http://x'|http_query(method='GET') }} {{ ifelse('web*', 'yes') }}";
  assertEquals(await rendered(text, {}, { functions }), "http://x method,GET yes");
  const late = {
    "http.query": () => Promise.resolve("later"),
    "match.ifelse": () => Promise.resolve("then"),
  };
  assertEquals(await rendered(text, {}, { functions: late }), "later then");
  for (const [template, name] of [["'x'|http_query", "http.query"], ["ifelse('x')", "match.ifelse"]]) {
    await assertRejects(() => rendered(`{{ ${template} }}`), RenderError, `has no attribute '${name}'`);
    const own = { context: new Map<Value, Value>([["salt", new Map([[name, 5]])]]) };
    await assertRejects(() => rendered(`{{ ${template} }}`, own), RenderError, `needs the function ${name}`);
  }
});

Deno.test("dns_check in a template gives an address that answers", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    const { port } = listener.addr;
    assertEquals(
      await rendered(`{{ '127.0.0.1'|dns_check(${port}) }} {{ '::1'|dns_check(${port}, ipv6=true) }}`),
      "127.0.0.1 [::1]",
    );
    assertEquals(await rendered(`{{ '127.0.0.1'|dns_check(${port}, ipv6=false) }}`), "127.0.0.1");
  } finally {
    listener.close();
  }
});

Deno.test("the master's or minion's options change the syntax of all templates", async () => {
  const text = "a\n  {% if true %}\nb\n  {% endif %}\nc";
  assertEquals(await rendered(text, {}, { opts: { jinja_trim_blocks: true, jinja_lstrip_blocks: true } }), "a\nb\nc");
  assertEquals(await rendered(text, {}, { opts: { jinja_trim_blocks: true } }), "a\n  b\n  c");
  assertEquals(await rendered(text), "a\n  \nb\n  \nc");
  // More sets of options than are kept, twice: each has its own language.
  for (const i of [...Array(10).keys(), ...Array(10).keys()]) {
    const opts = { jinja_env: { variable_start_string: `<${i}`, variable_end_string: ">" } };
    assertEquals(
      await rendered(`<${i} 1 + 1 > {{ 2 }}`, {}, { opts: { jinja_env: map(opts.jinja_env) } }),
      "2 {{ 2 }}",
    );
  }
});

Deno.test("the end of a job ends its template, and is no error of the template", async () => {
  const functions = {
    "test.end": () => {
      throw new JobEndedError(15);
    },
  };
  await assertRejects(() => rendered("{{ salt['test.end']() }}", {}, { functions }), JobEndedError);
});

Deno.test("an empty text was written by no template", async () => {
  const host = renderFixture();
  const origin = await renderJinja("", TextOrigin.ofFile(""), { request: { text: "" }, host });
  assertEquals([origin.text, origin.place(1, 1)], ["", undefined]);
});

Deno.test("Python's expressions of a condition: its functions over containers, and what they refuse", async () => {
  const variables = new Map<string, Value>([["ret", [1, 0]]]);
  const cases: readonly (readonly [string, boolean])[] = [
    ["len(ret) == 2", true],
    ["any(ret) and not all(ret)", true],
    ["str(ret[0]) == '1' and bool(ret)", true],
    ["ret is None", false],
  ];
  for (const [condition, holds] of cases) assertEquals(await conditionHolds(condition, variables), holds, condition);
  for (const wrong of ["len(5) > 1", "any(1.5)", "all(None)"]) {
    await assertRejects(() => conditionHolds(wrong, variables), PythonError, "has no len()");
  }
});

Deno.test("salt.get is a dict's: the function, or the fallback", async () => {
  const host = { functions: { "test.echo": ([value = null]: Value[]) => value } };
  assertEquals(await rendered("{{ salt.get('test.echo')('a') }}|{{ salt.get('test.no', 'b') }}", {}, host), "a|b");
  assertEquals(await rendered("{{ salt.get('test.no') }}|{{ salt.get(1, 'c') }}", {}, host), "None|c");
});
