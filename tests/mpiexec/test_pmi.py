# SPDX-License-Identifier: BSD-3-Clause
"""The PMI-1 server, asked in its wire protocol."""

from harness import DOUBLE, LaunchTest, cores, main


class Pmi(LaunchTest):
    def ask(self, *words, ranks=1):
        code, out, err = self.run_job("-n", ranks, "-l", DOUBLE, "init", *words, "finalize")
        self.assertEqual((code, err), (0, ""))
        return sorted(out.splitlines())

    def test_questions(self):
        for question, answer in (
                ("cmd=init pmi_version=1 pmi_subversion=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"),
                ("cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024 rc=0"),
                ("cmd=get_appnum", "cmd=appnum appnum=0 rc=0"),
                ("cmd=get_universe_size", f"cmd=universe_size size={cores()} rc=0"),
                ("cmd=finalize", "cmd=finalize_ack rc=0"),
                ("cmd=nonsense", "cmd=nonsense rc=-1 msg=unknown_command"),
                ("mcmd=spawn\nnprocs=1\nendcmd", "cmd=spawn_result rc=-1 errmsg=spawning_is_not_supported")):
            self.assertEqual(self.ask("ask:" + question), ["[0] " + answer])
        self.assertRegex(self.ask("ask:cmd=get_my_kvsname")[0], r"\[0\] cmd=my_kvsname kvsname=\S+ rc=0")
        self.assertIn("pmi_version=1", self.ask("ask:cmd=init pmi_version=2 pmi_subversion=0")[0])

    def test_all_ranks_are_on_one_node(self):
        self.assertEqual(self.ask("get:PMI_process_mapping", ranks=2), [
            f"[{r}] cmd=get_result rc=0 msg=success value=(vector,(0,1,2))" for r in (0, 1)])

    def test_values_cross_a_barrier(self):
        out = self.ask("0@put:a=x=1 2", "1@put:b=y", "barrier", "get:a", "get:b", "barrier", ranks=2)
        for rank in (0, 1):
            for value in ("x=1 2", "y"):
                self.assertIn(f"[{rank}] cmd=get_result rc=0 msg=success value={value}", out)

    def test_limits(self):
        value, key = "v" * 1024, "k" * 64
        out = self.ask(f"put:{key}={value}", f"get:{key}", f"put:{key}x=1", f"put:k={value}x", "get:none")
        self.assertEqual(out, sorted("[0] " + line for line in (
            "cmd=put_result rc=0 msg=success", f"cmd=get_result rc=0 msg=success value={value}",
            "cmd=put_result rc=-1 msg=bad_key", "cmd=put_result rc=-1 msg=value_too_long",
            "cmd=get_result rc=-1 msg=key_not_found value=unknown")))

    def test_by_index(self):
        out = self.ask("put:a=1", "ask:cmd=getbyidx kvsname=k idx=0", "ask:cmd=getbyidx kvsname=k idx=1",
                       "ask:cmd=getbyidx kvsname=k idx=2", "ask:cmd=getbyidx kvsname=k idx=-1")
        self.assertIn("[0] cmd=getbyidx_results rc=0 nextidx=2 key=a val=1", out)
        self.assertEqual(out.count("[0] cmd=getbyidx_results rc=-2 reason=no_more_keyvals"), 2)

    def test_names(self):
        lookup = "ask:cmd=lookup_name service=s"
        code, out, _ = self.run_job("-n", 1, DOUBLE, "init", lookup, "ask:cmd=publish_name service=s port=p:1",
                                    "ask:cmd=publish_name service=s port=q", lookup,
                                    "ask:cmd=unpublish_name service=s", lookup, "finalize")
        self.assertEqual(code, 0)
        self.assertEqual([line.split("info=")[1].split()[0] for line in out.splitlines()],
                         ["error", "ok", "error", "ok", "ok", "error"])
        self.assertIn("port=p:1", out)

    def test_programs_have_numbers(self):
        _, out, _ = self.run_job("-n", 1, DOUBLE, ":", "-n", 1, DOUBLE, "ask:cmd=get_appnum")
        self.assertEqual(out, "cmd=appnum appnum=1 rc=0\n")

    def test_many_barriers_of_many_ranks(self):
        code, out, err = self.run_job("-n", 32, DOUBLE, "init", *["barrier"] * 50, "say:x", "finalize")
        self.assertEqual((code, out, err), (0, "x\n" * 32, ""))

    def test_a_wrapper_may_run_two_programs_one_after_the_other(self):
        one = f"{DOUBLE} init barrier finalize"
        self.assertEqual(self.run_job("-n", 2, "sh", "-c", f"{one} && {one}"), (0, "", ""))

    def test_garbage_harms_nobody(self):
        code, _, err = self.run_job("-n", 1, "sh", "-c", 'head -c 200000 /dev/zero >&$PMI_FD; exit 0')
        self.assertIn(code, (0, 2, 141), err)


if __name__ == "__main__":
    main()
