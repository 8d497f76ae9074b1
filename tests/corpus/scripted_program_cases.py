"""The cases of make_scripted_programs.py: a function, its arguments, and the answers of the programs that it starts."""
CASES = []


def case(fun, *args, programs=None, files=None, **kwargs):
    entry = {"fun": fun}
    if args:
        entry["args"] = list(args)
    if kwargs:
        entry["kwargs"] = kwargs
    if programs:
        entry["programs"] = {
            name: [answer if isinstance(answer, dict) else {"args": answer[0], "stdout": answer[1], **(answer[2] if len(answer) > 2 else {})} for answer in answers]
            for name, answers in programs.items()
        }
    if files:
        entry["files"] = files
    CASES.append(entry)


# network
LINK = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
    altname enp1s0
3: eth0.100@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
10: tun0: <POINTOPOINT,MULTICAST,NOARP> mtu 1500 qdisc noop state DOWN mode DEFAULT group default qlen 500
    link/none
"""
ADDR = """\
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00
    inet 127.0.0.1/8 scope host lo
       valid_lft forever preferred_lft forever
    inet6 ::1/128 scope host noprefixroute
       valid_lft forever preferred_lft forever
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
    altname enp1s0
    inet 10.1.2.3/20 brd 10.1.15.255 scope global dynamic noprefixroute eth0
       valid_lft 2592sec preferred_lft 2592sec
    inet 10.1.2.4/20 brd 10.1.15.255 scope global secondary eth0:1
       valid_lft forever preferred_lft forever
    inet 203.0.113.7/32 scope global eth0
    inet6 2001:db8::7/64 scope global dynamic
       valid_lft 2592sec preferred_lft 604sec
    inet6 fe80::5054:ff:fe12:3456/64 scope link
3: eth0.100@eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP group default qlen 1000
    link/ether 52:54:00:12:34:56 brd ff:ff:ff:ff:ff:ff
    inet 192.168.7.1/24 brd 192.168.7.255 scope global eth0.100
10: tun0: <POINTOPOINT,MULTICAST,NOARP> mtu 1500 qdisc noop state DOWN group default qlen 500
    link/none
    inet 8.8.8.1 peer 8.8.8.2/32 scope global tun0
"""
IP = {"ip": [("link show", LINK), ("addr show", ADDR)]}
for fun in ("interfaces", "subnets", "subnets6", "ip_addrs", "ip_addrs6", "ip_networks", "ip_networks6"):
    case(f"network.{fun}", programs=IP)
case("network.ip_networks", programs=IP, verbose=True, include_loopback=True)
case("network.ip_networks6", "eth*", programs=IP, verbose=True)
case("network.ip_addrs", "eth0.*,lo", True, programs=IP)
case("network.ip_addrs", programs=IP, cidr="10.0.0.0/8")
case("network.ip_addrs", programs=IP, cidr="10.0.0.1/8")
case("network.ipaddrs", programs=IP, type="public")
case("network.ipaddrs", programs=IP, type="private")
case("network.ip_addrs6", programs=IP, cidr="2001::/16")
case("network.ipaddrs6", ["lo"], True, programs=IP)
case("network.subnets", ["eth0.100", "nope"], programs=IP)
case("network.subnets", "eth0", programs=IP)
for iface in ("eth0", "eth0.100", "tun0", "nope"):
    for fun in ("hw_addr", "interface", "interface_ip"):
        case(f"network.{fun}", iface, programs=IP)
case("network.ifacestartswith", "10.1", programs=IP)
case("network.in_subnet", "10.1.0.0/16", programs=IP)
case("network.in_subnet", "2001:db8::/32", programs=IP)
case("network.in_subnet", "172.16.0.0/12", programs=IP)
for address in ("10.0.0.3", "8.8.8.8", "192.0.0.9", "100.64.1.1", "::1", "fd00::1", "2001:db8::1", "2606:4700::1", "::ffff:10.0.0.1", "127.3.4.5", "169.254.1.1", "x", "10.0.0"):
    for fun in ("is_private", "is_loopback", "reverse_ip"):
        case(f"network.{fun}", address)
for args in (["172.17.0.5", "255.255.255.240"], ["172.17.0.5/12"], ["2a02:f6e:a000:80:84d8:8332:7866:4e07/64"], ["10.0.0.1", "0.0.0.255"], ["10.0.0.1/33"], ["10.0.0.1"]):
    case("network.calc_net", *args)
for cidr in ("172.31.7.9/16", "10.0.0.1", "2001:db8::5/126", "nope"):
    case("network.convert_cidr", cidr)
case("network.ip_in_subnet", "172.17.0.4", "172.16.0.0/12")
case("network.ip_in_subnet", ["172.17.0.4", "10.0.0.1"], "10.0.0.0/8")
case("network.ip_in_subnet", "fd00::5", "10.0.0.0/8")
case("network.iphexval", "10.0.0.255")
NETSTAT = """\
Active Internet connections (servers and established)
Proto Recv-Q Send-Q Local Address           Foreign Address         State       User       Inode      PID/Program name
tcp        0      0 0.0.0.0:22              0.0.0.0:*               LISTEN      0          15377      612/sshd
tcp        0     36 10.1.2.3:22             10.1.2.9:51532          ESTABLISHED 0          17423      1033/sshd: fred
tcp6       0      0 :::22                   :::*                    LISTEN      0          15379      612/sshd
udp        0      0 127.0.0.1:323           0.0.0.0:*                           0          14002      501/chronyd
udp6       0      0 fe80::5054:ff:fe12:546  :::*                                101        14555      -
"""
ROUTES = """\
Kernel IP routing table
Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface
0.0.0.0         10.1.0.1        0.0.0.0         UG        0 0          0 eth0
10.1.0.0        0.0.0.0         255.255.240.0   U         0 0          0 eth0
"""
ROUTES6 = """\
Kernel IPv6 routing table
Destination                    Next Hop                   Flag Met Ref Use If
2001:db8::/64                  [::]                       U    100 2     0 eth0
[::]/0                         fe80::1                    UGDA 100 1     0 eth0
[::]/0                         [::]                       !n   -1  1     0 lo
::/0                           fe80::1                    UG   1024 1 0 eth0
broken line
"""
TABLES = {"netstat": [("-tulpnea", NETSTAT), ("-A inet -rn", ROUTES), ("-A inet6 -rn", ROUTES6)]}
case("network.netstat", programs=TABLES)
case("network.routes", programs=TABLES)
case("network.routes", "inet6", programs=TABLES)
case("network.routes", "ipx", programs=TABLES)
case("network.default_route", programs=TABLES)
case("network.default_route", "inet6", programs=TABLES)
case("network.get_route", "8.8.8.8", programs={"ip": [("route get 8.8.8.8", "8.8.8.8 via 10.1.0.1 dev eth0 src 10.1.2.3 uid 0\n    cache\n")]})
case("network.get_route", "10.1.3.3", programs={"ip": [("route get 10.1.3.3", "10.1.3.3 dev eth0.100 table main src 10.1.2.3 uid 0\n    cache\n")]})
case("network.arp", programs={"arp": [("-an", "? (10.1.0.1) at 52:54:00:aa:bb:cc [ether] on eth0\n? (10.1.0.9) at <incomplete> on eth0\nx y\n")]})
NEIGH = "10.1.0.1 dev eth0 lladdr 52:54:00:aa:bb:cc REACHABLE\nfe80::1 dev eth0 lladdr 52:54:00:aa:bb:cd router STALE\n10.1.0.9 dev eth0 FAILED\n"
case("network.ip_neighs", programs={"ip": [("neigh show", NEIGH)]})
case("network.ip_neighs6", programs={"ip": [("neigh show", NEIGH)]})
case("network.ping", "example.org", programs={"ping": [("-c 4 example.org", "PING example.org\n4 packets\n")]})
case("network.ping", "exa mple;.org", programs={"ping": [("-W 3 -c 4 example.org", "PING\n", {"code": 1})]}, timeout=3)
case("network.ping", "::1", programs={"ping": [("-c 4 ::1", "PING\n")]}, return_boolean=True)
case("network.ping", "gone", programs={"ping": [("-c 4 gone", "PING\n", {"code": 2})]}, return_boolean=True)
case("network.dig", "example.org", programs={"dig": [("example.org", ";; ANSWER\nexample.org. 5 IN A 1.2.3.4\n")]})
MODERN = """\
traceroute to example.org (93.184.216.34), 30 hops max, 60 byte packets
 1  gateway (10.1.0.1)  0.412 ms  0.380 ms  0.365 ms
 2  * * *
 3  93.184.216.34 (93.184.216.34)  9.1 ms  9.0 ms  8.9 ms
 4  odd
"""
VERSIONS = ("Modern traceroute for Linux, version 2.1.0\nCopyright (c) 2016\n", "Modern traceroute for Linux, version 2.0.19, Dec 10 2012\n", "traceroute: unrecognized option '--version'\n")
for version in VERSIONS:
    case("network.traceroute", "example.org", programs={"traceroute": [("--version", version), ("example.org", MODERN)]})
case("network.connect", "", 22)
case("network.connect", "example.org")
case("network.connect", "127.0.0.1", 1)


# mount
FSTAB = """\
# /etc/fstab: static file system information.
#
UUID=0a3407de-014b-458b-b5c1-848e92a327a3 /     ext4   defaults,noatime 0 1
/dev/sda2\t\t/home\text4\tnoatime,defaults\t0 2
tmpfs /tmp tmpfs size=1G
/dev/sr0  /media/cdrom iso9660 ro,user,noauto 0
//srv/share\\040x /mnt/share cifs guest 0 0
/dev/sda9 /home xfs defaults 0 0
broken line
"""
TABLE = {"fstab": FSTAB}
AT = {"config": "{dir}/fstab"}
case("mount.fstab", "{dir}/fstab", files=TABLE)
case("mount.fstab", "{dir}/none", files=TABLE)
case("mount.vfstab", "{dir}/fstab", files=TABLE)
case("mount.rm_fstab", "/home", "/dev/sda2", files=TABLE, **AT)
case("mount.rm_fstab", "/home", None, files=TABLE, **AT)
case("mount.rm_fstab", "/nope", "/dev/sda2", files=TABLE, **AT)
case("mount.rm_vfstab", "/tmp", "tmpfs", files=TABLE, **AT)
case("mount.set_fstab", "/home", "/dev/sda2", "ext4", opts="defaults,noatime", pass_num=2, files=TABLE, **AT)
case("mount.set_fstab", "/home", "/dev/sda2", "xfs", files=TABLE, **AT)
case("mount.set_fstab", "/home", "/dev/sda2", "xfs", test=True, files=TABLE, **AT)
case("mount.set_fstab", "/home", "/dev/sda2", "xfs", not_change=True, files=TABLE, **AT)
case("mount.set_fstab", "/srv", "/dev/sdb1", "ext4", ["noatime", "nodev"], 1, 2, files=TABLE, **AT)
case("mount.set_fstab", "/tmp", "none", "tmpfs", "size=2G", files=TABLE, **AT)
case("mount.set_fstab", "/media/cdrom", "/dev/sr1", "iso9660", match_on="name", files=TABLE, **AT)
case("mount.set_fstab", "/media/cdrom", "/dev/sr0", "udf", match_on=["name", "device"], files=TABLE, **AT)
case("mount.set_fstab", "/mnt/a", "//srv/with\\ blank", "cifs", "credentials=/root/a\\ b", files=TABLE, **AT)
case("mount.set_fstab", "/x", "/dev/x", "ext4", config="{dir}/none", files=TABLE)
case("mount.set_fstab", "/x", "/dev/x", "ext4", match_on=5, files=TABLE, **AT)
VFSTAB = "#device device mount FS fsck mount mount\n/dev/dsk/c0t0d0s0 /dev/rdsk/c0t0d0s0 / ufs 1 no -\nproc - /proc proc - no -\n"
for args, more in (
    (["/", "/dev/dsk/c0t0d0s0", "ufs"], {}),
    (["/proc", "proc", "proc"], {"mount_at_boot": "no"}),
    (["/export", "/dev/dsk/c0t0d0s7", "ufs"], {"opts": ["rw", "logging"], "pass_fsck": "2", "device_fsck": "/dev/rdsk/c0t0d0s7"}),
    (["/export", "/dev/dsk/c0t0d0s7", "ufs"], {"test": True}),
):
    case("mount.set_vfstab", *args, files={"vfstab": VFSTAB}, config="{dir}/vfstab", **more)
AUTO = "# comment\n\n/../mnt/a\t-fstype=nfs,rw,soft\tnfs:srv\n/../mnt/b -fstype=cifs,guest cifs:box\nodd line\n"
case("mount.automaster", "{dir}/auto", files={"auto": AUTO})
case("mount.set_automaster", "/mnt/a", "srv", "nfs", "rw,soft", files={"auto": AUTO}, config="{dir}/auto")
case("mount.set_automaster", "/mnt/a", "srv", "nfs", ["ro"], files={"auto": AUTO}, config="{dir}/auto")
case("mount.set_automaster", "/mnt/c", "share", "smbfs", files={"auto": AUTO}, config="{dir}/auto")
case("mount.set_automaster", "/mnt/c", "share", "smbfs", test=True, files={"auto": AUTO}, config="{dir}/auto")
AUTOMOUNT = {"automount": [("-cv", "")]}
case("mount.rm_automaster", "/mnt/a", "srv", files={"auto": AUTO}, config="{dir}/auto", programs=AUTOMOUNT)
case("mount.rm_automaster", "/mnt/a", "other", files={"auto": AUTO}, config="{dir}/auto", programs=AUTOMOUNT)
case("mount.rm_automaster", "/mnt/b", None, files={"auto": AUTO}, config="{dir}/auto", programs=AUTOMOUNT)
case("mount.rm_automaster", "/mnt/z", "srv", files={"auto": AUTO}, config="{dir}/auto", programs=AUTOMOUNT)
MOUNT = {"mount": [("-l", ""), ("-o ro,noatime -t ext4 /dev/sdz1 /mnt/foo", ""), ("-o defaults /dev/sdz1 /mnt/foo", "", {"stderr": "mount: bad\n", "code": 32}), ("/mnt/foo", "")]}
case("mount.mount", "/mnt/foo", "/dev/sdz1", False, "ext4", "ro,noatime", programs=MOUNT)
case("mount.mount", "/mnt/foo", "/dev/sdz1", False, "ext4", ["ro", "noatime"], programs=MOUNT)
case("mount.mount", "/mnt/foo", "/dev/sdz1", programs=MOUNT)
case("mount.mount", "/mnt/foo", programs=MOUNT)
case("mount.mount", "/mnt/foo", "/dev/sdz1", util="nothing", programs=MOUNT)
case("mount.remount", "/mnt/foo", "/dev/sdz1", False, "ext4", "ro,noatime", programs=MOUNT)
case("mount.remount", "/proc", "proc", False, "proc", "ro", programs={"mount": [("-l", ""), ("-o ro,remount -t proc proc /proc", "")]})
case("mount.umount", "/mnt/foo", programs=MOUNT)
case("mount.umount", "/proc", programs={"mount": [("-l", "")], "umount": [("/proc", "", {"stderr": "umount: /proc: target is busy.\n", "code": 32})]})
case("mount.umount", "/proc", "/dev/x", lazy=True, programs={"mount": [("-l", "")], "umount": [("-l /dev/x", "")]})
case("mount.is_fuse_exec", "sshfs", programs={"sshfs": [], "ldd": [("*", "\tlibfuse3.so.3 => /lib/libfuse3.so.3\n")]})
case("mount.is_fuse_exec", "sshfs", programs={"sshfs": [], "ldd": [("*", "\tlibc.so.6\n")]})
case("mount.is_fuse_exec", "no-such-program-here")
case("mount.swapoff", "/no/swap")
case("mount.is_mounted", "/proc", programs={"mount": [("-l", "")]})
case("mount.filesystems")
case("mount.set_filesystems", "/a", "/dev/b", "jfs2")
case("mount.rm_filesystems", "/a", "/dev/b")
case("mount.get_mount_from_path", "/proc/self/status")
case("mount.get_device_from_path", "/proc/sys", programs={"mount": [("-l", "")]})
case("mount.read_mount_cache", "/mnt/nothing")


# disk
DF = """\
Filesystem     1024-blocks     Used Available Capacity Mounted on
/dev/sda1         40470732 12345678  26044800      33% /
tmpfs              1018072        0   1018072       0% /dev/shm
map auto_home 0 0 0 100% /home
/dev/mapper/very-long-name
                    999320    61400    869108       7% /boot
"""
case("disk.usage", programs={"df": [("-P", DF)]})
case("disk.usage", "hT", programs={"df": [("-P -hT", DF)]})
case("disk.usage", "hz", programs={"df": [("-P", DF)]})
case("disk.usage", programs={"df": [("-P", "Filesystem\n/dev/x 1 2\n")]})
DFI = "Filesystem      Inodes  IUsed   IFree IUse% Mounted on\n/dev/sda1      2588672 253441 2335231   10% /\ntmpfs           254518      1  254517    1% /dev/shm\n"
case("disk.inodeusage", programs={"df": [("-iP", DFI)]})
case("disk.inodeusage", "x!", programs={"df": [("-iP", DFI)]})
DFP = DF.replace("/dev/mapper/very-long-name\n", "/dev/mapper/x")
case("disk.percent", programs={"df": [("-P", DFP)]})
case("disk.percent", "/", programs={"df": [("-P", DFP)]})
case("disk.percent", "/none", programs={"df": [("-P", DFP)]})
BLKID = '/dev/sda1: LABEL="my root" UUID="0a3407de-014b-458b-b5c1-848e92a327a3" BLOCK_SIZE="4096" TYPE="ext4" PARTUUID="11e8f4a2-01"\n/dev/sr0: UUID="2024-01-01-00-00-00-00" TYPE="iso9660"\n'
case("disk.blkid", programs={"blkid": [("", BLKID)]})
case("disk.blkid", "/dev/sda1", programs={"blkid": [("/dev/sda1", BLKID.split("\n")[0] + "\n")]})
case("disk.blkid", token="TYPE=ext4", programs={"blkid": [("-t TYPE=ext4", BLKID)]})
case("disk.blkid", "/dev/none", programs={"blkid": [("/dev/none", "", {"code": 2})]})
GETS = "--getro --getsz --getss --getpbsz --getiomin --getioopt --getalignoff --getmaxsect --getsize --getsize64 --getra --getfra /dev/sda"
NUMBERS = "0\n83886080\n512\n4096\n512\n0\n0\n2560\n83886080\n42949672960\n256\n256\n"
case("disk.dump", "/dev/sda", programs={"blockdev": [(GETS, NUMBERS)]})
case("disk.dump", "/dev/sda", ["getra", "getro"], programs={"blockdev": [(GETS, NUMBERS)]})
case("disk.dump", "/dev/sda", programs={"blockdev": [(GETS, "", {"code": 1})]})
case("disk.tune", "/dev/sda", programs={"blockdev": [("--setra 1024 --setrw /dev/sda", ""), (GETS, NUMBERS)]}, **{"read-ahead": 1024, "read-write": True})
case("disk.tune", "/dev/sda", programs={"blockdev": [("--setro /dev/sda", "", {"code": 1, "stderr": "blockdev: cannot open\n"})]}, **{"read-only": True})
case("disk.tune", "/dev/sda", programs={"blockdev": []}, **{"read-only": False, "speed": 5})
case("disk.wipe", "/dev/sdx", programs={"wipefs": [("-a /dev/sdx", "")]})
case("disk.wipe", "/dev/sdx", programs={"wipefs": [("-a /dev/sdx", "", {"code": 1})]})
case("disk.resize2fs", "/dev/sdx", programs={"resize2fs": [("/dev/sdx", "")]})
case("disk.resize2fs", "/dev/sdx", programs={"resize2fs": [("/dev/sdx", "", {"code": 1})]})
MKFS = {"sync": [("", "")], "mkfs": [("-t ext4 /dev/x", ""), ("-t ext3 -i 256 -E lazy_itable_init=0 -F /dev/x", ""), ("-t xfs -i size=512 -f /dev/x", ""), ("*", "", {"code": 3})]}
case("disk.format", "/dev/x", programs=MKFS)
case("disk.format", "/dev/x", "ext3", 256, 0, None, True, programs=MKFS)
case("disk.format", "/dev/x", "xfs", inode_size=512, lazy_itable_init=1, force=True, programs=MKFS)
case("disk.format", "/dev/x", "btrfs", programs=MKFS)
case("disk.fstype", "/dev/x", programs={"lsblk": [("-o fstype /dev/x", "FSTYPE\next4\n")]})
case("disk.fstype", "/dev/x", programs={"lsblk": [("-o fstype /dev/x", "FSTYPE\n\n")], "df": [("-T /dev/x", "Filesystem Type\n/dev/x ext4 1 2 3 4% /\n")]})
HDPARM = """\

/dev/sda:
 multcount     = 16 (on)
 IO_support    =  1 (32-bit)
 readonly      =  0 (off)
 readahead     = 256 (on)
 geometry      = 121601/255/63, sectors = 1953525168, start = 0
 write-caching =  1 (on)
 drive state is:  active/idle
 APM_level\t= 254
 max sectors   = 1953523055/1953525168, HPA is enabled

 Model=ST1000, FwRev=CC43, SerialNo=
 acoustic      = not supported
"""
case("disk.hdparms", "/dev/sda", programs={"hdparm": [("-aAbBcCdgHiJkMmNnQrRuW /dev/sda", HDPARM)]})
case("disk.hdparms", ["sda"], ["a", "W"], programs={"hdparm": [("-aW /dev/sda", HDPARM, {"code": 5})]})
HPA = {"hdparm": [("-N /dev/sda", "\n/dev/sda:\n max sectors   = 1953523055/1953525168, HPA is enabled\n"), ("-N /dev/sdb", "\n/dev/sdb:\n max sectors   = 100/100, HPA is disabled\n"), ("--yes-i-know-what-i-am-doing*", "")]}
case("disk.hpa", "/dev/sda", programs=HPA)
case("disk.hpa", ["sda", "sdb"], programs=HPA)
case("disk.hpa", "sdb", "5%", programs=HPA)
SMART = """\
smartctl 7.2 2020-12-30 r5155
=== START OF READ SMART DATA SECTION ===
SMART Attributes Data Structure revision number: 10
Vendor Specific SMART Attributes with Thresholds:
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  1 Raw_Read_Error_Rate     0x000f   117   099   006    Pre-fail  Always       -       137112552
190 Airflow_Temperature_Cel 0x0022   067   058   045    Old_age   Always       -       33 (Min/Max 32/34)
194 Temperature_Celsius     0x0022   033   042   000    Old_age   Always       -       33 0 0 0

"""
case("disk.smart_attributes", "sda", programs={"smartctl": [("--attributes /dev/sda", SMART)]})
case("disk.smart_attributes", "/dev/sda", [1, 194], ["value", "raw_value"], programs={"smartctl": [("--attributes /dev/sda", SMART)]})
case("disk.smart_attributes", "/dev/sda", programs={"smartctl": [("--attributes /dev/sda", "", {"code": 2, "stderr": "no such device\n"})]})
IOSTAT = """\
Linux 6.1.0 (host) \t01/01/26 \t_x86_64_\t(2 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.25    0.00    0.50    0.25    0.00   98.00

Device:         rrqm/s   wrqm/s     r/s     w/s
sda               0.01     1.05    0.55    1.25
dm-0              0.00     0.00    0.10    2.25

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           2.50    0.01    0.50    0.25    0.00   96.74

Device:         rrqm/s   wrqm/s     r/s     w/s
sda               0.02     1.00    0.50    1.00
dm-0              0.00     0.00    0.15    2.20
"""
case("disk.iostat", programs={"iostat": [("-x 1 5", IOSTAT)]})
case("disk.iostat", 2, 3, "sda", programs={"iostat": [("-xd 2 3 sda", IOSTAT)]})
case("disk.iostat", disks=["sda", "dm-0"], programs={"iostat": [("-xd 1 5 sda dm-0", IOSTAT)]})


# ps
case("ps.lsof", "sshd", programs={"lsof": [("-c sshd", "COMMAND PID\nsshd 1\n")]})
case("ps.netstat", "sshd", programs={"netstat": [("-nap", "tcp 0 0 612/sshd\ntcp 0 0 99/x\n")]})
case("ps.ss", "sshd", programs={"ss": [("-neap", "u_str ESTAB\ntcp LISTEN sshd\n")]})
PSAUX = "USER PID COMMAND\nroot 1 init\nwww-data 77 /usr/sbin/apache2 -k start\nroot 9 salt-call ps.psaux www-data.+apache2\n"
case("ps.psaux", "www-data.+apache2", programs={"ps": [("aux", PSAUX)]})
case("ps.psaux", "root", programs={"ps": [("aux", PSAUX)]})
case("ps.pgrep", "no-such-process-name-anywhere")
case("ps.kill_pid", 99999999)
case("ps.status", "")
case("ps.status", "no-such-state")

# system
for fun in ("halt", "poweroff"):
    case(f"system.{fun}", programs={fun: [("", "going down\n")]})
case("system.init", 3, programs={"init": [("3", "")]})
SHUTDOWN = {"shutdown": [("-r now", "r"), ("-r 5", "r5"), ("-h now", "h"), ("-h 23:00", "h23")]}
case("system.reboot", programs=SHUTDOWN)
case("system.reboot", 5, programs=SHUTDOWN)
case("system.shutdown", programs=SHUTDOWN)
case("system.shutdown", "23:00", programs=SHUTDOWN)
NOCLOCK = {"hwclock": [("*", "", {"code": 1})]}
HWCLOCK = {"hwclock": [("--test --systohc", ""), ("--systohc", "")]}
case("system.has_settable_hwclock", programs=NOCLOCK)
case("system.has_settable_hwclock", programs=HWCLOCK)


def dates(*digits):
    return {"date": [(one, "") for one in digits] + [("*", "", {"code": 1, "stderr": "date: invalid date\n"})]}


case("system.set_system_date_time", 2015, 5, 12, 11, 37, 53, "-0500", programs={**dates("-u 051216372015.53"), **NOCLOCK})
case("system.set_system_date_time", 2015, 5, 12, 11, 37, 53, programs={**dates("051211372015.53"), **HWCLOCK})
case("system.set_system_date_time", 2015, 12, 31, 23, 59, 59, "-0030", programs={**dates("-u 010100292016.59"), **NOCLOCK})
case("system.set_system_date_time", 2015, 5, 12, 11, 37, 53, programs={**dates(), **NOCLOCK})
case("system.set_system_date_time", 2015, 5, 12, 11, 37, 53, "5", programs={**dates(), **NOCLOCK})
case("system.set_system_time", "25:00", programs={**dates(), **NOCLOCK})
case("system.set_system_time", "11:20 XM", programs={**dates(), **NOCLOCK})
case("system.set_system_time", "11:20:30 PM", programs={**dates("????2320????.30"), **NOCLOCK})
case("system.set_system_time", "12:05 am", programs={**dates("????0005????.00"), **NOCLOCK})
case("system.set_system_time", "07:08", programs={**dates("????0708????.00"), **NOCLOCK})
for day in ("2015-03-28", "03-28-2015", "03-28-15", "03/28/2015", "3/28/15", "2015/03/28"):
    case("system.set_system_date", day, programs={**dates("0328????2015.??"), **NOCLOCK})
for day in ("28.03.2015", "2015-13-01", "02-30-2015"):
    case("system.set_system_date", day, programs={**dates(), **NOCLOCK})
case("system.get_system_date", "5")
case("system.get_computer_desc", programs={"hostnamectl": [("status --pretty", "Fred's \\\"best\\\" \\\\ box\\tx\n")]})
case("system.set_computer_desc", "a \"b\"\nc", programs={"hostnamectl": [("*", "")]})
case("system.set_computer_desc", "x", programs={"hostnamectl": [("*", "", {"code": 1})]})


# locale
LOCALES = {"locale": [("-a", "C\nC.utf8\nPOSIX\nen_US.utf8\nca_ES.utf8@valencia\nde_DE@euro\n")]}
case("locale.list_avail", programs=LOCALES)
for name in ("en_US.UTF-8", "en_us.utf8", "en_US", "ca_ES.UTF-8@valencia UTF-8", "C", "de_DE@euro", "de_DE.UTF-8", "C.UTF-8"):
    case("locale.avail", name, programs=LOCALES)

# cmd
case("cmd.shell_info", "fish")

# extfs
DUMPE2FS = """\
dumpe2fs 1.47.0 (5-Feb-2023)
Filesystem volume name:   data
Last mounted on:          /srv
Filesystem features:      has_journal ext_attr resize_inode
Group descriptor size:    64
Journal size:             64M


Group 0: (Blocks 0-32767) csum 0x1a2b [ITABLE_ZEROED]
  Primary superblock at 0, Group descriptors at 1-32
  Free blocks: 24-100, 200
  Free inodes: 12-8192
Group 1: (Blocks 32768-65535)
  Free blocks: 40000-65535
  Free inodes: 8193-16384
"""
for fun in ("dump", "attributes", "blocks"):
    case(f"extfs.{fun}", "/dev/x", programs={"dumpe2fs": [("/dev/x", DUMPE2FS)]})
case("extfs.attributes", "/dev/x", "h", programs={"dumpe2fs": [("/dev/x -h", DUMPE2FS.split("\n\n")[0])]})
MKE2FS = {"mke2fs": [("-F -t ext4 -L data -j /dev/x", "Creating filesystem with 1 block\nWriting inode tables: done\n\n", {"stderr": "mke2fs 1.47\nodd\n"})]}
case("extfs.mkfs", "/dev/x", "ext4", label="data", journal=True, nothing=5, programs=MKE2FS)
TUNE2FS = {"tune2fs": [("-L x -c -1 -f /dev/x", "tune2fs 1.47\nSetting maximal mount count to -1\n"), ("*", "", {"stderr": "no\n", "code": 1})]}
case("extfs.tune", "/dev/x", label="x", max=-1, force="true", programs=TUNE2FS)
case("extfs.tune", "/dev/y", programs=TUNE2FS)

# logrotate
ROTATE = """\
# see man logrotate
weekly
rotate 4
create
su root adm
/var/log/wtmp {
    missingok
    monthly
    create 0664 root utmp
    rotate 1
}
/var/log/a.log
/var/log/b.log
{
    sharedscripts
    postrotate
        # tell it
        kill -HUP `cat /run/x.pid`
    endscript
    prerotate
        true
    endscript
}
"""
CONF = {"files": {"conf": ROTATE}, "conf_file": "{dir}/conf"}
case("logrotate.show_conf", **CONF)
case("logrotate.show_conf", "{dir}/none")
case("logrotate.get", "rotate", **CONF)
case("logrotate.get", "su", **CONF)
case("logrotate.get", "nothing", **CONF)
case("logrotate.get", "/var/log/wtmp", **CONF)
case("logrotate.get", "/var/log/wtmp", "rotate", **CONF)
case("logrotate.get", "/var/log/b.log", "postrotate", **CONF)
case("logrotate.get", "/var/log/wtmp", "nothing", **CONF)
case("logrotate.set", "rotate", 2, **CONF)
case("logrotate.set", "rotate", 4, **CONF)
case("logrotate.set", "compress", True, **CONF)
case("logrotate.set", "/var/log/wtmp", 5, **CONF)
case("logrotate.set", "/var/log/wtmp", "rotate", 2, **CONF)
case("logrotate.set", "/var/log/wtmp", "rotate", 1, **CONF)
case("logrotate.set", "/var/log/wtmp", "missingok", False, **CONF)
case("logrotate.set", "/var/log/new", "daily", True, **CONF)
case("logrotate.set", "rotate", "x", 3, **CONF)
