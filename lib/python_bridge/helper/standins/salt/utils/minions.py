"""Minions and targets, as `salt-run` knows them."""


class CkMinions:
    def __init__(self, opts=None):
        self.opts = opts

    def check_minions(self, expr, tgt_type="glob", *args, **kwargs):
        import salt_bridge

        job = salt_bridge.JOB
        if job.role == "runner":
            from salt_bridge.values import plain

            found = job.ask("minions", tgt=plain(expr), tgt_type=tgt_type)
        else:
            found = job.ask("call", fun="saltutil.runner", args=["manage.present"], kwargs={})
        return {"minions": found or [], "missing": [], "ssh_minions": False}


def get_minion_data(minion, opts):
    return None, None, None
