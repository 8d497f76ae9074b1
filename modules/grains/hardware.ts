/**
 * Grains of the hardware: processors, memory, firmware, disks, graphics cards, boot.
 * Reads files only; starts no process. Source: Salt 3008.3 `salt/grains/core.py`, `disks.py`, `extra.py`.
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import type { HostFiles } from "#lib/programs/files.ts";
import { escapeRegex } from "#lib/regex/escape.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import type { Grains } from "./os.ts";

/**
 * All grains of the hardware.
 * @param options.gpus Whether to look for graphics cards.
 */
export function hardwareGrains(files: HostFiles, options: { readonly gpus: boolean }): Grains {
  return {
    ...kernelParameters(files),
    ...cpuGrains(files),
    ...(options.gpus ? gpuGrains(files) : { num_gpus: 0, gpus: [] }),
    ...memoryGrains(),
    ...firmwareGrains(files),
    ...deviceTreeGrains(files),
    ...diskGrains(files),
    ...efiGrains(files),
    fibre_channel_host: files.exists("/sys/class/fc_host"),
  };
}

function cpuGrains(files: HostFiles): Grains {
  const text = files.text("/proc/cpuinfo");
  if (text === undefined) return { num_cpus: navigator.hardwareConcurrency, cpu_model: "Unknown", cpu_flags: [] };
  let num_cpus = 0, cpu_model = "Unknown", cpu_flags: string[] = [];
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon < 0) continue;
    const value = line.slice(colon + 1).split(":", 1)[0].trim();
    switch (line.slice(0, colon).trim()) {
      case "processor":
        num_cpus++;
        break;
      case "# processors": // IBM S/390 counts for us
        num_cpus = Number(value);
        break;
      case "model name":
      case "vendor_id":
      case "cpu": // POWER
        cpu_model = value;
        break;
      case "flags":
      case "Features": // ARM
        // Each processor repeats the same hundred words.
        if (cpu_flags.length === 0) cpu_flags = value.split(/\s+/);
        break;
    }
  }
  return { num_cpus, cpu_model, cpu_flags };
}

function memoryGrains(): Grains {
  const { total, swapTotal } = Deno.systemMemoryInfo();
  const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
  return { mem_total: mebibytes(total), swap_total: mebibytes(swapTotal) };
}

/** Grains and the files of the firmware's tables that hold them. */
const FIRMWARE: Readonly<Record<string, string>> = {
  biosversion: "bios_version",
  biosvendor: "bios_vendor",
  boardname: "board_name",
  productname: "product_name",
  manufacturer: "sys_vendor",
  biosreleasedate: "bios_date",
  uuid: "product_uuid",
  serialnumber: "product_serial",
};

function firmwareGrains(files: HostFiles): Grains {
  const grains: Grains = {};
  for (const [grain, file] of Object.entries(FIRMWARE)) {
    const value = files.line(`/sys/class/dmi/id/${file}`);
    if (value !== undefined) grains[grain] = grain === "uuid" ? value.toLowerCase() : value;
  }
  return grains;
}

/** What boards without such tables tell: `manufacturer,product` and a serial number, each ended by a NUL. */
function deviceTreeGrains(files: HostFiles): Grains {
  const read = (name: string) => files.text(`/proc/device-tree/${name}`)?.replace(/\0+$/, "");
  const model = read("model");
  const serialnumber = read("serial-number") || read("system-id");
  const comma = model?.indexOf(",") ?? -1;
  return {
    ...(model && comma > 0 ? { manufacturer: model.slice(0, comma) } : {}),
    ...(model ? { productname: model.slice(comma + 1) } : {}),
    ...(serialnumber ? { serialnumber } : {}),
  };
}

function diskGrains(files: HostFiles): Grains {
  const kinds: Record<string, string[]> = { disks: [], ssds: [] };
  for (const name of files.names("/sys/block")) {
    if (files.link(`/sys/block/${name}`)?.startsWith("../devices/virtual/")) continue;
    const rotational = files.line(`/sys/block/${name}/queue/rotational`);
    if (rotational === "0") kinds.ssds.push(name);
    if (rotational === "1") kinds.disks.push(name);
  }
  return kinds;
}

/** PCI numbers of the makers of graphics cards, by Salt's name of each. */
const GPU_VENDORS: Readonly<Record<string, string>> = {
  "10de": "nvidia",
  "1002": "amd",
  "8086": "intel",
  "15ad": "vmware",
  "102b": "matrox",
  "1a03": "aspeed",
};

/** PCI classes: displays of every kind, and processing accelerators. */
const GPU_CLASSES = /^0x(03|12)/;

function gpuGrains(files: HostFiles): Grains {
  const gpus: Record<string, string>[] = [];
  for (const device of files.names("/sys/bus/pci/devices")) {
    const read = (name: string) => files.line(`/sys/bus/pci/devices/${device}/${name}`) ?? "";
    if (!GPU_CLASSES.test(read("class"))) continue;
    const vendor = read("vendor").slice(2), model = read("device").slice(2);
    gpus.push({ vendor: GPU_VENDORS[vendor] ?? "unknown", model: pciName(files, { vendor, model }) });
  }
  return { num_gpus: gpus.length, gpus };
}

/** The name of a device in the list that lspci reads too; without such a list, its number. */
function pciName(files: HostFiles, { vendor, model }: { vendor: string; model: string }): string {
  const ids = files.text("/usr/share/misc/pci.ids") ?? files.text("/usr/share/hwdata/pci.ids") ?? "";
  const section = ids.indexOf(`\n${vendor}  `);
  if (section < 0) return model;
  const length = ids.slice(section + 1).search(/\n[0-9a-f]{4} {2}/);
  const devices = ids.slice(section, length < 0 ? undefined : section + 1 + length);
  return new RegExp(`\\n\\t${escapeRegex(model)} {2}(.*)`).exec(devices)?.[1].trim() ?? model;
}

function efiGrains(files: HostFiles): Grains {
  const efivars = "/sys/firmware/efi/efivars";
  const efi = files.exists(efivars);
  const variable = efi ? files.names(efivars).find((name) => name.startsWith("SecureBoot-")) : undefined;
  const secure = variable !== undefined && files.text(`${efivars}/${variable}`)?.endsWith("\x01") === true;
  return { "efi": efi, "efi-secure-boot": secure };
}

function kernelParameters(files: HostFiles): Grains {
  const text = files.text("/proc/cmdline");
  if (text === undefined) return {};
  let words: string[];
  try {
    words = shlexSplit(text);
  } catch {
    words = text.split(/\s+/).filter(Boolean); // an unbalanced quote
  }
  const kernelparams = words.map((word) => {
    const parts = word.split("=");
    return [parts[0], parts.length === 2 ? stripChars(parts[1], '"') : null];
  });
  return { kernelparams };
}
