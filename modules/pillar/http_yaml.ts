/**
 * External pillar `http_yaml`: a page of a web server, as YAML.
 * Source: Salt 3007.15 `salt/pillar/http_yaml.py`.
 * @module
 */

import { asMap, httpPillar } from "./_http_pillar.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import type { PillarSource } from "#lib/plugins/pillar_source.ts";

export const ext_pillar: PillarSource = httpPillar("YAML", (page, url) => asMap(loadYaml(page, url)));
