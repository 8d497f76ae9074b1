import { YamlError } from "../../lib/errors.ts";
import { yamlRenderText, yamlText } from "../../lib/template_filters/yaml_words.ts";
import { loadYaml } from "../../lib/yaml/load.ts";
import { assert, assertEquals } from "../support/assert.ts";
import corpus from "../corpus/yaml_errors.json" with { type: "json" };

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
