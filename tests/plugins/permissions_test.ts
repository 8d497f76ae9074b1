import {
  joinPermissions,
  parsePermissions,
  permissionKey,
  type Permissions,
  workerPermissions,
} from "#lib/plugins/permissions.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const PARSED: readonly [unknown, Permissions][] = [
  [undefined, "none"],
  ["none", "none"],
  ["all", "all"],
  [{}, {}],
  [{ read: true, net: ["example.com:443"], run: false }, { read: true, net: ["example.com:443"] }],
];
for (const [given, parsed] of PARSED) {
  Deno.test(`the declaration ${JSON.stringify(given)} is read`, () =>
    assertEquals(parsePermissions(given, "x"), parsed));
}

const REFUSED: readonly [unknown, string][] = [
  ["some", 'own.f is neither "none", nor "all", nor an object'],
  [["read"], 'own.f is neither "none", nor "all", nor an object'],
  [null, 'own.f is neither "none", nor "all", nor an object'],
  [{ import: true }, "own.f.import is none of env, ffi, net, read, run, sys, write"],
  [{ constructor: true }, "own.f.constructor is none of env, ffi, net, read, run, sys, write"],
  [{ read: "/etc" }, "own.f.read is neither true nor a list of strings"],
  [{ read: [1] }, "own.f.read is neither true nor a list of strings"],
];
for (const [given, problem] of REFUSED) {
  Deno.test(`the declaration ${JSON.stringify(given)} is refused`, () => {
    assertThrows(() => parsePermissions(given, "own.f"), TypeError, problem);
  });
}

const SAME: readonly [Permissions, Permissions, boolean][] = [
  ["none", {}, true],
  ["none", { read: [] }, true],
  ["all", "none", false],
  [{ read: ["/a", "/b"], env: true }, { env: true, read: ["/b", "/a", "/a"] }, true],
  [{ read: ["/a", "/b"] }, { read: ["/a,/b"] }, false],
  [{ read: true }, { write: true }, false],
];
for (const [one, other, same] of SAME) {
  Deno.test(`${JSON.stringify(one)} and ${JSON.stringify(other)} combine to ${same ? "the same" : "different things"}`, () => {
    assertEquals(permissionKey(one) === permissionKey(other), same);
  });
}

Deno.test("several functions together have the permissions that each of them declares", () => {
  const joined = joinPermissions([{ read: ["/a"] }, "none", { read: ["/b"], env: true }, { env: ["PATH"] }]);
  assertEquals(joined, { read: ["/a", "/b"], env: true });
  assertEquals(joinPermissions([{ read: ["/a"] }, "all"]), "all");
  assertEquals(permissionKey(joinPermissions([])), "none");
});

Deno.test("a worker may read the custom modules, and paths below the directories in the options", () => {
  const options = { opts: { cachedir: "/var/cache/salt/minion", timeout: 5 }, modules: ["/ext/modules"] };
  assertEquals(workerPermissions("none", options), { read: ["/ext/modules"] });
  assertEquals(workerPermissions("all", options), "inherit");
  assertEquals(workerPermissions({ read: true, sys: ["uid"] }, options), { read: true, sys: ["uid"] });
  assertEquals(workerPermissions({ read: ["{cachedir}/x", "/y/{cachedir}"] }, options), {
    read: ["/var/cache/salt/minion/x", "/y/{cachedir}", "/ext/modules"],
  });
  for (const path of ["{nonesuch}/x", "{timeout}", "{constructor}"]) {
    assertThrows(() => workerPermissions({ read: [path] }, options), TypeError, "there is no option");
  }
});
