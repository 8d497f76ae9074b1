/** The end of the API's certificate: when there is a warning, and where the end is shown. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { sendRaw } from "#tests/support/raw_http.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { CERTIFICATE_TAG, CertificateWatch } from "#lib/api/server/certificate_watch.ts";
import type { ValueMap } from "#lib/values/value.ts";

const DAY_MS = 86_400_000;

Deno.test("from 30 days before its end on, a certificate is warned of once a day, and after a renewal at once", async () => {
  await withTemporaryDirectory(async (directory) => {
    const { cert, key } = makeCertificate(directory);
    const tls = { ssl_crt: `${directory}/api.crt`, ssl_key: `${directory}/api.key`, ssl_chain: null };
    Deno.writeTextFileSync(tls.ssl_crt, cert);
    Deno.writeTextFileSync(tls.ssl_key, key);
    const warnings: string[] = [], fired: [string, ValueMap][] = [];
    let nowMs = 0, isMasterUp = true;
    const watch = new CertificateWatch({
      tls,
      log: { warning: (text) => void warnings.push(String(text)) },
      fire: (tag, data) => Promise.resolve(isMasterUp && fired.push([tag, data]) > 0),
      now: () => nowMs,
    });
    await watch.look();
    const { endsMs } = watch;
    if (endsMs === undefined) throw new Error(warnings.join("\n"));
    const lookAt = async (daysBefore: number) => {
      nowMs = endsMs - daysBefore * DAY_MS;
      await watch.look();
      return [warnings.length, fired.length];
    };
    assertEquals(await lookAt(31), [0, 0]);
    assertEquals(await lookAt(29.5), [1, 1]);
    assertEquals(await lookAt(29), [1, 1]);
    assertEquals(await lookAt(28.5), [2, 2]);
    assertMatch(warnings[1], new RegExp(`^The certificate ${tls.ssl_crt} ends in 28 days, at \\d{4}-`));
    assertEquals(fired[1][0], CERTIFICATE_TAG);
    assertEquals([...fired[1][1]], [["file", tls.ssl_crt], ["ends", endsMs / 1000], ["days", 28]]);
    // Without a master the event is tried again at the next look.
    isMasterUp = false;
    assertEquals(await lookAt(20), [3, 2]);
    isMasterUp = true;
    assertEquals(await lookAt(19.99), [4, 3]);
    await lookAt(-1);
    assertMatch(warnings[4], / ended at /);
    Deno.writeTextFileSync(tls.ssl_crt, "none");
    await watch.look();
    assertMatch(warnings[5], /cannot be read: there is no certificate in it/);
    assertEquals(watch.endsMs, undefined);
  });
});

const directory = Deno.makeTempDirSync({ prefix: "api_certificate_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));
const master = apiMasterOptions(directory, { alice: ["test.*"] });

fleetTest(
  "the end of the certificate is an event of the master, and in health and metrics",
  { master },
  async (fleet) => {
    const { authority } = makeCertificate(directory);
    using events = await fleet.listen(CERTIFICATE_TAG);
    await using site = await ApiSite.start(fleet, {
      ssl_crt: `${directory}/cert.pem`,
      ssl_key: `${directory}/key.pem`,
    });
    const data = (await events.next(WITHIN_MS))?.data ?? new Map();
    // The certificate of the test lasts two days.
    assertEquals([data.get("file"), data.get("days")], [`${directory}/cert.pem`, 1]);
    const ask = async (path: string) => {
      const { status, bytes } = await sendRaw({ port: site.server.port, method: "GET", path, headers: {}, authority });
      return [status, new TextDecoder().decode(bytes)] as const;
    };
    const [status, text] = await eventually(() => ask("/health/ready"), { what: "the health" });
    assertEquals([status, JSON.parse(text)], [200, { status: "ok", certificate_ends: data.get("ends") }]);
    assertMatch((await ask("/metrics"))[1], new RegExp(`\nsalt_api_certificate_end_seconds ${data.get("ends")}\n`));
  },
);
