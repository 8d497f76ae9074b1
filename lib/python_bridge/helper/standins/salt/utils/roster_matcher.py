"""Chooses the hosts of a roster that a target of `salt-ssh` means."""

import copy
import fnmatch
import re


def targets(conditioned_raw, tgt, tgt_type, ipv="ipv4"):
    """The hosts of the target. A host that is a text is its address."""
    return RosterMatcher(conditioned_raw, tgt, tgt_type, ipv).targets()


class RosterMatcher:
    def __init__(self, raw, tgt, tgt_type, ipv="ipv4"):
        self.raw = raw
        self.tgt = tgt
        self.tgt_type = tgt_type
        self.ipv = ipv

    def targets(self):
        choose = getattr(self, "_" + str(self.tgt_type), None)
        chosen = choose() if choose is not None else ()
        return {minion: data for minion in self.raw if minion in chosen for data in [self.get_data(minion)] if data}

    def _glob(self):
        return {minion for minion in self.raw if fnmatch.fnmatch(minion, self.tgt)}

    def _pcre(self):
        return {minion for minion in self.raw if re.match(self.tgt, minion)}

    def _list(self):
        return set(self.tgt if isinstance(self.tgt, (list, tuple)) else self.tgt.split(","))

    def _nodegroup(self):
        import salt_bridge

        groups = salt_bridge.JOB.opts().get("ssh_list_nodegroups") or {}
        members = groups.get(self.tgt, ())
        return set(members.split(",") if isinstance(members, str) else members)

    def get_data(self, minion):
        """The host's entry, with the options `roster_defaults` beneath it."""
        import salt_bridge

        entry = self.raw[minion]
        known = copy.deepcopy(salt_bridge.JOB.opts().get("roster_defaults") or {})
        if isinstance(entry, str):
            known["host"] = entry
            return known
        if isinstance(entry, dict):
            known.update(entry)
            return known
        return False
