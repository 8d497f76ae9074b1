/**
 * Parsers for the output of zypper, and for its file of locks. Pure functions over text and documents.
 * Source: Salt 3008.3, `salt/modules/zypperpkg.py`; zypper(8), locks(5).
 * @module
 */

import { elementsNamed, type XmlElement } from "#lib/text/xml.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Parses the output of `zypper refresh`: whether each repository was read again. */
export function parseZypperRefresh(text: string): ValueMap {
  const repositories: ValueMap = new Map();
  for (const line of text.split("\n").map((one) => one.trim())) {
    const [, name] = /'([^']*)/.exec(line) ?? [];
    if (name === undefined) continue;
    if (line.startsWith("Repository") && line.includes("is up to date")) repositories.set(name.trim(), false);
    else if (line.startsWith("Building") && line.includes("done")) repositories.set(name.trim(), true);
  }
  return repositories;
}

/** The packages of `zypper info`, by name, with their fields. */
export function parseZypperInfo(text: string): Map<string, ValueMap> {
  const packages = new Map<string, ValueMap>();
  for (const paragraph of text.split(/Information for package*/)) {
    const fields: ValueMap = new Map();
    for (const line of paragraph.split("\n")) {
      const colon = line.indexOf(":");
      const value = line.slice(colon + 1).trim();
      if (colon >= 0 && !line.startsWith("-----") && value !== "") {
        fields.set(line.slice(0, colon).trim().toLowerCase(), value);
      }
    }
    const name = fields.get("name");
    const installed = fields.get("installed");
    if (typeof installed === "string") fields.set("installed", installed.toLowerCase().startsWith("yes"));
    if (typeof name !== "string") continue;
    fields.delete("name");
    packages.set(name, fields);
  }
  return packages;
}

/** The locks by the name of the locked package, with their other fields. */
export function parseLocks(text: string): Map<string, ValueMap> {
  const locks = new Map<string, ValueMap>();
  for (const paragraph of text.split("\n\n")) {
    const fields: ValueMap = new Map();
    for (const line of paragraph.split("\n")) {
      const [, key, value] = /^(.*?):(.*)$/.exec(line) ?? [];
      if (key !== undefined) fields.set(key.trim(), value.trim());
    }
    const name = fields.get("solvable_name");
    if (typeof name !== "string" || name === "") continue;
    fields.delete("solvable_name");
    locks.set(name, fields);
  }
  return locks;
}

/** Patterns or patches by name, with whether they are installed. */
export function solvablesOf(document: XmlElement): Map<string, { installed: boolean; summary: string }> {
  return new Map(
    [...elementsNamed(document, "solvable")].map(({ attributes }) => [attributes.get("name") ?? "", {
      installed: attributes.get("status") === "installed",
      summary: attributes.get("summary") ?? "",
    }]),
  );
}

/**
 * The products of `zypper products`.
 * @param oemRelease The release in the file of a product's line, if there is one.
 */
export function productsOf(document: XmlElement, oemRelease: (line: string) => string | undefined): ValueMap[] {
  const [list] = document.name === "product-list" ? [document] : elementsNamed(document, "product-list");
  if (list === undefined) return [];
  return [...elementsNamed(list, "product")].map((product) => {
    const fields: ValueMap = new Map();
    for (const [key, value] of product.attributes) {
      if (key === "isbase" || key === "installed") fields.set(key, value === "true" || value === "1");
      else if (value !== "") fields.set(key, value);
    }
    const [end] = elementsNamed(product, "endoflife");
    if (end !== undefined) {
      fields.set("eol", end.attributes.get("text") ?? "").set("eol_t", Number(end.attributes.get("time_t") || 0));
    }
    const [description] = elementsNamed(product, "description");
    fields.set("description", (description?.text ?? "").split("\n").map((line) => line.trim()).join(" "));
    const line = fields.get("productline");
    const release = typeof line === "string" ? oemRelease(line) : undefined;
    if (release !== undefined) fields.set("release", release);
    return fields;
  });
}

/** The names of packages by their provides, from `%{PROVIDES}_|-%{NAME}`. */
export function parseProvides(text: string): Map<string, string[]> {
  const provided = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [what, name] = line.split("_|-");
    if (name === undefined || what === name) continue;
    provided.set(what, [...provided.get(what) ?? [], name]);
  }
  return provided;
}

/** The downloaded files of `zypper download`, by package. */
export function downloadsOf(document: XmlElement): { readonly name: string; readonly info: ValueMap }[] {
  return [...elementsNamed(document, "download-result")].map((result) => {
    const first = (name: string) => elementsNamed(result, name).next().value ?? undefined;
    const attribute = (name: string, key: string): Value => first(name)?.attributes.get(key) ?? "";
    return {
      name: first("name")?.text ?? "",
      info: map({
        "repository-name": attribute("repository", "name"),
        "repository-alias": attribute("repository", "alias"),
        path: attribute("localfile", "path"),
      }),
    };
  });
}
