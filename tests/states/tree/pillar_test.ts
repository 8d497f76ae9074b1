import { isMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { openTree, refusal } from "#tests/support/calls/state_tree.ts";

const A = { "t.sls": "a:\n  test.succeed_with_changes: []\n", "top.sls": "base:\n  '*': [t]\n" };

Deno.test("errors of pillar end every call that runs states, unless it forces them", async () => {
  const pillar = { _errors: ["one"] };
  await using tree = await openTree({ files: { ...A, "/x.sls": A["t.sls"] } });
  for (
    const [fun, ...args] of [["single", "test.nop", "x"], ["template", `${tree.root}/x.sls`], [
      "template_str",
      A["t.sls"],
    ]]
  ) {
    const refused = await tree.call(`state.${fun}`, args, { pillar });
    assertEquals(refusal(refused), "5 Pillar failed to render with the following messages:\none", fun);
    const forced = await tree.call(`state.${fun}`, args, { pillar, force: true });
    assertEquals([isMap(forced.returned), forced.retcode], [true, 0], fun);
  }
});

Deno.test("pillar= that is no YAML is refused with the place of the mistake", async () => {
  await using tree = await openTree({ files: A });
  const { error } = await tree.call("state.apply", ["t"], { pillar: '{"one": x' });
  assertStringIncludes(String(error), "unless pillar_enc is specified. pillar:1:");
  const { error: other } = await tree.call("state.apply", ["t"], { pillar: "text" });
  assert(String(other).endsWith("unless pillar_enc is specified."), String(other));
});

Deno.test("pillar= that is neither a map nor a text is refused without a place", async () => {
  await using tree = await openTree({ files: A });
  for (const pillar of [5, ["one"]]) {
    const { error } = await tree.call("state.apply", ["t"], { pillar });
    assertEquals(error?.message, "Pillar data must be formatted as a dictionary, unless pillar_enc is specified.");
  }
});

Deno.test("pillar_enc: an error says neither what was decrypted nor what was given", async () => {
  await using tree = await openTree({ files: A, opts: { decrypt_pillar_renderers: ["text", "nosuch", "json"] } });
  const errorOf = async (pillar: string, pillar_enc: string) =>
    (await tree.call("state.apply", ["t"], { pillar, pillar_enc })).error?.message;
  assertEquals(await errorOf("a: [secret", "text"), "Failed to decrypt pillar override: it is no YAML");
  const unknown = String(await errorOf("a: secret", "nosuch"));
  assert(unknown.startsWith("Failed to decrypt pillar override: ") && unknown.includes("nosuch"), unknown);
  assertEquals([unknown.includes("secret"), String(await errorOf("[secret", "json")).includes("secret")], [
    false,
    false,
  ]);
  assertEquals(
    await errorOf("a: 1", "gpg"),
    "Failed to decrypt pillar override: 'gpg' is not a valid decryption renderer. Valid choices are: text, nosuch, json",
  );
});
