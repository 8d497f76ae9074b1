import { assert, assertEquals } from "@std/assert";
import { RenderError } from "#lib/errors.ts";
import { renderJinja } from "#lib/jinja/salt/render_jinja.ts";
import { TextOrigin } from "#lib/plugins/text_origin.ts";
import { type RenderFixture, renderFixture } from "#tests/support/files/render_scope.ts";

async function failure(text: string, host: RenderFixture = renderFixture()): Promise<string> {
  const request = { text, sls: "a.b", path: "/srv/a/b.sls" };
  const made = await renderJinja(text, TextOrigin.ofFile(text), { request, host }).catch((error) => error);
  assert(made instanceof RenderError, `${text} renders to ${made.text}`);
  return made.message;
}

Deno.test("a template's relative names cannot leave the state tree", async () => {
  for (const name of ["../../../etc/passwd", "./../../x", "../../.."]) {
    const host = renderFixture();
    assertEquals(await failure(`{% include '${name}' %}`, host), `Jinja error: ${name}; line 1`);
    assertEquals(host.requestedUrls, []);
    assertEquals(host.logged, [
      `warning: Discarded template path "${name}": attempts to ascend outside of salt://`,
    ]);
  }
});

Deno.test("a template can access neither private attributes nor inherited properties of JavaScript objects", async () => {
  const unsafe = "Jinja syntax error: access to attribute '__class__' of 'str' object is unsafe.; line 1";
  assertEquals(await failure("{{ 'x'.__class__ }}"), unsafe);
  assertEquals(await failure("{{ 'x'['__class__'] }}"), unsafe);
  assertEquals(await failure("{{ 'x'|attr('__class__') }}"), unsafe);
  for (const name of ["constructor", "prototype", "toString", "hasOwnProperty", "valueOf"]) {
    for (const value of ["'x'", "{}", "[]", "salt.test", "grains", "range", "5", "opts"]) {
      const message = await failure(`{{ ${value}.${name} }}`);
      assert(/^Jinja variable .* has no attribute/.test(message), `${value}.${name}: ${message}`);
    }
  }
  assertEquals(
    await failure("{{ {}|method_call('constructor')|length }}"),
    "Jinja error: object of type 'NoneType' has no len(); line 1",
  );
});

Deno.test("a template that needs too much memory, or more steps than one operation may take, fails with an error message", async () => {
  const cases = [
    "{{ range(10**9)|list }}",
    "{{ 'x' * 10**12 }}",
    "{{ [1] * 10**12 }}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ '10.0.0.0/8'|network_hosts }}",
    "{{ range(600)|permutations(600)|list }}",
    "{% set l = [] %}{% do l.append(l) %}{{ l|json }}",
    "{% set l = [] %}{% do l.append(l) %}{{ l|flatten }}",
    "{% set l = [] %}{% do l.append(l) %}{{ l|yaml }}",
    "{% set l = [] %}{% do l.append(l) %}{{ l|json_encode_list }}",
    "{{ '&a [*a]'|load_yaml }}",
    "{{ [1]|product(repeat=100000)|list }}",
    "{{ (10**10)|random_str }}",
    "{{ 10**(10**10) }}",
    `{{ '${"[".repeat(600)}'|load_json }}`,
    `{{ '${"[".repeat(600)}'|load_yaml }}`,
    "{{ ('(a+)+$')|regex_search('x')|length }}{{ ('a' * 40 ~ 'b')|regex_match('(a|a)*(a|a)*(a|a)*$')|length }}",
  ];
  for (const text of cases) assert(/^Jinja /.test(await failure(text)), text);
});
