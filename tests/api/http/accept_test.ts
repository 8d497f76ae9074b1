import { preferredType, prefers } from "#lib/api/http/accept.ts";
import { assertEquals } from "#tests/support/assert.ts";

const OFFERED = ["application/json", "application/x-yaml"];

Deno.test("the type with the greatest weight is preferred, by the most specific range that names it", () => {
  const cases: [header: string | null, type: string | undefined][] = [
    [null, OFFERED[0]],
    [" ", OFFERED[0]],
    ["*/*", OFFERED[0]],
    ["application/x-yaml", OFFERED[1]],
    ["application/json;q=0.5, application/X-YAML", OFFERED[1]],
    ["application/json;q=0, */*;q=0.1", OFFERED[1]],
    ["application/*;q=0.2, application/json;q=0.1", OFFERED[1]],
    ["text/html", undefined],
    // Empty ranges are none, and a weight that is none is 1.
    [",, ;q=1, application/x-yaml;level=1;q=nine ,", OFFERED[1]],
    [", ;q=1", undefined],
    [`${"text/a,".repeat(60)}application/json`, undefined],
  ];
  for (const [header, type] of cases) assertEquals(preferredType(header, OFFERED), type, header ?? "none");
});

Deno.test("a browser prefers HTML, a program that takes anything does not", () => {
  const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const cases: [header: string | null, isPreferred: boolean][] = [
    [null, false],
    ["*/*", false],
    [browser, true],
    ["application/json, text/html", false],
    ["text/html, application/json", true],
    ["text/html;q=0.5, application/json;q=0.9", false],
    [", ,text/html", true],
  ];
  for (const [header, isPreferred] of cases) {
    assertEquals(prefers(header, "text/html", OFFERED), isPreferred, header ?? "none");
  }
});
