/**
 * External pillar `http_json`: a page of a web server, as JSON.
 * Source: Salt 3007.15 `salt/pillar/http_json.py`.
 * @module
 */

import { asMap, httpPillar } from "./_http_pillar.ts";
import type { PillarSource } from "#lib/plugins/pillar_source.ts";

export const ext_pillar: PillarSource = httpPillar(
  "JSON",
  async (page, path, { render }) => asMap(await render({ text: page, path, renderer: "json" })),
);
