import { publishTopics } from "#lib/master/publisher/topics.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** SHA-1 of the id, as Python Salt's minions subscribe. */
const WEB1 = "977588a87e10582032716712ccf5d85d18a5fccf";

Deno.test("a publish uses the topics of its minions if the target names ids, else one for all", () => {
  for (const type of ["glob", "pcre", "list"]) assertEquals(publishTopics(type, ["web1"]), [WEB1]);
  for (const type of ["grain", "compound", "pillar", null]) assertEquals(publishTopics(type, ["web1"]), ["broadcast"]);
  assertEquals(publishTopics("glob", []), ["broadcast"]);
  assertEquals([publishTopics("list", ["web1"], true), publishTopics("glob", [], true)], [[WEB1, "syndic"], [
    "syndic",
  ]]);
});
