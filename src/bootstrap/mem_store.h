// The bootstrap table for PEs that are threads of one process: no sockets, no files. For tests.
// A group is named by the address, "mem://name"; it comes into being with the first open and ends
// with the last close. Threads: each handle from one thread at a time; the injections from any
// thread.
#pragma once

#include <string>

#include "bootstrap/plugin_abi.h"

namespace symm::bootstrap {

const symm_bootstrap_table* mem_store_table();

// Makes the others of a group believe that `pe` died: their on_event gets PEER_LOST (called from
// this thread) and their present and future steps fail with kPeerLost. False when there is no such
// group or PE.
bool mem_store_lose_peer(const std::string& address, int pe);
// The same for the store itself: on_event gets STORE_LOST with PE 0.
bool mem_store_lose_store(const std::string& address);

}  // namespace symm::bootstrap
