"""Prints the names of Salt 3008.3's runners and wheel functions, for modules/runners/_unbuilt.ts. See README.md."""
import os
import tempfile

import salt.config
import salt.loader

root = tempfile.mkdtemp()
opts = salt.config.master_config(None)
for name in ("cachedir", "pki_dir", "extension_modules", "sock_dir"):
    opts[name] = os.path.join(root, name)
os.makedirs(opts["cachedir"])
for name in sorted(salt.loader.runner(opts)):
    print(name)
