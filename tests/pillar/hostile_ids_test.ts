/**
 * Ids and grains that are code for a shell, an option, or another path: in sources of external pillar they are only
 * text.
 * @module
 */

import { isValidId } from "#lib/protocol/minion_id.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Valid ids that a shell, `String.replace` or a parser of arguments could read as more than a text. */
const IDS = ["web 1", "w; cd; touch x; echo b", "$(touch x)", "a'; touch x; 'b", "$&", "*", "%s"];

Deno.test("whatever the id of a minion is, the commands of cmd_yaml and cmd_json get it as one word", () =>
  withTemporaryDirectory(async (directory) => {
    // Prints its arguments as JSON, which is YAML.
    const show = `${directory}/show.sh`;
    Deno.writeTextFileSync(
      show,
      `printf '{"n": %d, "hex": "' $#; printf %s "$*" | od -An -tx1 | tr -d ' \\n'; echo '"}'\n`,
    );
    for (
      const [source, form] of [["cmd_yaml", "/srv/%s.yaml"], ["cmd_json", "--id=%s"], ["cmd_json", "'%s'"]] as const
    ) {
      const options = `ext_pillar: [{${source}: ${JSON.stringify(`sh ${show} ${form}`)}}]`;
      await withPillar({}, options, async ({ pillar, errors, root }) => {
        for (const id of IDS) {
          assert(isValidId(id), id);
          const word = new TextEncoder().encode(form.replaceAll("'", "").replaceAll("%s", () => id));
          assertEquals(
            await pillar(id),
            `{'n': 1, 'hex': '${word.toHex()}'}`,
            `${source} ${form} ${id} ${errors.join()}`,
          );
        }
        assertEquals(namesIn(root).includes("x"), false);
      });
    }
    assertEquals(namesIn(".").includes("x"), false);
  }));

Deno.test("cmd_yaml refuses an id where a shell would read it as more than a word; other ids are used there", async () => {
  const commands = [
    `sh -c "echo '{a: %s}'"`,
    `echo "{a: $(echo "%s")}"`,
    "echo {a: `echo %s`}",
    "cat <<END\n{a: %s}\nEND",
    "echo '{a: 1}' # it's %s\n",
    "echo {a: $((%s + 1))}",
    "echo {a: ${x:-%s}}",
    "echo {a: \\%s}",
    "echo \"{a: %s'}",
  ];
  for (const command of commands) {
    await withPillar({}, `ext_pillar: [{cmd_yaml: ${JSON.stringify(command)}}]`, async ({ pillar, errors, root }) => {
      await pillar("7");
      assertEquals(errors.some((error) => error.includes("cannot be put safely")), false, command);
      for (const id of [`x; touch ${"z"}`, "$(touch z)", "'\"; touch z; #"]) {
        errors.length = 0;
        assertEquals(await pillar(id), "{}", command);
        assertStringIncludes(errors.join(), "cannot be put safely into this command");
      }
      assertEquals(namesIn(root).includes("z"), false);
    });
  }
});

Deno.test("an id that begins with a dash is no option of the commands of external pillar", async () => {
  for (const command of ["cat %s", 'cat "%s"', "cat '%s'"]) {
    for (const source of ["cmd_yaml", "cmd_json"]) {
      await withPillar({}, `ext_pillar: [{${source}: ${JSON.stringify(command)}}]`, async ({ pillar, errors }) => {
        assertEquals(await pillar("--version"), "{}");
        assertStringIncludes(errors.join(), "would be an option of the command");
      });
    }
  }
  await withPillar({}, `ext_pillar: [{cmd_yaml: "echo x=%s: 1"}]`, async ({ pillar }) => {
    assertEquals(await pillar("--version"), "{'x=--version': 1}");
  });
});

Deno.test("cmd_json refuses an id in a word that may be a command for a shell; other ids are used there", () =>
  withPillar({}, `ext_pillar: [{cmd_json: 'sh -c "echo {}; : %s"'}]`, async ({ pillar, errors }) => {
    assertEquals(await pillar("7"), "{}");
    assertEquals(errors.some((error) => error.includes("cannot be put safely")), false);
    for (const id of ["x; touch z", "$(touch z)", "'; touch z; #"]) {
      errors.length = 0;
      assertEquals(await pillar(id), "{}");
      assertStringIncludes(errors.join(), "cannot be put safely into this command");
    }
    assertEquals(namesIn(".").includes("z"), false);
  }));

Deno.test("no grain makes a file of stack out of the directory of its configuration; the operator's own items may be", async () => {
  const yaml = (name: string) => `${name}: here\n`;
  await withPillar({}, "{}", async ({ root }) => {
    for (const path of ["s/roles", "s/minions", "other"]) Deno.mkdirSync(`${root}/${path}`, { recursive: true });
    Deno.writeTextFileSync(`${root}/s/roles/web.yml`, yaml("web"));
    Deno.writeTextFileSync(`${root}/s/minions/web2.yml`, yaml("web2"));
    Deno.writeTextFileSync(`${root}/other/secret.yml`, yaml("secret"));
    Deno.writeTextFileSync(`${root}/other/shared.yml`, yaml("shared"));
    Deno.writeTextFileSync(`${root}/other/quoted.yml`, yaml("quoted"));
    const lines = ["roles/{{ __grains__['role'] }}.yml", "  ", "../other/shared.yml", `${root}/other/quoted.yml`];
    const list = lines.map((line, i) => i === 1 ? "# -" : i === 3 ? `- "${line}"` : `- ${line}`);
    const only = ["{{ __grains__['role'] }}.yml", `${root}/s/roles/{{ 'web' }}.yml`];
    for (const cfg of [lines, list, only]) {
      Deno.writeTextFileSync(`${root}/s/stack.cfg`, cfg.join("\n") + "\n");
      const always = cfg === only ? "'web': 'here'" : "'shared': 'here', 'quoted': 'here'";
      await withPillar({}, `ext_pillar: [{stack: ${root}/s/stack.cfg}]`, async ({ pillar, errors }) => {
        assertEquals(
          await pillar("web1", { role: cfg === only ? "roles/web" : "web" }),
          cfg === only ? `{${always}}` : `{'web': 'here', ${always}}`,
        );
        assertEquals(errors, []);
        const values = [
          "../../other/secret",
          "../minions/web2",
          `web.yml\n../other/secret`,
          `web.yml\n${root}/other/secret`,
          `x\n- ../other/secret`,
          "../../other/*",
          `${root}/other/secret`,
        ];
        for (const role of values) {
          errors.length = 0;
          const text = await pillar("web1", { role });
          assertEquals([text.includes("secret"), text.includes("web2")], [false, false], role);
          // A line break may make lines of a list, which name no files.
          if (!role.includes("\n")) assertStringIncludes(text, always);
          if (role.startsWith("../")) assertStringIncludes(errors.join(), "it leads elsewhere");
        }
      });
    }
  });
});

Deno.test("no grain and no id leads to another path of a web server than those of its minion", async () => {
  const asked: string[] = [];
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    asked.push(new URL(request.url).pathname + new URL(request.url).search);
    return new Response("{}");
  });
  const at = `http://127.0.0.1:${server.addr.port}`;
  for (const source of ["http_json", "http_yaml"]) {
    const options = `ext_pillar: [{${source}: {url: '${at}/%s/<role>.json', with_grains: true}}, ` +
      `{${source}: {url: '${at}/of/<role>/%s?in=<role>', with_grains: true}}]`;
    await withPillar({}, options, async ({ pillar, errors }) => {
      const values = [
        "../web2/db",
        "a/b",
        "..",
        ".",
        "%2e%2e",
        "%2e",
        "?x=1",
        "#f",
        "a\\..\\b",
        "..\\..",
        "a\ud800b",
        "$&",
        "%s",
      ];
      for (const role of values) {
        asked.length = 0, errors.length = 0;
        assertEquals(await pillar("web1", { role }), "{}");
        const refused = role === ".." || role === ".";
        assertEquals(asked.length, refused ? 1 : 2, role);
        for (const path of asked) {
          const [steps, query] = path.split("?");
          const expected = encodeURIComponent(role.toWellFormed());
          if (steps.startsWith("/of/")) assertEquals([steps, query], [`/of/${expected}/web1`, `in=${expected}`]);
          else assertEquals(path, `/web1/${expected}.json`);
        }
        assertEquals(errors.some((error) => error.includes("would lead to another path")), refused, role);
      }
    });
  }
});

function namesIn(directory: string): string[] {
  return Array.from(Deno.readDirSync(directory), ({ name }) => name);
}
