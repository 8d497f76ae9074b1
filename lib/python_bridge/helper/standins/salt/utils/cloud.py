"""What modules of clouds share."""

import ipaddress


def is_public_ip(ip):
    return ipaddress.ip_address(ip.partition(":")[0] if ip.count(":") == 1 else ip).is_global


def salt_config_to_yaml(configuration, line_break="\n"):
    import salt.utils.yaml

    return salt.utils.yaml.safe_dump(configuration, default_flow_style=False)
