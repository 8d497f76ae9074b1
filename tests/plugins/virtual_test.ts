import { loadFamily, type ModuleTable, type VirtualNames } from "#lib/plugins/loader.ts";
import { functionsRefusal, parseVirtual, refusal, type Virtual, type VirtualHost } from "#lib/plugins/virtual.ts";
import { declaredPermissions } from "#lib/plugins/declared_permissions.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { map, type Value } from "#lib/values/value.ts";
import { EXECUTION_MODULES, VIRTUAL_NAMES } from "#modules/execution/_built_in.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";

function host(grains: Record<string, Value>, programs: readonly string[] | undefined = []): VirtualHost {
  return {
    grains: () => map(grains),
    hasProgram: (name) => programs?.includes(name),
    hasPath: (path) => path === "/etc/at",
  };
}

const DEBIAN = { os: "Debian", os_family: "Debian", kernel: "Linux", osmajorrelease: 12, init: "systemd" };

/** Conditions, and whether a Debian host with systemd and the program `at` meets them. */
const CONDITIONS: readonly (readonly [Virtual, boolean])[] = [
  [{}, true],
  [{ name: "x" }, true],
  [{ serves: [{ grains: { os_family: ["Debian"] }, otherwise: "no" }] }, true],
  [{ serves: [{ grains: { os_family: ["RedHat"] }, otherwise: "no" }] }, false],
  [{ serves: [{ grains: { os_family: ["RedHat"], os: ["Debian"] }, otherwise: "no" }] }, false],
  [{ serves: [{ grains: [{ os_family: ["RedHat"] }, { os: ["Fedora", "Debian"] }], otherwise: "no" }] }, true],
  [{ serves: [{ grains: { osmajorrelease: ["12"] }, otherwise: "no" }] }, true],
  [{ serves: [{ grains: { nosuch: ["12"] }, otherwise: "no" }] }, false],
  [{ serves: [{ unless: { init: ["systemd"] }, otherwise: "no" }] }, false],
  [{ serves: [{ unless: { init: ["openrc"] }, otherwise: "no" }] }, true],
  [{ serves: [{ programs: ["at"], otherwise: "no" }] }, true],
  [{ serves: [{ programs: ["batch", "at"], otherwise: "no" }] }, true],
  [{ serves: [{ programs: ["crontab"], otherwise: "no" }] }, false],
  [{ serves: [{ unlessHost: { programs: ["at"], paths: ["/etc/at"] }, otherwise: "no" }] }, false],
  [{ serves: [{ unlessHost: { programs: ["at"], paths: ["/etc/batch"] }, otherwise: "no" }] }, true],
  [{ serves: [{ unlessHost: { programs: ["batch"] }, otherwise: "no" }] }, true],
  [{ serves: [{ unlessHost: { programs: ["at"], without: ["at"] }, otherwise: "no" }] }, true],
  [{ serves: [{ unlessHost: { programs: ["at"], without: ["batch"] }, otherwise: "no" }] }, false],
  [{ serves: [{ programs: ["at"], otherwise: "a" }, { grains: { os: ["Arch"] }, otherwise: "no" }] }, false],
];

for (const [virtual, serves] of CONDITIONS) {
  Deno.test(`refusal() ${serves ? "accepts" : "refuses"} a Debian for ${JSON.stringify(virtual)}`, () => {
    assertEquals(refusal(virtual, host(DEBIAN, ["at"])), serves ? undefined : "no");
  });
}

Deno.test("a state module is available if the minion has one of the functions that it needs", async () => {
  const virtual = parseVirtual({ serves: [{ functions: ["pkg.install", "pkg.add"], otherwise: "no pkg" }] });
  assertEquals(await functionsRefusal(virtual, (name) => Promise.resolve(name === "pkg.add")), undefined);
  assertEquals(await functionsRefusal(virtual, () => Promise.resolve(false)), "no pkg");
  assertEquals(await functionsRefusal({}, () => Promise.resolve(false)), undefined);
});

Deno.test("a condition on programs is true if programs cannot be searched", () => {
  assertEquals(
    refusal({ serves: [{ programs: ["crontab"], otherwise: "no" }] }, {
      ...host({}),
      hasProgram: () => undefined,
      hasPath: () => undefined,
    }),
    undefined,
  );
});

const BROKEN: readonly (readonly [unknown, string])[] = [
  ["pkg", "virtual is not an object"],
  [{ name: "a b" }, "virtual.name is not a module's name"],
  [{ serves: {} }, "virtual.serves is not a list"],
  [{ serves: [{}] }, "virtual.serves[0].otherwise is not a string"],
  [{ serves: [{ otherwise: "", grain: {} }] }, "virtual.serves[0].grain is unknown"],
  [{ serves: [{ otherwise: "", programs: "at" }] }, "virtual.serves[0].programs is not a list of strings"],
  [{ serves: [{ otherwise: "", grains: { os: "Debian" } }] }, "virtual.serves[0].grains.os is not a list of strings"],
  [{ where: [] }, "virtual.where is unknown"],
];

for (const [given, message] of BROKEN) {
  Deno.test(`parseVirtual() refuses ${JSON.stringify(given)}`, () => {
    assertThrows(() => parseVirtual(given), TypeError, message);
  });
}

Deno.test("the literal of `virtual` is read from the text of a custom module's file", () => {
  const read = (text: string) => declaredPermissions(text).virtual;
  assertEquals(
    read('export const virtual = { name: "pkg", serves: [{ grains: { os: ["Arch"] }, otherwise: "no" }] };\nx();'),
    { virtual: { name: "pkg", serves: [{ grains: { os: ["Arch"] }, otherwise: "no" }] } },
  );
  assertEquals(read("export const virtual: Virtual = {} satisfies object;"), { virtual: {} });
  assertEquals(read("export const f = () => 1;"), { virtual: {} });
  assertEquals(read("const virtual = { name: 'x' };"), { virtual: {} });
  assertEquals(read("\nexport const virtual = make();"), { problem: '"virtual" is no literal in line 2' });
  assertEquals(read("export const virtual = { name: 'x' } || y;"), { problem: '"virtual" is no literal in line 1' });
  assertEquals(read("export const virtual = { name: '' };"), { problem: "virtual.name is not a module's name" });
});

const one = (text: string) => ({ f: { doc: "", params: {}, run: () => text } });
const TABLE: ModuleTable = {
  plain: () => Promise.resolve(one("plain")),
  apt: () =>
    Promise.resolve({
      virtual: { name: "pkg", serves: [{ grains: { os_family: ["Debian"] }, otherwise: "no apt" }] },
      ...one("apt"),
    }),
  yum: () =>
    Promise.resolve({
      virtual: { name: "pkg", serves: [{ grains: { os_family: ["RedHat"] }, otherwise: "no yum" }] },
      ...one("yum"),
    }),
  at: () =>
    Promise.resolve({ virtual: { serves: [{ programs: ["at"], otherwise: "at command not found" }] }, ...one("at") }),
};
const NAMES: VirtualNames = { pkg: ["apt", "yum"] };

async function names(options: Parameters<typeof loadFamily>[1]) {
  return (await loadFamily<null>(TABLE, { virtualNames: NAMES, ...options }).all()).map(({ name }) => name);
}

async function pkgIs(options: Parameters<typeof loadFamily>[1]) {
  const fun = await loadFamily<null>(TABLE, { virtualNames: NAMES, ...options }).get("pkg.f");
  return fun?.run({}, null, { args: [], kwargs: new Map() });
}

Deno.test("of several modules with the same virtual name, the first available one is used, and only by that name", async () => {
  assertEquals(await names({ host: host({ os_family: "RedHat" }, ["at"]) }), ["at.f", "pkg.f", "plain.f"]);
  assertEquals(await pkgIs({ host: host({ os_family: "RedHat" }) }), "yum");
  assertEquals(await pkgIs({ host: host({ os_family: "Debian" }) }), "apt");
  assertEquals(await pkgIs({}), "apt", "without a host all serve");
});

Deno.test("of several available modules, the later ones add functions that the first one does not have", async () => {
  const fun = (text: string) => ({ doc: "", params: {}, run: () => text });
  const linux = { serves: [{ grains: { kernel: ["Linux"] }, otherwise: "no Linux" }] };
  const table: ModuleTable = {
    first: () => Promise.resolve({ start: fun("first"), virtual: { name: "service", ...linux } }),
    other: () =>
      Promise.resolve({
        start: fun("x"),
        more: fun("x"),
        virtual: { name: "service", serves: [{ grains: { os: ["Arch"] }, otherwise: "no Arch" }] },
      }),
    second: () =>
      Promise.resolve({ start: fun("second"), mask: fun("second"), virtual: { name: "service", ...linux } }),
  };
  const family = loadFamily(table, {
    virtualNames: { service: ["first", "other", "second"] },
    host: host({ kernel: "Linux" }),
  });
  const resultOf = async (name: string) => {
    const fun = await family.get(name);
    return fun && await fun.run({}, undefined, { args: [], kwargs: new Map() });
  };
  assertEquals([await resultOf("service.start"), await resultOf("service.mask"), await resultOf("service.more")], [
    "first",
    "second",
    undefined,
  ]);
  assertEquals((await family.all()).map(({ name }) => name), ["service.mask", "service.start"]);
  assertEquals(await family.providers(), new Map([["service", "first"]]));
});

Deno.test("a module whose virtual name is that of its file is added to, also if a user's file takes its place", async () => {
  const fun = (text: string) => ({ doc: "", params: {}, run: () => text });
  const debian = { serves: [{ grains: { os_family: ["Debian"] }, otherwise: "no Debian" }] };
  const table: ModuleTable = {
    web: () => Promise.resolve({ start: fun("web"), virtual: { name: "web" } }),
    deb_web: () => Promise.resolve({ enable: fun("deb_web"), virtual: { name: "web", ...debian } }),
  };
  const functions = async (options: Parameters<typeof loadFamily>[1]) => {
    const family = loadFamily(table, { virtualNames: { web: ["web", "deb_web"] }, ...options });
    return (await family.all()).map(({ name }) => name);
  };
  assertEquals(await functions({ host: host({ os_family: "Debian" }) }), ["web.enable", "web.start"]);
  assertEquals(await functions({ host: host({ os_family: "RedHat" }) }), ["web.start"]);
  assertEquals(await functions({ host: host({ os_family: "Debian" }), disabled: ["web"] }), []);
  await withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/web.js`, "export const own = { params: {}, run: () => 1 };");
    const own = { host: host({ os_family: "Debian" }), directories: [root] };
    assertEquals(await functions(own), ["web.enable", "web.own"]);
  });
});

Deno.test("if none is available, the reasons are reported by the virtual name and by the file name", async () => {
  const family = loadFamily<null>(TABLE, { virtualNames: NAMES, host: host({ os_family: "Arch" }) });
  assertEquals(await family.get("pkg.f"), undefined);
  assertEquals([...family.refusals()], [["apt", "no apt"], ["yum", "no yum"], ["pkg", "no apt; no yum"]]);
  assertEquals((await family.all()).map(({ name }) => name), ["plain.f"]);
  assertEquals([...await family.providers()], [["plain", "plain"]]);
});

Deno.test("a module is available again as soon as the host has changed", async () => {
  let grains: Record<string, Value> = {};
  const family = loadFamily<null>(TABLE, {
    virtualNames: NAMES,
    host: { grains: () => map(grains), hasProgram: () => false, hasPath: () => false },
  });
  assertEquals(await family.get("pkg.f"), undefined);
  grains = { os_family: "Debian" };
  assert(await family.get("pkg.f") !== undefined);
  assertEquals(family.refusals().has("pkg"), false);
});

Deno.test("providers selects an implementation that would not be available; an unknown name is a warning", async () => {
  const warnings: string[] = [];
  const debian = { host: host({ os_family: "Debian" }), warn: (text: string) => warnings.push(text) };
  assertEquals(await pkgIs({ ...debian, chosen: new Map([["pkg", "yum"]]) }), "yum");
  assertEquals(warnings, []);
  assertEquals(await pkgIs({ ...debian, chosen: new Map([["pkg", "plain"]]) }), "apt");
  assertStringIncludes(warnings.join("\n"), "providers: there is no module 'plain' for 'pkg'");
});

Deno.test("modules are disabled and selected by virtual names and by file names", async () => {
  const debian = host({ os_family: "Debian" });
  assertEquals(await names({ host: debian, disabled: ["pkg"] }), ["plain.f"]);
  assertEquals(await names({ host: debian, disabled: ["apt"] }), ["plain.f"]);
  assertEquals(await names({ host: debian, only: ["pkg"] }), ["pkg.f"]);
  assertEquals(await names({ host: debian, only: ["apt"] }), ["pkg.f"]);
});

Deno.test("a name that only looks like a virtual name is not checked", async () => {
  for (const name of ["constructor.f", "__proto__.f", "toString.call"]) {
    assertEquals(await loadFamily<null>(TABLE, { virtualNames: NAMES }).get(name), undefined);
  }
});

Deno.test("the table of virtual names agrees with the modules' files", async () => {
  const virtualOf = new Map(
    Object.entries(VIRTUAL_NAMES).flatMap(([name, files]) => files.map((file) => [file, name])),
  );
  for (const [file, load] of Object.entries(EXECUTION_MODULES)) {
    const exports = await load();
    const { name } = parseVirtual("virtual" in exports ? exports.virtual : undefined);
    assertEquals(name, virtualOf.get(file), file);
  }
});

Deno.test("only modules whose functions may search programs have conditions on programs", async () => {
  for (const [file, load] of Object.entries(EXECUTION_MODULES)) {
    const exports = await load();
    const { serves = [] } = parseVirtual("virtual" in exports ? exports.virtual : undefined);
    if (!serves.some(({ programs }) => programs !== undefined)) continue;
    for (const [name, fun] of Object.entries(exports)) {
      if (name !== "virtual") assertEquals(fun.permissions, "all", `${file}.${name}`);
    }
  }
});

Deno.test("a call of a function of an unavailable module reports the reason, as in Salt", async () => {
  const catalogue = loadFamily<never>(TABLE, { virtualNames: NAMES, host: host({ os_family: "Arch" }) });
  const context = testContext({ catalogue: { ...loadCatalogue(), ...catalogue } });
  const resultOf = async (name: string) => (await run(name, [], context)).return;
  assertEquals(await resultOf("pkg.f"), "'pkg' __virtual__ returned False: no apt; no yum");
  assertEquals(await resultOf("yum.f"), "'yum' __virtual__ returned False: no yum");
  assertEquals(await resultOf("at.f"), "'at' __virtual__ returned False: at command not found");
  assertEquals(await resultOf("plain.g"), "'plain.g' is not available. Did you mean plain.f?");
});

Deno.test("test.provider names the file, and sys.list_modules lists the available modules", async () => {
  const catalogue = loadCatalogue();
  const context = testContext({ catalogue: { ...catalogue, states: loadCatalogue().states } });
  assertEquals((await run("test.provider", ["sys"], context)).return, "sys");
  assertEquals((await run("test.provider", ["nosuch"], context)).return, "");
});
