import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { RenderError } from "#lib/errors.ts";
import { renderSls, renderTemplate } from "#lib/render/render.ts";
import { renderValue } from "#lib/render/render_value.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { render as renderMsgpack } from "#modules/renderers/msgpack.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { renderFixture } from "#tests/support/files/render_scope.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

async function data(text: string, opts: Record<string, unknown> = {}, path?: string): Promise<Value> {
  return (await renderSls({ text, ...path === undefined ? {} : { path } }, renderFixture({ opts }))).data;
}

function asMap(value: Value | undefined): ValueMap {
  if (value === undefined || !isMap(value)) throw new TypeError("no map");
  return value;
}

Deno.test("a text is rendered by the renderers of its first line, or of the option", async () => {
  assertEquals(await data("a: {{ 1 + 1 }}"), map({ a: 2 }));
  assertEquals(await data("#!yaml\na: '{{ 1 + 1 }}'\n", {}, "/x"), map({ a: "{{ 1 + 1 }}" }));
  assertEquals(await data('#!jinja|json\n{"a": {{ 2 }} }\n', {}, "/x"), map({ a: 2 }));
  assertEquals(await data('#!json_jinja\n{"a": {{ 2 }} }\n', {}, "/x"), map({ a: 2 }));
  assertEquals(await data("#!/bin/sh\na: 1\n", {}, "/x"), map({ a: 1 }));
  assertEquals(
    await data("a: 1", { renderer: "json" }).catch((error) => error.message),
    "Expecting value: line 1 column 1 (char 0)",
  );
  assertEquals(await data("#!text\nx {{ y }}\n", {}, "/x"), "#!text\nx {{ y }}\n");
  assertEquals(await data("#!jinja -s|yaml\na: 1\n", {}, "/x"), map({ a: 1 }));
  await assertRejects(() => data("#!jinja -x|yaml\na: 1\n", {}, "/x"), RenderError, "Unknown renderer option: -x");
});

Deno.test("an empty text, white space and an unknown renderer give an empty map", async () => {
  for (const text of ["", " \n\t\n", "#!nosuch\na: 1\n", "# a comment\n", "---\n"]) {
    assertEquals(await data(text, {}, "/x"), new Map());
  }
  const fixture = renderFixture();
  await renderSls({ text: "#!jinga|yaml\na: 1\n", path: "/x" }, fixture);
  assertEquals(fixture.logged, ['error: The renderer "jinga|yaml" is not available; did you mean jinja?']);
});

Deno.test("renderers that the options forbid are skipped and logged", async () => {
  const fixture = renderFixture({ opts: { renderer_blacklist: ["jinja"] } });
  assertEquals((await renderSls({ text: "a: '{{ x }}'" }, fixture)).data, map({ a: "{{ x }}" }));
  assertEquals(fixture.logged, ['warning: The renderer "jinja" is disallowed by configuration and will be skipped.']);
  assertEquals(await data("a: '{{ x }}'", { renderer_whitelist: ["yaml"] }), map({ a: "{{ x }}" }));
});

Deno.test("the error of a Salt renderer that is not built names the alternative", async () => {
  for (
    const name of ["py", "pyobjects", "pydsl", "mako", "wempy", "genshi", "cheetah", "nacl", "hjson"]
  ) {
    await assertRejects(() => data(`#!${name}\nx\n`, {}, "/x"), RenderError, `There is no renderer ${name} here. `);
  }
});

Deno.test("yamlex joins tagged values, with their positions", async () => {
  const text = "#!yamlex\na: !aggregate [1]\na: !aggregate [2]\nb: {{ 1 }}\n";
  assertEquals(await data(text.replace("{{ 1 }}", "3"), {}, "/x"), map({ a: [1, 2], b: 3 }));
  const error = await assertRejects(() => data(text, {}, "/x"), RenderError, 'in "<file>", line 4, column 5');
  assertEquals(error.detail.place?.line, 4);
  await assertRejects(() => data("#!yamlex\na: b: c\n", {}, "/x"), RenderError, "Unknown yaml render error");
  const { data: read, positions } = await renderSls(
    { text: text.replace("{{ 1 }}", "3"), path: "/x" },
    renderFixture(),
  );
  const list = asMap(read).get("a");
  if (!Array.isArray(list)) throw new TypeError("no list");
  assertEquals(positions?.key(asMap(read), "a")?.line, 3);
  assertEquals([0, 1].map((i) => positions?.item(list, i)?.line), [2, 3]);
});

Deno.test("JSON5 and TOML are read by their libraries, and their errors have positions", async () => {
  assertEquals(await data("#!json5\n{a: [1, 'x',], /* c */ b: .5}\n", {}, "/x"), map({ a: [1, "x"], b: 0.5 }));
  assertEquals(
    await data('#!toml\na = 1\nb = 2.5\n[c.d]\ne = ["x"]\n', {}, "/x"),
    map({ a: 1, b: 2.5, c: { d: { e: ["x"] } } }),
  );
  const json5 = await data("#!json5\n{a: }\n", {}, "/x.sls").catch((error) => error);
  assertEquals(json5.detail.place, { line: 2, column: 5, file: "/x.sls" });
  const toml = await data("#!toml\na = 1\nb = \n", {}, "/x.sls").catch((error) => error);
  assertEquals([toml.detail.place.line, toml.detail.place.file], [3, "/x.sls"]);
});

Deno.test("keys and items keep their positions in the file, through templates", async () => {
  const text =
    "{% set n = 2 %}\nweb:\n  pkg.installed:\n    - name: nginx\n{% for i in range(n) %}\nuser{{ i }}:\n  user.present:\n    - uid: {{ i }}\n" +
    "{% endfor %}\nlast: test.nop\n";
  const { data: made, positions } = await renderSls({ text, path: "/srv/web/init.sls", sls: "web" }, renderFixture());
  const top = asMap(made);
  const at = (map: ValueMap, key: Value) => {
    const place = positions.key(map, key);
    return place && `${place.file}:${place.line}:${place.column}`;
  };
  assertEquals(at(top, "web"), "web/init.sls:2:1");
  assertEquals(at(asMap(top.get("web")), "pkg.installed"), "web/init.sls:3:3");
  assertEquals(at(top, "user0"), "web/init.sls:6:1");
  assertEquals(at(top, "user1"), "web/init.sls:6:1");
  assertEquals(at(asMap(top.get("user1")), "user.present"), "web/init.sls:7:3");
  assertEquals(at(top, "last"), "web/init.sls:10:1");
  const items = asMap(top.get("user1")).get("user.present");
  assertEquals(Array.isArray(items) && positions.item(items, 0)?.line, 8);
  assertEquals(positions.key(top, "nope"), undefined);
  assertEquals(positions.key(new Map(), "web"), undefined);
});

Deno.test("the output of an included file has its positions in that file", () =>
  withTemporaryDirectory(async (directory) => {
    const fixture = renderFixture({ directory, files: { "web/part.jinja": "\npart:\n  test.nop: []\n" } });
    const request = {
      text: "a: 1\n{% include './part.jinja' %}\n{{ 'b' }}: 2\n",
      path: "/srv/web/init.sls",
      sls: "web",
    };
    const { data: made, positions } = await renderSls(request, fixture);
    assertEquals(positions.key(asMap(made), "part"), { file: "web/part.jinja", line: 2, column: 1 });
    assertEquals(positions.key(asMap(made), "b"), { file: "web/init.sls", line: 3, column: 4 });
    assertEquals(fixture.requestedUrls, ["salt://web/part.jinja"]);
  }));

Deno.test("a YAML error has Salt's words, an excerpt of the rendered text, and the position in the file", async () => {
  const text = "{% set x = 1 %}{% if x %}\na: 1\n{% endif %}\n\na: 2\n";
  const error = await renderSls({ text, path: "/srv/web.sls", sls: "web" }, renderFixture()).catch((error) => error);
  assertEquals(
    error.text,
    `while constructing a mapping
  in "<unicode string>", line 2, column 1
found conflicting ID 'a'
  in "<unicode string>", line 5, column 1

---

a: 1


a: 2    <======================
---
at web.sls:5:1
the key 'a' occurs twice in the same mapping.`,
  );
  const tab = await data("a:\n\tb: 1\n").catch((error) => error);
  assertEquals(tab.message, "found character that cannot start any token; line 2");
  const colon = await data("a: b: c\n").catch((error) => error);
  assertEquals(colon.message, "mapping values are not allowed in this context; line 1");
});

Deno.test("an error in an imported file names the importing file, and an undefined name a similar one", async () => {
  const directory = await Deno.makeTempDir({ prefix: "render_" });
  try {
    const fixture = renderFixture({
      directory,
      files: { "lib/m.jinja": "{% macro m(value) %}\n  {{ pilar }}\n{% endmacro %}\n" },
    });
    const text = "{% from 'lib/m.jinja' import m %}\n\n- {{ m(1) }}\n";
    const error = await renderSls({ text, path: "/srv/web.sls", sls: "web" }, fixture).catch((error) => error);
    assertEquals(
      error.text.replaceAll(directory, ""),
      `Jinja variable 'pilar' is undefined
/lib/m.jinja(2):
---
{% macro m(value) %}
  {{ pilar }}    <======================
{% endmacro %}
---
at lib/m.jinja:2:6
from web.sls:3:7
Did you mean 'pillar'?`,
    );
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("a template renders to text: it has no pipe and no variables of state files", async () => {
  const fixture = renderFixture();
  const managed = {
    text: "#! /bin/sh\n{{ sls is defined }} {{ tpldir is defined }} {{ saltenv }} {{ mode }}\n",
    path: "/srv/a.sh",
  };
  assertEquals(
    await renderTemplate("jinja", { ...managed, context: map({ mode: "0644" }) }, fixture),
    "#! /bin/sh\nFalse False base 0644\n",
  );
  const text = "{{ nope }}";
  await assertRejects(
    () => renderTemplate("jinja", { text }, fixture),
    RenderError,
    "Jinja variable 'nope' is undefined",
  );
  await assertRejects(() => renderTemplate("mako", { text }, fixture), RenderError, "There is no renderer mako here.");
  await assertRejects(
    () => renderTemplate("nosuch", { text }, fixture),
    RenderError,
    "There is no template engine nosuch",
  );
  assertEquals(await renderTemplate("jinja", { text: "a {{ b }}\r\n", context: map({ b: 1 }) }, fixture), "a 1\n");
  assertEquals(await renderTemplate("jinja", { text: "" }, fixture), "");
});

Deno.test("renderValue refuses an unknown renderer", async () => {
  await assertRejects(
    () => renderValue("nosuch", "x", renderFixture()),
    RenderError,
    'The renderer "nosuch" is not available',
  );
});

Deno.test("a template of a renderer of data, and a text for a renderer that got data, are errors", async () => {
  await assertRejects(
    () => renderTemplate("yaml", { text: "a: 1\n" }, renderFixture()),
    RenderError,
    "The renderer yaml returns data, not text",
  );
  await assertRejects(
    () => data("#!yaml|jinja\na: 1\n", {}, "/x"),
    RenderError,
    "The renderer jinja needs a text, and the one before it made a dict",
  );
});

Deno.test("braces that no template has read are explained; MessagePack is read of texts and bytes", async () => {
  const error = await data("#!yaml\na: {{ x }}\n", {}, "/x").catch((error) => error);
  assertEquals(error.text.includes("does the file go through jinja, or is a value missing its quotes?"), true);
  const made = (bytes: number[]) => {
    const origin = TextOrigin.ofFile("", undefined);
    return renderMsgpack({
      data: new Uint8Array(bytes),
      origin,
      argline: "",
      request: { text: "" },
      host: renderFixture(),
    });
  };
  assertEquals(made([0x81, 0xa1, 0x61, 1]).data, map({ a: 1 }));
  assertEquals(await data("#!msgpack\n\u0005", {}, "/x"), 5);
  assertEquals(await data("#!msgpack\n \n", {}, "/x"), new Map());
  assertThrows(() => made([0xc1]), RenderError, "No MessagePack");
});

Deno.test("dates of TOML are texts", async () => {
  assertEquals(
    await data("#!toml\nd = 1979-05-27T07:32:00Z\nb = true\n", {}, "/x"),
    map({ d: "1979-05-27T07:32:00.000Z", b: true }),
  );
});
