/**
 * Packages in a temporary root directory with a local repository, by real apt and dpkg.
 * @module
 */
import { which } from "#lib/programs/which.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { AptRoot } from "#tests/support/calls/apt_root.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";

const GRAINS = map({ os: "Debian", os_family: "Debian", osarch: "amd64", cpuarch: "x86_64", kernel: "Linux" });
const there = which("apt-get") !== undefined && which("dpkg-deb") !== undefined && Deno.uid() === 0;

function apt() {
  const context = testContext({ grains: GRAINS, catalogue: loadCatalogue({ grains: () => GRAINS }) });
  return async (name: string, ...args: unknown[]): Promise<Value> => {
    const { return: result } = await run(`pkg.${name}`, args.map(toValue), context);
    return result;
  };
}

function keywords(kwargs: Record<string, unknown>): Value {
  return map({ __kwarg__: true, ...kwargs });
}

Deno.test({
  name: "packages are installed, upgraded, held, removed and purged, and what changed is told",
  ignore: !there,
  async fn() {
    using root = new AptRoot([
      { name: "lib", version: "1.0" },
      { name: "hello", version: "1:1.0-1", depends: "lib" },
      { name: "other", version: "0.9" },
    ]);
    const pkg = apt();
    const refreshed = await pkg("refresh_db");
    assertStringIncludes(
      JSON.stringify([...(refreshed as Map<Value, Value>)]),
      `file:${root.path}/repository ./ Packages`,
    );
    assertEquals(await pkg("list_pkgs"), map({}));
    assertEquals(await pkg("latest_version", "hello", keywords({ refresh: false })), "1:1.0-1");
    assertEquals(
      await pkg("install", "hello"),
      map({ lib: { old: "", new: "1.0" }, hello: { old: "", new: "1:1.0-1" } }),
    );
    assertEquals(Deno.readTextFileSync(`${root.path}/etc/hello/conf`), "hello 1:1.0-1\n");
    assertEquals(await pkg("install", "hello"), map({}), "a second time nothing changes");
    assertEquals(await pkg("version", "hello"), "1:1.0-1");
    assertEquals(await pkg("version", "h*", "nosuch"), map({ hello: "1:1.0-1", nosuch: "" }));
    assertEquals(await pkg("latest_version", "hello", keywords({ refresh: false })), "");

    root.offer([{ name: "hello", version: "1:1.1-1", depends: "lib" }, { name: "hello", version: "1:0.9-1" }]);
    assertEquals(await pkg("list_upgrades"), map({ hello: "1:1.1-1" }));
    assertEquals(await pkg("upgrade_available", "hello"), true);
    assertEquals(await pkg("list_repo_pkgs", "hello"), map({ hello: ["1:1.1-1", "1:1.0-1", "1:0.9-1"] }));
    assertEquals(
      await pkg("hold", "hello"),
      map({
        hello: {
          name: "hello",
          changes: { old: "install", new: "hold" },
          result: true,
          comment: "Package hello is now being held.",
        },
      }),
    );
    assertEquals(await pkg("get_selections", keywords({ state: "hold" })), map({ hold: ["hello"] }));
    assertEquals(await pkg("upgrade", keywords({ refresh: false })), map({}), "what is held stays");
    const upgraded = map({ hello: { old: "1:1.0-1", new: "1:1.1-1" } });
    assertEquals(await pkg("install", keywords({ pkgs: [{ hello: ">=1:1.1" }] })), upgraded);
    assertEquals(
      await pkg("get_selections", keywords({ state: "hold" })),
      map({ hold: ["hello"] }),
      "and is held again",
    );
    const unheld = await pkg("unhold", "hello");
    assertStringIncludes(
      JSON.stringify([...(unheld as Map<Value, Map<Value, Value>>).get("hello")!]),
      "is no longer being held",
    );
    assertEquals(
      await pkg("install", "hello", keywords({ reinstall: true })),
      map({ hello: { old: "1:1.1-1", new: "1:1.1-1" } }),
    );

    assertEquals(await pkg("owner", "/etc/hello/conf"), "hello");
    assertEquals(await pkg("owner", "/etc/hello/conf", "/nosuch"), map({ "/etc/hello/conf": "hello", "/nosuch": "" }));
    assertEquals(
      await pkg("file_list", "lib"),
      map({ errors: [], files: ["/.", "/etc", "/etc/lib", "/etc/lib/conf"] }),
    );
    const info = (await pkg("info_installed", "lib") as Map<Value, Map<Value, Value>>).get("lib")!;
    assertEquals(
      ["name", "version", "packager", "group", "url", "description", "architecture"].map((key) => info.get(key)),
      [
        "lib",
        "1.0",
        "Test <test@example.com>",
        "misc",
        "https://example.com/lib",
        "the package lib\n of a test\n",
        "all",
      ],
    );

    assertEquals(await pkg("remove", "hell*"), map({ hello: { old: "1:1.1-1", new: "" } }));
    assertEquals(await pkg("list_pkgs", keywords({ removed: true })), map({ hello: "1:1.1-1" }));
    assertEquals(await pkg("autoremove", keywords({ list_only: true })), ["lib"]);
    assertEquals(await pkg("purge", "hello"), map({ removed: { hello: { old: "1:1.1-1", new: "" } }, installed: {} }));
    assertEquals(await pkg("autoremove"), map({ lib: { old: "1.0", new: "" } }));
    const file = root.build({ name: "single", version: "2.0" });
    assertEquals(
      await pkg("install", keywords({ sources: [{ single: file }] })),
      map({ single: { old: "", new: "2.0" } }),
    );
  },
});

Deno.test({
  name: "what cannot be installed is an error with what changed all the same, and no name becomes an option",
  ignore: !there,
  async fn() {
    using _root = new AptRoot([{ name: "good", version: "1.0" }]);
    const pkg = apt();
    await pkg("refresh_db");
    const failed = String(await pkg("install", "nosuch"));
    assertStringIncludes(
      failed,
      "ERROR: Problem encountered installing package(s). Additional info follows:\n\nchanges:\n",
    );
    assertStringIncludes(failed, "E: Unable to locate package nosuch");
    const none = String(await pkg("install", keywords({ pkgs: [{ good: ">2" }] })));
    assertStringIncludes(none, "No version matching 'good>2' could be found (available: 1.0)");
    for (const name of ["-oDPkg::Pre-Invoke::=touch /tmp/x", "--download-only", "a\nb"]) {
      for (
        const fun of [
          "install",
          "remove",
          "purge",
          "latest_version",
          "list_repo_pkgs",
          "show",
          "info_installed",
          "owner",
        ]
      ) {
        assertStringIncludes(String(await pkg(fun, name)), "Invalid pa", `${fun} ${name}`);
      }
    }
  },
});
