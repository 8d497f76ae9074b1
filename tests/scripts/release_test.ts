import { TARGETS } from "#scripts/build/production.ts";
import { sharedFiles } from "#scripts/build/share.ts";
import { COMMANDS } from "#scripts/reference/commands.ts";
import { debScripts, rpmScripts } from "#scripts/release/package_scripts.ts";
import { DENO_VERSION, PLATFORMS } from "#scripts/release/platforms.ts";
import { crateNames, sbomText } from "#scripts/release/sbom.ts";
import { systemPackages } from "#scripts/release/system_packages.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

Deno.test("a release has every platform of the build, and the Deno of the README", () => {
  assertEquals(PLATFORMS.map(({ target }) => target).sort(), [...TARGETS].sort());
  assertStringIncludes(Deno.readTextFileSync(`${ROOT}/README.md`), `deno@${DENO_VERSION} `);
  for (const { denoSum } of PLATFORMS) assertMatch(denoSum, /^[0-9a-f]{64}$/);
  assertEquals(new Set(PLATFORMS.map(({ denoSum }) => denoSum)).size, PLATFORMS.length);
});

Deno.test("the packages have every command with its page, each path once, and only configuration in /etc", async () => {
  const packages = systemPackages({ programs: "/built", shared: await sharedFiles(ROOT), notice: "", license: "" });
  const files = packages.flatMap((each) => each.files);
  const paths = files.map(({ path }) => path);
  assertEquals([...new Set(paths)].length, paths.length);
  for (const { prog } of COMMANDS) {
    assert(paths.includes(`/usr/bin/${prog}`), prog);
    assert(paths.some((path) => /\/man\d\//.test(path) && path.includes(`/${prog}.`)), `the page of ${prog}`);
    assert(paths.includes(`/usr/share/bash-completion/completions/${prog}`), `the completion of ${prog}`);
  }
  for (const { path, isConfiguration = false } of files) assertEquals(isConfiguration, path.startsWith("/etc/"), path);
  const names = packages.map(({ name }) => name);
  for (const { needs, inPlaceOf } of packages) {
    for (const other of needs) assert(names.includes(other), other);
    for (const other of inPlaceOf) assert(!names.includes(other), other);
  }
});

Deno.test("the steps of packages know an installation, an upgrade, a removal and a purge, in the words of dpkg and rpm", () =>
  withTemporaryDirectory(async (directory) => {
    const steps = { installed: "echo $event\n", removing: "echo $event\n", removed: "echo $event\n" };
    const run = async (text: string, args: readonly string[]) => {
      const script = text.replaceAll("/run/", `${directory}/`);
      const { stdout } = await new Deno.Command("sh", { args: ["-c", script, "sh", ...args] }).output();
      return new TextDecoder().decode(stdout).trim();
    };
    const { preinst, postinst, prerm, postrm } = debScripts("x", steps);
    const deb: [script: string, args: string[], event: string][] = [
      [preinst, ["install"], ""],
      [postinst, ["configure", ""], "install"],
      [preinst, ["upgrade", "1"], ""],
      [postinst, ["configure", "1"], "upgrade"],
      [prerm, ["upgrade", "2"], ""],
      [prerm, ["remove"], "remove"],
      [postrm, ["upgrade", "2"], ""],
      [postrm, ["remove"], "remove"],
      // Again, with its configuration still there.
      [preinst, ["install", "1"], ""],
      [postinst, ["configure", "1"], "install"],
      [postinst, ["configure", "1"], "upgrade"],
      [postrm, ["purge"], "purge"],
    ];
    for (const [script, args, event] of deb) assertEquals(await run(script, args), event, `${args}`);
    const { post, preun, postun } = rpmScripts(steps);
    const rpm: [script: string, left: string, event: string][] = [
      [post, "1", "install"],
      [post, "2", "upgrade"],
      [preun, "1", ""],
      [preun, "0", "remove"],
      [postun, "1", ""],
      [postun, "0", "remove"],
    ];
    for (const [script, left, event] of rpm) assertEquals(await run(script, [left]), event, left);
  }));

Deno.test("the list of contents names npm packages with their checksums, and the crates of an executable", () => {
  const path = "/home/x/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f";
  const deno = new TextEncoder().encode(
    `\0${path}/serde_json-1.0.140/src/de.rs\0\xff${path}/aes-kw-0.2.1/src/lib.rs${path}/serde_json-1.0.140/src/ser.rs`,
  );
  assertEquals(crateNames(deno), [{ name: "aes-kw", version: "0.2.1" }, { name: "serde_json", version: "1.0.140" }]);
  const lock = Deno.readTextFileSync(`${ROOT}/deno.lock`);
  const executables = new Map([["salt-1.2.3-here", { SHA1: "cd".repeat(20), SHA256: "ab".repeat(32) }]]);
  const list = JSON.parse(sbomText({ version: "1.2.3", platform: "here", epoch: 0, lock, deno, executables }));
  assertEquals(list.creationInfo.created, "1970-01-01T00:00:00Z");
  const packages: { SPDXID: string; name: string; licenseDeclared: string; checksums?: { checksumValue: string }[] }[] =
    list.packages;
  assertEquals(new Set(packages.map(({ SPDXID }) => SPDXID)).size, packages.length);
  const yaml = packages.find(({ name }) => name === "js-yaml");
  assertEquals(yaml?.licenseDeclared, "MIT");
  assertMatch(yaml?.checksums?.[0].checksumValue ?? "", /^[0-9a-f]{128}$/);
  assertEquals(packages.find(({ name }) => name === "aes-kw")?.licenseDeclared, "NOASSERTION");
  const checksums = [["SHA1", "cd".repeat(20)], ["SHA256", "ab".repeat(32)]];
  assertEquals(list.files[0].checksums, checksums.map(([algorithm, checksumValue]) => ({ algorithm, checksumValue })));
});
