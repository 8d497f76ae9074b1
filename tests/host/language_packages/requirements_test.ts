/**
 * Files of requirements that pip's user may read.
 * @module
 */

import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { pipWords } from "#lib/host/language_packages/pip_command.ts";
import { PrivateRequirements, withoutPasswords } from "#lib/host/language_packages/pip_passwords.ts";
import { Requirements } from "#lib/host/language_packages/pip_requirements.ts";
import { parseRequirement } from "#lib/host/language_packages/python_requirement.ts";
import { map } from "#lib/values/value.ts";
import { findUser } from "#lib/os/users.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { testContext } from "#tests/support/calls/job_context.ts";

const USER = findUser(Deno.uid() ?? 0)?.name ?? "root";

async function withFiles(
  files: Readonly<Record<string, string>>,
  test: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = Deno.makeTempDirSync({ prefix: "requirements_" });
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = `${directory}/${name}`;
      Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(path, text);
    }
    await test(directory);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

const OPTIONS = { saltenv: "base", user: USER, cwd: null, context: testContext() };

Deno.test("a file and all that it includes are copied for pip's user, and the copies are removed", () =>
  withFiles({
    "top.txt": "one\n-r sub/more.txt\n# -r none.txt\n--requirement=other.txt\n",
    "sub/more.txt": "-r deep.txt\ntwo # -r none.txt\n",
    "sub/deep.txt": "three\n",
    "other.txt": "four",
  }, async (directory) => {
    let copies = "";
    {
      using requirements = new Requirements();
      assert(await requirements.add("top.txt", { ...OPTIONS, cwd: directory }));
      assert(await requirements.add(`${directory}/sub/deep.txt`, OPTIONS));
      const [first, top, second, deep, ...more] = requirements.words;
      assertEquals([first, second, more], ["--requirement", "--requirement", []]);
      copies = top.slice(0, top.lastIndexOf("/"));
      assertEquals(deep, `${copies}/deep.txt`);
      assertEquals([...Deno.readDirSync(copies)].map(({ name }) => name).sort(), [
        ...["deep.txt", "more.txt", "other.txt", "top.txt"],
      ]);
      assertEquals(Deno.readTextFileSync(deep), "three\n");
    }
    assertThrows(() => Deno.statSync(copies), Deno.errors.NotFound);
  }));

Deno.test({
  name: "root copies no file of its own for a user who wrote, or could replace, what names it",
  ignore: Deno.uid() !== 0 || findUser("nobody") === undefined,
  fn: () =>
    withFiles({
      "secret.txt": "of root alone\n",
      "roots.txt": "-r theirs/link.txt\nsix\n",
      "theirs/own.txt": "-r ../secret.txt\n",
    }, async (directory) => {
      const theirs = `${directory}/theirs`, nobody = findUser("nobody")?.uid ?? 0;
      Deno.symlinkSync("../secret.txt", `${theirs}/link.txt`);
      for (const path of [theirs, `${theirs}/own.txt`]) Deno.chownSync(path, nobody, null);
      const options = { ...OPTIONS, user: "nobody" };
      using requirements = new Requirements();
      for (const path of [`${theirs}/link.txt`, `${theirs}/own.txt`, `${directory}/roots.txt`]) {
        assert(await requirements.add(path, options));
      }
      const [, link, , own, , copy] = requirements.words;
      assertEquals([link, own], [`${theirs}/link.txt`, `${theirs}/own.txt`]);
      const copies = copy.slice(0, copy.lastIndexOf("/"));
      assertEquals([...Deno.readDirSync(copies)].map(({ name }) => name), ["roots.txt"]);
      const { uid, mode } = Deno.statSync(copy);
      assertEquals([uid, (mode ?? 0) & 0o777, Deno.statSync(copies).uid], [nobody, 0o600, 0]);
    }),
});

Deno.test("files that include each other, and an unknown user, are rejected", () =>
  withFiles({ "a.txt": "-r b.txt\n", "b.txt": "-r a.txt\n" }, async (directory) => {
    using requirements = new Requirements();
    await assertRejects(() => requirements.add(`${directory}/a.txt`, OPTIONS), CommandError, "is included too deep");
    const unknown = { ...OPTIONS, user: "no_user_of_this_name" };
    await assertRejects(() => requirements.add(`${directory}/a.txt`, unknown), CommandError, "is not available");
    assertThrows(() => new PrivateRequirements(["x"], "no_user_of_this_name"), CommandError, "is not available");
  }));

Deno.test("a file of the file server is used through its copy; a missing one is reported", () =>
  withFiles({ "copy.txt": "one\n" }, async (directory) => {
    for (
      const [copy, expected] of [[`${directory}/copy.txt`, ["--requirement", `${directory}/copy.txt`]], [
        "",
        [],
      ]] as const
    ) {
      const context = testContext({ call: () => Promise.resolve(copy) });
      using requirements = new Requirements();
      assertEquals(await requirements.add("salt://r.txt", { ...OPTIONS, user: null, context }), copy !== "");
      assertEquals([...requirements.words], [...expected]);
    }
  }));

Deno.test("requirements with passwords are in a file that only pip's user may read", () => {
  let path = "";
  for (const user of [USER, "", null]) {
    using requirements = new PrivateRequirements(["https://me:secret@host/x.whl"], user);
    [, path] = requirements.words;
    assertEquals(Deno.readTextFileSync(path), "https://me:secret@host/x.whl\n");
    assertEquals([(Deno.statSync(path).mode ?? 0) & 0o777, Deno.statSync(path).uid], [0o600, Deno.uid()]);
  }
  assertThrows(() => Deno.statSync(path), Deno.errors.NotFound);
});

Deno.test("a path is a requirement if it is a directory or an archive", () => {
  const isDirectory = (path: string) => path === "./there";
  const anything = { name: "", specs: [] };
  assertEquals(parseRequirement("./there", isDirectory), anything);
  assertEquals(parseRequirement("./there[extra]", isDirectory), anything);
  assertEquals(parseRequirement("./missing", isDirectory), undefined);
  assertEquals(parseRequirement("x-1.0.tar.gz", isDirectory), anything);
  assertEquals(parseRequirement("./dist/x.zip", isDirectory), anything);
  assertEquals(parseRequirement("./dist/some_thing-1.0-py3-none-any.whl", isDirectory)?.name, "some-thing");
});

Deno.test("passwords of URLs are in no word of pip's command line, however the option is written", () => {
  const url = "https://me:pw@host/simple", other = "https://me:pw@other/simple", open = "https://host/simple";
  assertEquals(withoutPasswords(["--editable", `git+${url}#egg=a`, "b", url, "--editable", open, "-e", "./here"]), {
    words: ["b", "--editable", open, "-e", "./here"],
    environment: map({}),
    requirements: [`--editable git+${url}#egg=a`, url],
  });
  for (const words of [["--index-url", url], [`--index-url=${url}`], ["-i", url]]) {
    const { words: left, environment } = withoutPasswords([...words, "--no-deps"]);
    assertEquals([left, environment], [["--no-deps"], map({ PIP_INDEX_URL: url })]);
  }
  const { words, environment, requirements } = withoutPasswords([
    "-f",
    url,
    `--find-links=${other}`,
    `--editable=${url}`,
  ]);
  assertEquals([words, environment, requirements], [[], map({ PIP_FIND_LINKS: `${url} ${other}` }), [
    `--editable ${url}`,
  ]]);
  assertEquals(withoutPasswords([`--index-url=${open}`, "-i", open, "-f"]).words, [
    `--index-url=${open}`,
    "-i",
    open,
    "-f",
  ]);
});

Deno.test("pip is that of the host's Python, of an environment's, or a program of its own", () =>
  withFiles({ "env/bin/python3": "", "env/bin/python3.11": "", "env/bin/pip": "", "empty/x": "" }, (root) => {
    for (const name of ["python3", "python3.11", "pip"]) Deno.chmodSync(`${root}/env/bin/${name}`, 0o755);
    using _path = new SearchPath(`${root}/env/bin`);
    for (const where of [null, ""]) assertEquals(pipWords(where), ["python3", "-m", "pip"]);
    assertEquals(pipWords(`${root}/env`), [`${root}/env/bin/python3`, "-m", "pip"]);
    assertEquals(pipWords(`${root}/env/bin/python3.11`), [`${root}/env/bin/python3.11`, "-m", "pip"]);
    assertEquals(pipWords(`${root}/env/bin/pip`), [`${root}/env/bin/pip`]);
    const refused = (where: string) => assertThrows(() => pipWords(where), CommandNotFoundError).message;
    assertEquals(refused(`${root}/empty`), `Could not find a pip binary in virtualenv ${root}/empty`);
    assertEquals(refused(`${root}/none`), `Access denied to ${root}/none, could not find a pip binary`);
    return Promise.resolve();
  }));

Deno.test("a requirement that is too long is none", () => {
  const fits = `a${"-a".repeat(2047)}b`;
  assertEquals([parseRequirement(fits, () => false)?.name, fits.length], [fits, 4096]);
  assertEquals(parseRequirement(`${fits}b`, () => false), undefined);
});
