import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { extractMember } from "#lib/host/archives/zip_extracting.ts";
import { readZipDirectory } from "#lib/host/archives/zip_directory.ts";
import { writeZip } from "#lib/host/archives/zip_writing.ts";
import { CommandError } from "#lib/errors.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { which } from "#lib/programs/which.ts";

async function scratch(): Promise<{ path: string } & AsyncDisposable> {
  const path = await Deno.makeTempDir({ prefix: "zip_" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

Deno.test("unpacking restores contents, modes, directories and non-ASCII names", async () => {
  await using root = await scratch();
  const source = `${root.path}/in`;
  await Deno.mkdir(`${source}/sub`, { recursive: true });
  await Deno.writeTextFile(`${source}/ä.txt`, "text ".repeat(50_000));
  await Deno.writeTextFile(`${source}/sub/run`, "");
  await Deno.chmod(`${source}/sub/run`, 0o750);
  const names = await testContext().call("archive.zip", [`${root.path}/a.zip`, source], new Map([["cwd", root.path]]));
  assertEquals([...Array.isArray(names) ? names : []].sort(), ["in/", "in/sub/", "in/sub/run", "in/ä.txt"]);
  assertEquals(readZipDirectory(`${root.path}/a.zip`)?.length, 4);
  await testContext().call("archive.unzip", [`${root.path}/a.zip`, `${root.path}/out`]);
  assertEquals(await Deno.readTextFile(`${root.path}/out/in/ä.txt`), "text ".repeat(50_000));
  assertEquals(((await Deno.stat(`${root.path}/out/in/sub/run`)).mode ?? 0) & 0o777, 0o750);
});

Deno.test("an archive cannot write through its own links or outside of the directory", async () => {
  await using root = await scratch();
  await Deno.mkdir(`${root.path}/victim`);
  await Deno.writeTextFile(`${root.path}/f`, "evil");
  await writeZip(`${root.path}/a.zip`, [{ path: `${root.path}/f`, name: "door/f" }, {
    path: `${root.path}/f`,
    name: "../../up",
  }]);
  const [inner, up] = readZipDirectory(`${root.path}/a.zip`) ?? [];
  const dest = `${root.path}/out`;
  await Deno.mkdir(dest);
  await Deno.symlink(`${root.path}/victim`, `${dest}/door`);
  const how = { archive: `${root.path}/a.zip`, dest, modes: true };
  await assertRejects(() => extractMember(inner, how), CommandError, "symbolic link");
  assertEquals([...Deno.readDirSync(`${root.path}/victim`)], []);
  await extractMember(up, how);
  assertEquals(await Deno.readTextFile(`${dest}/up`), "evil");
});

Deno.test({
  name: "an encrypted archive is known as such, and unpacked with its password alone",
  ignore: which("zip") === undefined,
  fn: async () => {
    await using root = await scratch();
    await Deno.writeTextFile(`${root.path}/f`, "secret text\n".repeat(100));
    const { success } = await new Deno.Command("zip", {
      args: ["-q", "-j", "-P", "pass", `${root.path}/a.zip`, `${root.path}/f`],
    }).output();
    assertEquals(success, true);
    const context = testContext();
    assertEquals(await context.call("archive.is_encrypted", [`${root.path}/a.zip`]), true);
    const unzip = (password: string | null) =>
      context.call("archive.unzip", [`${root.path}/a.zip`, `${root.path}/out`], new Map([["password", password]]));
    await assertRejects(() => unzip(null), CommandError, "password required");
    await assertRejects(() => unzip("wrong"), CommandError);
    await unzip("pass");
    assertEquals(await Deno.readTextFile(`${root.path}/out/f`), "secret text\n".repeat(100));
  },
});
