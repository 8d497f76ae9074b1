import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { COMMANDS } from "#scripts/reference/commands.ts";
import { commandReference, manPage } from "#scripts/reference/man_pages.ts";
import { configSample, ROLES } from "#scripts/reference/config_samples.ts";
import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import { LICENSE } from "#lib/version.ts";
import { OPTION_TABLES } from "#lib/config/options.ts";
import { sharedFiles, writeShared } from "#scripts/build/share.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

Deno.test("docs/commands.md is the output of scripts/reference/man_pages.ts", () => {
  const page = Deno.readTextFileSync(`${ROOT}/docs/commands.md`);
  assertEquals(page, commandReference(), "stale: run deno run -A scripts/reference/man_pages.ts");
});

for (const role of ROLES) {
  Deno.test(`docs/samples/${role} is the output of scripts/reference/config_samples.ts`, () => {
    const sample = Deno.readTextFileSync(`${ROOT}/docs/samples/${role}`);
    assertEquals(sample, configSample(role), "stale: run deno run -A scripts/reference/config_samples.ts");
  });

  Deno.test(`docs/samples/${role} changes nothing, even with all options uncommented`, () =>
    withTemporaryDirectory((root) => {
      const load = (text: string) => {
        Deno.writeTextFileSync(`${root}/${role}`, text);
        const request = { configDir: root, overrides: { root_dir: root } };
        return role === "master" ? loadMasterConfig(request) : loadMinionConfig(request);
      };
      const sample = configSample(role);
      const bare = load("");
      assertEquals(load(sample), bare);
      const named = new Set([...sample.matchAll(/^#([\w.]+):/gm)].map(([, name]) => name));
      assertEquals(Object.keys(OPTION_TABLES[role]).filter((name) => !named.has(name)), []);
      const active = sample.replace(/^#(?=[\w.]+:|- | {2,4}[\w-])/gm, "");
      assert(active !== sample);
      assertEquals<unknown>(load(active).opts, bare.opts);
    }));
}

Deno.test("a manual page has every option, exit code and example, and no line that roff reads as a request", () => {
  for (const command of COMMANDS) {
    const { text } = manPage(command);
    const plain = text.replaceAll("\\-", "-").replaceAll("\\(aq", "'");
    for (const { flags } of Object.values(command.options)) for (const flag of flags) assertStringIncludes(plain, flag);
    for (const [line] of command.examples ?? []) assertStringIncludes(plain, line);
    const requests = text.split("\n").filter((line) => /^[.']/.test(line)).map((line) => line.split(" ")[0]);
    assertEquals([...new Set(requests)].toSorted(), [".B", ".SH", ".TH", ".TP"]);
    assertStringIncludes(plain, "EXIT STATUS");
    assertStringIncludes(plain, `Licence: ${LICENSE}.`);
  }
});

Deno.test("the build writes a manual page and a completion for every command to share, and removes old files", () =>
  withTemporaryDirectory(async (directory) => {
    Deno.mkdirSync(`${directory}/share`);
    Deno.writeTextFileSync(`${directory}/share/old`, "");
    writeShared(await sharedFiles(ROOT), `${directory}/share`);
    const files = (path: string) =>
      [...Deno.readDirSync(`${directory}/share/${path}`)].map(({ name }) => name).toSorted();
    const progs = COMMANDS.map(({ prog }) => prog).toSorted();
    assertEquals(files("bash-completion/completions"), progs);
    assertEquals(files("fish/vendor_completions.d"), progs.map((prog) => `${prog}.fish`).toSorted());
    assertEquals(
      [...files("man/man1"), ...files("man/man8")].map((name) => name.replace(/\.\d$/, "")).toSorted(),
      progs,
    );
    assertEquals(files("doc/salt-deno/samples"), ["master", "minion", "periodic.ts", "salt_module.d.ts"]);
    assertStringIncludes(
      Deno.readTextFileSync(`${directory}/share/bash-completion/completions/salt-key`),
      "complete -F _salt",
    );
    assert(!files(".").includes("old"));
  }));
