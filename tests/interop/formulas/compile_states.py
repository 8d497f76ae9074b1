"""Low data of SLS files, as Salt's `state.show_low_sls` makes it on this host without a master. Run by compiled_test.ts.

The first line on stdin is {"file_roots": [directory], "cachedir": directory, "grains": {..}, "id": name}; every other line a
request {"sls": name, "pillar": YAML}. For each a line on stdout: {"low": value in the notation of tests/corpus/README.md} or
{"errors": [text]}; with "apply" in the request {"results": value}: the result of `state.sls` in test mode, or not in test mode if "apply" is "run".
One process has one set of grains: Salt's modules would keep the last one for all."""
import contextlib
import json
import logging
import os
import pathlib
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "corpus"))
from typed import typed

warnings.simplefilter("ignore")
import salt.config
import salt.loader
import salt.pillar
import salt.utils.yaml

logging.disable(logging.CRITICAL)


def compiled_pillar(base, roots):
    """All that the files of these directories give; what does not compile is left out."""
    opts = dict(base, pillar_roots={"base": roots}, pillar_cache=False, pillar_source_merging_strategy="smart")
    pillar = salt.pillar.Pillar(opts, base["grains"], base["id"], "base").compile_pillar()
    return {key: value for key, value in pillar.items() if key != "_errors"}


def main():
    setting = json.loads(sys.stdin.readline())
    base = salt.config.minion_config(None)
    base.update({
        "root_dir": setting["cachedir"], "cachedir": setting["cachedir"], "extension_modules": f"{setting['cachedir']}/ext",
        "file_client": "local", "local": True, "file_roots": {"base": setting["file_roots"]}, "pillar_roots": {"base": []}, "id": setting["id"],
        "__role": "minion", "fileserver_list_cache_time": 3600,
    })
    os.makedirs(setting["cachedir"], exist_ok=True)
    if "extension_modules" in setting:
        base["extension_modules"] = setting["extension_modules"]
    base["grains"] = setting["grains"]
    base["pillar"] = {}
    modules = salt.loader.minion_mods(base, utils=salt.loader.utils(base))
    out = sys.stdout
    for line in sys.stdin:
        request = json.loads(line)
        try:
            # The output of functions that print must not be read as answers.
            with contextlib.redirect_stdout(sys.stderr):
                if "renderers" in request:
                    out.write(json.dumps({"renderers": sorted(salt.loader.render(base, modules))}) + "\n")
                    out.flush()
                    continue
                if "pillar_roots" in request:
                    out.write(json.dumps({"pillar": typed(compiled_pillar(base, request["pillar_roots"]))}) + "\n")
                    out.flush()
                    continue
                pillar = salt.utils.yaml.safe_load(request["pillar"]) or {}
                if "apply" in request:
                    low = modules["state.sls"](request["sls"], pillar=pillar, test=request["apply"] != "run", concurrent=True)
                else:
                    low = modules[f"state.{request.get('function', 'show_low_sls')}"](request["sls"], pillar=pillar)
            errors = [chunk for chunk in low if isinstance(chunk, str)] if isinstance(low, list) else []
            answer = {"errors": errors} if errors else {"results" if "apply" in request else "low": typed(low)}
        except Exception as exc:  # an error is a result, too
            answer = {"errors": [f"{type(exc).__name__}: {exc}"]}
        out.write(json.dumps(answer) + "\n")
        out.flush()


main()
