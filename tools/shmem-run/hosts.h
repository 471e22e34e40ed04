// Which hosts a job runs on and which PEs each gets. Pure.
// Threads: plain data. Ownership: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace symm::launcher {

struct Host {
  std::string name;  // as written, brackets around an IPv6 address removed
  int slots = 1;
};

// "host1,host2:4,[fd00::1]:2": names with a number of slots, 1 when none is written. A name that
// occurs again adds its slots. kInvalidParam quotes the part that is wrong.
Result<std::vector<Host>> parse_hosts(std::string_view text);

// PEs of every host, in order of the hosts: each is filled before the next; more PEs than slots go
// round again when `oversubscribe`, else kInvalidParam. Hosts without PEs have empty lists.
Result<std::vector<std::vector<int>>> place_pes(const std::vector<Host>& hosts, int n_pes,
                                                bool oversubscribe);

int total_slots(const std::vector<Host>& hosts);

// localhost, its addresses, or the name of this host.
bool is_this_host(const std::string& name);

}  // namespace symm::launcher
