/**
 * Certificates that another minion signs, through a real master whose `peer` rules allow it.
 * @module
 */

import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str } from "#lib/values/value.ts";
import { loadCertificate } from "#lib/host/x509/loading.ts";
import { nameText } from "#lib/host/x509/names.ts";
import { isSignedBy } from "#lib/host/x509/signing.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const MADE = new URL("../corpus/x509.json", import.meta.url);

/** The certificate and key of the authority. */
function authority(): { readonly certificate: string; readonly key: string } {
  const made = JSON.parse(Deno.readTextFileSync(MADE));
  return { certificate: made.certificates[0].made.value, key: made.keys.rsa2048.private };
}

/** States of a minion whose certificate is signed by the minion `ca`. */
function states(folder: string): string {
  const certificate = {
    name: `${folder}/www.crt`,
    ca_server: "ca",
    signing_policy: "www",
    private_key: `${folder}/www.key`,
    CN: "www.example.org",
    O: "asked",
  };
  const list = (args: Readonly<Record<string, unknown>>) =>
    Object.entries(args).map(([key, value]) => ({ [key]: value }));
  const tree = {
    key: { "x509.private_key_managed": list({ name: `${folder}/www.key`, algo: "ed25519" }) },
    certificate: { "x509.certificate_managed": list(certificate) },
  };
  return `#!yaml\n${JSON.stringify(tree)}\n`;
}

Deno.test("a minion's certificate is signed by another minion, according to its signing policy", () =>
  withTemporaryDirectory(async (root) => {
    const { certificate, key } = authority();
    Deno.mkdirSync(`${root}/srv`);
    Deno.writeTextFileSync(`${root}/ca.crt`, certificate);
    Deno.writeTextFileSync(`${root}/ca.key`, key);
    Deno.writeTextFileSync(`${root}/srv/www.sls`, states(root));
    const signer = { signing_private_key: `${root}/ca.key`, signing_cert: `${root}/ca.crt` };
    const policies = {
      www: { minions: "web*", ...signer, O: "Policy", basicConstraints: "critical, CA:FALSE", days_valid: 200 },
      named: { minions: "E@web\\d", ...signer },
    };
    await using fleet = await startFleet({
      minions: ["ca", "web1", "db1"],
      master: {
        file_roots: { base: [`${root}/srv`] },
        fileserver_list_cache_time: 0,
        peer: { "web1|db1": ["x509.sign_remote_certificate"] },
        peer_run: { "ca": ["match.compound_matches"] },
      },
      minion: { x509_signing_policies: policies },
    });

    const applied = async (minion: string, ...more: string[]) => {
      const { out, err } = await fleet.salt(minion, "state.apply", "www", ...more, "--out=json");
      const answer = parseJson(out);
      const results = isMap(answer) ? answer.get(minion) : undefined;
      assert(isMap(results), out + err);
      const state = [...results].find(([tag]) => str(tag).startsWith("x509_|-certificate_"))?.[1];
      assert(isMap(state), out);
      return { result: state.get("result"), comment: str(state.get("comment") ?? ""), changes: state.get("changes") };
    };

    const would = await applied("web1", "test=True");
    assertEquals(would.result, null);
    assertEquals(would.comment, "The certificate would have been created");
    const did = await applied("web1");
    assertEquals(did.comment, "The certificate has been created");
    const made = loadCertificate(`${root}/www.crt`);
    assertEquals(nameText(made.subject), "CN=www.example.org,O=Policy");
    assert(await isSignedBy(made, loadCertificate(certificate).spki));
    assert(made.notAfter < Date.now() + 201 * 86_400_000);

    const again = await applied("web1");
    assertEquals(again.comment, "The certificate is in the correct state");
    Deno.writeTextFileSync(`${root}/srv/www.sls`, states(root).replace("www.example.org", "web.example.org"));
    const renamed = await applied("web1", "test=True");
    assertEquals(dumpJson(renamed.changes ?? null), dumpJson(map({ subject_name: "CN=web.example.org,O=Policy" })));

    // A minion that the policy does not name.
    Deno.writeTextFileSync(`${root}/srv/www.sls`, states(root).replace("www.crt", "db.crt"));
    const refused = await applied("db1");
    assertEquals(refused.result, false);
    assertStringIncludes(refused.comment, "minion not permitted to use specified signing policy");

    // A policy with a compound expression for minions, which the master evaluates.
    for (const [minion, permitted] of [["web1", true], ["db1", false]] as const) {
      const { out } = await fleet.salt(
        ...[minion, "x509.create_certificate", "ca_server=ca", "signing_policy=named", `private_key=${root}/www.key`],
        "CN=named",
      );
      if (permitted) assertStringIncludes(out, "-----BEGIN CERTIFICATE-----");
      else assertStringIncludes(out, "minion not permitted to use specified signing policy");
    }

    // A minion whose requests the `peer` rules do not allow.
    const { out } = await fleet.salt("ca", "x509.create_certificate", "ca_server=ca", "signing_policy=www", "CN=x");
    assertStringIncludes(out, "ca_server did not respond. Salt master must permit peers to call the");
  }));
