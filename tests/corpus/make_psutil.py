#!/usr/bin/env python3
"""Writes psutil.json: the results of psutil for recorded files of /proc. Run it as make_argspec.py, on Linux."""
import json
import pathlib
import tempfile

import psutil

FILES = {
    "meminfo": "MemTotal:       25276502 kB\nMemFree:        20909501 kB\nMemAvailable:   23314249 kB\nBuffers:          203530 kB\nCached:          1722982 kB\n"
    "Active:           413089 kB\nInactive:         499265 kB\nShmem:              9084 kB\nSlab:             114230 kB\nSReclaimable:      50000 kB\n"
    "SwapTotal:       2097148 kB\nSwapFree:        1997148 kB\n",
    "vmstat": "nr_free_pages 1\npswpin 17\npswpout 29\n",
    "stat": "cpu  3548556 538105 1591356 2481899 163333 0 31014 27711 5 1\ncpu0 1774278 269052 795678 1240949 81666 0 15507 13855 2 0\n"
    "cpu1 1774278 269053 795678 1240950 81667 0 15507 13856 3 1\nintr 1 2\nbtime 1795315846\nprocs_running 1\n",
    "diskstats": " 254 0 vda 3648478 520049 78536489 29155217 3176303 5967744 139443583 5652382 0 3255916 34807599 0 0 0 0\n"
    "   7 0 loop0 5 0 40 1 0 0 0 0 0 2 1 0 0 0 0\n",
    "net/dev": "Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n"
    "    lo: 100 10 0 0 0 0 0 0 100 10 0 0 0 0 0 0\n  eth0:9649 247 1 2 3 4 5 6 9557 248 7 8 9 10 11 12\n",
}
AFTER = FILES["stat"].replace("cpu  3548556 538105 1591356 2481899", "cpu  3548656 538105 1591406 2482199")
AFTER = AFTER.replace("cpu0 1774278 269052 795678 1240949", "cpu0 1774378 269052 795678 1240949").replace("cpu1 1774278 269053 795678 1240950", "cpu1 1774278 269053 795728 1241250")

root = pathlib.Path(tempfile.mkdtemp())
for name, text in FILES.items():
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
psutil.PROCFS_PATH = str(root)
as_dict = lambda one: dict(one._asdict())
results = {
    "virtual_memory": as_dict(psutil.virtual_memory()),
    "swap_memory": as_dict(psutil.swap_memory()),
    "cpu_times": as_dict(psutil.cpu_times()),
    "net_io_counters": as_dict(psutil.net_io_counters()),
    "net_io_counters_eth0": as_dict(psutil.net_io_counters(pernic=True)["eth0"]),
    "disk_io_counters_vda": as_dict(psutil.disk_io_counters(perdisk=True)["vda"]),
}
psutil.cpu_percent(None), psutil.cpu_percent(None, True)
(root / "stat").write_text(AFTER)
results["cpu_percent"] = psutil.cpu_percent(None)
results["cpu_percent_each"] = psutil.cpu_percent(None, True)
with open(pathlib.Path(__file__).parent / "psutil.json", "w", encoding="utf-8") as out:
    json.dump({"files": FILES, "after": AFTER, "results": results}, out, indent=1)
    out.write("\n")
