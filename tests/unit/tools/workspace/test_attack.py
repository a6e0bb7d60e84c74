import os, threading
from pathlib import Path
from tests.unit.tools.workspace.desk import Desk, require_sandbox, SECRET

async def test_shell(tmp_path: Path) -> None:
    await require_sandbox(tmp_path)
    d = Desk.make(tmp_path)
    os.symlink(d.home / "kenobot.toml", d.work / "link"); os.symlink(d.home, d.work / "dir")
    cmds = ["cat link; cat dir/kenobot.toml; cat /work/../"+str(d.home)+"/kenobot.toml; ls /; ls -la /work", "env; cat /proc/1/environ | tr '\\0' '\\n'; ls -l /proc/*/cwd /proc/*/root /proc/*/fd 2>&1 | tail -20",
      "mount | head -40", "unshare -Ur id; cat /etc/passwd /etc/shadow | head -3; ls /etc | head", "python3 -c \"import socket;s=socket.socket();s.settimeout(2);s.connect(('127.0.0.1',22))\" 2>&1|tail -1; python3 -c \"import socket;s=socket.socket(socket.AF_UNIX);print(s.connect_ex('\\0/tmp/.X11-unix/X0'))\"; python3 -c \"import socket;socket.socket(socket.AF_VSOCK)\" 2>&1 | tail -1",
      ":(){ :|:& };:", "ls -la /dev; cat /dev/kmsg | head -1; ls /sys 2>&1; python3 -c \"import fcntl,termios;fcntl.ioctl(0,termios.TIOCSTI,b'x')\" 2>&1|tail -1", "mv /work /w2; touch /x; touch /usr/x; echo hi > /proc/sys/kernel/core_pattern; nohup setsid sleep 300 & echo done", "mkfifo p; mknod d c 1 3; ln /usr/bin/env hard; chmod 4755 /work/x 2>&1; id; cat /proc/self/status | grep -i -E 'cap|seccomp|nonewpriv'", "head -c 700000000 /dev/zero > big; ls -l big; rm -f big", "python3 -c 'x=bytearray(3*10**9)' 2>&1 | tail -1"]
    for c in cmds:
        out = await d.call("shell", command=c)
        print("$", c[:90]); print(out[:900]); assert SECRET not in out
    os.system("pgrep -fa 'sleep 300' | head -3")

async def test_files(tmp_path: Path) -> None:
    d = Desk.make(tmp_path)
    os.symlink(d.home, d.work / "dir"); os.symlink(d.home / "kenobot.toml", d.work / "l"); os.link(d.home/"kenobot.toml", d.work/"hard"); os.mkfifo(d.work/"p")
    for p in ["l","dir/kenobot.toml","hard","p","../home/kenobot.toml","/etc/passwd",str(d.home)+"/kenobot.toml",str(d.work)+"/../home/kenobot.toml","a/../../home/kenobot.toml","\0","x"*300,"/work/../home/kenobot.toml",".git/config",".GIT/config","HEAD","git~1/x",".git\u200c/config","sub/HEAD","dir","."]:
        a=await d.call("read_file", path=p); b=await d.call("write_file", path=p, text="x", replace=True); c=await d.call("list_files", path=p)
        assert SECRET not in a+b+c
        print(repr(p)[:40], "|", a[:50].replace("\n"," "), "|", b[:50], "|", c[:40].replace("\n"," "))
    assert (d.home/"kenobot.toml").read_text()==SECRET
    # race
    stop=False
    (d.work/"r").mkdir(); (d.work/"r"/"kenobot.toml").write_text("mine"); (d.work/"r2").symlink_to(d.home)
    import ctypes
    libc=ctypes.CDLL(None)
    def swap():
        while not stop:
            libc.renameat2(-100, str(d.work/"r").encode(), -100, str(d.work/"r2").encode(), 2)
    t=threading.Thread(target=swap); t.start()
    seen=0
    for _ in range(800):
        a=await d.call("read_file", path="r/kenobot.toml"); seen+= "mine" in a; assert SECRET not in a
        b=await d.call("write_file", path="r/kenobot.toml", text="mine", replace=True)
    stop=True; t.join()
    print("race seen", seen); assert (d.home/"kenobot.toml").read_text()==SECRET

async def test_git(tmp_path: Path) -> None:
    await require_sandbox(tmp_path)
    d = Desk.make(tmp_path); flag=tmp_path/"flag"
    print(await d.call("git", verb="init"))
    (d.work/".git/config").write_text(f"""[core]
 repositoryformatversion=0
 worktree={d.home}
 fsmonitor=touch {flag}
 hooksPath=/work
 pager=touch {flag}
 sshCommand=touch {flag}
[filter "x"]
 clean=cat {d.home}/kenobot.toml; touch {flag}
 smudge=touch {flag}
[diff "x"]
 command=touch {flag}
 textconv=cat {d.home}/kenobot.toml
[include]
 path={d.home}/kenobot.toml
[alias]
 status=!touch {flag}
[gpg]
 program=touch {flag}
[log]
 showSignature=true
""")
    (d.work/".gitattributes").write_text("* filter=x diff=x\n"); (d.work/"a").write_text("a")
    for v,m in [("status",{}),("add",{}),("commit",dict(message="x")),("log",{}),("diff",{}),("show",{}),("show",dict(revision="--output=/work/z")),("show",dict(revision="HEAD:../home/kenobot.toml")),("diff",dict(paths=["/etc/passwd",str(d.home/"kenobot.toml")])),("diff",dict(revision="--no-index",paths=[])),("add",dict(paths=["--chmod=+x"])),("status",dict(folder="../home")),("clone",dict(repository="a/b"))]:
        o=await d.call("git",verb=v,**m); assert SECRET not in o; print(v,m,o[:120].replace("\n"," "))
    assert not flag.exists()
