import { YamlError } from "#lib/errors.ts";
import { yamlRenderText, yamlText } from "#lib/jinja/filters/yaml_words.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import corpus from "#tests/corpus/yaml_errors.json" with { type: "json" };

for (const { text, full, rendered } of corpus) {
  Deno.test(`the error of ${JSON.stringify(text)} has Salt's words`, () => {
    let error: unknown;
    try {
      loadYaml(text);
    } catch (thrown) {
      error = thrown;
    }
    assert(error instanceof YamlError, String(error));
    assertEquals(yamlText(error, text), full);
    // An error without a position gets the line.
    assertEquals(yamlRenderText(error, text).replace(/; line \d+$/, ""), rendered);
  });
}

const OTHERWISE: readonly (readonly [text: string, words: string])[] = [
  ["!!bool maybe\n", '"maybe" is not of the type bool'],
  ["&a{{", "unexpected end of the stream within a flow collection"],
  ['<<:  {&"\\q>  1} ...#c\n\nb: 2', "bad indentation of a mapping entry"],
];
for (const [text, words] of OTHERWISE) {
  Deno.test(`an error without a known text in Salt, as in ${JSON.stringify(text)}, has the text of our parser`, () => {
    const error = assertThrows(() => loadYaml(text), YamlError);
    assertEquals(yamlRenderText(error, text), `${words}; line 1`);
    assert(
      yamlText(error, text).startsWith(`${words}\n  in "<unicode string>", line 1, column `),
      yamlText(error, text),
    );
  });
}
