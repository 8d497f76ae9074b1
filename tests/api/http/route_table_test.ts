import { matchRoute } from "#lib/api/http/route_table.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a path finds its route, with its parts decoded; one that is not well encoded finds none", () => {
  const routes = ["/", "/jobs", "/jobs/:jid", "/hook/*tag"].map((path) => ({ path, target: path }));
  const cases: [path: string, route: string | undefined, params?: Record<string, string>][] = [
    ["/", "/"],
    ["//", "/"],
    ["/jobs/", "/jobs"],
    ["/%6aobs", "/jobs"],
    ["/jobs/2026%2f1", "/jobs/:jid", { jid: "2026/1" }],
    ["/jobs/1/2", undefined],
    ["/jobs/%", undefined],
    ["/jobs/%ff", undefined],
    ["/%E0%A4%A", undefined],
    ["/hook", "/hook/*tag", { tag: "" }],
    ["/hook/a/../b%20c/", "/hook/*tag", { tag: "a/../b c" }],
    ["/hook/a/%zz/b", undefined],
    ["/nope", undefined],
  ];
  for (const [path, route, params = {}] of cases) {
    const found = matchRoute(routes, path);
    assertEquals([found?.target, found?.path, found?.params], [route, route, route && params], path);
  }
});
