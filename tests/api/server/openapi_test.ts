/** The OpenAPI document: valid, of every route, and true. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { apiRoutes } from "#lib/api/server/routes.ts";
import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { openApiDocument } from "#lib/api/server/openapi.ts";
import { map } from "#lib/values/value.ts";
import { Validator } from "@seriousme/openapi-schema-validator";

const directory = Deno.makeTempDirSync({ prefix: "api_openapi_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, { alice: [".*"] });

Deno.test("the document is valid, and names every route with its answers and errors", async () => {
  const { settings } = apiSettings(map({ port: 8000, host: "127.0.0.1" }));
  const routes = apiRoutes(settings);
  const document = JSON.parse(JSON.stringify(openApiDocument(routes)));
  const { valid, errors } = await new Validator().validate(document);
  assert(valid, JSON.stringify(errors));
  assertEquals(Object.keys(document.paths).length, routes.length);
  for (const { path, target } of routes) {
    const item = document.paths[path.replace(/[:*](\w+)/g, "{$1}")];
    for (const method of Object.keys(target)) {
      const operation = item[method.toLowerCase()];
      assert(operation.summary !== "" && Object.keys(operation.responses).length > 5, `${method} ${path}`);
    }
  }
  const ids = routes.flatMap(({ path, target }) => Object.keys(target).map((method) => `${method} ${path}`));
  assertEquals(new Set(ids).size, ids.length);
  // A reference to nothing, and an own type that is wrong, are found.
  document.paths["/run"].post.requestBody = { content: [] };
  assertEquals((await new Validator().validate(document)).valid, false);
});

fleetTest(
  "?functions=1 has a type for each function's arguments, for those with a session",
  { master },
  async (fleet) => {
    await using site = await ApiSite.start(fleet);
    const ask = async (headers: Record<string, string>) =>
      await fetch(site.url("/openapi.json?functions=1"), { headers });
    const refused = await ask({});
    assertEquals(refused.status, 401);
    await refused.body?.cancel();
    const document = await (await ask({ "X-Auth-Token": await site.logIn("alice") })).json();
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    assert(valid, JSON.stringify(errors));
    const { schemas } = document.components;
    assertEquals(schemas["local.test.sleep"].properties.length, { type: ["number", "string"] });
    assertEquals(schemas["local.test.ping"].additionalProperties, false);
    assert(Object.hasOwn(schemas, "runner.jobs.list_jobs") && Object.hasOwn(schemas, "wheel.key.accept"));
    assertEquals((await site.post("/openapi.json", {})).status, 405);
  },
);
